/* SPDX-License-Identifier: Apache-2.0 */
/* The layout of gristmill/dequantize.h. */
#include "gristmill/dequantize.h"
#include "layout.h"

MEMBER(gm_dequantize_problem, size, 0)
MEMBER(gm_dequantize_problem, rows, 8)
MEMBER(gm_dequantize_problem, columns, 16)
MEMBER(gm_dequantize_problem, group, 24)
MEMBER(gm_dequantize_problem, type, 32)
MEMBER(gm_dequantize_problem, out_type, 36)
MEMBER(gm_dequantize_problem, scaling, 40)
MEMBER(gm_dequantize_problem, scale_format, 44)
MEMBER(gm_dequantize_problem, scale_order, 48)
MEMBER(gm_dequantize_problem, x_align, 52)
MEMBER(gm_dequantize_problem, out_align, 56)
MEMBER(gm_dequantize_problem, x_stride, 64)
MEMBER(gm_dequantize_problem, out_stride, 72)
MEMBER(gm_dequantize_problem, scales_stride, 80)
END(gm_dequantize_problem, scales_stride, 88)

MEMBER(gm_dequantize_args, size, 0)
MEMBER(gm_dequantize_args, x, 8)
MEMBER(gm_dequantize_args, out, 16)
MEMBER(gm_dequantize_args, scales, 24)
MEMBER(gm_dequantize_args, row_count, 32)
END(gm_dequantize_args, row_count, 40)
