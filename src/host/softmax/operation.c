/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax as an operation: its fields, its problem, what a call reads and writes, and its public functions. */
#include "gristmill/softmax.h"
#include "host/check_problem.h"
#include "host/plan.h"
#include "host/softmax/softmax.h"
#include "host/types.h"

#include <math.h>

#define MOST_ROWS    INT32_MAX
#define MOST_COLUMNS (INT32_C(1) << 30)

/* ---- fields --------------------------------------------------------------------------------------------- */

static const char *const outs[] = {"same", "fp32", NULL};
static const char *const forms[] = {"plain", "log", NULL};

#define AT(member) offsetof(struct gm_softmax_problem, member)
#define TYPES      (GM_TYPE_SET(GM_BF16) | GM_TYPE_SET(GM_FP16) | GM_TYPE_SET(GM_FP32))
#define SUITES     (GM_IN_SUITES | GM_IN_LEDGERS)

GM_ALIGN_FUNCTIONS(gm_softmax_problem, x)
GM_ALIGN_FUNCTIONS(gm_softmax_problem, out)

enum { FIELD_TYPE, FIELD_OUT, FIELD_FORM, FIELD_CAP, FIELD_ROWS };
static const struct gm_field fields[] = {
    [FIELD_TYPE] = {.name = "type",
                    .kind = GM_FIELD_TYPE,
                    .uses = SUITES,
                    .offset = AT(type),
                    .types = TYPES,
                    .about = "of x: also --dtype"},
    [FIELD_OUT] = {"out_type", GM_FIELD_WORD, SUITES, .offset = AT(fp32_out), .words = outs,
                   .about = "x's, same (default), or fp32"},
    [FIELD_FORM] = {"form", GM_FIELD_WORD, SUITES, .offset = AT(log), .words = forms,
                    .about = "plain (default), or log: the log-softmax"},
    [FIELD_CAP] = {"cap", GM_FIELD_REAL, SUITES, .offset = AT(cap),
                   .about = "cap * tanh(x / cap) before it, 0: none (default)"},
    [FIELD_ROWS] = {.name = "rows", .kind = GM_FIELD_SIZE, .uses = SUITES, .offset = AT(rows)},
    {.name = "columns", .kind = GM_FIELD_SIZE, .uses = SUITES, .offset = AT(columns)},
    {"temperature", GM_FIELD_REAL, GM_IN_OPTIONS, .offset = AT(temperature), .about = "of all rows (default: 1)"},
    GM_STRIDE_FIELD(gm_softmax_problem, x),
    GM_STRIDE_FIELD(gm_softmax_problem, out),
    GM_ALIGN_FIELD(x),
    GM_ALIGN_FIELD(out),
};

/* ---- a problem ------------------------------------------------------------------------------------------ */

static int bytes_of_out(const struct gm_softmax_problem *p) {
    return p->fp32_out ? 4 : gm_type_bytes(p->type);
}

void gm_softmax_matrices(const struct gm_softmax_problem *p, struct gm_matrix matrices[GM_SOFTMAX_MATRICES]) {
    matrices[GM_SOFTMAX_X] =
        (struct gm_matrix){"x", p->rows, p->columns, p->x_stride, gm_type_bytes(p->type), p->x_align};
    matrices[GM_SOFTMAX_OUT] =
        (struct gm_matrix){"out", p->rows, p->columns, p->out_stride, bytes_of_out(p), p->out_align};
}

static enum gm_status check_choices(const struct gm_softmax_problem *p) {
    enum gm_status status = gm_check_enum("type", (int)p->type, GM_BF16, GM_FP32);
    if (status == GM_OK)
        status = gm_check_enum("fp32_out", p->fp32_out, 0, 1);
    if (status == GM_OK)
        status = gm_check_enum("log", p->log, 0, 1);
    if (status == GM_OK)
        status = gm_check_real("cap", p->cap, 0);
    return status == GM_OK ? gm_check_real("temperature", p->temperature, 0) : status;
}

