/* SPDX-License-Identifier: Apache-2.0 */
/* What a call demands of its pointers, of any operation. */
#ifndef GM_CHECK_ARGS_H
#define GM_CHECK_ARGS_H

#include "host/operation.h"

/* Checks addresses, alignment, overlap and workspace. Reads nothing but its arguments. */
enum gm_status gm_check_args(const struct gm_range *ranges, int count, const struct gm_workspace *workspace);

#endif
