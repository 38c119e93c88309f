/* SPDX-License-Identifier: Apache-2.0 */
/* What the operation moe_align tells its family. */
#ifndef GM_HOST_MOE_ALIGN_H
#define GM_HOST_MOE_ALIGN_H

#include "gristmill/moe_align.h"
#include "host/operation.h"

/* The most rows that a normalised problem may have. */
int64_t gm_moe_align_rows(const struct gm_moe_align_problem *problem);

#endif
