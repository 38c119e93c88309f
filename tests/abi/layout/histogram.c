/* SPDX-License-Identifier: Apache-2.0 */
/* The layout of gristmill/histogram.h. */
#include "gristmill/histogram.h"
#include "layout.h"

MEMBER(gm_histogram_problem, size, 0)
MEMBER(gm_histogram_problem, rows, 8)
MEMBER(gm_histogram_problem, columns, 16)
MEMBER(gm_histogram_problem, bins, 24)
MEMBER(gm_histogram_problem, type, 32)
MEMBER(gm_histogram_problem, of, 36)
MEMBER(gm_histogram_problem, int64_counts, 40)
MEMBER(gm_histogram_problem, accumulate, 44)
MEMBER(gm_histogram_problem, x_stride, 48)
MEMBER(gm_histogram_problem, counts_stride, 56)
MEMBER(gm_histogram_problem, first, 64)
MEMBER(gm_histogram_problem, width, 72)
MEMBER(gm_histogram_problem, lower, 80)
MEMBER(gm_histogram_problem, upper, 84)
END(gm_histogram_problem, upper, 88)

MEMBER(gm_histogram_args, size, 0)
MEMBER(gm_histogram_args, x, 8)
MEMBER(gm_histogram_args, counts, 16)
MEMBER(gm_histogram_args, row_count, 24)
MEMBER(gm_histogram_args, workspace, 32)
MEMBER(gm_histogram_args, workspace_bytes, 40)
END(gm_histogram_args, workspace_bytes, 48)

/* ---- enumerators ------------------------------------------------------------------------------------ */

VALUE(GM_HISTOGRAM_ALL, 0)
VALUE(GM_HISTOGRAM_ROWS, 1)
VALUE(GM_HISTOGRAM_WORKSPACE_BYTES, 4096)
