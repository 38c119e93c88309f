/* SPDX-License-Identifier: Apache-2.0 */
/* The layout of gristmill/quantize.h. */
#include "gristmill/quantize.h"
#include "layout.h"

MEMBER(gm_quantize_problem, size, 0)
MEMBER(gm_quantize_problem, rows, 8)
MEMBER(gm_quantize_problem, columns, 16)
MEMBER(gm_quantize_problem, group, 24)
MEMBER(gm_quantize_problem, type, 32)
MEMBER(gm_quantize_problem, out_type, 36)
MEMBER(gm_quantize_problem, scaling, 40)
MEMBER(gm_quantize_problem, scale_format, 44)
MEMBER(gm_quantize_problem, scale_order, 48)
MEMBER(gm_quantize_problem, division, 52)
MEMBER(gm_quantize_problem, x_stride, 56)
MEMBER(gm_quantize_problem, out_stride, 64)
MEMBER(gm_quantize_problem, scales_stride, 72)
MEMBER(gm_quantize_problem, x_align, 80)
MEMBER(gm_quantize_problem, out_align, 84)
MEMBER(gm_quantize_problem, scale_floor, 88)
END(gm_quantize_problem, scale_floor, 96)

MEMBER(gm_quantize_args, size, 0)
MEMBER(gm_quantize_args, x, 8)
MEMBER(gm_quantize_args, out, 16)
MEMBER(gm_quantize_args, scales, 24)
MEMBER(gm_quantize_args, row_count, 32)
END(gm_quantize_args, row_count, 40)

/* ---- enumerators ------------------------------------------------------------------------------------ */

VALUE(GM_SCALE_STATIC, 0)
VALUE(GM_SCALE_AMAX_ONLY, 1)
VALUE(GM_SCALE_ROW, 2)
VALUE(GM_SCALE_GROUP, 3)
VALUE(GM_SCALE_BLOCK, 4)

VALUE(GM_SCALE_FP32, 0)
VALUE(GM_SCALE_POWER_OF_2, 1)
VALUE(GM_SCALE_E8M0, 2)

VALUE(GM_SCALES_BY_ROW, 0)
VALUE(GM_SCALES_BY_COLUMN, 1)

VALUE(GM_DIVIDE, 0)
VALUE(GM_DIVIDE_BY_RECIPROCAL, 1)
