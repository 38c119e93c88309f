/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill/attention_merge.h: two partial states of attention, over different keys, as one. gristmill/core.h has what all
 * operations share. */
#ifndef GRISTMILL_ATTENTION_MERGE_H
#define GRISTMILL_ATTENTION_MERGE_H

#include "gristmill/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/*  Of every head of every token, with m = max(lse_a, lse_b), w_a = exp(lse_a - m), w_b = exp(lse_b - m):
 *
 *  out = (w_a * a + w_b * b) / (w_a + w_b)          lse = m + log(w_a + w_b)          natural logarithms
 *
 *  a      a[token * a_token_stride + head * a_head_stride + i], i < head_dim: attention over some keys; so are b, over
 *         others, and out
 *  lse_a  lse_a[token * lse_a_token_stride + head * lse_a_head_stride], float: the logarithm of the sum of the exponentials
 *         of the scores behind a; so are lse_b and lse
 *
 *  A side whose weight is 0 adds nothing, whatever it holds: NaN there does not count. Its lse is -inf, as of no keys, or
 *  below the other's by more than 87.3 (a weight below 2^-126 is 0), or the other's is +inf. out is then the other side,
 *  and lse its lse, bit for bit where out has its type, but that one NaN may become another. Where both are -inf, out is 0
 *  and lse is -inf. Where both are +inf, both weigh the same. An lse that is NaN makes out and lse NaN.
 *  Weights, products and their sum are of fp32; out is rounded once, to nearest even, and from fp32 beyond fp16's largest
 *  number to infinity.
 *
 *  Strides are in elements; 0 means packed, in the order tokens, heads. No two elements of an operand may share an
 *  address: of two dimensions, one's stride is at least the other's extent. out may be a or b (in place, with the same type
 *  and strides), and lse may be lse_a or lse_b (with the same strides). No other overlap with what is written is allowed;
 *  operands with equal strides may lie between each other. A head depends on itself only: plans are batch-invariant.
 *  tokens = 0 or heads = 0 launches nothing. Operands may exceed 2^31 elements and 4 GiB. */
struct gm_attention_merge_problem {
    size_t size;
    int64_t tokens;   /* 0 to 2^31 - 1 */
    int64_t heads;    /* 0 to 65536 */
    int64_t head_dim; /* 1 to 512 */
    int64_t a_token_stride, a_head_stride, b_token_stride, b_head_stride, out_token_stride, out_head_stride;
    int64_t lse_a_token_stride, lse_a_head_stride, lse_b_token_stride, lse_b_head_stride;
    int64_t lse_token_stride, lse_head_stride;
    enum gm_type type; /* of a and b: GM_BF16, GM_FP16, GM_FP32 */
    /* The type of out: out_type, one of the three too, where has_out_type is 1; else that of a and b. */
    enum gm_type out_type;
    int32_t has_out_type;
    /* Alignment in bytes that the caller promises of the pointers at execute: 16 (or 0), 8, 4, 2. Heads that do not all
     * begin on multiples of 16 bytes, or are no multiple of that, take longer. */
    int32_t a_align, b_align, out_align;
};

struct gm_attention_merge_args {
    size_t size;
    gm_device_ptr a, b, lse_a, lse_b;
    gm_device_ptr out;
    gm_device_ptr lse; /* 0: it is not written */
    /* 0, or an int32_t in device memory: only so many of the first tokens are computed, none where it is negative. It is
     * read when the kernel runs, so that a captured graph serves any number of tokens up to the problem's. */
    gm_device_ptr row_count;
};

/* Chooses a kernel and loads it if this context has not yet. `options` may be NULL; GM_PLAN_CONSTANT_B has no effect. */
GM_API enum gm_status gm_attention_merge_plan_create(gm_context *context,
                                                     const struct gm_attention_merge_problem *problem,
                                                     const struct gm_plan_options *options, gm_plan **plan);
/* Launches on `stream` (of the context's device), as gm_gemm_execute() does. Any thread; no current context is needed. */
GM_API enum gm_status gm_attention_merge_execute(const gm_plan *plan, const struct gm_attention_merge_args *args,
                                                 void *stream);
/* Plan, execute, destroy, in one call; for trying things out. Not for a hot loop. */
GM_API enum gm_status gm_attention_merge(gm_context *context, const struct gm_attention_merge_problem *problem,
                                         const struct gm_attention_merge_args *args, void *stream);
/* A candidate for every kernel of this operation, as gm_gemm_explain() of GEMM. Pure: no driver call. */
GM_API enum gm_status gm_attention_merge_explain(const struct gm_device *device,
                                                 const struct gm_attention_merge_problem *problem,
                                                 const struct gm_plan_options *options, struct gm_candidate *candidates,
                                                 size_t capacity, size_t *count);

#ifdef __cplusplus
}
#endif
#endif
