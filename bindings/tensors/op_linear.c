/* SPDX-License-Identifier: Apache-2.0 */
/* linear: act(x weight^T + bias + residual), by GEMM. */
#include "linear.h"

enum { X, WEIGHT, BIAS, RESIDUAL, ACTIVATION, FP32_OUT, CONSTANT_WEIGHT, BATCH_INVARIANT, PRECISION };

static bool shape(struct call *call) {
    return linear_shape(call, call->in[FP32_OUT].integer ? GM_FP32 : call_tensor(call, X)->type);
}

static bool run(struct call *call) {
    static const struct linear_arguments at = {BIAS, RESIDUAL, ACTIVATION, CONSTANT_WEIGHT, BATCH_INVARIANT};
    struct gm_gemm_problem problem;
    struct gm_gemm_args args;
    uint32_t flags;
    return linear_problem(call, &at, &problem, &args, &flags) &&
           call_precision(call, PRECISION, call_tensor(call, X)->type, &problem.ab_type) &&
           linear_run(call, &problem, flags, &args);
}

const struct tensor_operation operation_linear = {
    .schema = "linear(Tensor x, Tensor weight, Tensor? bias=None, Tensor? residual=None, str activation=\"none\", "
              "bool fp32_out=False, bool constant_weight=False, bool batch_invariant=False, str precision=\"fp32\") -> "
              "Tensor",
    .shape = shape,
    .run = run};
