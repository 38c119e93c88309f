/* SPDX-License-Identifier: Apache-2.0 */
/* scaled_linear: act((x * x_scales) (weight * weight_scales)^T + bias + residual) of 8-bit x and weight, by GEMM. What
 * scales cover, their sizes say. */
#include "linear.h"
#include "scales.h"

#include <stdio.h>

enum {
    X,
    WEIGHT,
    X_SCALES,
    WEIGHT_SCALES,
    BIAS,
    RESIDUAL,
    ACTIVATION,
    OUT_DTYPE,
    FAST_ACCUMULATION,
    CONSTANT_WEIGHT,
    BATCH_INVARIANT
};

static bool shape(struct call *call) {
    static const enum gm_type types[] = {GM_BF16, GM_FP16, GM_FP32};
    const struct tensor *x = call_tensor(call, X);
    enum gm_type type;
    if (x->type != GM_E4M3 && x->type != GM_INT8) {
        return call_fail(call, GM_ERROR_INVALID_ARGUMENT,
                         "x is of %s and must be of float8_e4m3fn or int8, as quantize() makes it",
                         call_type_name(x->type));
    }
    return call_asked_type(call, OUT_DTYPE, types, 3, "bfloat16, float16 or float32", &type) &&
           linear_shape(call, type) && call_type(call, X_SCALES, GM_FP32) && call_type(call, WEIGHT_SCALES, GM_FP32);
}

/* Scales of each 128 of K are e4m3's. */
static bool has_spans(const struct call *call) {
    return call_tensor(call, X)->type == GM_E4M3;
}

/* `spans`: what may share scales of each 128 of K. */
static bool refuse_sizes(struct call *call, int argument, const char *rows, int64_t count, const char *spans) {
    char sizes[TENSOR_SIZES_BYTES];
    return call_fail(call, GM_ERROR_INVALID_ARGUMENT, "%s is %s and must be one scale, one for each of %lld %s%s",
                     call_name(call, argument), tensor_sizes(call_tensor(call, argument), sizes), (long long)count,
                     rows, has_spans(call) ? spans : "");
}

static bool refuse_x_scales(struct call *call, int64_t tokens, int64_t groups) {
    char spans[64];
    snprintf(spans, sizeof spans, ", or %lld for each", (long long)groups);
    return refuse_sizes(call, X_SCALES, "tokens", tokens, spans);
}

static bool refuse_weight_scales(struct call *call, int64_t channels, int64_t groups) {
    char spans[96];
    snprintf(spans, sizeof spans, ", %lld for each, or [%lld, %lld] for blocks", (long long)groups,
             (long long)scales_spans(channels), (long long)groups);
    return refuse_sizes(call, WEIGHT_SCALES, "channels", channels, spans);
}

/* One scale, [tokens] or [tokens, 1], or [tokens, in / 128]. */
static bool read_x_scales(struct call *call, struct gm_gemm_problem *problem) {
    const struct tensor *scales = call_tensor(call, X_SCALES), *x = call_tensor(call, X);
    const char *name = call_name(call, X_SCALES);
    const int64_t groups = scales_spans(problem->k);
    if (scales_fit_rows(scales, x, 1) || (scales->rank == 1 && scales->size[0] == problem->m && problem->m != 1)) {
        problem->a_scales = GM_PER_ROW;
        return scales_of_rows(call, name, scales);
    }
    if (has_spans(call) && scales_fit_rows(scales, x, groups)) {
        problem->a_scales = GM_PER_GROUP;
        return scales_of_grid(call, name, scales, &problem->a_scale_order, &problem->a_scales_stride);
    }
    problem->a_scales = GM_PER_TENSOR;
    return tensor_elements(scales) == 1 || refuse_x_scales(call, problem->m, groups);
}

/* One scale, [out], [out, 1] or [1, out], [out / 128, in / 128], or [out, in / 128]. */
static bool read_weight_scales(struct call *call, struct gm_gemm_problem *problem) {
    const struct tensor *scales = call_tensor(call, WEIGHT_SCALES);
    const char *name = call_name(call, WEIGHT_SCALES);
    const int64_t n = problem->n, blocks = scales_spans(n), groups = scales_spans(problem->k);
    const bool is_matrix = scales->rank == 2, is_grid = is_matrix && scales->size[1] == groups && has_spans(call);
    if (tensor_elements(scales) == 1) {
        problem->b_scales = GM_PER_TENSOR;
        return true;
    }
    if (is_grid && (scales->size[0] == blocks || (scales->size[0] == n && groups > 1))) {
        problem->b_scales = scales->size[0] == blocks ? GM_PER_BLOCK : GM_PER_GROUP;
        return scales_of_grid(call, name, scales, &problem->b_scale_order, &problem->b_scales_stride);
    }
    problem->b_scales = GM_PER_ROW;
    if ((scales->rank == 1 && scales->size[0] == n) ||
        (is_matrix &&
         ((scales->size[0] == n && scales->size[1] == 1) || (scales->size[0] == 1 && scales->size[1] == n)))) {
        return scales_of_rows(call, name, scales);
    }
    return refuse_weight_scales(call, n, groups);
}

static bool run(struct call *call) {
    static const struct linear_arguments at = {BIAS, RESIDUAL, ACTIVATION, CONSTANT_WEIGHT, BATCH_INVARIANT};
    struct gm_gemm_problem problem;
    struct gm_gemm_args args;
    uint32_t flags;
    if (!linear_problem(call, &at, &problem, &args, &flags)) {
        return false;
    }
    problem.ab_type = call_tensor(call, X)->type;
    problem.fast_accumulation = call->in[FAST_ACCUMULATION].integer;
    args.a_scales = call_tensor(call, X_SCALES)->data;
    args.b_scales = call_tensor(call, WEIGHT_SCALES)->data;
    return read_x_scales(call, &problem) && read_weight_scales(call, &problem) &&
           linear_run(call, &problem, flags, &args);
}

const struct tensor_operation operation_scaled_linear = {
    .schema = "scaled_linear(Tensor x, Tensor weight, Tensor x_scales, Tensor weight_scales, Tensor? bias=None, "
              "Tensor? residual=None, str activation=\"none\", ScalarType? out_dtype=None, "
              "bool fast_accumulation=False, bool constant_weight=False, bool batch_invariant=False) -> Tensor",
    .shape = shape,
    .run = run};
