/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill/permute.h: copies of strided arrays with their dimensions in another order, and casts. gristmill/core.h has
 * what all operations share. */
#ifndef GRISTMILL_PERMUTE_H
#define GRISTMILL_PERMUTE_H

#include "gristmill/core.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GM_PERMUTE_RANK_MAX 5

/*  out[i(order[0]), ..., i(order[rank - 1])] = x[i(0), ..., i(rank - 1)]       for every index
 *
 *  x     element i is at x + sum of i(k) * x_strides[k]
 *  out   its dimension k is x's dimension order[k]: element j is at out + sum of j(k) * out_strides[k]
 *
 *  That is x.permute(order).contiguous() of torch, into strides of any kind. order = {0, 1, ...} copies; {1, 0} is a
 *  transpose, {0, 2, 1} one for each index of the first dimension; {0, 2, 3, 1} is NCHW -> NHWC; {1, 0, 2} of [tokens]
 *  [heads][head_dim] is token-major -> head-major.
 *
 *  Strides are in elements and positive. A stride of 0 is that of an array which is packed there: the stride of the next
 *  dimension times its extent, and 1 for the last dimension. Elements of x may share memory, as those of overlapping
 *  windows do. Elements of out must not: in the order of their size, each stride of out passes what the dimensions of
 *  smaller strides span. What lies between out's elements is not written.
 *
 *  Without a cast elements are moved as bits. With one, between bf16, fp16 and fp32, they are rounded to nearest even;
 *  NaN stays NaN, and what is too large becomes infinite.
 *
 *  out may be x where every element stays in its place, that is where both give each dimension the same stride, and
 *  elements keep their size: a cast in place. No other overlap is allowed, but that rows of x lie between rows of out
 *  with the same largest stride.
 *  An extent of 0 launches nothing. Extents up to 2^31 - 1; x and out may exceed 2^31 elements and 4 GiB. */
struct gm_permute_problem {
    size_t size;
    int64_t rank;                             /* 1 to 5 */
    int64_t extents[GM_PERMUTE_RANK_MAX];     /* of x's dimensions; those beyond the rank are ignored */
    int64_t x_strides[GM_PERMUTE_RANK_MAX];   /* elements, of x's dimensions; 0: packed */
    int64_t out_strides[GM_PERMUTE_RANK_MAX]; /* elements, of out's dimensions; 0: packed */
    int32_t order[GM_PERMUTE_RANK_MAX];       /* x's dimension for each of out; all 0: as they are */
    int32_t element_bytes;       /* 1, 2, 4, 8, 16: elements without a type; 0: `type` and `out_type` say */
    enum gm_type type, out_type; /* of x and out: any type for both, or two of GM_BF16, GM_FP16, GM_FP32 */
    /* Alignment in bytes that the caller promises of the pointers at execute: 16 (or 0), 8, 4, 2, 1, no less than an
     * element has. 16, and rows that are whole multiples of 16 bytes apart, are fast. */
    int32_t x_align, out_align;
};

struct gm_permute_args {
    size_t size;
    gm_device_ptr x, out;
};

/* Chooses a kernel and loads it if this context has not yet. `options` may be NULL; GM_PLAN_CONSTANT_B has no effect. */
GM_API enum gm_status gm_permute_plan_create(gm_context *context, const struct gm_permute_problem *problem,
                                             const struct gm_plan_options *options, gm_plan **plan);
/* Launches on `stream` (of the context's device), as gm_gemm_execute() does. Any thread; no current context is needed. */
GM_API enum gm_status gm_permute_execute(const gm_plan *plan, const struct gm_permute_args *args, void *stream);
/* Plan, execute, destroy, in one call; for trying things out. Not for a hot loop. */
GM_API enum gm_status gm_permute(gm_context *context, const struct gm_permute_problem *problem,
                                 const struct gm_permute_args *args, void *stream);
/* A candidate for every kernel of this operation, as gm_gemm_explain() of GEMM. Pure: no driver call. */
GM_API enum gm_status gm_permute_explain(const struct gm_device *device, const struct gm_permute_problem *problem,
                                         const struct gm_plan_options *options, struct gm_candidate *candidates,
                                         size_t capacity, size_t *count);

#ifdef __cplusplus
}
#endif
#endif
