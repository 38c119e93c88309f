/* SPDX-License-Identifier: Apache-2.0 */
/* The layout of gristmill/stencil.h. */
#include "gristmill/stencil.h"
#include "layout.h"

MEMBER(gm_stencil_problem, size, 0)
MEMBER(gm_stencil_problem, width, 8)
MEMBER(gm_stencil_problem, height, 16)
MEMBER(gm_stencil_problem, depth, 24)
MEMBER(gm_stencil_problem, grids, 32)
MEMBER(gm_stencil_problem, x_row_stride, 40)
MEMBER(gm_stencil_problem, x_plane_stride, 48)
MEMBER(gm_stencil_problem, x_grid_stride, 56)
MEMBER(gm_stencil_problem, out_row_stride, 64)
MEMBER(gm_stencil_problem, out_plane_stride, 72)
MEMBER(gm_stencil_problem, out_grid_stride, 80)
MEMBER(gm_stencil_problem, type, 88)
MEMBER(gm_stencil_problem, shape, 92)
MEMBER(gm_stencil_problem, edge, 96)
MEMBER(gm_stencil_problem, x_align, 100)
MEMBER(gm_stencil_problem, out_align, 104)
MEMBER(gm_stencil_problem, coefficients, 108)
END(gm_stencil_problem, coefficients, 216)

MEMBER(gm_stencil_args, size, 0)
MEMBER(gm_stencil_args, x, 8)
MEMBER(gm_stencil_args, out, 16)
END(gm_stencil_args, out, 24)

/* ---- enumerators ------------------------------------------------------------------------------------ */

VALUE(GM_STENCIL_STAR_5, 0)
VALUE(GM_STENCIL_BOX_9, 1)
VALUE(GM_STENCIL_STAR_7, 2)
VALUE(GM_STENCIL_BOX_27, 3)
