/* SPDX-License-Identifier: Apache-2.0 */
/* The layout of gristmill/layer_norm.h. */
#include "gristmill/layer_norm.h"
#include "layout.h"

MEMBER(gm_layer_norm_problem, size, 0)
MEMBER(gm_layer_norm_problem, rows, 8)
MEMBER(gm_layer_norm_problem, columns, 16)
MEMBER(gm_layer_norm_problem, type, 24)
MEMBER(gm_layer_norm_problem, fp32_weight, 28)
MEMBER(gm_layer_norm_problem, residual, 32)
MEMBER(gm_layer_norm_problem, eps, 36)
MEMBER(gm_layer_norm_problem, weight_offset, 40)
MEMBER(gm_layer_norm_problem, sum_rounding, 44)
MEMBER(gm_layer_norm_problem, normalized_rounding, 48)
MEMBER(gm_layer_norm_problem, x_align, 52)
MEMBER(gm_layer_norm_problem, residual_align, 56)
MEMBER(gm_layer_norm_problem, weight_align, 60)
MEMBER(gm_layer_norm_problem, bias_align, 64)
MEMBER(gm_layer_norm_problem, out_align, 68)
MEMBER(gm_layer_norm_problem, x_stride, 72)
MEMBER(gm_layer_norm_problem, residual_stride, 80)
MEMBER(gm_layer_norm_problem, out_stride, 88)
END(gm_layer_norm_problem, out_stride, 96)

MEMBER(gm_layer_norm_args, size, 0)
MEMBER(gm_layer_norm_args, x, 8)
MEMBER(gm_layer_norm_args, residual, 16)
MEMBER(gm_layer_norm_args, weight, 24)
MEMBER(gm_layer_norm_args, bias, 32)
MEMBER(gm_layer_norm_args, out, 40)
MEMBER(gm_layer_norm_args, row_count, 48)
END(gm_layer_norm_args, row_count, 56)
