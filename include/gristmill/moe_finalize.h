/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill/moe_finalize.h: what a token's experts made of it, added up. gristmill/core.h has what all operations share. */
#ifndef GRISTMILL_MOE_FINALIZE_H
#define GRISTMILL_MOE_FINALIZE_H

#include "gristmill/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/*  out[token] = residual[token] + sum over j < k of weights[token, j] * x[inverse[token, j]]      of every column
 *
 *  x         x[row * x_stride + column]: the rows that the experts wrote, as gm_moe_align() has sorted them
 *  inverse   inverse[token * k + j], int32_t: the row of x. One below 0 or not below `x_rows` adds nothing, whatever its
 *            weight is, and nothing is read
 *  weights   weights[token * k + j], float; without them all are 1
 *  residual  residual[token * residual_stride + column], such as a shared expert's; 0 without it
 *  out       out[token * out_stride + column]
 *
 *  The sum is of fp32, the residual first and then j = 0, 1, ..., each product and its sum rounded as one; out is rounded
 *  once. Strides are in elements, the row's elements at least; 0 means packed. out may be the residual (in place, with one
 *  stride); no other overlap with out is allowed. A token depends on its own rows only: plans are batch-invariant.
 *  tokens = 0 launches nothing. x, residual and out may exceed 2^31 elements and 4 GiB. */
struct gm_moe_finalize_problem {
    size_t size;
    int64_t tokens;                                /* 0 to (2^31 - 1) / k */
    int64_t columns;                               /* 1 to 2^29 */
    int64_t k;                                     /* experts of a token, 1 or more */
    int64_t x_rows;                                /* 1 to 2^31 - 1 */
    int64_t x_stride, residual_stride, out_stride; /* elements; 0: packed */
    enum gm_type type;                             /* of x, residual and out: GM_BF16, GM_FP16, GM_FP32 */
    /* Alignment in bytes that the caller promises of the pointers at execute: 16 (or 0), 8, 4, 2. Rows that do not all
     * begin on multiples of 16 bytes, or whose columns are no multiple of that, take longer. */
    int32_t x_align, residual_align, out_align;
};

struct gm_moe_finalize_args {
    size_t size;
    gm_device_ptr x, inverse;
    gm_device_ptr weights, residual; /* 0: there is none */
    gm_device_ptr out;
    /* 0, or an int32_t in device memory: only so many of the first tokens are computed, none where it is negative. It is
     * read when the kernel runs, so that a captured graph serves any number of tokens up to the problem's. */
    gm_device_ptr row_count;
};

/* Chooses a kernel and loads it if this context has not yet. `options` may be NULL; GM_PLAN_CONSTANT_B has no effect. */
GM_API enum gm_status gm_moe_finalize_plan_create(gm_context *context, const struct gm_moe_finalize_problem *problem,
                                                  const struct gm_plan_options *options, gm_plan **plan);
/* Launches on `stream` (of the context's device), as gm_gemm_execute() does. Any thread; no current context is needed. */
GM_API enum gm_status gm_moe_finalize_execute(const gm_plan *plan, const struct gm_moe_finalize_args *args,
                                              void *stream);
/* Plan, execute, destroy, in one call; for trying things out. Not for a hot loop. */
GM_API enum gm_status gm_moe_finalize(gm_context *context, const struct gm_moe_finalize_problem *problem,
                                      const struct gm_moe_finalize_args *args, void *stream);
/* A candidate for every kernel of this operation, as gm_gemm_explain() of GEMM. Pure: no driver call. */
GM_API enum gm_status gm_moe_finalize_explain(const struct gm_device *device,
                                              const struct gm_moe_finalize_problem *problem,
                                              const struct gm_plan_options *options, struct gm_candidate *candidates,
                                              size_t capacity, size_t *count);

#ifdef __cplusplus
}
#endif
#endif
