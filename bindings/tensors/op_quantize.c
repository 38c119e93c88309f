/* SPDX-License-Identifier: Apache-2.0 */
/* quantize and quantize_static: rows to 8 bits, with scales that are made, or by one that is given. */
#include "plans.h"
#include "scales.h"

#include <string.h>

RUNS_BY_PLAN(quantize, WITHOUT_WORKSPACE)
RUNS_BY_PLAN(axpby, WITHOUT_WORKSPACE)

enum { X };
enum { OUT, SCALES }; /* results */

static const enum gm_type types[] = {GM_E4M3, GM_INT8, GM_E5M2};
static const char types_choice[] = "float8_e4m3fn, float8_e5m2 or int8";

/* ---- rows ----------------------------------------------------------------------------------------------- */

static bool quantized_like_x(struct call *call, int out_dtype) {
    enum gm_type type;
    if (!call_rows(call, X, 1) || !call_asked_type(call, out_dtype, types, 3, types_choice, &type)) {
        return false;
    }
    const struct tensor *x = call_tensor(call, X);
    call_output_like(call, OUT, x, type, x->size[x->rank - 1]);
    return true;
}

static bool rows_problem(struct call *call, struct gm_quantize_problem *problem, struct gm_quantize_args *args) {
    const struct tensor *x = call_tensor(call, X), *out = &call->out[OUT];
    struct leading x_rows, out_rows;
    if (!call_leading(call, X, 1, &x_rows) || !call_output_rows(call, &out_rows)) {
        return false;
    }
    memset(problem, 0, sizeof *problem);
    *args = (struct gm_quantize_args){.size = sizeof *args, .x = x->data, .out = out->data};
    problem->size = sizeof *problem;
    problem->rows = x_rows.count;
    problem->columns = x->size[x->rank - 1];
    problem->type = x->type;
    problem->out_type = out->type;
    problem->x_stride = leading_stride(x_rows);
    problem->out_stride = leading_stride(out_rows);
    problem->x_align = tensor_align(x);
    problem->out_align = tensor_align(out);
    return true;
}

/* ---- quantize ------------------------------------------------------------------------------------------- */

enum { SCALING = 1, OUT_DTYPE, BY_COLUMN, POWER_OF_2, SCALE_FLOOR };
static const char *const words[] = {"row", "group", "block", "tensor"};
static const enum gm_scaling scalings[] = {GM_SCALE_ROW, GM_SCALE_GROUP, GM_SCALE_BLOCK, GM_SCALE_AMAX_ONLY};

static bool read_scaling(struct call *call, enum gm_scaling *scaling) {
    const int number = call_word(call, SCALING, words, 4, "row, group, block or tensor");
    *scaling = scalings[number < 0 ? 0 : number];
    return number >= 0;
}

/* Scales: [..., 1] of rows, [..., columns / 128] of groups, [rows / 128, columns / 128] of blocks, [1] of all. */
static bool shape(struct call *call) {
    enum gm_scaling scaling;
    if (!quantized_like_x(call, OUT_DTYPE) || !read_scaling(call, &scaling)) {
        return false;
    }
    const struct tensor *x = call_tensor(call, X);
    const bool has_spans = scaling == GM_SCALE_GROUP || scaling == GM_SCALE_BLOCK;
    struct tensor *scales = &call->out[SCALES];
    call_output_like(call, SCALES, x, GM_FP32, has_spans ? scales_spans(x->size[x->rank - 1]) : 1);
    call->out_by_column[SCALES] = has_spans && call->in[BY_COLUMN].integer;
    if (scaling == GM_SCALE_BLOCK) {
        scales->size[0] = scales_spans(x->size[0]);
        return x->rank == 2 || call_fail(call, GM_ERROR_INVALID_ARGUMENT,
                                         "x has %d dimensions and must have 2 for scaling \"block\"", x->rank);
    }
    if (scaling == GM_SCALE_AMAX_ONLY) {
        scales->rank = 1;
        scales->size[0] = 1;
    }
    return true;
}