static enum gm_status normalize(void *problem) {
    struct gm_softmax_problem *p = problem;
    struct gm_matrix matrices[GM_SOFTMAX_MATRICES];
    enum gm_status status = gm_check_size("rows", p->rows, 0, MOST_ROWS);
    if (status == GM_OK)
        status = gm_check_size("columns", p->columns, 1, MOST_COLUMNS);
    if (status == GM_OK)
        status = check_choices(p);
    if (status != GM_OK)
        return status;
    p->fp32_out = p->type != GM_FP32 && p->fp32_out; /* what it is anyway */
    if (p->temperature == 0)
        p->temperature = 1;
    gm_softmax_matrices(p, matrices);
    status = gm_fill_matrix(&matrices[GM_SOFTMAX_X], &p->x_stride, &p->x_align);
    return status == GM_OK ? gm_fill_matrix(&matrices[GM_SOFTMAX_OUT], &p->out_stride, &p->out_align) : status;
}

static int is_empty(const void *problem) {
    return ((const struct gm_softmax_problem *)problem)->rows == 0;
}

/* Of an element: its maximum, a difference, a product, a power, a sum, a product. */
static struct gm_work work(const void *problem) {
    const struct gm_softmax_problem *p = problem;
    const double elements = (double)p->rows * (double)p->columns;
    return (struct gm_work){
        .flops = (p->cap > 0 ? 14 : 6) * elements,
        .least_bytes = elements * (gm_type_bytes(p->type) + bytes_of_out(p)),
    };
}

/* ---- a call --------------------------------------------------------------------------------------------- */

static int ranges(const void *problem, const void *arguments, struct gm_range found[GM_RANGES_MAX],
                  struct gm_workspace *workspace) {
    const struct gm_softmax_problem *p = problem;
    const struct gm_softmax_args *args = arguments;
    struct gm_matrix matrices[GM_SOFTMAX_MATRICES];
    int count = GM_SOFTMAX_MATRICES;
    gm_softmax_matrices(p, matrices);
    found[GM_SOFTMAX_X] = gm_range_of(&matrices[GM_SOFTMAX_X], args->x, 0);
    found[GM_SOFTMAX_OUT] = gm_range_of(&matrices[GM_SOFTMAX_OUT], args->out, 1);
    if (!p->fp32_out)
        found[GM_SOFTMAX_X].may_equal = GM_SOFTMAX_OUT;
    found[count++] = gm_range_of_array("lse", args->lse, p->rows, 4, 1);
    found[count++] = gm_range_of_array("temperatures", args->temperatures, p->rows, 4, 0);
    found[count++] = gm_range_of_row_count(args->row_count);
    *workspace = (struct gm_workspace){0};
    return count;
}

const struct gm_operation gm_operation_softmax = {
    .name = "softmax",
    .computes = "out = softmax(cap * tanh(x / cap) / temperature) of every row, or its logarithm",
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .axis = FIELD_ROWS,
    .type = FIELD_TYPE,
    .problem_bytes = sizeof(struct gm_softmax_problem),
    .problem_bytes_least = 72,
    .planned_bytes = sizeof(struct gm_softmax_problem),
    .args_bytes = sizeof(struct gm_softmax_args),
    .args_bytes_least = 48,
    .normalize = normalize,
    .is_empty = is_empty,
    .work = work,
    .ranges = ranges,
};

/* ---- the public functions ------------------------------------------------------------------------------- */

enum gm_status gm_softmax_plan_create(gm_context *context, const struct gm_softmax_problem *problem,
                                      const struct gm_plan_options *options, gm_plan **plan) {
    return gm_plan_create(&gm_operation_softmax, context, problem, options, plan);
}

enum gm_status gm_softmax_execute(const gm_plan *plan, const struct gm_softmax_args *args, void *stream) {
    return gm_plan_execute(plan, &gm_operation_softmax, args, stream);
}

enum gm_status gm_softmax(gm_context *context, const struct gm_softmax_problem *problem,
                          const struct gm_softmax_args *args, void *stream) {
    return gm_plan_and_execute(&gm_operation_softmax, context, problem, args, stream);
}

enum gm_status gm_softmax_explain(const struct gm_device *device, const struct gm_softmax_problem *problem,
                                  const struct gm_plan_options *options, struct gm_candidate *candidates,
                                  size_t capacity, size_t *count) {
    return gm_explain(&gm_operation_softmax, device, problem, options, candidates, capacity, count);
}
