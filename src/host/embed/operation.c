/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a table by ids as an operation: its fields, its problem, what a call reads and writes, and its public
 * functions. */
#include "gristmill/embed.h"
#include "host/check_problem.h"
#include "host/embed/embed.h"
#include "host/error.h"
#include "host/plan.h"
#include "host/types.h"

#define MOST_TOKENS  INT32_MAX
#define MOST_IDS     INT32_MAX
#define MOST_COLUMNS (INT32_C(1) << 29)

/* ---- fields --------------------------------------------------------------------------------------------- */

static const char *const ids[] = {"int32", "int64", NULL};

#define AT(member) offsetof(struct gm_embed_problem, member)
#define TYPES      (GM_TYPE_SET(GM_BF16) | GM_TYPE_SET(GM_FP16) | GM_TYPE_SET(GM_FP32))
#define SUITES     (GM_IN_SUITES | GM_IN_LEDGERS)

GM_ALIGN_FUNCTIONS(gm_embed_problem, table)
GM_ALIGN_FUNCTIONS(gm_embed_problem, out)

enum { FIELD_TYPE, FIELD_IDS, FIELD_TOKENS };
static const struct gm_field fields[] = {
    [FIELD_TYPE] = {.name = "type",
                    .kind = GM_FIELD_TYPE,
                    .uses = SUITES,
                    .offset = AT(type),
                    .types = TYPES,
                    .about = "of table and out: also --dtype"},
    [FIELD_IDS] = {"ids", GM_FIELD_WORD, SUITES, .offset = AT(int64_ids), .words = ids,
                   .about = "their type: int32 (default) or int64"},
    [FIELD_TOKENS] = {.name = "tokens", .kind = GM_FIELD_SIZE, .uses = SUITES, .offset = AT(tokens)},
    {.name = "columns", .kind = GM_FIELD_SIZE, .uses = SUITES, .offset = AT(columns)},
    {.name = "vocabulary", .kind = GM_FIELD_SIZE, .uses = SUITES, .offset = AT(vocabulary)},
    {"scale", GM_FIELD_REAL, GM_IN_OPTIONS, .offset = AT(scale), .about = "of the rows (default: none)"},
    GM_STRIDE_FIELD(gm_embed_problem, table),
    GM_STRIDE_FIELD(gm_embed_problem, out),
    GM_ALIGN_FIELD(table),
    GM_ALIGN_FIELD(out),
};

/* ---- a problem ------------------------------------------------------------------------------------------ */

void gm_embed_matrices(const struct gm_embed_problem *p, struct gm_matrix matrices[GM_EMBED_MATRICES]) {
    const int bytes = gm_type_bytes(p->type);
    matrices[GM_EMBED_TABLE] =
        (struct gm_matrix){"table", p->vocabulary, p->columns, p->table_stride, bytes, p->table_align};
    matrices[GM_EMBED_OUT] = (struct gm_matrix){"out", p->tokens, p->columns, p->out_stride, bytes, p->out_align};
}

static enum gm_status check_sizes(const struct gm_embed_problem *p) {
    enum gm_status status = gm_check_size("tokens", p->tokens, 0, MOST_TOKENS);
    if (status == GM_OK)
        status = gm_check_size("columns", p->columns, 1, MOST_COLUMNS);
    return status == GM_OK ? gm_check_size("vocabulary", p->vocabulary, 1, MOST_IDS) : status;
}

static enum gm_status check_choices(const struct gm_embed_problem *p) {
    enum gm_status status = gm_check_enum("type", (int)p->type, GM_BF16, GM_FP32);
    if (status == GM_OK)
        status = gm_check_enum("int64_ids", p->int64_ids, 0, 1);
    return status == GM_OK ? gm_check_real("scale", p->scale, 0) : status;
}

