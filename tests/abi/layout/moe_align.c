/* SPDX-License-Identifier: Apache-2.0 */
/* The layout of gristmill/moe_align.h. */
#include "gristmill/moe_align.h"
#include "layout.h"

MEMBER(gm_moe_align_problem, size, 0)
MEMBER(gm_moe_align_problem, tokens, 8)
MEMBER(gm_moe_align_problem, k, 16)
MEMBER(gm_moe_align_problem, experts, 24)
MEMBER(gm_moe_align_problem, alignment, 32)
END(gm_moe_align_problem, alignment, 40)

MEMBER(gm_moe_align_args, size, 0)
MEMBER(gm_moe_align_args, ids, 8)
MEMBER(gm_moe_align_args, offsets, 16)
MEMBER(gm_moe_align_args, rows, 24)
MEMBER(gm_moe_align_args, inverse, 32)
MEMBER(gm_moe_align_args, row_count, 40)
END(gm_moe_align_args, row_count, 48)
