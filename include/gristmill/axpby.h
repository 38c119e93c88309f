/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill/axpby.h: weighted sums of rows element by element, of any types: add, scale, cast, fill. gristmill/core.h has what
 * all operations share. */
#ifndef GRISTMILL_AXPBY_H
#define GRISTMILL_AXPBY_H

#include "gristmill/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/*  out = alpha * x + beta * y + gamma      of every element
 *
 *  x         x[row * x_stride + column]          y       y[row * y_stride + column]
 *  out       out[row * out_stride + column]
 *
 *  GM_AXPBY_X          out = alpha * x + gamma: a cast, or a scaled copy
 *  GM_AXPBY_X_AND_Y    all of it
 *  GM_AXPBY_NEITHER    out = gamma: a fill
 *
 *  Each operand has a type of its own, GM_BF16, GM_FP16, GM_FP32, GM_E4M3, GM_E5M2, GM_INT8, GM_UINT8 or GM_INT32. x and y become
 *  fp32, exactly, but that an int32 beyond 2^24 is rounded to nearest even. Then out = fma(alpha, x, fma(beta, y, gamma))
 *  in fp32, and is rounded once to its type, to nearest even. A gamma of 0, of either sign, is not added: -0 stays -0.
 *
 *  What is too large becomes infinite in bf16, fp16 and fp32, and the largest number with its sign in others: 448 of
 *  GM_E4M3, 57344 of GM_E5M2, -128 and 127 of GM_INT8, 0 and 255 of GM_UINT8, -2^31 and 2^31 - 1 of GM_INT32; infinities do,
 *  too. NaN stays NaN, as 0x7f in 8-bit floats, and becomes 0 in integers. gm_permute() copies bits, of every type.
 *
 *  Strides are in elements, the row's elements at least; 0 means packed. Every element depends on its own x and y only: plans
 *  are batch-invariant, and every kernel gives the same bits.
 *  out may be x, or y, or both (in place), with one stride and elements of one size. No other overlap with out is allowed.
 *  rows = 0 launches nothing. Up to 2^31 - 1 rows and 2^29 columns; operands may exceed 2^31 elements and 4 GiB. */
enum gm_axpby_terms { GM_AXPBY_X = 0, GM_AXPBY_X_AND_Y = 1, GM_AXPBY_NEITHER = 2 };

struct gm_axpby_problem {
    size_t size;
    int64_t rows, columns;
    enum gm_type type;             /* of x */
    enum gm_type y_type, out_type; /* y_type: of GM_AXPBY_X_AND_Y */
    enum gm_axpby_terms terms;
    float alpha, beta; /* finite; 0: 1, for a term of weight 0 is left out by `terms` */
    float gamma;       /* any number, also an infinity or NaN */
    /* Alignment in bytes that the caller promises of the pointers at execute: 16 (or 0), 8, 4, 2, 1, no less than an element
     * has. Rows take longer that do not begin on multiples of 8 elements, or of 4 where an operand has elements of 4 bytes, or
     * whose columns are no multiple of that. */
    int32_t x_align, y_align, out_align;
    int64_t x_stride, y_stride, out_stride; /* elements; 0: packed */
};

struct gm_axpby_args {
    size_t size;
    gm_device_ptr x, y, out; /* x, y: 0 where it is left out */
    /* 0, or an int32_t in device memory: only so many of the first rows are computed, none where it is negative. It is
     * read when the kernel runs, so that a captured graph serves any number of rows up to the problem's. */
    gm_device_ptr row_count;
};

/* Chooses a kernel and loads it if this context has not yet. `options` may be NULL; GM_PLAN_CONSTANT_B has no effect. */
GM_API enum gm_status gm_axpby_plan_create(gm_context *context, const struct gm_axpby_problem *problem,
                                           const struct gm_plan_options *options, gm_plan **plan);
/* Launches on `stream` (of the context's device), as gm_gemm_execute() does. Any thread; no current context is needed. */
GM_API enum gm_status gm_axpby_execute(const gm_plan *plan, const struct gm_axpby_args *args, void *stream);
/* Plan, execute, destroy, in one call; for trying things out. Not for a hot loop. */
GM_API enum gm_status gm_axpby(gm_context *context, const struct gm_axpby_problem *problem,
                               const struct gm_axpby_args *args, void *stream);
/* A candidate for every kernel of this operation, as gm_gemm_explain() of GEMM. Pure: no driver call. */
GM_API enum gm_status gm_axpby_explain(const struct gm_device *device, const struct gm_axpby_problem *problem,
                                       const struct gm_plan_options *options, struct gm_candidate *candidates,
                                       size_t capacity, size_t *count);

#ifdef __cplusplus
}
#endif
#endif
