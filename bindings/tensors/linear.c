/* SPDX-License-Identifier: Apache-2.0 */
#include "linear.h"

#include "plans.h"

#include <string.h>

RUNS_BY_PLAN(gemm, WITH_WORKSPACE)

enum { X, WEIGHT };

bool linear_shape(struct call *call, enum gm_type out_type) {
    if (!call_rows(call, X, 1)) {
        return false;
    }
    const struct tensor *x = call_tensor(call, X), *weight = call_tensor(call, WEIGHT);
    if (weight->rank != 2) {
        return call_fail(call, GM_ERROR_INVALID_ARGUMENT,
                         "weight has %d dimensions and must have 2: out_features, in_features", weight->rank);
    }
    call_output_like(call, 0, x, out_type, weight->size[0]);
    return call_size(call, WEIGHT, 1, x->size[x->rank - 1]) && call_type(call, WEIGHT, x->type);
}

static bool read_activation(struct call *call, int argument, enum gm_activation *activation) {
    static const char *const words[] = {"none", "relu", "gelu", "gelu_tanh", "silu"};
    static const enum gm_activation activations[] = {GM_ACT_NONE, GM_ACT_RELU, GM_ACT_GELU_ERF, GM_ACT_GELU_TANH,
                                                     GM_ACT_SILU};
    const int number = call_word(call, argument, words, 5, "none, relu, gelu, gelu_tanh or silu");
    *activation = activations[number < 0 ? 0 : number];
    return number >= 0;
}

/* The weight as it lies: [out][in], or the transpose of [in][out]. */
static bool read_weight(struct call *call, struct gm_gemm_problem *problem) {
    const struct tensor *weight = call_tensor(call, WEIGHT);
    if (tensor_is_dense_last(weight)) {
        problem->b_major = GM_K_MAJOR;
        problem->ldb = weight->size[0] > 1 ? weight->stride[0] : 0;
        return true;
    }
    problem->b_major = GM_MN_MAJOR;
    problem->ldb = weight->stride[1];
    return weight->stride[0] == 1 ||
           call_fail(call, GM_ERROR_INVALID_ARGUMENT, "weight has strides %lld and %lld and one must be 1",
                     (long long)weight->stride[0], (long long)weight->stride[1]);
}

static bool read_bias(struct call *call, int argument, struct gm_gemm_problem *problem, struct gm_gemm_args *args) {
    const struct tensor *bias = call_tensor(call, argument);
    if (!bias) {
        return true;
    }
    problem->bias = GM_BIAS_N;
    problem->bias_type = bias->type;
    args->bias = bias->data;
    return call_vector(call, argument, bias->type, problem->n);
}

static bool read_residual(struct call *call, int argument, struct gm_gemm_problem *problem, struct gm_gemm_args *args) {
    static const float one = 1;
    const struct tensor *residual = call_tensor(call, argument), *out = &call->out[0];
    struct leading rows;
    if (!residual) {
        return true;
    }
    if (!call_alike(call, argument, out) || !call_leading(call, argument, 1, &rows)) {
        return false;
    }
    args->c = residual->data;
    args->beta = &one;
    problem->ldc = leading_stride(rows);
    return true;
}

bool linear_problem(struct call *call, const struct linear_arguments *at, struct gm_gemm_problem *problem,
                    struct gm_gemm_args *args, uint32_t *flags) {
    const struct tensor *x = call_tensor(call, X), *weight = call_tensor(call, WEIGHT), *out = &call->out[0];
    struct leading x_rows, out_rows;
    if (!call_leading(call, X, 1, &x_rows) || !call_output_rows(call, &out_rows)) {
        return false;
    }
    memset(problem, 0, sizeof *problem);
    *args = (struct gm_gemm_args){.size = sizeof *args, .a = x->data, .b = weight->data, .d = out->data};
    problem->size = sizeof *problem;
    problem->m = x_rows.count;
    problem->n = weight->size[0];
    problem->k = weight->size[1];
    problem->d_type = out->type;
    problem->lda = leading_stride(x_rows);
    problem->ldd = leading_stride(out_rows);
    problem->a_align = tensor_align(x);
    problem->b_align = tensor_align(weight);
    problem->d_align = tensor_align(out);
    *flags = (call->in[at->constant_weight].integer ? GM_PLAN_CONSTANT_B : 0u) |
             (call->in[at->batch_invariant].integer ? GM_PLAN_BATCH_INVARIANT : 0u);
    return read_activation(call, at->activation, &problem->activation) && read_weight(call, problem) &&
           read_bias(call, at->bias, problem, args) && read_residual(call, at->residual, problem, args);
}

bool linear_run(struct call *call, const struct gm_gemm_problem *problem, uint32_t flags, struct gm_gemm_args *args) {
    return run_gemm(call, problem, flags, args);
}
