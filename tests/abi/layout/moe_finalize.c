/* SPDX-License-Identifier: Apache-2.0 */
/* The layout of gristmill/moe_finalize.h. */
#include "gristmill/moe_finalize.h"
#include "layout.h"

MEMBER(gm_moe_finalize_problem, size, 0)
MEMBER(gm_moe_finalize_problem, tokens, 8)
MEMBER(gm_moe_finalize_problem, columns, 16)
MEMBER(gm_moe_finalize_problem, k, 24)
MEMBER(gm_moe_finalize_problem, x_rows, 32)
MEMBER(gm_moe_finalize_problem, x_stride, 40)
MEMBER(gm_moe_finalize_problem, residual_stride, 48)
MEMBER(gm_moe_finalize_problem, out_stride, 56)
MEMBER(gm_moe_finalize_problem, type, 64)
MEMBER(gm_moe_finalize_problem, x_align, 68)
MEMBER(gm_moe_finalize_problem, residual_align, 72)
MEMBER(gm_moe_finalize_problem, out_align, 76)
END(gm_moe_finalize_problem, out_align, 80)

MEMBER(gm_moe_finalize_args, size, 0)
MEMBER(gm_moe_finalize_args, x, 8)
MEMBER(gm_moe_finalize_args, inverse, 16)
MEMBER(gm_moe_finalize_args, weights, 24)
MEMBER(gm_moe_finalize_args, residual, 32)
MEMBER(gm_moe_finalize_args, out, 40)
MEMBER(gm_moe_finalize_args, row_count, 48)
END(gm_moe_finalize_args, row_count, 56)