/* A scale of 1 is as none: of either, out has the table's bits. */
static enum gm_status normalize(void *problem) {
    struct gm_embed_problem *p = problem;
    struct gm_matrix matrices[GM_EMBED_MATRICES];
    enum gm_status status = check_sizes(p);
    if (status == GM_OK)
        status = check_choices(p);
    if (status != GM_OK)
        return status;
    if (p->scale == 0)
        p->scale = 1;
    gm_embed_matrices(p, matrices);
    status = gm_fill_matrix(&matrices[GM_EMBED_TABLE], &p->table_stride, &p->table_align);
    return status == GM_OK ? gm_fill_matrix(&matrices[GM_EMBED_OUT], &p->out_stride, &p->out_align) : status;
}

static int is_empty(const void *problem) {
    return ((const struct gm_embed_problem *)problem)->tokens == 0;
}

static int id_bytes(const struct gm_embed_problem *p) {
    return p->int64_ids ? 8 : 4;
}

/* Of the table, no more rows than there are tokens, or ids. */
static struct gm_work work(const void *problem) {
    const struct gm_embed_problem *p = problem;
    const double tokens = (double)p->tokens, rows = p->tokens < p->vocabulary ? tokens : (double)p->vocabulary;
    return (struct gm_work){
        .flops = p->scale == 1 ? 0 : tokens * (double)p->columns,
        .least_bytes = (tokens + rows) * (double)p->columns * gm_type_bytes(p->type) + tokens * id_bytes(p),
    };
}

/* ---- a call --------------------------------------------------------------------------------------------- */

static int ranges(const void *problem, const void *arguments, struct gm_range found[GM_RANGES_MAX],
                  struct gm_workspace *workspace) {
    const struct gm_embed_problem *p = problem;
    const struct gm_embed_args *args = arguments;
    const struct gm_matrix id_list = {"ids", p->tokens, 1, 1, id_bytes(p), id_bytes(p)};
    struct gm_matrix matrices[GM_EMBED_MATRICES];
    int count = 0;
    gm_embed_matrices(p, matrices);
    found[count++] = gm_range_of(&id_list, args->ids, 0);
    found[count++] = gm_range_of(&matrices[GM_EMBED_TABLE], args->table, 0);
    found[count++] = gm_range_of(&matrices[GM_EMBED_OUT], args->out, 1);
    found[count++] = gm_range_of_int32("error_flag", args->error_flag, 1);
    found[count++] = gm_range_of_row_count(args->row_count);
    *workspace = (struct gm_workspace){0};
    return count;
}

const struct gm_operation gm_operation_embed = {
    .name = "embed",
    .computes = "out[token] = scale * table[ids[token]]",
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .axis = FIELD_TOKENS,
    .type = FIELD_TYPE,
    .problem_bytes = sizeof(struct gm_embed_problem),
    .problem_bytes_least = 72,
    .planned_bytes = sizeof(struct gm_embed_problem),
    .args_bytes = sizeof(struct gm_embed_args),
    .args_bytes_least = 48,
    .normalize = normalize,
    .is_empty = is_empty,
    .work = work,
    .ranges = ranges,
};

/* ---- the public functions ------------------------------------------------------------------------------- */

enum gm_status gm_embed_plan_create(gm_context *context, const struct gm_embed_problem *problem,
                                    const struct gm_plan_options *options, gm_plan **plan) {
    return gm_plan_create(&gm_operation_embed, context, problem, options, plan);
}

enum gm_status gm_embed_execute(const gm_plan *plan, const struct gm_embed_args *args, void *stream) {
    return gm_plan_execute(plan, &gm_operation_embed, args, stream);
}

enum gm_status gm_embed(gm_context *context, const struct gm_embed_problem *problem, const struct gm_embed_args *args,
                        void *stream) {
    return gm_plan_and_execute(&gm_operation_embed, context, problem, args, stream);
}

enum gm_status gm_embed_explain(const struct gm_device *device, const struct gm_embed_problem *problem,
                                const struct gm_plan_options *options, struct gm_candidate *candidates, size_t capacity,
                                size_t *count) {
    return gm_explain(&gm_operation_embed, device, problem, options, candidates, capacity, count);
}
