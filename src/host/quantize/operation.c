/* SPDX-License-Identifier: Apache-2.0 */
/* Quantisers as an operation: their fields, their problem, what a call reads and writes, and their public functions. */
#include "gristmill/quantize.h"
#include "host/check_problem.h"
#include "host/error.h"
#include "host/out.h"
#include "host/plan.h"
#include "host/quantize/quantize.h"
#include "host/types.h"

#include <inttypes.h>

#define MOST_ROWS    INT32_MAX
#define MOST_COLUMNS (INT32_C(1) << 29)

/* ---- fields --------------------------------------------------------------------------------------------- */

static const char *const scalings[] = {"static", "amax_only", "row", "group", "block", NULL};

#define AT(member) offsetof(struct gm_quantize_problem, member)
#define TYPES      (GM_TYPE_SET(GM_BF16) | GM_TYPE_SET(GM_FP16) | GM_TYPE_SET(GM_FP32))
#define OUT_TYPES  (GM_TYPE_SET(GM_E4M3) | GM_TYPE_SET(GM_E5M2) | GM_TYPE_SET(GM_INT8))
#define SUITES     (GM_IN_SUITES | GM_IN_LEDGERS)

GM_ALIGN_FUNCTIONS(gm_quantize_problem, x)
GM_ALIGN_FUNCTIONS(gm_quantize_problem, out)

enum { FIELD_TYPE, FIELD_OUT, FIELD_SCALING, FIELD_FORMAT, FIELD_ORDER, FIELD_ROWS };
static const struct gm_field fields[] = {
    [FIELD_TYPE] = {.name = "type",
                    .kind = GM_FIELD_TYPE,
                    .uses = SUITES,
                    .offset = AT(type),
                    .types = TYPES,
                    .about = "of x: also --dtype"},
    [FIELD_OUT] = {.name = "out",
                   .kind = GM_FIELD_TYPE,
                   .uses = SUITES,
                   .offset = AT(out_type),
                   .types = OUT_TYPES,
                   .about = "type of out (default: e4m3)"},
    [FIELD_SCALING] = {"scaling", GM_FIELD_WORD, SUITES, .offset = AT(scaling), .words = scalings,
                       .about = "who shares a scale, or amax_only, or static: it is given (default)"},
    [FIELD_FORMAT] = {"scale_format", GM_FIELD_WORD, SUITES, .offset = AT(scale_format), .words = gm_scale_format_words,
                      .about = "of scales: fp32 (default), power_of_2, e8m0"},
    [FIELD_ORDER] = {"scale_order", GM_FIELD_WORD, SUITES, .offset = AT(scale_order), .words = gm_scale_order_words,
                     .about = "of scales of groups and blocks"},
    [FIELD_ROWS] = {.name = "rows", .kind = GM_FIELD_SIZE, .uses = SUITES, .offset = AT(rows)},
    {.name = "columns", .kind = GM_FIELD_SIZE, .uses = SUITES, .offset = AT(columns)},
    {"division", GM_FIELD_WORD, GM_IN_OPTIONS, .offset = AT(division), .words = gm_division_words,
     .about = "x / scale (default), or x * (1 / scale)"},
    {.name = "group",
     .kind = GM_FIELD_SIZE,
     .uses = GM_IN_OPTIONS,
     .offset = AT(group),
     .about = "columns: 128, 64, 32"},
    {"scale_floor", GM_FIELD_REAL, GM_IN_OPTIONS, .offset = AT(scale_floor), .about = "the least scale"},
    GM_STRIDE_FIELD(gm_quantize_problem, x),
    GM_STRIDE_FIELD(gm_quantize_problem, out),
    GM_STRIDE_FIELD(gm_quantize_problem, scales),
    GM_ALIGN_FIELD(x),
    GM_ALIGN_FIELD(out),
};

/* ---- a problem ------------------------------------------------------------------------------------------ */

struct gm_out gm_quantize_out(const struct gm_quantize_problem *p) {
    return (struct gm_out){.rows = p->rows,
                           .columns = p->columns,
                           .type = p->out_type,
                           .scaling = p->scaling,
                           .scale_format = p->scale_format,
                           .scale_order = p->scale_order,
                           .division = p->division,
                           .group = p->group,
                           .scales_stride = p->scales_stride,
                           .scale_floor = p->scale_floor};
}

void gm_quantize_matrices(const struct gm_quantize_problem *p, struct gm_matrix matrices[GM_QUANTIZE_MATRICES]) {
    const int64_t out_rows = p->scaling == GM_SCALE_AMAX_ONLY ? 0 : p->rows;
    const struct gm_out out = gm_quantize_out(p);
    matrices[GM_QUANTIZE_X] =
        (struct gm_matrix){"x", p->rows, p->columns, p->x_stride, gm_type_bytes(p->type), p->x_align};
    matrices[GM_QUANTIZE_OUT] = (struct gm_matrix){"out", out_rows, p->columns, p->out_stride, 1, p->out_align};
    matrices[GM_QUANTIZE_SCALES] = gm_scales_of(&out);
}

static enum gm_status check_scales(const struct gm_quantize_problem *p) {
    const struct gm_out out = gm_quantize_out(p);
    const enum gm_status status = gm_check_scales(&out);
    if (status == GM_OK && p->scaling == GM_SCALE_AMAX_ONLY && p->scale_format == GM_SCALE_E8M0)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "scale_format is 2, a byte; GM_SCALE_AMAX_ONLY has a float");
    return status == GM_OK ? gm_check_group(p->group) : status;
}

