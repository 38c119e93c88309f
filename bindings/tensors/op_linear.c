/* SPDX-License-Identifier: Apache-2.0 */
/* linear: act(x weight^T + bias + residual), by GEMM. */
#include "plans.h"

#include <string.h>

RUNS_BY_PLAN(gemm, WITH_WORKSPACE)

enum { X, WEIGHT, BIAS, RESIDUAL, ACTIVATION, FP32_OUT, CONSTANT_WEIGHT, BATCH_INVARIANT, PRECISION };

static bool shape(struct call *call) {
    if (!call_rows(call, X, 1)) {
        return false;
    }
    const struct tensor *x = call_tensor(call, X), *weight = call_tensor(call, WEIGHT);
    if (weight->rank != 2) {
        return call_fail(call, GM_ERROR_INVALID_ARGUMENT,
                         "weight has %d dimensions and must have 2: out_features, in_features", weight->rank);
    }
    enum gm_type type = call->in[FP32_OUT].integer ? GM_FP32 : x->type;
    call_output_like(call, 0, x, type, weight->size[0]);
    return call_size(call, WEIGHT, 1, x->size[x->rank - 1]) && call_type(call, WEIGHT, x->type);
}

static bool read_activation(struct call *call, enum gm_activation *activation) {
    static const char *const names[] = {[GM_ACT_NONE] = "none",
                                        [GM_ACT_RELU] = "relu",
                                        [GM_ACT_GELU_TANH] = "gelu_tanh",
                                        [GM_ACT_GELU_ERF] = "gelu",
                                        [GM_ACT_SILU] = "silu"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(call->in[ACTIVATION].text, names[i]) == 0) {
            *activation = (enum gm_activation)i;
            return true;
        }
    }
    return call_fail(call, GM_ERROR_INVALID_ARGUMENT,
                     "activation is \"%s\" and must be none, relu, gelu, gelu_tanh or silu", call->in[ACTIVATION].text);
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

static bool read_bias(struct call *call, struct gm_gemm_problem *problem, struct gm_gemm_args *args) {
    const struct tensor *bias = call_tensor(call, BIAS);
    if (!bias) {
        return true;
    }
    problem->bias = GM_BIAS_N;
    problem->bias_type = bias->type;
    args->bias = bias->data;
    return call_vector(call, BIAS, bias->type, problem->n);
}

static bool read_residual(struct call *call, struct gm_gemm_problem *problem, struct gm_gemm_args *args) {
    static const float one = 1;
    const struct tensor *residual = call_tensor(call, RESIDUAL), *out = &call->out[0];
    struct leading rows;
    if (!residual) {
        return true;
    }
    if (!call_alike(call, RESIDUAL, out) || !call_leading(call, RESIDUAL, 1, &rows)) {
        return false;
    }
    args->c = residual->data;
    args->beta = &one;
    problem->ldc = leading_stride(rows);
    return true;
}

static bool run(struct call *call) {
    const struct tensor *x = call_tensor(call, X), *weight = call_tensor(call, WEIGHT), *out = &call->out[0];
    struct leading x_rows, out_rows;
    if (!call_leading(call, X, 1, &x_rows) || !call_output_rows(call, &out_rows)) {
        return false;
    }
    struct gm_gemm_problem problem;
    memset(&problem, 0, sizeof problem);
    struct gm_gemm_args args = {.size = sizeof args, .a = x->data, .b = weight->data, .d = out->data};
    problem.size = sizeof problem;
    problem.m = x_rows.count;
    problem.n = weight->size[0];
    problem.k = weight->size[1];
    problem.d_type = out->type;
    problem.lda = leading_stride(x_rows);
    problem.ldd = leading_stride(out_rows);
    problem.a_align = tensor_align(x);
    problem.b_align = tensor_align(weight);
    problem.d_align = tensor_align(out);
    uint32_t flags = (call->in[CONSTANT_WEIGHT].integer ? GM_PLAN_CONSTANT_B : 0u) |
                     (call->in[BATCH_INVARIANT].integer ? GM_PLAN_BATCH_INVARIANT : 0u);
    return call_precision(call, PRECISION, x->type, &problem.ab_type) && read_activation(call, &problem.activation) &&
           read_weight(call, &problem) && read_bias(call, &problem, &args) && read_residual(call, &problem, &args) &&
           run_gemm(call, &problem, flags, &args);
}

const struct tensor_operation operation_linear = {
    .schema = "linear(Tensor x, Tensor weight, Tensor? bias=None, Tensor? residual=None, str activation=\"none\", "
              "bool fp32_out=False, bool constant_weight=False, bool batch_invariant=False, str precision=\"fp32\") -> "
              "Tensor",
    .shape = shape,
    .run = run};
