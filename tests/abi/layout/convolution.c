/* SPDX-License-Identifier: Apache-2.0 */
/* The layout of gristmill/convolution.h. */
#include "gristmill/convolution.h"
#include "layout.h"

MEMBER(gm_convolution_problem, size, 0)
MEMBER(gm_convolution_problem, width, 8)
MEMBER(gm_convolution_problem, height, 16)
MEMBER(gm_convolution_problem, planes, 24)
MEMBER(gm_convolution_problem, filter_width, 32)
MEMBER(gm_convolution_problem, filter_height, 40)
MEMBER(gm_convolution_problem, shift_x, 48)
MEMBER(gm_convolution_problem, shift_y, 56)
MEMBER(gm_convolution_problem, x_row_stride, 64)
MEMBER(gm_convolution_problem, x_plane_stride, 72)
MEMBER(gm_convolution_problem, out_row_stride, 80)
MEMBER(gm_convolution_problem, out_plane_stride, 88)
MEMBER(gm_convolution_problem, type, 96)
MEMBER(gm_convolution_problem, edge, 100)
MEMBER(gm_convolution_problem, separable, 104)
MEMBER(gm_convolution_problem, x_align, 108)
MEMBER(gm_convolution_problem, out_align, 112)
END(gm_convolution_problem, out_align, 120)

MEMBER(gm_convolution_args, size, 0)
MEMBER(gm_convolution_args, x, 8)
MEMBER(gm_convolution_args, filter, 16)
MEMBER(gm_convolution_args, filter_y, 24)
MEMBER(gm_convolution_args, out, 32)
END(gm_convolution_args, out, 40)

/* ---- enumerators ------------------------------------------------------------------------------------ */

VALUE(GM_CONVOLUTION_ZERO, 0)
VALUE(GM_CONVOLUTION_CLAMP, 1)
VALUE(GM_CONVOLUTION_WRAP, 2)
