/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill/moe_route.h: which experts a token goes to, and with which weights. gristmill/core.h has what all operations
 * share. */
#ifndef GRISTMILL_MOE_ROUTE_H
#define GRISTMILL_MOE_ROUTE_H

#include "gristmill/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/*  x = logits[token * logits_stride + expert]      b = bias[expert], 0 where there is none
 *
 *  GM_ROUTE_SOFTMAX_TOP_K    The k largest x + b are chosen; a weight is their softmax over all experts. Mixtral and
 *                            Qwen3, which renormalise.
 *  GM_ROUTE_TOP_K_SOFTMAX    The same choice; a weight is the softmax over the k chosen. gpt-oss. It is SOFTMAX_TOP_K
 *                            with `renormalize`.
 *  GM_ROUTE_SIGMOID_GROUPED  s = sigmoid(x). The k largest s + b are chosen, of the experts of the `top_groups` groups
 *                            whose scores are largest; a group's score is the sum of its 2 largest s + b. A weight is s,
 *                            without b. DeepSeek-V3, which renormalises, with scale 2.5.
 *
 *  ids      ids[token * k + slot], int32_t, the largest choice first
 *  weights  weights[token * k + slot], float
 *
 *  With `renormalize` the weights are divided by their sum over the k slots, of SIGMOID_GROUPED by sum + 1e-20; then all
 *  are multiplied by `scale`. Groups are equal, of neighbouring experts. Of equals, the lower id or group comes first, -0
 *  and 0 are equal, and NaN comes last of all: a token whose choices are all NaN goes to experts 0 to k - 1. A weight is
 *  NaN where its formula is: of SIGMOID_GROUPED without `renormalize` its own logit counts only; else a NaN among the
 *  chosen makes all NaN, as an infinite largest logit does of a softmax, and one among all experts does of SOFTMAX_TOP_K
 *  without `renormalize`.
 *
 *  Everything is computed in fp32. The relative error of a weight is below 2^-19 + d 2^-22, where d is the distance of x
 *  + b from the largest one, or |x| of SIGMOID_GROUPED; what is below 2^-126 may be 0.
 *  Strides are in elements, the row's elements at least; 0 means packed. ids and weights overlap no other operand. A token
 *  depends on its own logits and the bias only: plans are batch-invariant. tokens = 0 launches nothing. */
enum gm_route_method { GM_ROUTE_SOFTMAX_TOP_K = 0, GM_ROUTE_TOP_K_SOFTMAX = 1, GM_ROUTE_SIGMOID_GROUPED = 2 };

struct gm_moe_route_problem {
    size_t size;
    int64_t tokens;  /* 0 to 2^31 - 1 */
    int64_t experts; /* 1 to 1024 */
    int64_t k;       /* experts of a token: 1 to 32, and no more than may be chosen */
    /* Of SIGMOID_GROUPED: 1 to 32 groups (0: 1), which divide the experts; those that may be chosen from (0: all). */
    int64_t groups, top_groups;
    int64_t logits_stride; /* elements; 0: packed */
    enum gm_type type;     /* of the logits: GM_BF16, GM_FP16, GM_FP32 */
    enum gm_route_method method;
    int32_t renormalize;  /* 1: the weights of a token are divided by their sum */
    float scale;          /* of the weights, more than 0; 0: 1 */
    int32_t logits_align; /* bytes promised of the pointer at execute: 16 (or 0), 8, 4, 2 */
};

struct gm_moe_route_args {
    size_t size;
    gm_device_ptr logits, bias; /* bias: 0, or a float for each expert */
    gm_device_ptr ids, weights;
    /* 0, or an int32_t in device memory: only so many of the first tokens are routed, none where it is negative. It is
     * read when the kernel runs, so that a captured graph serves any number of tokens up to the problem's. */
    gm_device_ptr row_count;
};

/* Chooses a kernel and loads it if this context has not yet. `options` may be NULL; GM_PLAN_CONSTANT_B has no effect. */
GM_API enum gm_status gm_moe_route_plan_create(gm_context *context, const struct gm_moe_route_problem *problem,
                                               const struct gm_plan_options *options, gm_plan **plan);
/* Launches on `stream` (of the context's device), as gm_gemm_execute() does. Any thread; no current context is needed. */
GM_API enum gm_status gm_moe_route_execute(const gm_plan *plan, const struct gm_moe_route_args *args, void *stream);
/* Plan, execute, destroy, in one call; for trying things out. Not for a hot loop. */
GM_API enum gm_status gm_moe_route(gm_context *context, const struct gm_moe_route_problem *problem,
                                   const struct gm_moe_route_args *args, void *stream);
/* A candidate for every kernel of this operation, as gm_gemm_explain() of GEMM. Pure: no driver call. */
GM_API enum gm_status gm_moe_route_explain(const struct gm_device *device, const struct gm_moe_route_problem *problem,
                                           const struct gm_plan_options *options, struct gm_candidate *candidates,
                                           size_t capacity, size_t *count);

#ifdef __cplusplus
}
#endif
#endif
