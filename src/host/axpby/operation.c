/* SPDX-License-Identifier: Apache-2.0 */
/* axpby as an operation: its fields, its problem, what a call reads and writes, and its public functions. */
#include "host/axpby/axpby.h"
#include "host/check_problem.h"
#include "host/error.h"
#include "host/plan.h"
#include "host/types.h"

#include <math.h>

#define MOST_ROWS    INT32_MAX
#define MOST_COLUMNS (INT32_C(1) << 29)

/* ---- fields --------------------------------------------------------------------------------------------- */

static const char *const terms[] = {"x", "x_and_y", "neither", NULL};

#define AT(member) offsetof(struct gm_axpby_problem, member)
#define TYPES      (GM_TYPE_SET(GM_INT32 + 1) - 1)
#define SUITES     (GM_IN_SUITES | GM_IN_LEDGERS)

GM_ALIGN_FUNCTIONS(gm_axpby_problem, x)
GM_ALIGN_FUNCTIONS(gm_axpby_problem, y)
GM_ALIGN_FUNCTIONS(gm_axpby_problem, out)

enum { FIELD_TYPE, FIELD_Y_TYPE, FIELD_OUT_TYPE, FIELD_TERMS, FIELD_ROWS };
static const struct gm_field fields[] = {
    [FIELD_TYPE] = {.name = "type",
                    .kind = GM_FIELD_TYPE,
                    .uses = SUITES,
                    .offset = AT(type),
                    .types = TYPES,
                    .about = "of x: also --dtype"},
    [FIELD_Y_TYPE] = {.name = "y_type",
                      .kind = GM_FIELD_TYPE,
                      .uses = SUITES,
                      .offset = AT(y_type),
                      .types = TYPES,
                      .about = "of y"},
    [FIELD_OUT_TYPE] = {.name = "out_type",
                        .kind = GM_FIELD_TYPE,
                        .uses = SUITES,
                        .offset = AT(out_type),
                        .types = TYPES,
                        .about = "of out: also --out"},
    [FIELD_TERMS] = {"terms", GM_FIELD_WORD, SUITES, .offset = AT(terms), .words = terms,
                     .about = "what is added to gamma: x (default), x_and_y, neither"},
    [FIELD_ROWS] = {.name = "rows", .kind = GM_FIELD_SIZE, .uses = SUITES, .offset = AT(rows)},
    {.name = "columns", .kind = GM_FIELD_SIZE, .uses = SUITES, .offset = AT(columns)},
    {"alpha", GM_FIELD_REAL, GM_IN_OPTIONS, .offset = AT(alpha), .about = "of x (default: 1)"},
    {"beta", GM_FIELD_REAL, GM_IN_OPTIONS, .offset = AT(beta), .about = "of y (default: 1)"},
    {"gamma", GM_FIELD_REAL, GM_IN_OPTIONS, .offset = AT(gamma), .about = "is added (default: 0)"},
    GM_STRIDE_FIELD(gm_axpby_problem, x),
    GM_STRIDE_FIELD(gm_axpby_problem, y),
    GM_STRIDE_FIELD(gm_axpby_problem, out),
    GM_ALIGN_FIELD(x),
    GM_ALIGN_FIELD(y),
    GM_ALIGN_FIELD(out),
};

/* ---- a problem ------------------------------------------------------------------------------------------ */

void gm_axpby_matrices(const struct gm_axpby_problem *p, enum gm_type x_type,
                       struct gm_matrix matrices[GM_AXPBY_MATRICES]) {
    const int64_t x_rows = p->terms == GM_AXPBY_NEITHER ? 0 : p->rows;
    const int64_t y_rows = p->terms == GM_AXPBY_X_AND_Y ? p->rows : 0;
    matrices[GM_AXPBY_OPERAND_X] =
        (struct gm_matrix){"x", x_rows, p->columns, p->x_stride, gm_type_bytes(x_type), p->x_align};
    matrices[GM_AXPBY_OPERAND_Y] =
        (struct gm_matrix){"y", y_rows, p->columns, p->y_stride, gm_type_bytes(p->y_type), p->y_align};
    matrices[GM_AXPBY_OPERAND_OUT] =
        (struct gm_matrix){"out", p->rows, p->columns, p->out_stride, gm_type_bytes(p->out_type), p->out_align};
}

static enum gm_status check_choices(const struct gm_axpby_problem *p) {
    enum gm_status status = gm_check_enum("type", (int)p->type, GM_BF16, GM_INT32);
    if (status == GM_OK)
        status = gm_check_enum("y_type", (int)p->y_type, GM_BF16, GM_INT32);
    if (status == GM_OK)
        status = gm_check_enum("out_type", (int)p->out_type, GM_BF16, GM_INT32);
    if (status == GM_OK)
        status = gm_check_enum("terms", (int)p->terms, GM_AXPBY_X, GM_AXPBY_NEITHER);
    if (status == GM_OK)
        status = gm_check_real("alpha", p->alpha, -INFINITY);
    return status == GM_OK ? gm_check_real("beta", p->beta, -INFINITY) : status;
}

