/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over a token's experts as an operation: its fields, its problem, what a call reads and writes, and its public
 * functions. */
#include "gristmill/moe_finalize.h"
#include "host/check_problem.h"
#include "host/moe_finalize/moe_finalize.h"
#include "host/plan.h"
#include "host/types.h"

#define MOST_ROWS    INT32_MAX
#define MOST_COLUMNS (INT32_C(1) << 29)

/* ---- fields --------------------------------------------------------------------------------------------- */

#define AT(member) offsetof(struct gm_moe_finalize_problem, member)
#define TYPES      (GM_TYPE_SET(GM_BF16) | GM_TYPE_SET(GM_FP16) | GM_TYPE_SET(GM_FP32))
#define SUITES     (GM_IN_SUITES | GM_IN_LEDGERS)

GM_ALIGN_FUNCTIONS(gm_moe_finalize_problem, x)
GM_ALIGN_FUNCTIONS(gm_moe_finalize_problem, residual)
GM_ALIGN_FUNCTIONS(gm_moe_finalize_problem, out)

enum { FIELD_TYPE, FIELD_TOKENS };
static const struct gm_field fields[] = {
    [FIELD_TYPE] = {.name = "type",
                    .kind = GM_FIELD_TYPE,
                    .uses = SUITES,
                    .offset = AT(type),
                    .types = TYPES,
                    .about = "of x, residual and out: also --dtype"},
    [FIELD_TOKENS] = {.name = "tokens", .kind = GM_FIELD_SIZE, .uses = SUITES, .offset = AT(tokens)},
    {.name = "columns", .kind = GM_FIELD_SIZE, .uses = SUITES, .offset = AT(columns)},
    {.name = "k", .kind = GM_FIELD_SIZE, .uses = SUITES, .offset = AT(k)},
    {.name = "x_rows", .kind = GM_FIELD_SIZE, .uses = SUITES, .offset = AT(x_rows)},
    GM_STRIDE_FIELD(gm_moe_finalize_problem, x),
    GM_STRIDE_FIELD(gm_moe_finalize_problem, residual),
    GM_STRIDE_FIELD(gm_moe_finalize_problem, out),
    GM_ALIGN_FIELD(x),
    GM_ALIGN_FIELD(residual),
    GM_ALIGN_FIELD(out),
};

/* ---- a problem ------------------------------------------------------------------------------------------ */

void gm_moe_finalize_matrices(const struct gm_moe_finalize_problem *p,
                              struct gm_matrix matrices[GM_FINALIZE_MATRICES]) {
    const int bytes = gm_type_bytes(p->type);
    matrices[GM_FINALIZE_X] = (struct gm_matrix){"x", p->x_rows, p->columns, p->x_stride, bytes, p->x_align};
    matrices[GM_FINALIZE_RESIDUAL] =
        (struct gm_matrix){"residual", p->tokens, p->columns, p->residual_stride, bytes, p->residual_align};
    matrices[GM_FINALIZE_OUT] = (struct gm_matrix){"out", p->tokens, p->columns, p->out_stride, bytes, p->out_align};
}

static enum gm_status check(const struct gm_moe_finalize_problem *p) {
    enum gm_status status = gm_check_size("k", p->k, 1, MOST_ROWS);
    if (status == GM_OK)
        status = gm_check_size("tokens", p->tokens, 0, MOST_ROWS / p->k);
    if (status == GM_OK)
        status = gm_check_size("columns", p->columns, 1, MOST_COLUMNS);
    if (status == GM_OK)
        status = gm_check_size("x_rows", p->x_rows, 1, MOST_ROWS);
    return status == GM_OK ? gm_check_enum("type", (int)p->type, GM_BF16, GM_FP32) : status;
}

static enum gm_status normalize(void *problem) {
    struct gm_moe_finalize_problem *p = problem;
    struct gm_matrix matrices[GM_FINALIZE_MATRICES];
    enum gm_status status = check(p);
    if (status != GM_OK)
        return status;
    gm_moe_finalize_matrices(p, matrices);
    status = gm_fill_matrix(&matrices[GM_FINALIZE_X], &p->x_stride, &p->x_align);
    if (status == GM_OK)
        status = gm_fill_matrix(&matrices[GM_FINALIZE_RESIDUAL], &p->residual_stride, &p->residual_align);
    return status == GM_OK ? gm_fill_matrix(&matrices[GM_FINALIZE_OUT], &p->out_stride, &p->out_align) : status;
}

