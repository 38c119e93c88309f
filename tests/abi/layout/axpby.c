/* SPDX-License-Identifier: Apache-2.0 */
/* The layout of gristmill/axpby.h. */
#include "gristmill/axpby.h"
#include "layout.h"

MEMBER(gm_axpby_problem, size, 0)
MEMBER(gm_axpby_problem, rows, 8)
MEMBER(gm_axpby_problem, columns, 16)
MEMBER(gm_axpby_problem, type, 24)
MEMBER(gm_axpby_problem, y_type, 28)
MEMBER(gm_axpby_problem, out_type, 32)
MEMBER(gm_axpby_problem, terms, 36)
MEMBER(gm_axpby_problem, alpha, 40)
MEMBER(gm_axpby_problem, beta, 44)
MEMBER(gm_axpby_problem, gamma, 48)
MEMBER(gm_axpby_problem, x_align, 52)
MEMBER(gm_axpby_problem, y_align, 56)
MEMBER(gm_axpby_problem, out_align, 60)
MEMBER(gm_axpby_problem, x_stride, 64)
MEMBER(gm_axpby_problem, y_stride, 72)
MEMBER(gm_axpby_problem, out_stride, 80)
END(gm_axpby_problem, out_stride, 88)

MEMBER(gm_axpby_args, size, 0)
MEMBER(gm_axpby_args, x, 8)
MEMBER(gm_axpby_args, y, 16)
MEMBER(gm_axpby_args, out, 24)
MEMBER(gm_axpby_args, row_count, 32)
END(gm_axpby_args, row_count, 40)

/* ---- enumerators ------------------------------------------------------------------------------------ */

VALUE(GM_AXPBY_X, 0)
VALUE(GM_AXPBY_X_AND_Y, 1)
VALUE(GM_AXPBY_NEITHER, 2)
