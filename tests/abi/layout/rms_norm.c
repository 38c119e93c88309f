/* SPDX-License-Identifier: Apache-2.0 */
/* The layout of gristmill/rms_norm.h. */
#include "gristmill/rms_norm.h"
#include "layout.h"

MEMBER(gm_rms_norm_problem, size, 0)
MEMBER(gm_rms_norm_problem, rows, 8)
MEMBER(gm_rms_norm_problem, columns, 16)
MEMBER(gm_rms_norm_problem, type, 24)
MEMBER(gm_rms_norm_problem, fp32_weight, 28)
MEMBER(gm_rms_norm_problem, residual, 32)
MEMBER(gm_rms_norm_problem, eps, 36)
MEMBER(gm_rms_norm_problem, weight_offset, 40)
MEMBER(gm_rms_norm_problem, sum_rounding, 44)
MEMBER(gm_rms_norm_problem, normalized_rounding, 48)
MEMBER(gm_rms_norm_problem, x_stride, 56)
MEMBER(gm_rms_norm_problem, residual_stride, 64)
MEMBER(gm_rms_norm_problem, out_stride, 72)
MEMBER(gm_rms_norm_problem, x_align, 80)
MEMBER(gm_rms_norm_problem, residual_align, 84)
MEMBER(gm_rms_norm_problem, weight_align, 88)
MEMBER(gm_rms_norm_problem, out_align, 92)
MEMBER(gm_rms_norm_problem, heads, 96)
MEMBER(gm_rms_norm_problem, x_head_stride, 104)
MEMBER(gm_rms_norm_problem, out_head_stride, 112)
END(gm_rms_norm_problem, out_head_stride, 96)

MEMBER(gm_rms_norm_args, size, 0)
MEMBER(gm_rms_norm_args, x, 8)
MEMBER(gm_rms_norm_args, residual, 16)
MEMBER(gm_rms_norm_args, weight, 24)
MEMBER(gm_rms_norm_args, out, 32)
MEMBER(gm_rms_norm_args, row_count, 40)
END(gm_rms_norm_args, row_count, 40)