static bool fill_with_zero(struct call *call, gm_device_ptr scale) {
    struct gm_axpby_problem problem;
    memset(&problem, 0, sizeof problem);
    struct gm_axpby_args args = {.size = sizeof args, .out = scale};
    problem.size = sizeof problem;
    problem.rows = problem.columns = 1;
    problem.type = problem.out_type = GM_FP32;
    problem.terms = GM_AXPBY_NEITHER;
    problem.out_align = sizeof(float);
    return run_axpby(call, &problem, 0, &args);
}

/* The scale of all of x, made on the device, and then x by it: three launches. */
static bool run_tensor(struct call *call, struct gm_quantize_problem *problem, struct gm_quantize_args *args) {
    struct gm_quantize_problem amax = *problem;
    struct gm_quantize_args amax_args = *args;
    amax_args.out = 0;
    amax.out_stride = 0;
    problem->scaling = GM_SCALE_STATIC;
    problem->scale_floor = 0;
    problem->scale_format = GM_SCALE_FP32;
    return fill_with_zero(call, args->scales) && run_quantize(call, &amax, 0, &amax_args) &&
           run_quantize(call, problem, 0, args);
}

static bool run(struct call *call) {
    struct gm_quantize_problem problem;
    struct gm_quantize_args args;
    const struct tensor *scales = &call->out[SCALES];
    if (!rows_problem(call, &problem, &args) || !read_scaling(call, &problem.scaling)) {
        return false;
    }
    args.scales = scales->data;
    problem.scale_format = call->in[POWER_OF_2].integer ? GM_SCALE_POWER_OF_2 : GM_SCALE_FP32;
    problem.scale_floor = (float)call->in[SCALE_FLOOR].real;
    if (problem.scaling == GM_SCALE_AMAX_ONLY) {
        return run_tensor(call, &problem, &args);
    }
    bool lie_well = problem.scaling == GM_SCALE_ROW
                        ? scales_of_rows(call, "out2", scales)
                        : scales_of_grid(call, "out2", scales, &problem.scale_order, &problem.scales_stride);
    return lie_well && run_quantize(call, &problem, 0, &args);
}

const struct tensor_operation operation_quantize = {
    .schema = "quantize(Tensor x, str scaling=\"row\", ScalarType? out_dtype=None, bool by_column=False, "
              "bool power_of_2=False, float scale_floor=0.0) -> (Tensor, Tensor)",
    .shape = shape,
    .run = run};

/* ---- quantize_static ------------------------------------------------------------------------------------ */

enum { SCALE = 1, STATIC_OUT_DTYPE, BY_RECIPROCAL };

static bool static_shape(struct call *call) {
    const struct tensor *scale = call_tensor(call, SCALE);
    char sizes[TENSOR_SIZES_BYTES];
    return quantized_like_x(call, STATIC_OUT_DTYPE) && call_type(call, SCALE, GM_FP32) &&
           (tensor_elements(scale) == 1 || call_fail(call, GM_ERROR_INVALID_ARGUMENT,
                                                     "scale is %s and must be one scale", tensor_sizes(scale, sizes)));
}

static bool static_run(struct call *call) {
    struct gm_quantize_problem problem;
    struct gm_quantize_args args;
    if (!rows_problem(call, &problem, &args)) {
        return false;
    }
    problem.scaling = GM_SCALE_STATIC;
    problem.division = call->in[BY_RECIPROCAL].integer ? GM_DIVIDE_BY_RECIPROCAL : GM_DIVIDE;
    args.scales = call_tensor(call, SCALE)->data;
    return run_quantize(call, &problem, 0, &args);
}

const struct tensor_operation operation_quantize_static = {
    .schema = "quantize_static(Tensor x, Tensor scale, ScalarType? out_dtype=None, bool by_reciprocal=False) -> Tensor",
    .shape = static_shape,
    .run = static_run};
