/* SPDX-License-Identifier: Apache-2.0 */
/* dequantize as an operation: its fields, its problem, what a call reads and writes, and its public functions. */
#include "host/check_problem.h"
#include "host/dequantize/dequantize.h"
#include "host/error.h"
#include "host/plan.h"
#include "host/types.h"

#define MOST_ROWS    INT32_MAX
#define MOST_COLUMNS (INT32_C(1) << 29)

/* ---- fields --------------------------------------------------------------------------------------------- */

/* amax_only is refused. */
static const char *const scalings[] = {"static", "amax_only", "row", "group", "block", NULL};

#define AT(member) offsetof(struct gm_dequantize_problem, member)
#define TYPES      (GM_TYPE_SET(GM_E4M3) | GM_TYPE_SET(GM_E5M2) | GM_TYPE_SET(GM_INT8))
#define OUT_TYPES  (GM_TYPE_SET(GM_BF16) | GM_TYPE_SET(GM_FP16) | GM_TYPE_SET(GM_FP32))
#define SUITES     (GM_IN_SUITES | GM_IN_LEDGERS)

GM_ALIGN_FUNCTIONS(gm_dequantize_problem, x)
GM_ALIGN_FUNCTIONS(gm_dequantize_problem, out)

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
                   .about = "type of out (default: bf16)"},
    [FIELD_SCALING] = {"scaling", GM_FIELD_WORD, SUITES, .offset = AT(scaling), .words = scalings,
                       .about = "who shares a scale: row, group, block, or static: all do (default)"},
    [FIELD_FORMAT] = {"scale_format", GM_FIELD_WORD, SUITES, .offset = AT(scale_format), .words = gm_scale_format_words,
                      .about = "of scales: fp32 (default), power_of_2, e8m0"},
    [FIELD_ORDER] = {"scale_order", GM_FIELD_WORD, SUITES, .offset = AT(scale_order), .words = gm_scale_order_words,
                     .about = "of scales of groups and blocks"},
    [FIELD_ROWS] = {.name = "rows", .kind = GM_FIELD_SIZE, .uses = SUITES, .offset = AT(rows)},
    {.name = "columns", .kind = GM_FIELD_SIZE, .uses = SUITES, .offset = AT(columns)},
    {.name = "group",
     .kind = GM_FIELD_SIZE,
     .uses = GM_IN_OPTIONS,
     .offset = AT(group),
     .about = "columns: 128, 64, 32"},
    GM_STRIDE_FIELD(gm_dequantize_problem, x),
    GM_STRIDE_FIELD(gm_dequantize_problem, out),
    GM_STRIDE_FIELD(gm_dequantize_problem, scales),
    GM_ALIGN_FIELD(x),
    GM_ALIGN_FIELD(out),
};

/* ---- a problem ------------------------------------------------------------------------------------------ */

struct gm_out gm_dequantize_scales(const struct gm_dequantize_problem *p) {
    return (struct gm_out){.rows = p->rows,
                           .columns = p->columns,
                           .scaling = p->scaling,
                           .scale_format = p->scale_format,
                           .scale_order = p->scale_order,
                           .group = p->group,
                           .scales_stride = p->scales_stride};
}

void gm_dequantize_matrices(const struct gm_dequantize_problem *p, struct gm_matrix matrices[GM_DEQUANTIZE_MATRICES]) {
    const struct gm_out scales = gm_dequantize_scales(p);
    matrices[GM_DEQUANTIZE_X] = (struct gm_matrix){"x", p->rows, p->columns, p->x_stride, 1, p->x_align};
    matrices[GM_DEQUANTIZE_OUT] =
        (struct gm_matrix){"out", p->rows, p->columns, p->out_stride, gm_type_bytes(p->out_type), p->out_align};
    matrices[GM_DEQUANTIZE_SCALES] = gm_scales_of(&scales);
}

static enum gm_status check_choices(struct gm_dequantize_problem *p) {
    const struct gm_out scales = gm_dequantize_scales(p);
    if (p->type == 0)
        p->type = GM_E4M3;
    enum gm_status status = gm_check_enum("type", (int)p->type, GM_E4M3, GM_INT8);
    if (status == GM_OK)
        status = gm_check_enum("out_type", (int)p->out_type, GM_BF16, GM_FP32);
    if (status == GM_OK)
        status = gm_check_scales(&scales);
    if (status == GM_OK && p->scaling == GM_SCALE_AMAX_ONLY)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT,
                       "scaling is 1, GM_SCALE_AMAX_ONLY; the scale that it makes is one of GM_SCALE_STATIC");
    return status == GM_OK ? gm_check_group(p->group) : status;
}

/* What has no effect is as if it had not been asked for. */
static void forget(struct gm_dequantize_problem *p) {
    gm_forget_scales(p->scaling, &p->scale_format, &p->scale_order, &p->group, &p->scales_stride);
    if (p->scale_format == GM_SCALE_POWER_OF_2)
        p->scale_format = GM_SCALE_FP32;
}

