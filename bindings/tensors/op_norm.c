/* SPDX-License-Identifier: Apache-2.0 */
/* rms_norm, add_rms_norm and layer_norm of rows. */
#include "plans.h"

#include <string.h>

RUNS_BY_PLAN(rms_norm, WITHOUT_WORKSPACE)
RUNS_BY_PLAN(layer_norm, WITHOUT_WORKSPACE)

static bool like_x(struct call *call, int x, int columns_of_weight) {
    if (!call_rows(call, x, 1)) {
        return false;
    }
    const struct tensor *tensor = call_tensor(call, x), *weight = call_tensor(call, columns_of_weight);
    int64_t columns = tensor->size[tensor->rank - 1];
    call_output_like(call, 0, tensor, tensor->type, columns);
    return !weight || call_vector(call, columns_of_weight, weight->type == GM_FP32 ? GM_FP32 : tensor->type, columns);
}

/* ---- rms_norm and add_rms_norm -------------------------------------------------------------------------- */

/* What one has that the other lacks comes first. */
enum { RESIDUAL_OF_ADD = 0 };

static int first(const struct call *call) {
    return call->operation->parameter; /* 1: with a residual before x */
}

static bool rms_shape(struct call *call) {
    int x = first(call);
    return like_x(call, x, x + 1) && (x == 0 || call_alike(call, RESIDUAL_OF_ADD, call_tensor(call, x)));
}

static bool rms_run(struct call *call) {
    int at = first(call);
    const struct tensor *x = call_tensor(call, at), *weight = call_tensor(call, at + 1), *out = &call->out[0];
    enum gm_rounding rounding = call->in[at + 4].integer ? GM_ROUND_EARLY : GM_ROUND_LATE;
    struct leading rows, rows_of_out, rows_of_residual;
    if (!call_leading(call, at, 1, &rows) || !call_output_rows(call, &rows_of_out)) {
        return false;
    }
    struct gm_rms_norm_problem problem;
    memset(&problem, 0, sizeof problem);
    struct gm_rms_norm_args args = {.size = sizeof args, .x = x->data, .weight = weight->data, .out = out->data};
    problem.size = sizeof problem;
    problem.rows = rows.count;
    problem.columns = x->size[x->rank - 1];
    problem.type = x->type;
    problem.fp32_weight = weight->type == GM_FP32;
    problem.eps = (float)call->in[at + 2].real;
    problem.weight_offset = (float)call->in[at + 3].real;
    problem.sum_rounding = rounding;
    problem.normalized_rounding = rounding;
    problem.x_stride = leading_stride(rows);
    problem.out_stride = leading_stride(rows_of_out);
    problem.x_align = tensor_align(x);
    problem.weight_align = tensor_align(weight);
    problem.out_align = tensor_align(out);
    if (at == 1) {
        const struct tensor *residual = call_tensor(call, RESIDUAL_OF_ADD);
        if (!call_leading(call, RESIDUAL_OF_ADD, 1, &rows_of_residual)) {
            return false;
        }
        problem.residual = GM_RESIDUAL_BEFORE;
        problem.residual_stride = leading_stride(rows_of_residual);
        problem.residual_align = tensor_align(residual);
        args.residual = residual->data;
    }
    return run_rms_norm(call, &problem, 0, &args);
}

const struct tensor_operation operation_rms_norm = {
    .schema =
        "rms_norm(Tensor x, Tensor weight, float eps=1e-6, float weight_offset=0.0, bool round_early=False) -> Tensor",
    .shape = rms_shape,
    .run = rms_run,
    .parameter = 0};

const struct tensor_operation operation_add_rms_norm = {
    .schema = "add_rms_norm(Tensor(a!) residual, Tensor x, Tensor weight, float eps=1e-6, float weight_offset=0.0, "
              "bool round_early=False) -> Tensor",
    .shape = rms_shape,
    .run = rms_run,
    .parameter = 1};

/* ---- layer_norm ----------------------------------------------------------------------------------------- */

enum { X, WEIGHT, BIAS, EPS };

static bool layer_shape(struct call *call) {
    if (!like_x(call, X, WEIGHT)) {
        return false;
    }
    const struct tensor *weight = call_tensor(call, WEIGHT), *bias = call_tensor(call, BIAS);
    const struct tensor *x = call_tensor(call, X);
    enum gm_type type = weight ? weight->type : bias && bias->type == GM_FP32 ? GM_FP32 : x->type;
    return call_vector(call, BIAS, type, x->size[x->rank - 1]);
}

static bool layer_run(struct call *call) {
    const struct tensor *x = call_tensor(call, X), *out = &call->out[0];
    const struct tensor *weight = call_tensor(call, WEIGHT), *bias = call_tensor(call, BIAS);
    struct leading rows, rows_of_out;
    if (!call_leading(call, X, 1, &rows) || !call_output_rows(call, &rows_of_out)) {
        return false;
    }
    struct gm_layer_norm_problem problem;
    memset(&problem, 0, sizeof problem);
    struct gm_layer_norm_args args = {.size = sizeof args,
                                      .x = x->data,
                                      .weight = weight ? weight->data : 0,
                                      .bias = bias ? bias->data : 0,
                                      .out = out->data};
    problem.size = sizeof problem;
    problem.rows = rows.count;
    problem.columns = x->size[x->rank - 1];
    problem.type = x->type;
    problem.fp32_weight = (weight && weight->type == GM_FP32) || (bias && bias->type == GM_FP32);
    problem.eps = (float)call->in[EPS].real;
    problem.x_align = tensor_align(x);
    problem.weight_align = weight ? tensor_align(weight) : 0;
    problem.bias_align = bias ? tensor_align(bias) : 0;
    problem.out_align = tensor_align(out);
    problem.x_stride = leading_stride(rows);
    problem.out_stride = leading_stride(rows_of_out);
    return run_layer_norm(call, &problem, 0, &args);
}

const struct tensor_operation operation_layer_norm = {
    .schema = "layer_norm(Tensor x, Tensor? weight=None, Tensor? bias=None, float eps=1e-5) -> Tensor",
    .shape = layer_shape,
    .run = layer_run};
