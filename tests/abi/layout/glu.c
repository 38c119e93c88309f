/* SPDX-License-Identifier: Apache-2.0 */
/* The layout of gristmill/glu.h. */
#include "gristmill/glu.h"
#include "layout.h"

MEMBER(gm_glu_problem, size, 0)
MEMBER(gm_glu_problem, rows, 8)
MEMBER(gm_glu_problem, columns, 16)
MEMBER(gm_glu_problem, type, 24)
MEMBER(gm_glu_problem, layout, 28)
MEMBER(gm_glu_problem, activation, 32)
MEMBER(gm_glu_problem, rounding, 36)
MEMBER(gm_glu_problem, limit, 40)
MEMBER(gm_glu_problem, sigmoid_factor, 44)
MEMBER(gm_glu_problem, up_offset, 48)
MEMBER(gm_glu_problem, gate_stride, 56)
MEMBER(gm_glu_problem, up_stride, 64)
MEMBER(gm_glu_problem, out_stride, 72)
MEMBER(gm_glu_problem, gate_align, 80)
MEMBER(gm_glu_problem, up_align, 84)
MEMBER(gm_glu_problem, out_align, 88)
MEMBER(gm_glu_problem, has_out_type, 92)
MEMBER(gm_glu_problem, out_type, 96)
MEMBER(gm_glu_problem, out_rounding, 100)
MEMBER(gm_glu_problem, scaling, 104)
MEMBER(gm_glu_problem, scale_format, 108)
MEMBER(gm_glu_problem, scale_order, 112)
MEMBER(gm_glu_problem, division, 116)
MEMBER(gm_glu_problem, scale_floor, 120)
MEMBER(gm_glu_problem, group, 128)
MEMBER(gm_glu_problem, scales_stride, 136)
END(gm_glu_problem, scales_stride, 96)

MEMBER(gm_glu_args, size, 0)
MEMBER(gm_glu_args, gate, 8)
MEMBER(gm_glu_args, up, 16)
MEMBER(gm_glu_args, out, 24)
MEMBER(gm_glu_args, row_count, 32)
MEMBER(gm_glu_args, scales, 40)
END(gm_glu_args, scales, 40)

/* ---- enumerators ------------------------------------------------------------------------------------ */

VALUE(GM_GLU_APART, 0)
VALUE(GM_GLU_INTERLEAVED, 1)
VALUE(GM_GLU_NO_UP, 2)
