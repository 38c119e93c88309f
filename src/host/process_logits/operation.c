/* SPDX-License-Identifier: Apache-2.0 */
/* process_logits as an operation: its fields, its problem, what a call reads and writes, and its public functions. */
#include "gristmill/process_logits.h"
#include "host/check_problem.h"
#include "host/plan.h"
#include "host/process_logits/process_logits.h"
#include "host/types.h"

#include <math.h>

#define MOST_ROWS    INT32_MAX
#define MOST_COLUMNS (INT32_C(1) << 30)

/* ---- fields --------------------------------------------------------------------------------------------- */

static const char *const outs[] = {"same", "fp32", NULL};

#define AT(member) offsetof(struct gm_process_logits_problem, member)
#define TYPES      (GM_TYPE_SET(GM_BF16) | GM_TYPE_SET(GM_FP16) | GM_TYPE_SET(GM_FP32))
#define SUITES     (GM_IN_SUITES | GM_IN_LEDGERS)

GM_ALIGN_FUNCTIONS(gm_process_logits_problem, logits)
GM_ALIGN_FUNCTIONS(gm_process_logits_problem, out)
GM_ALIGN_FUNCTIONS(gm_process_logits_problem, counts)
GM_ALIGN_FUNCTIONS(gm_process_logits_problem, bias)

enum { FIELD_TYPE, FIELD_OUT, FIELD_CAP, FIELD_ROWS };
static const struct gm_field fields[] = {
    [FIELD_TYPE] = {.name = "type",
                    .kind = GM_FIELD_TYPE,
                    .uses = SUITES,
                    .offset = AT(type),
                    .types = TYPES,
                    .about = "of logits: also --dtype"},
    [FIELD_OUT] = {"out_type", GM_FIELD_WORD, SUITES, .offset = AT(fp32_out), .words = outs,
                   .about = "the logits', same (default), or fp32"},
    [FIELD_CAP] = {"cap", GM_FIELD_REAL, SUITES, .offset = AT(cap),
                   .about = "cap * tanh(x / cap) first, 0: none (default)"},
    [FIELD_ROWS] = {.name = "rows", .kind = GM_FIELD_SIZE, .uses = SUITES, .offset = AT(rows)},
    {.name = "columns", .kind = GM_FIELD_SIZE, .uses = SUITES, .offset = AT(columns)},
    {.name = "slots",
     .kind = GM_FIELD_SIZE,
     .uses = GM_IN_OPTIONS,
     .offset = AT(slots),
     .about = "rows of counts, bias and mask (default: rows)"},
    {"temperature", GM_FIELD_REAL, GM_IN_OPTIONS, .offset = AT(temperature), .about = "of all rows (default: 1)"},
    {"repetition", GM_FIELD_REAL, GM_IN_OPTIONS, .offset = AT(repetition), .about = "penalty of all rows (default: 1)"},
    {"frequency", GM_FIELD_REAL, GM_IN_OPTIONS, .offset = AT(frequency), .about = "penalty of all rows (default: 0)"},
    {"presence", GM_FIELD_REAL, GM_IN_OPTIONS, .offset = AT(presence), .about = "penalty of all rows (default: 0)"},
    GM_STRIDE_FIELD(gm_process_logits_problem, logits),
    GM_STRIDE_FIELD(gm_process_logits_problem, out),
    GM_STRIDE_FIELD(gm_process_logits_problem, counts),
    GM_STRIDE_FIELD(gm_process_logits_problem, bias),
    GM_STRIDE_FIELD(gm_process_logits_problem, mask),
    GM_ALIGN_FIELD(logits),
    GM_ALIGN_FIELD(out),
    GM_ALIGN_FIELD(counts),
    GM_ALIGN_FIELD(bias),
};

/* ---- a problem ------------------------------------------------------------------------------------------ */

static int bytes_of_out(const struct gm_process_logits_problem *p) {
    return p->fp32_out ? 4 : gm_type_bytes(p->type);
}

