/* SPDX-License-Identifier: Apache-2.0 */
/* The layout of gristmill/reduce.h. */
#include "gristmill/reduce.h"
#include "layout.h"

MEMBER(gm_reduce_problem, size, 0)
MEMBER(gm_reduce_problem, rows, 8)
MEMBER(gm_reduce_problem, columns, 16)
MEMBER(gm_reduce_problem, type, 24)
MEMBER(gm_reduce_problem, along, 28)
MEMBER(gm_reduce_problem, reduction, 32)
MEMBER(gm_reduce_problem, fp32_out, 36)
MEMBER(gm_reduce_problem, x_stride, 40)
MEMBER(gm_reduce_problem, x_align, 48)
END(gm_reduce_problem, x_align, 56)

MEMBER(gm_reduce_args, size, 0)
MEMBER(gm_reduce_args, x, 8)
MEMBER(gm_reduce_args, out, 16)
MEMBER(gm_reduce_args, row_count, 24)
MEMBER(gm_reduce_args, workspace, 32)
MEMBER(gm_reduce_args, workspace_bytes, 40)
END(gm_reduce_args, workspace_bytes, 48)

/* ---- enumerators ------------------------------------------------------------------------------------ */

VALUE(GM_REDUCE_COLUMNS, 0)
VALUE(GM_REDUCE_ROWS, 1)
VALUE(GM_REDUCE_ALL, 2)
VALUE(GM_REDUCTION_SUM, 0)
VALUE(GM_REDUCTION_MEAN, 1)
VALUE(GM_REDUCTION_MAX, 2)
VALUE(GM_REDUCTION_MIN, 3)
VALUE(GM_REDUCTION_L2, 4)
VALUE(GM_REDUCTION_ARGMAX, 5)
VALUE(GM_REDUCTION_ARGMIN, 6)
VALUE(GM_REDUCE_WORKSPACE_BYTES, 8 << 20)