/* What has no effect is as if it had not been asked for. */
static void forget(struct gm_axpby_problem *p) {
    if (p->terms == GM_AXPBY_NEITHER) {
        p->type = p->out_type;
        p->alpha = 1;
        p->x_stride = 0;
        p->x_align = 0;
    }
    if (p->terms != GM_AXPBY_X_AND_Y) {
        p->y_type = p->type;
        p->beta = 1;
        p->y_stride = 0;
        p->y_align = 0;
    }
    if (p->alpha == 0)
        p->alpha = 1;
    if (p->beta == 0)
        p->beta = 1;
}

static enum gm_status fill(struct gm_axpby_problem *p) {
    struct gm_matrix matrices[GM_AXPBY_MATRICES];
    gm_axpby_matrices(p, p->type, matrices);
    enum gm_status status = gm_fill_matrix(&matrices[GM_AXPBY_OPERAND_X], &p->x_stride, &p->x_align);
    if (status == GM_OK)
        status = gm_fill_matrix(&matrices[GM_AXPBY_OPERAND_Y], &p->y_stride, &p->y_align);
    return status == GM_OK ? gm_fill_matrix(&matrices[GM_AXPBY_OPERAND_OUT], &p->out_stride, &p->out_align) : status;
}

static enum gm_status normalize(void *problem) {
    struct gm_axpby_problem *p = problem;
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
    struct gm_axpby_planned *p = planned;
    (void)options;
    p->x_type = p->problem.type;
    p->problem.type = GM_FP32;
    p->is_planned = 1;
}

static int is_empty(const void *problem) {
    return ((const struct gm_axpby_problem *)problem)->rows == 0;
}

/* Of an element: a multiplication and an addition for each term. */
static struct gm_work work(const void *problem) {
    const struct gm_axpby_problem *p = problem;
    struct gm_matrix matrices[GM_AXPBY_MATRICES];
    struct gm_work work = {0};
    gm_axpby_matrices(p, p->type, matrices);
    for (int i = 0; i < GM_AXPBY_MATRICES; i++) {
        const double elements = (double)matrices[i].rows * (double)matrices[i].columns;
        work.least_bytes += elements * matrices[i].element_bytes;
        work.flops += i == GM_AXPBY_OPERAND_OUT ? 0 : 2 * elements;
    }
    return work;
}

/* ---- a call --------------------------------------------------------------------------------------------- */

static int ranges(const void *planned, const void *arguments, struct gm_range found[GM_RANGES_MAX],
                  struct gm_workspace *workspace) {
    const struct gm_axpby_planned *p = planned;
    const struct gm_axpby_args *args = arguments;
    struct gm_matrix matrices[GM_AXPBY_MATRICES];
    gm_axpby_matrices(&p->problem, p->is_planned ? p->x_type : p->problem.type, matrices);
    found[GM_AXPBY_OPERAND_X] = gm_range_of(&matrices[GM_AXPBY_OPERAND_X], args->x, 0);
    found[GM_AXPBY_OPERAND_Y] = gm_range_of(&matrices[GM_AXPBY_OPERAND_Y], args->y, 0);
    found[GM_AXPBY_OPERAND_OUT] = gm_range_of(&matrices[GM_AXPBY_OPERAND_OUT], args->out, 1);
    found[GM_AXPBY_MATRICES] = gm_range_of_row_count(args->row_count);
    found[GM_AXPBY_OPERAND_X].may_equal = found[GM_AXPBY_OPERAND_Y].may_equal = GM_AXPBY_OPERAND_OUT;
    *workspace = (struct gm_workspace){0};
    return GM_AXPBY_MATRICES + 1;
}

const struct gm_operation gm_operation_axpby = {
    .name = "axpby",
    .computes = "out = alpha * x + beta * y + gamma, of any types",
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .axis = FIELD_ROWS,
    .type = FIELD_TYPE,
    .problem_bytes = sizeof(struct gm_axpby_problem),
    .problem_bytes_least = 88,
    .planned_bytes = sizeof(struct gm_axpby_planned),
    .args_bytes = sizeof(struct gm_axpby_args),
    .args_bytes_least = 40,
    .normalize = normalize,
    .simplify = simplify,
    .is_empty = is_empty,
    .work = work,
    .ranges = ranges,
};

/* ---- the public functions ------------------------------------------------------------------------------- */

enum gm_status gm_axpby_plan_create(gm_context *context, const struct gm_axpby_problem *problem,
                                    const struct gm_plan_options *options, gm_plan **plan) {
    return gm_plan_create(&gm_operation_axpby, context, problem, options, plan);
}

enum gm_status gm_axpby_execute(const gm_plan *plan, const struct gm_axpby_args *args, void *stream) {
    return gm_plan_execute(plan, &gm_operation_axpby, args, stream);
}

enum gm_status gm_axpby(gm_context *context, const struct gm_axpby_problem *problem, const struct gm_axpby_args *args,
                        void *stream) {
    return gm_plan_and_execute(&gm_operation_axpby, context, problem, args, stream);
}

enum gm_status gm_axpby_explain(const struct gm_device *device, const struct gm_axpby_problem *problem,
                                const struct gm_plan_options *options, struct gm_candidate *candidates, size_t capacity,
                                size_t *count) {
    return gm_explain(&gm_operation_axpby, device, problem, options, candidates, capacity, count);
}
