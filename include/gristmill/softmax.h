/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill/softmax.h: softmax and log-softmax of rows, with a soft cap and a temperature. gristmill/core.h has what all
 * operations share. */
#ifndef GRISTMILL_SOFTMAX_H
#define GRISTMILL_SOFTMAX_H

#include "gristmill/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/*  y = x, or cap * tanh(x / cap)      out = exp(z - lse)      z = y / temperature
 *                                     out = z - lse           lse = log(sum(exp(z))) over the row's columns
 *
 *  x     x[row * x_stride + column]          out   out[row * out_stride + column]          lse   lse[row]
 *
 *  Everything is computed in fp32, shifted by the row's largest y, and rounded once. The parts of the relative error of an
 *  element of the softmax, which are those of the absolute error of one of the log-softmax:
 *
 *    2^-20 * (3 + d + D)    d = (largest y - y) / temperature, D its mean over the row with the softmax as weights
 *    2^-19 * cap / temperature, where there is a cap
 *    2^-24 for every 2^18 columns beyond the first
 *
 *  and the rounding to the type of out. Softmax values below 2^-126 may be 0.
 *  A row's bits depend on its elements and this problem's choices only: not on the number of rows, on strides, alignments,
 *  or the kernel that a planner, a ledger or the caller chooses. Sums are of one order (docs/SOFTMAX.md).
 *
 *  A temperature below 2^-126 is greedy: out is 1 at the first of the row's largest x and 0 elsewhere, the log-softmax 0 and
 *  -inf; lse is the largest y. Other temperatures must be finite.
 *  As torch has it, a row that has a NaN, a +inf (without a cap), or nothing but -inf (without a cap) becomes NaN; lse is
 *  then NaN, +inf, -inf. A greedy row is NaN only where it has a NaN. -inf beside finite elements becomes 0, or -inf.
 *
 *  Strides are in elements, the columns at least; 0 means packed. out may be x (in place, with one type and stride). No other
 *  overlap with out or lse is allowed. rows = 0 launches nothing. Up to 2^31 - 1 rows and 2^30 columns; operands may exceed
 *  2^31 elements and 4 GiB. */
struct gm_softmax_problem {
    size_t size;
    int64_t rows, columns;
    enum gm_type type; /* of x: GM_BF16, GM_FP16, GM_FP32 */
    int32_t fp32_out;  /* 1: out is GM_FP32; 0: it has x's type */
    int32_t log;       /* 1: the log-softmax */
    float cap;         /* more than 0; 0: there is none */
    /* 0 or more; 0: 1. args.temperatures says one for each row instead. */
    float temperature;
    int64_t x_stride, out_stride; /* elements; 0: packed */
    /* Alignment in bytes that the caller promises of the pointers at execute: 16 (or 0), 8, 4, 2. Rows that do not all begin
     * on multiples of 16 bytes, or whose columns are no multiple of that, take longer. */
    int32_t x_align, out_align;
};

struct gm_softmax_args {
    size_t size;
    gm_device_ptr x, out;
    gm_device_ptr lse;          /* float[rows] to be written, or 0 */
    gm_device_ptr temperatures; /* float[rows] in device memory, or 0: the problem's */
    /* 0, or an int32_t in device memory: only so many of the first rows are computed, none where it is negative. It is
     * read when the kernel runs, so that a captured graph serves any number of rows up to the problem's. */
    gm_device_ptr row_count;
};

/* Chooses a kernel and loads it if this context has not yet. `options` may be NULL; GM_PLAN_CONSTANT_B has no effect. */
GM_API enum gm_status gm_softmax_plan_create(gm_context *context, const struct gm_softmax_problem *problem,
                                             const struct gm_plan_options *options, gm_plan **plan);
/* Launches on `stream` (of the context's device), as gm_gemm_execute() does. Any thread; no current context is needed. */
GM_API enum gm_status gm_softmax_execute(const gm_plan *plan, const struct gm_softmax_args *args, void *stream);
/* Plan, execute, destroy, in one call; for trying things out. Not for a hot loop. */
GM_API enum gm_status gm_softmax(gm_context *context, const struct gm_softmax_problem *problem,
                                 const struct gm_softmax_args *args, void *stream);
/* A candidate for every kernel of this operation, as gm_gemm_explain() of GEMM. Pure: no driver call. */
GM_API enum gm_status gm_softmax_explain(const struct gm_device *device, const struct gm_softmax_problem *problem,
                                         const struct gm_plan_options *options, struct gm_candidate *candidates,
                                         size_t capacity, size_t *count);

#ifdef __cplusplus
}
#endif
#endif
