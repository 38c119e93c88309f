/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill/reduce.h: sums, means, extremes, norms of rows, of columns, and of all elements. gristmill/core.h has what all
 * operations share. */
#ifndef GRISTMILL_REDUCE_H
#define GRISTMILL_REDUCE_H

#include "gristmill/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which elements one result is made of; element (row, column) is x[row * x_stride + column].
 *
 *  GM_REDUCE_COLUMNS  along the columns: out[row] is made of a row
 *  GM_REDUCE_ROWS     along the rows: out[column] is made of a column
 *  GM_REDUCE_ALL      out[0] is made of all elements
 *
 *  GM_REDUCTION_SUM, _MEAN       in fp32; the mean is the sum divided by the number of elements, NaN where there are none
 *  GM_REDUCTION_L2               square root of the sum of squares, in fp32: squares beyond 3.4e38 are infinite
 *  GM_REDUCTION_MAX, _MIN        NaN where there is one. +0 is larger than -0
 *  GM_REDUCTION_ARGMAX, _ARGMIN  the index of that element: int32 of its column or row; along all int64
 *                                row * columns + column. The lowest of equal ones, and +0 equals -0. NaN counts as the
 *                                largest, or the least: the first one wins
 *
 *  out has the results side by side. They are of x's type, rounded once, or fp32, or indices.
 *
 *  The order of every sum is fixed: a plan gives the same bits on every call. Along columns a row's bits depend on its
 *  elements, the number of columns, the type, and on whether 16 bytes can be loaded at once, but not on the number of
 *  rows, on the plan's options or on the device. Along rows and all they depend on the number of SMs, or sm_budget, and
 *  workspace_limit too, as the elements are cut into parts for as many CTAs: with a workspace_limit of
 *  GM_REDUCE_WORKSPACE_BYTES into as many parts as the device takes at once. Without a workspace they are not cut, which
 *  gives right results slowly.
 *
 *  No rows or no columns: where there are results of no elements they are 0, NaN of a mean, and extremes are refused.
 *  Nothing is launched where there is no result.
 *  x and out must not overlap. Up to 2^31 - 1 rows and 2^30 columns; x may exceed 2^31 elements and 4 GiB. */
enum gm_reduce_along { GM_REDUCE_COLUMNS = 0, GM_REDUCE_ROWS = 1, GM_REDUCE_ALL = 2 };
enum gm_reduction {
    GM_REDUCTION_SUM = 0,
    GM_REDUCTION_MEAN = 1,
    GM_REDUCTION_MAX = 2,
    GM_REDUCTION_MIN = 3,
    GM_REDUCTION_L2 = 4,
    GM_REDUCTION_ARGMAX = 5,
    GM_REDUCTION_ARGMIN = 6
};
#define GM_REDUCE_WORKSPACE_BYTES ((size_t)8 << 20) /* enough for any plan on up to 132 SMs */

struct gm_reduce_problem {
    size_t size;
    int64_t rows, columns; /* of x */
    enum gm_type type;     /* of x: GM_BF16, GM_FP16, GM_FP32 */
    enum gm_reduce_along along;
    enum gm_reduction reduction;
    int32_t fp32_out; /* 1: out is fp32; 0: of x's type. Without effect on indices */
    int64_t x_stride; /* elements; 0: packed */
    /* Alignment in bytes that the caller promises of x at execute: 16 (or 0), 8, 4, 2. Rows that do not all begin on
     * multiples of 16 bytes, or whose columns are no multiple of that, take longer; packed ones along all do not. */
    int32_t x_align;
};

struct gm_reduce_args {
    size_t size;
    gm_device_ptr x, out;
    /* 0, or an int32_t in device memory: only so many of the first rows exist, none where it is negative. Results of other
     * rows are not written. Then extremes of no rows are -inf of MAX, +inf of MIN, and index -1. It is read when the
     * kernel runs, so that a captured graph serves any number of rows up to the problem's. */
    gm_device_ptr row_count;
    gm_device_ptr workspace; /* of gm_plan_workspace_bytes() bytes */
    size_t workspace_bytes;
};

/* Chooses a kernel and loads it if this context has not yet. `options` may be NULL; GM_PLAN_CONSTANT_B has no effect. */
GM_API enum gm_status gm_reduce_plan_create(gm_context *context, const struct gm_reduce_problem *problem,
                                            const struct gm_plan_options *options, gm_plan **plan);
/* Launches on `stream` (of the context's device), as gm_gemm_execute() does. Any thread; no current context is needed. */
GM_API enum gm_status gm_reduce_execute(const gm_plan *plan, const struct gm_reduce_args *args, void *stream);
/* Plan, execute, destroy, in one call, without a workspace; for trying things out. Not for a hot loop. */
GM_API enum gm_status gm_reduce(gm_context *context, const struct gm_reduce_problem *problem,
                                const struct gm_reduce_args *args, void *stream);
/* A candidate for every kernel of this operation, as gm_gemm_explain() of GEMM. Pure: no driver call. */
GM_API enum gm_status gm_reduce_explain(const struct gm_device *device, const struct gm_reduce_problem *problem,
                                        const struct gm_plan_options *options, struct gm_candidate *candidates,
                                        size_t capacity, size_t *count);

#ifdef __cplusplus
}
#endif
#endif