static enum gm_status check_types(struct gm_quantize_problem *p) {
    const enum gm_status status = gm_check_enum("type", (int)p->type, GM_BF16, GM_FP32);
    if (status != GM_OK)
        return status;
    if (p->out_type == 0)
        p->out_type = GM_E4M3;
    return gm_check_enum("out_type", (int)p->out_type, GM_E4M3, GM_INT8);
}

/* What has no effect is as if it had not been asked for. */
static void forget(struct gm_quantize_problem *p) {
    gm_forget_scales(p->scaling, &p->scale_format, &p->scale_order, &p->group, &p->scales_stride);
    if (p->scaling == GM_SCALE_AMAX_ONLY)
        p->division = GM_DIVIDE;
    if (p->scale_floor == 0)
        p->scale_floor = gm_usual_scale_floor(p->out_type, p->scaling);
}

static enum gm_status fill(struct gm_quantize_problem *p) {
    struct gm_matrix matrices[GM_QUANTIZE_MATRICES];
    gm_quantize_matrices(p, matrices);
    const struct gm_matrix *scales = &matrices[GM_QUANTIZE_SCALES];
    enum gm_status status = gm_fill_matrix(&matrices[GM_QUANTIZE_X], &p->x_stride, &p->x_align);
    if (status == GM_OK)
        status = gm_fill_matrix(&matrices[GM_QUANTIZE_OUT], &p->out_stride, &p->out_align);
    if (status != GM_OK)
        return status;
    return gm_fill_stride("scales_stride", &p->scales_stride, scales->rows, scales->columns, scales->element_bytes);
}

static enum gm_status normalize(void *problem) {
    struct gm_quantize_problem *p = problem;
    enum gm_status status = gm_check_size("rows", p->rows, 0, MOST_ROWS);
    if (status == GM_OK)
        status = gm_check_size("columns", p->columns, 1, MOST_COLUMNS);
    if (status == GM_OK)
        status = check_types(p);
    if (status == GM_OK)
        status = check_scales(p);
    if (status != GM_OK)
        return status;
    forget(p);
    return fill(p);
}

static int is_empty(const void *problem) {
    return ((const struct gm_quantize_problem *)problem)->rows == 0;
}

/* Of an element: its size, a maximum and a division. */
static struct gm_work work(const void *problem) {
    struct gm_quantize_problem p = *(const struct gm_quantize_problem *)problem;
    struct gm_matrix matrices[GM_QUANTIZE_MATRICES];
    struct gm_work work = {.flops = 3 * (double)p.rows * (double)p.columns};
    gm_quantize_matrices(&p, matrices);
    for (int i = 0; i < GM_QUANTIZE_MATRICES; i++)
        work.least_bytes += (double)matrices[i].rows * (double)matrices[i].columns * matrices[i].element_bytes;
    return work;
}

/* ---- a call --------------------------------------------------------------------------------------------- */

static int ranges(const void *problem, const void *arguments, struct gm_range found[GM_RANGES_MAX],
                  struct gm_workspace *workspace) {
    const struct gm_quantize_problem *p = problem;
    const struct gm_quantize_args *args = arguments;
    struct gm_matrix matrices[GM_QUANTIZE_MATRICES];
    gm_quantize_matrices(p, matrices);
    found[GM_QUANTIZE_X] = gm_range_of(&matrices[GM_QUANTIZE_X], args->x, 0);
    found[GM_QUANTIZE_OUT] = gm_range_of(&matrices[GM_QUANTIZE_OUT], args->out, 1);
    found[GM_QUANTIZE_SCALES] = gm_range_of(&matrices[GM_QUANTIZE_SCALES], args->scales, p->scaling != GM_SCALE_STATIC);
    found[GM_QUANTIZE_MATRICES] = gm_range_of_row_count(args->row_count);
    *workspace = (struct gm_workspace){0};
    return GM_QUANTIZE_MATRICES + 1;
}

const struct gm_operation gm_operation_quantize = {
    .name = "quantize",
    .computes = "out = x / scale in 8 bits, scale = amax / limit",
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .axis = FIELD_ROWS,
    .type = FIELD_TYPE,
    .problem_bytes = sizeof(struct gm_quantize_problem),
    .problem_bytes_least = 96,
    .planned_bytes = sizeof(struct gm_quantize_problem),
    .args_bytes = sizeof(struct gm_quantize_args),
    .args_bytes_least = 40,
    .normalize = normalize,
    .is_empty = is_empty,
    .work = work,
    .ranges = ranges,
};

/* ---- the public functions ------------------------------------------------------------------------------- */

enum gm_status gm_quantize_plan_create(gm_context *context, const struct gm_quantize_problem *problem,
                                       const struct gm_plan_options *options, gm_plan **plan) {
    return gm_plan_create(&gm_operation_quantize, context, problem, options, plan);
}

enum gm_status gm_quantize_execute(const gm_plan *plan, const struct gm_quantize_args *args, void *stream) {
    return gm_plan_execute(plan, &gm_operation_quantize, args, stream);
}

enum gm_status gm_quantize(gm_context *context, const struct gm_quantize_problem *problem,
                           const struct gm_quantize_args *args, void *stream) {
    return gm_plan_and_execute(&gm_operation_quantize, context, problem, args, stream);
}

enum gm_status gm_quantize_explain(const struct gm_device *device, const struct gm_quantize_problem *problem,
                                   const struct gm_plan_options *options, struct gm_candidate *candidates,
                                   size_t capacity, size_t *count) {
    return gm_explain(&gm_operation_quantize, device, problem, options, candidates, capacity, count);
}
