/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions as an operation: its fields, its problem, what a call reads and writes, and its public functions. */
#include "gristmill/reduce.h"
#include "host/check_problem.h"
#include "host/error.h"
#include "host/plan.h"
#include "host/reduce/reduce.h"
#include "host/types.h"

#include <inttypes.h>

#define MOST_ROWS    INT32_MAX
#define MOST_COLUMNS (INT32_C(1) << 30)

/* ---- fields --------------------------------------------------------------------------------------------- */

static const char *const alongs[] = {"columns", "rows", "all", NULL};
static const char *const reductions[] = {"sum", "mean", "max", "min", "l2", "argmax", "argmin", NULL};
static const char *const outs[] = {"same", "fp32", NULL};

#define AT(member) offsetof(struct gm_reduce_problem, member)
#define TYPES      (GM_TYPE_SET(GM_BF16) | GM_TYPE_SET(GM_FP16) | GM_TYPE_SET(GM_FP32))
#define SUITES     (GM_IN_SUITES | GM_IN_LEDGERS)

GM_ALIGN_FUNCTIONS(gm_reduce_problem, x)

enum { FIELD_TYPE, FIELD_OUT, FIELD_REDUCTION, FIELD_ALONG, FIELD_ROWS };
static const struct gm_field fields[] = {
    [FIELD_TYPE] = {.name = "type",
                    .kind = GM_FIELD_TYPE,
                    .uses = SUITES,
                    .offset = AT(type),
                    .types = TYPES,
                    .about = "of x: also --dtype"},
    [FIELD_OUT] = {"out", GM_FIELD_WORD, SUITES, .offset = AT(fp32_out), .words = outs,
                   .about = "type of results that are no indices: same (default) or fp32"},
    [FIELD_REDUCTION] = {"reduction", GM_FIELD_WORD, SUITES, .offset = AT(reduction), .words = reductions,
                         .about = "sum (default), mean, max, min, l2, argmax or argmin"},
    [FIELD_ALONG] = {"along", GM_FIELD_WORD, SUITES, .offset = AT(along), .words = alongs,
                     .about = "columns (default: a result for each row), rows, or all"},
    [FIELD_ROWS] = {.name = "rows", .kind = GM_FIELD_SIZE, .uses = SUITES, .offset = AT(rows)},
    {.name = "columns", .kind = GM_FIELD_SIZE, .uses = SUITES, .offset = AT(columns)},
    GM_STRIDE_FIELD(gm_reduce_problem, x),
    GM_ALIGN_FIELD(x),
};

/* ---- a problem ------------------------------------------------------------------------------------------ */

struct gm_matrix gm_reduce_x(const struct gm_reduce_problem *p) {
    return (struct gm_matrix){"x", p->rows, p->columns, p->x_stride, gm_type_bytes(p->type), p->x_align};
}

int64_t gm_reduce_results(const struct gm_reduce_problem *p) {
    return p->along == GM_REDUCE_ALL ? 1 : p->along == GM_REDUCE_ROWS ? p->columns : p->rows;
}

int gm_reduce_finds_place(const struct gm_reduce_problem *p) {
    return p->reduction == GM_REDUCTION_ARGMAX || p->reduction == GM_REDUCTION_ARGMIN;
}

enum gm_type gm_reduce_out_type(const struct gm_reduce_problem *p) {
    if (gm_reduce_finds_place(p))
        return p->along == GM_REDUCE_ALL ? GM_INT64 : GM_INT32;
    return p->fp32_out ? GM_FP32 : p->type;
}

static enum gm_status check_choices(const struct gm_reduce_problem *p) {
    enum gm_status status = gm_check_enum("type", (int)p->type, GM_BF16, GM_FP32);
    if (status == GM_OK)
        status = gm_check_enum("along", (int)p->along, GM_REDUCE_COLUMNS, GM_REDUCE_ALL);
    if (status == GM_OK)
        status = gm_check_enum("reduction", (int)p->reduction, GM_REDUCTION_SUM, GM_REDUCTION_ARGMIN);
    return status == GM_OK ? gm_check_enum("fp32_out", p->fp32_out, 0, 1) : status;
}