void gm_process_logits_matrices(const struct gm_process_logits_problem *p,
                                struct gm_matrix matrices[GM_PROCESS_LOGITS_MATRICES]) {
    const int64_t columns = p->columns, words = (columns + 31) / 32;
    matrices[GM_PROCESS_LOGITS_LOGITS] =
        (struct gm_matrix){"logits", p->rows, columns, p->logits_stride, gm_type_bytes(p->type), p->logits_align};
    matrices[GM_PROCESS_LOGITS_OUT] =
        (struct gm_matrix){"out", p->rows, columns, p->out_stride, bytes_of_out(p), p->out_align};
    matrices[GM_PROCESS_LOGITS_COUNTS] =
        (struct gm_matrix){"counts", p->slots, columns, p->counts_stride, 2, p->counts_align};
    matrices[GM_PROCESS_LOGITS_BIAS] = (struct gm_matrix){"bias", p->slots, columns, p->bias_stride, 4, p->bias_align};
    matrices[GM_PROCESS_LOGITS_MASK] = (struct gm_matrix){"mask", p->slots, words, p->mask_stride, 4, 4};
}

static enum gm_status check_choices(const struct gm_process_logits_problem *p) {
    enum gm_status status = gm_check_enum("type", (int)p->type, GM_BF16, GM_FP32);
    if (status == GM_OK)
        status = gm_check_enum("fp32_out", p->fp32_out, 0, 1);
    if (status == GM_OK)
        status = gm_check_real("cap", p->cap, 0);
    if (status == GM_OK)
        status = gm_check_real("temperature", p->temperature, 0);
    if (status == GM_OK)
        status = gm_check_real("repetition", p->repetition, 0);
    if (status == GM_OK)
        status = gm_check_real("frequency", p->frequency, -INFINITY);
    return status == GM_OK ? gm_check_real("presence", p->presence, -INFINITY) : status;
}

static enum gm_status fill(struct gm_process_logits_problem *p) {
    struct gm_matrix m[GM_PROCESS_LOGITS_MATRICES];
    int32_t mask_align = 4;
    gm_process_logits_matrices(p, m);
    enum gm_status status = gm_fill_matrix(&m[GM_PROCESS_LOGITS_LOGITS], &p->logits_stride, &p->logits_align);
    if (status == GM_OK)
        status = gm_fill_matrix(&m[GM_PROCESS_LOGITS_OUT], &p->out_stride, &p->out_align);
    if (status == GM_OK)
        status = gm_fill_matrix(&m[GM_PROCESS_LOGITS_COUNTS], &p->counts_stride, &p->counts_align);
    if (status == GM_OK)
        status = gm_fill_matrix(&m[GM_PROCESS_LOGITS_BIAS], &p->bias_stride, &p->bias_align);
    return status == GM_OK ? gm_fill_matrix(&m[GM_PROCESS_LOGITS_MASK], &p->mask_stride, &mask_align) : status;
}

static enum gm_status normalize(void *problem) {
    struct gm_process_logits_problem *p = problem;
    enum gm_status status = gm_check_size("rows", p->rows, 0, MOST_ROWS);
    if (status == GM_OK)
        status = gm_check_size("columns", p->columns, 1, MOST_COLUMNS);
    if (status == GM_OK)
        status = gm_check_size("slots", p->slots, 0, MOST_ROWS);
    if (status == GM_OK)
        status = check_choices(p);
    if (status != GM_OK)
        return status;
    p->fp32_out = p->type != GM_FP32 && p->fp32_out; /* what it is anyway */
    if (p->slots == 0)
        p->slots = p->rows;
    if (p->temperature == 0)
        p->temperature = 1;
    if (p->repetition == 0)
        p->repetition = 1;
    return fill(p);
}

static int is_empty(const void *problem) {
    return ((const struct gm_process_logits_problem *)problem)->rows == 0;
}

/* Of an element: a cap of 8 operations, and 5 of the penalties; its logit and its count are read. */
static struct gm_work work(const void *problem) {
    const struct gm_process_logits_problem *p = problem;
    const double elements = (double)p->rows * (double)p->columns;
    return (struct gm_work){
        .flops = (p->cap > 0 ? 13 : 5) * elements,
        .least_bytes = elements * (gm_type_bytes(p->type) + 2 + bytes_of_out(p)),
    };
}

/* ---- a call --------------------------------------------------------------------------------------------- */

