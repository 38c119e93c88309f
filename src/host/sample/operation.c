/* SPDX-License-Identifier: Apache-2.0 */
/* Sampling as an operation: its fields, its problem, what a call reads and writes, and its public functions. */
#include "gristmill/sample.h"
#include "host/check_problem.h"
#include "host/error.h"
#include "host/plan.h"
#include "host/sample/sample.h"
#include "host/types.h"

#define MOST_ROWS    INT32_MAX
#define MOST_COLUMNS (INT32_C(1) << 22)

/* ---- fields --------------------------------------------------------------------------------------------- */

#define AT(member) offsetof(struct gm_sample_problem, member)
#define TYPES      (GM_TYPE_SET(GM_BF16) | GM_TYPE_SET(GM_FP16) | GM_TYPE_SET(GM_FP32))
#define SUITES     (GM_IN_SUITES | GM_IN_LEDGERS)

GM_ALIGN_FUNCTIONS(gm_sample_problem, logits)

enum { FIELD_TYPE, FIELD_TEMPERATURE, FIELD_ROWS };
static const struct gm_field fields[] = {
    [FIELD_TYPE] = {.name = "type",
                    .kind = GM_FIELD_TYPE,
                    .uses = SUITES,
                    .offset = AT(type),
                    .types = TYPES,
                    .about = "of logits: also --dtype"},
    [FIELD_TEMPERATURE] = {"temperature", GM_FIELD_REAL, GM_IN_SUITES, .offset = AT(temperature),
                           .about = "0 (default): greedy"},
    [FIELD_ROWS] = {.name = "rows", .kind = GM_FIELD_SIZE, .uses = SUITES, .offset = AT(rows)},
    {.name = "columns", .kind = GM_FIELD_SIZE, .uses = SUITES, .offset = AT(columns)},
    {.name = "top_k",
     .kind = GM_FIELD_SIZE,
     .uses = GM_IN_SUITES,
     .offset = AT(top_k),
     .about = "keeps the k largest (default: all)"},
    {"top_p", GM_FIELD_REAL, GM_IN_SUITES, .offset = AT(top_p),
     .about = "keeps the largest that have this share of the probability (default: all)"},
    {"min_p", GM_FIELD_REAL, GM_IN_OPTIONS, .offset = AT(min_p),
     .about = "keeps this share of the largest probability and more (default: all)"},
    GM_STRIDE_FIELD(gm_sample_problem, logits),
    GM_ALIGN_FIELD(logits),
};

/* ---- a problem ------------------------------------------------------------------------------------------ */

struct gm_matrix gm_sample_logits(const struct gm_sample_problem *p) {
    return (struct gm_matrix){"logits", p->rows, p->columns, p->logits_stride, gm_type_bytes(p->type), p->logits_align};
}

static enum gm_status check_choices(const struct gm_sample_problem *p) {
    enum gm_status status = gm_check_enum("type", (int)p->type, GM_BF16, GM_FP32);
    if (status == GM_OK)
        status = gm_check_real("temperature", p->temperature, 0);
    if (status == GM_OK)
        status = gm_check_real("top_p", p->top_p, 0);
    if (status == GM_OK)
        status = gm_check_real("min_p", p->min_p, 0);
    return status == GM_OK ? gm_check_size("top_k", p->top_k, 0, INT32_MAX) : status;
}

static enum gm_status normalize(void *problem) {
    struct gm_sample_problem *p = problem;
    enum gm_status status = gm_check_size("rows", p->rows, 0, MOST_ROWS);
    if (status == GM_OK)
        status = gm_check_size("columns", p->columns, 1, MOST_COLUMNS);
    if (status == GM_OK)
        status = check_choices(p);
    if (status != GM_OK)
        return status;
    if (p->top_p == 0)
        p->top_p = 1;
    const struct gm_matrix logits = gm_sample_logits(p);
    return gm_fill_matrix(&logits, &p->logits_stride, &p->logits_align);
}

static int is_empty(const void *problem) {
    return ((const struct gm_sample_problem *)problem)->rows == 0;
}

/* Of an element: a comparison; a power and the noise of two logarithms unless it is greedy. */
static struct gm_work work(const void *problem) {
    const struct gm_sample_problem *p = problem;
    const double elements = (double)p->rows * (double)p->columns;
    return (struct gm_work){
        .flops = (p->temperature > 0 ? 50 : 1) * elements,
        .least_bytes = elements * gm_type_bytes(p->type) + (double)p->rows * sizeof(int32_t),
    };
}

/* ---- a call --------------------------------------------------------------------------------------------- */

static int ranges(const void *problem, const void *arguments, struct gm_range found[GM_RANGES_MAX],
                  struct gm_workspace *workspace) {
    const struct gm_sample_problem *p = problem;
    const struct gm_sample_args *args = arguments;
    const struct gm_matrix logits = gm_sample_logits(p), ids = {"ids", 1, p->rows, p->rows, 4, 4};
    int count = 0;
    found[count++] = gm_range_of(&logits, args->logits, 0);
    found[count++] = gm_range_of(&ids, args->ids, 1);
    found[count++] = gm_range_of_array("logprobs", args->logprobs, p->rows, 4, 1);
    found[count++] = gm_range_of_array("temperatures", args->temperatures, p->rows, 4, 0);
    found[count++] = gm_range_of_array("top_ks", args->top_ks, p->rows, 4, 0);
    found[count++] = gm_range_of_array("top_ps", args->top_ps, p->rows, 4, 0);
    found[count++] = gm_range_of_array("min_ps", args->min_ps, p->rows, 4, 0);
    found[count++] = gm_range_of_array("seeds", args->seeds, p->rows, 8, 0);
    found[count++] = gm_range_of_array("steps", args->steps, p->rows, 8, 0);
    found[count++] = gm_range_of_array("step", args->step, 1, 8, 0);
    found[count++] = gm_range_of_row_count(args->row_count);
    *workspace = (struct gm_workspace){0};
    return count;
}

const struct gm_operation gm_operation_sample = {
    .name = "sample",
    .computes = "ids = argmax(logits), or tokens drawn by temperature, top-k, top-p, min-p",
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .axis = FIELD_ROWS,
    .type = FIELD_TYPE,
    .problem_bytes = sizeof(struct gm_sample_problem),
    .problem_bytes_least = 64,
    .planned_bytes = sizeof(struct gm_sample_problem),
    .args_bytes = sizeof(struct gm_sample_args),
    .args_bytes_least = 112,
    .normalize = normalize,
    .is_empty = is_empty,
    .work = work,
    .ranges = ranges,
};

/* ---- the public functions ------------------------------------------------------------------------------- */

enum gm_status gm_sample_plan_create(gm_context *context, const struct gm_sample_problem *problem,
                                     const struct gm_plan_options *options, gm_plan **plan) {
    return gm_plan_create(&gm_operation_sample, context, problem, options, plan);
}

enum gm_status gm_sample_execute(const gm_plan *plan, const struct gm_sample_args *args, void *stream) {
    return gm_plan_execute(plan, &gm_operation_sample, args, stream);
}

enum gm_status gm_sample(gm_context *context, const struct gm_sample_problem *problem,
                         const struct gm_sample_args *args, void *stream) {
    return gm_plan_and_execute(&gm_operation_sample, context, problem, args, stream);
}

enum gm_status gm_sample_explain(const struct gm_device *device, const struct gm_sample_problem *problem,
                                 const struct gm_plan_options *options, struct gm_candidate *candidates,
                                 size_t capacity, size_t *count) {
    return gm_explain(&gm_operation_sample, device, problem, options, candidates, capacity, count);
}
