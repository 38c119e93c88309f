/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill/histogram.h: how many elements fall into each of some bins of equal width. gristmill/core.h has what all
 * operations share. */
#ifndef GRISTMILL_HISTOGRAM_H
#define GRISTMILL_HISTOGRAM_H

#include "gristmill/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of which elements a histogram is; element (row, column) is x[row * x_stride + column].
 *
 *  GM_HISTOGRAM_ALL   counts[bin] of all elements. A flat array is one row
 *  GM_HISTOGRAM_ROWS  counts[row * counts_stride + bin] of each row's
 *
 * Which bin an element falls into; one that falls into none is not counted:
 *
 *  integers  bin = (x - first) / width, rounded down, where first <= x < first + bins * width. So width 1 and first 0 is
 *            a count of every value. Elements of GM_INT32 are int32_t or uint32_t: signed where `first` is negative, and
 *            then first + bins * width is 2^31 at most, else 2^32. bins * width is 2^32 at most, and width 2^31
 *  floats    bin = min(floor((x - lower) * scale), bins - 1) where lower <= x <= upper: the upper end belongs to the last
 *            bin. The difference and the product are fp32, rounded to nearest even each, and so is scale = bins / (upper -
 *            lower), which is computed in double. NaN falls into no bin, and -0 equals 0. bf16 and fp16 are converted to
 *            fp32 first, which is exact
 *
 * Counts are integers: the same bits on every call, whatever the order. uint32_t counts are those of 2^32 - 1 elements at
 * most: a problem whose histogram has more of them is refused, and int64_counts serves it. They are written over what
 * `counts` holds, or added to it where the problem accumulates: then sums are modulo 2^32, or 2^64, and several calls may add
 * to the same counts at once.
 *
 * Counts that are written, not added, come from many CTAs at once only with a workspace: a workspace_limit of
 * GM_HISTOGRAM_WORKSPACE_BYTES is enough for any plan on up to 132 SMs. Without one each histogram is one CTA's, or a few
 * CTAs' of many bins: right results slowly. The workspace needs no clearing; launches that may overlap need one each.
 *
 * Any alignment of x that is its elements', and any stride, cost the elements at a row's two ends only.
 * No rows or no columns: all counts are 0. Nothing is launched where there is no histogram, or nothing to add.
 * x and counts must not overlap. Up to 2^31 - 1 rows and 2^40 columns; x may exceed 2^31 elements and 4 GiB. */
enum gm_histogram_of { GM_HISTOGRAM_ALL = 0, GM_HISTOGRAM_ROWS = 1 };
#define GM_HISTOGRAM_WORKSPACE_BYTES ((size_t)4096)

struct gm_histogram_problem {
    size_t size;
    int64_t rows, columns; /* of x */
    int64_t bins;          /* 1 to 131072 */
    enum gm_type type;     /* of x: GM_BF16, GM_FP16, GM_FP32, GM_UINT8, GM_INT32, GM_INT64 */
    enum gm_histogram_of of;
    int32_t int64_counts;  /* 1: counts are int64_t; 0: uint32_t */
    int32_t accumulate;    /* 1: counts are added to what is there; 0: they are written */
    int64_t x_stride;      /* elements; 0: packed */
    int64_t counts_stride; /* counts from one histogram to the next; 0: packed */
    int64_t first, width; /* of integers: the first bin's first value; values of a bin, 0: 1. Of floats 0, and 0 or 1 */
    float lower, upper;   /* of floats: lower < upper. Of integers 0 */
};

struct gm_histogram_args {
    size_t size;
    gm_device_ptr x, counts;
    /* 0, or an int32_t in device memory: only so many of the first rows exist, none where it is negative. Counts of other
     * rows are not written. It is read when the kernel runs, so that a captured graph serves any number of rows up to the
     * problem's. */
    gm_device_ptr row_count;
    gm_device_ptr workspace; /* of gm_plan_workspace_bytes() bytes */
    size_t workspace_bytes;
};

/* Chooses a kernel and loads it if this context has not yet. `options` may be NULL; GM_PLAN_CONSTANT_B has no effect. */
GM_API enum gm_status gm_histogram_plan_create(gm_context *context, const struct gm_histogram_problem *problem,
                                               const struct gm_plan_options *options, gm_plan **plan);
/* Launches on `stream` (of the context's device), as gm_gemm_execute() does. Any thread; no current context is needed. */
GM_API enum gm_status gm_histogram_execute(const gm_plan *plan, const struct gm_histogram_args *args, void *stream);
/* Plan, execute, destroy, in one call, without a workspace; for trying things out. Not for a hot loop. */
GM_API enum gm_status gm_histogram(gm_context *context, const struct gm_histogram_problem *problem,
                                   const struct gm_histogram_args *args, void *stream);
/* A candidate for every kernel of this operation, as gm_gemm_explain() of GEMM. Pure: no driver call. */
GM_API enum gm_status gm_histogram_explain(const struct gm_device *device, const struct gm_histogram_problem *problem,
                                           const struct gm_plan_options *options, struct gm_candidate *candidates,
                                           size_t capacity, size_t *count);

#ifdef __cplusplus
}
#endif
#endif