/* One that a call may do without. */
static struct gm_range state(const struct gm_matrix *matrix, gm_device_ptr address, int written) {
    struct gm_matrix m = *matrix;
    m.rows = address ? m.rows : 0;
    return gm_range_of(&m, address, written);
}

static int ranges(const void *problem, const void *arguments, struct gm_range found[GM_RANGES_MAX],
                  struct gm_workspace *workspace) {
    const struct gm_process_logits_problem *p = problem;
    const struct gm_process_logits_args *args = arguments;
    struct gm_matrix matrices[GM_PROCESS_LOGITS_MATRICES];
    int count = GM_PROCESS_LOGITS_MATRICES;
    gm_process_logits_matrices(p, matrices);
    found[GM_PROCESS_LOGITS_LOGITS] = gm_range_of(&matrices[GM_PROCESS_LOGITS_LOGITS], args->logits, 0);
    found[GM_PROCESS_LOGITS_OUT] = gm_range_of(&matrices[GM_PROCESS_LOGITS_OUT], args->out, 1);
    if (!p->fp32_out)
        found[GM_PROCESS_LOGITS_LOGITS].may_equal = GM_PROCESS_LOGITS_OUT;
    found[GM_PROCESS_LOGITS_COUNTS] = state(&matrices[GM_PROCESS_LOGITS_COUNTS], args->counts, args->last_ids != 0);
    found[GM_PROCESS_LOGITS_BIAS] = state(&matrices[GM_PROCESS_LOGITS_BIAS], args->bias, 0);
    found[GM_PROCESS_LOGITS_MASK] = state(&matrices[GM_PROCESS_LOGITS_MASK], args->mask, 0);
    found[count++] = gm_range_of_array("slots", args->slots, p->rows, 4, 0);
    found[count++] = gm_range_of_array("bias_slots", args->bias_slots, p->rows, 4, 0);
    found[count++] = gm_range_of_array("mask_slots", args->mask_slots, p->rows, 4, 0);
    found[count++] = gm_range_of_array("last_ids", args->last_ids, p->rows, 4, 0);
    found[count++] = gm_range_of_array("temperatures", args->temperatures, p->rows, 4, 0);
    found[count++] = gm_range_of_array("repetitions", args->repetitions, p->rows, 4, 0);
    found[count++] = gm_range_of_array("frequencies", args->frequencies, p->rows, 4, 0);
    found[count++] = gm_range_of_array("presences", args->presences, p->rows, 4, 0);
    found[count++] = gm_range_of_row_count(args->row_count);
    *workspace = (struct gm_workspace){0};
    return count;
}

const struct gm_operation gm_operation_process_logits = {
    .name = "process_logits",
    .computes = "out = logits after cap, bias, penalties, temperature and mask",
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .axis = FIELD_ROWS,
    .type = FIELD_TYPE,
    .problem_bytes = sizeof(struct gm_process_logits_problem),
    .problem_bytes_least = 120,
    .planned_bytes = sizeof(struct gm_process_logits_problem),
    .args_bytes = sizeof(struct gm_process_logits_args),
    .args_bytes_least = 120,
    .normalize = normalize,
    .is_empty = is_empty,
    .work = work,
    .ranges = ranges,
};

/* ---- the public functions ------------------------------------------------------------------------------- */

enum gm_status gm_process_logits_plan_create(gm_context *context, const struct gm_process_logits_problem *problem,
                                             const struct gm_plan_options *options, gm_plan **plan) {
    return gm_plan_create(&gm_operation_process_logits, context, problem, options, plan);
}

enum gm_status gm_process_logits_execute(const gm_plan *plan, const struct gm_process_logits_args *args, void *stream) {
    return gm_plan_execute(plan, &gm_operation_process_logits, args, stream);
}

enum gm_status gm_process_logits(gm_context *context, const struct gm_process_logits_problem *problem,
                                 const struct gm_process_logits_args *args, void *stream) {
    return gm_plan_and_execute(&gm_operation_process_logits, context, problem, args, stream);
}

enum gm_status gm_process_logits_explain(const struct gm_device *device,
                                         const struct gm_process_logits_problem *problem,
                                         const struct gm_plan_options *options, struct gm_candidate *candidates,
                                         size_t capacity, size_t *count) {
    return gm_explain(&gm_operation_process_logits, device, problem, options, candidates, capacity, count);
}
