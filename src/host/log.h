/* SPDX-License-Identifier: Apache-2.0 */
/* Messages for whoever asked for them. */
#ifndef GM_LOG_H
#define GM_LOG_H

#include "gristmill/gristmill.h"

/* Whether somebody listens at `level`: before work that only a message needs. */
int gm_log_is_heard(enum gm_log_level level);
/* Formats nothing unless somebody does. */
void gm_log(enum gm_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