static int is_empty(const void *problem) {
    return ((const struct gm_moe_finalize_problem *)problem)->tokens == 0;
}

/* Every slot has a row of x of its own, and there is no residual. */
static struct gm_work work(const void *problem) {
    const struct gm_moe_finalize_problem *p = problem;
    const double tokens = (double)p->tokens, k = (double)p->k;
    return (struct gm_work){
        .flops = 2 * tokens * k * (double)p->columns,
        .least_bytes = tokens * ((k + 1) * (double)p->columns * gm_type_bytes(p->type) + 8 * k),
    };
}

/* ---- a call --------------------------------------------------------------------------------------------- */

static int ranges(const void *problem, const void *arguments, struct gm_range found[GM_RANGES_MAX],
                  struct gm_workspace *workspace) {
    const struct gm_moe_finalize_problem *p = problem;
    const struct gm_moe_finalize_args *args = arguments;
    const struct gm_matrix inverse = {"inverse", p->tokens, p->k, p->k, 4, 4};
    const struct gm_matrix weights = {"weights", args->weights ? p->tokens : 0, p->k, p->k, 4, 4};
    struct gm_matrix matrices[GM_FINALIZE_MATRICES];
    int count = GM_FINALIZE_MATRICES;
    gm_moe_finalize_matrices(p, matrices);
    if (!args->residual)
        matrices[GM_FINALIZE_RESIDUAL].rows = 0;
    found[GM_FINALIZE_X] = gm_range_of(&matrices[GM_FINALIZE_X], args->x, 0);
    found[GM_FINALIZE_RESIDUAL] = gm_range_of(&matrices[GM_FINALIZE_RESIDUAL], args->residual, 0);
    found[GM_FINALIZE_RESIDUAL].may_equal = GM_FINALIZE_OUT;
    found[GM_FINALIZE_OUT] = gm_range_of(&matrices[GM_FINALIZE_OUT], args->out, 1);
    found[count++] = gm_range_of(&inverse, args->inverse, 0);
    found[count++] = gm_range_of(&weights, args->weights, 0);
    found[count++] = gm_range_of_row_count(args->row_count);
    *workspace = (struct gm_workspace){0};
    return count;
}

const struct gm_operation gm_operation_moe_finalize = {
    .name = "moe_finalize",
    .computes = "out = residual + sum of weights * x[inverse]",
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .axis = FIELD_TOKENS,
    .type = FIELD_TYPE,
    .problem_bytes = sizeof(struct gm_moe_finalize_problem),
    .problem_bytes_least = 80,
    .planned_bytes = sizeof(struct gm_moe_finalize_problem),
    .args_bytes = sizeof(struct gm_moe_finalize_args),
    .args_bytes_least = 56,
    .normalize = normalize,
    .is_empty = is_empty,
    .work = work,
    .ranges = ranges,
};

/* ---- the public functions ------------------------------------------------------------------------------- */

enum gm_status gm_moe_finalize_plan_create(gm_context *context, const struct gm_moe_finalize_problem *problem,
                                           const struct gm_plan_options *options, gm_plan **plan) {
    return gm_plan_create(&gm_operation_moe_finalize, context, problem, options, plan);
}

enum gm_status gm_moe_finalize_execute(const gm_plan *plan, const struct gm_moe_finalize_args *args, void *stream) {
    return gm_plan_execute(plan, &gm_operation_moe_finalize, args, stream);
}

enum gm_status gm_moe_finalize(gm_context *context, const struct gm_moe_finalize_problem *problem,
                               const struct gm_moe_finalize_args *args, void *stream) {
    return gm_plan_and_execute(&gm_operation_moe_finalize, context, problem, args, stream);
}

enum gm_status gm_moe_finalize_explain(const struct gm_device *device, const struct gm_moe_finalize_problem *problem,
                                       const struct gm_plan_options *options, struct gm_candidate *candidates,
                                       size_t capacity, size_t *count) {
    return gm_explain(&gm_operation_moe_finalize, device, problem, options, candidates, capacity, count);
}
