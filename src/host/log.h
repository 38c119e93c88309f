/* SPDX-License-Identifier: Apache-2.0 */
/* Messages for whoever asked for them. */
#ifndef GM_LOG_H
#define GM_LOG_H

#include "gristmill/gristmill.h"

/* Formats nothing unless somebody listens at `level`. */
void gm_log(enum gm_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