static enum gm_status fill(struct gm_dequantize_problem *p) {
    struct gm_matrix matrices[GM_DEQUANTIZE_MATRICES];
    gm_dequantize_matrices(p, matrices);
    const struct gm_matrix *scales = &matrices[GM_DEQUANTIZE_SCALES];
    enum gm_status status = gm_fill_matrix(&matrices[GM_DEQUANTIZE_X], &p->x_stride, &p->x_align);
    if (status == GM_OK)
        status = gm_fill_matrix(&matrices[GM_DEQUANTIZE_OUT], &p->out_stride, &p->out_align);
    if (status != GM_OK)
        return status;
    return gm_fill_stride("scales_stride", &p->scales_stride, scales->rows, scales->columns, scales->element_bytes);
}

static enum gm_status normalize(void *problem) {
    struct gm_dequantize_problem *p = problem;
    enum gm_status status = gm_check_size("rows", p->rows, 0, MOST_ROWS);
    if (status == GM_OK)
        status = gm_check_size("columns", p->columns, 1, MOST_COLUMNS);
    if (status == GM_OK)
        status = check_choices(p);
    if (status != GM_OK)
        return status;
    forget(p);
    return fill(p);
}

static void simplify(void *planned, const struct gm_plan_options *options) {
    struct gm_dequantize_planned *p = planned;
    (void)options;
    p->x_type = p->problem.type;
    p->problem.type = GM_E4M3;
}

static int is_empty(const void *problem) {
    return ((const struct gm_dequantize_problem *)problem)->rows == 0;
}

static struct gm_work work(const void *problem) {
    const struct gm_dequantize_problem *p = problem;
    struct gm_matrix matrices[GM_DEQUANTIZE_MATRICES];
    struct gm_work work = {.flops = (double)p->rows * (double)p->columns};
    gm_dequantize_matrices(p, matrices);
    for (int i = 0; i < GM_DEQUANTIZE_MATRICES; i++)
        work.least_bytes += (double)matrices[i].rows * (double)matrices[i].columns * matrices[i].element_bytes;
    return work;
}

/* ---- a call --------------------------------------------------------------------------------------------- */

static int ranges(const void *problem, const void *arguments, struct gm_range found[GM_RANGES_MAX],
                  struct gm_workspace *workspace) {
    const struct gm_dequantize_problem *p = problem;
    const struct gm_dequantize_args *args = arguments;
    struct gm_matrix matrices[GM_DEQUANTIZE_MATRICES];
    gm_dequantize_matrices(p, matrices);
    found[GM_DEQUANTIZE_X] = gm_range_of(&matrices[GM_DEQUANTIZE_X], args->x, 0);
    found[GM_DEQUANTIZE_OUT] = gm_range_of(&matrices[GM_DEQUANTIZE_OUT], args->out, 1);
    found[GM_DEQUANTIZE_SCALES] = gm_range_of(&matrices[GM_DEQUANTIZE_SCALES], args->scales, 0);
    found[GM_DEQUANTIZE_MATRICES] = gm_range_of_row_count(args->row_count);
    *workspace = (struct gm_workspace){0};
    return GM_DEQUANTIZE_MATRICES + 1;
}

const struct gm_operation gm_operation_dequantize = {
    .name = "dequantize",
    .computes = "out = x * scale, x in 8 bits",
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .axis = FIELD_ROWS,
    .type = FIELD_TYPE,
    .problem_bytes = sizeof(struct gm_dequantize_problem),
    .problem_bytes_least = 88,
    .planned_bytes = sizeof(struct gm_dequantize_planned),
    .args_bytes = sizeof(struct gm_dequantize_args),
    .args_bytes_least = 40,
    .normalize = normalize,
    .simplify = simplify,
    .is_empty = is_empty,
    .work = work,
    .ranges = ranges,
};

/* ---- the public functions ------------------------------------------------------------------------------- */

enum gm_status gm_dequantize_plan_create(gm_context *context, const struct gm_dequantize_problem *problem,
                                         const struct gm_plan_options *options, gm_plan **plan) {
    return gm_plan_create(&gm_operation_dequantize, context, problem, options, plan);
}

enum gm_status gm_dequantize_execute(const gm_plan *plan, const struct gm_dequantize_args *args, void *stream) {
    return gm_plan_execute(plan, &gm_operation_dequantize, args, stream);
}

enum gm_status gm_dequantize(gm_context *context, const struct gm_dequantize_problem *problem,
                             const struct gm_dequantize_args *args, void *stream) {
    return gm_plan_and_execute(&gm_operation_dequantize, context, problem, args, stream);
}

enum gm_status gm_dequantize_explain(const struct gm_device *device, const struct gm_dequantize_problem *problem,
                                     const struct gm_plan_options *options, struct gm_candidate *candidates,
                                     size_t capacity, size_t *count) {
    return gm_explain(&gm_operation_dequantize, device, problem, options, candidates, capacity, count);
}