/* Extremes of no elements are no numbers. */
static enum gm_status check_any(const struct gm_reduce_problem *p) {
    const int is_extreme =
        p->reduction != GM_REDUCTION_SUM && p->reduction != GM_REDUCTION_MEAN && p->reduction != GM_REDUCTION_L2;
    if (is_extreme && gm_reduce_results(p) > 0 && (p->rows == 0 || p->columns == 0))
        return gm_fail(GM_ERROR_INVALID_ARGUMENT,
                       "%s along %s of %" PRId64 " rows and %" PRId64 " columns is of no elements, which have none",
                       reductions[p->reduction], alongs[p->along], p->rows, p->columns);
    return GM_OK;
}

static enum gm_status normalize(void *problem) {
    struct gm_reduce_problem *p = problem;
    enum gm_status status = gm_check_size("rows", p->rows, 0, MOST_ROWS);
    if (status == GM_OK)
        status = gm_check_size("columns", p->columns, 0, MOST_COLUMNS);
    if (status == GM_OK)
        status = check_choices(p);
    if (status == GM_OK)
        status = check_any(p);
    if (status != GM_OK)
        return status;
    p->fp32_out = p->fp32_out && p->type != GM_FP32 && !gm_reduce_finds_place(p);
    const struct gm_matrix x = gm_reduce_x(p);
    return gm_fill_matrix(&x, &p->x_stride, &p->x_align);
}

static int is_empty(const void *problem) {
    return gm_reduce_results(problem) == 0;
}

static struct gm_work work(const void *problem) {
    const struct gm_reduce_problem *p = problem;
    const double elements = (double)p->rows * (double)p->columns, results = (double)gm_reduce_results(p);
    return (struct gm_work){
        .flops = (p->reduction == GM_REDUCTION_L2 ? 2 : 1) * elements,
        .least_bytes = elements * gm_type_bytes(p->type) + results * gm_type_bytes(gm_reduce_out_type(p)),
    };
}

/* ---- a call --------------------------------------------------------------------------------------------- */

static int ranges(const void *problem, const void *arguments, struct gm_range found[GM_RANGES_MAX],
                  struct gm_workspace *workspace) {
    const struct gm_reduce_problem *p = problem;
    const struct gm_reduce_args *args = arguments;
    const struct gm_matrix x = gm_reduce_x(p);
    const int out_bytes = gm_type_bytes(gm_reduce_out_type(p));
    const int64_t results = gm_reduce_results(p);
    const struct gm_matrix out = {"out", 1, results, results, out_bytes, out_bytes};
    found[0] = gm_range_of(&x, args->x, 0);
    found[1] = gm_range_of(&out, args->out, 1);
    found[2] = gm_range_of_row_count(args->row_count);
    workspace->address = args->workspace;
    workspace->bytes = args->workspace_bytes;
    return 3;
}

const struct gm_operation gm_operation_reduce = {
    .name = "reduce",
    .computes = "out = sum, mean, max, min, L2 norm, argmax or argmin of rows, columns or all",
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .axis = FIELD_ROWS,
    .type = FIELD_TYPE,
    .problem_bytes = sizeof(struct gm_reduce_problem),
    .problem_bytes_least = 56,
    .planned_bytes = sizeof(struct gm_reduce_problem),
    .args_bytes = sizeof(struct gm_reduce_args),
    .args_bytes_least = 48,
    .normalize = normalize,
    .is_empty = is_empty,
    .work = work,
    .ranges = ranges,
};

/* ---- the public functions ------------------------------------------------------------------------------- */

enum gm_status gm_reduce_plan_create(gm_context *context, const struct gm_reduce_problem *problem,
                                     const struct gm_plan_options *options, gm_plan **plan) {
    return gm_plan_create(&gm_operation_reduce, context, problem, options, plan);
}

enum gm_status gm_reduce_execute(const gm_plan *plan, const struct gm_reduce_args *args, void *stream) {
    return gm_plan_execute(plan, &gm_operation_reduce, args, stream);
}

enum gm_status gm_reduce(gm_context *context, const struct gm_reduce_problem *problem,
                         const struct gm_reduce_args *args, void *stream) {
    return gm_plan_and_execute(&gm_operation_reduce, context, problem, args, stream);
}

enum gm_status gm_reduce_explain(const struct gm_device *device, const struct gm_reduce_problem *problem,
                                 const struct gm_plan_options *options, struct gm_candidate *candidates,
                                 size_t capacity, size_t *count) {
    return gm_explain(&gm_operation_reduce, device, problem, options, candidates, capacity, count);
}
