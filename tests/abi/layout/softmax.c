/* SPDX-License-Identifier: Apache-2.0 */
/* The layout of gristmill/softmax.h. */
#include "gristmill/softmax.h"
#include "layout.h"

MEMBER(gm_softmax_problem, size, 0)
MEMBER(gm_softmax_problem, rows, 8)
MEMBER(gm_softmax_problem, columns, 16)
MEMBER(gm_softmax_problem, type, 24)
MEMBER(gm_softmax_problem, fp32_out, 28)
MEMBER(gm_softmax_problem, log, 32)
MEMBER(gm_softmax_problem, cap, 36)
MEMBER(gm_softmax_problem, temperature, 40)
MEMBER(gm_softmax_problem, x_stride, 48)
MEMBER(gm_softmax_problem, out_stride, 56)
MEMBER(gm_softmax_problem, x_align, 64)
MEMBER(gm_softmax_problem, out_align, 68)
END(gm_softmax_problem, out_align, 72)

MEMBER(gm_softmax_args, size, 0)
MEMBER(gm_softmax_args, x, 8)
MEMBER(gm_softmax_args, out, 16)
MEMBER(gm_softmax_args, lse, 24)
MEMBER(gm_softmax_args, temperatures, 32)
MEMBER(gm_softmax_args, row_count, 40)
END(gm_softmax_args, row_count, 48)
