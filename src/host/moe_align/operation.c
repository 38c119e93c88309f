/* SPDX-License-Identifier: Apache-2.0 */
/* Slots sorted by expert as an operation: its fields, its problem, what a call reads and writes, and its public
 * functions. */
#include "common/arith.h"
#include "common/moe_align/params.h"
#include "gristmill/moe_align.h"
#include "host/check_problem.h"
#include "host/matrix.h"
#include "host/moe_align/moe_align.h"
#include "host/plan.h"
#include "host/types.h"

#define MOST_SLOTS     (INT32_C(1) << 30)
#define MOST_ALIGNMENT 65536

/* ---- fields --------------------------------------------------------------------------------------------- */

#define AT(member) offsetof(struct gm_moe_align_problem, member)
#define SUITES     (GM_IN_SUITES | GM_IN_LEDGERS)

/* Ids have one type. */
static int64_t get_type(const void *problem) {
    (void)problem;
    return GM_INT32;
}

static int set_type(void *problem, int64_t type) {
    (void)problem;
    return type == GM_INT32;
}

enum { FIELD_TYPE, FIELD_TOKENS };
static const struct gm_field fields[] = {
    [FIELD_TYPE] = {.name = "type",
                    .kind = GM_FIELD_TYPE,
                    .uses = SUITES,
                    .types = GM_TYPE_SET(GM_INT32),
                    .get = get_type,
                    .set = set_type,
                    .about = "of ids: int32"},
    [FIELD_TOKENS] = {.name = "tokens", .kind = GM_FIELD_SIZE, .uses = SUITES, .offset = AT(tokens)},
    {.name = "k", .kind = GM_FIELD_SIZE, .uses = SUITES, .offset = AT(k)},
    {.name = "experts", .kind = GM_FIELD_SIZE, .uses = SUITES, .offset = AT(experts)},
    {.name = "alignment",
     .kind = GM_FIELD_SIZE,
     .uses = SUITES,
     .offset = AT(alignment),
     .about = "rows of an expert are rounded up to a multiple"},
};

/* ---- a problem ------------------------------------------------------------------------------------------ */

int64_t gm_moe_align_rows(const struct gm_moe_align_problem *p) {
    const int64_t slots = p->tokens * p->k;
    return slots + GM_MIN(slots, p->experts) * (p->alignment - 1);
}

/* Rows are numbered with 31 bits, also when they are rounded up once more. */
static enum gm_status normalize(void *problem) {
    struct gm_moe_align_problem *p = problem;
    if (p->alignment == 0)
        p->alignment = 1;
    enum gm_status status = gm_check_size("k", p->k, 1, MOST_SLOTS);
    if (status == GM_OK)
        status = gm_check_size("tokens", p->tokens, 0, MOST_SLOTS / p->k);
    if (status == GM_OK)
        status = gm_check_size("experts", p->experts, 1, GM_MOE_ALIGN_EXPERTS);
    if (status == GM_OK)
        status = gm_check_size("alignment", p->alignment, 1, MOST_ALIGNMENT);
    return status;
}

/* Without tokens there are offsets to write. */
static int is_empty(const void *problem) {
    (void)problem;
    return 0;
}

/* Ids are read, rows and their inverse written. */
static struct gm_work work(const void *problem) {
    const struct gm_moe_align_problem *p = problem;
    const double slots = (double)p->tokens * (double)p->k;
    return (struct gm_work){.flops = 2 * slots, .least_bytes = 12 * slots + 4 * ((double)p->experts + 1)};
}

/* ---- a call --------------------------------------------------------------------------------------------- */

/* So many numbers. */
static struct gm_range range_of(const char *name, int64_t count, gm_device_ptr address, int written) {
    const struct gm_matrix matrix = {name, count > 0, count, count, 4, 4};
    return gm_range_of(&matrix, address, written);
}

static int ranges(const void *problem, const void *arguments, struct gm_range found[GM_RANGES_MAX],
                  struct gm_workspace *workspace) {
    const struct gm_moe_align_problem *p = problem;
    const struct gm_moe_align_args *args = arguments;
    const int64_t slots = p->tokens * p->k;
    int count = 0;
    found[count++] = range_of("ids", slots, args->ids, 0);
    found[count++] = range_of("offsets", p->experts + 1, args->offsets, 1);
    found[count++] = range_of("rows", gm_moe_align_rows(p), args->rows, 1);
    found[count++] = range_of("inverse", args->inverse ? slots : 0, args->inverse, 1);
    found[count++] = gm_range_of_row_count(args->row_count);
    *workspace = (struct gm_workspace){0};
    return count;
}

const struct gm_operation gm_operation_moe_align = {
    .name = "moe_align",
    .computes = "the rows of every expert: offsets, rows, and their inverse",
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .axis = FIELD_TOKENS,
    .type = FIELD_TYPE,
    .problem_bytes = sizeof(struct gm_moe_align_problem),
    .problem_bytes_least = 40,
    .planned_bytes = sizeof(struct gm_moe_align_problem),
    .args_bytes = sizeof(struct gm_moe_align_args),
    .args_bytes_least = 48,
    .normalize = normalize,
    .is_empty = is_empty,
    .work = work,
    .ranges = ranges,
};

/* ---- the public functions ------------------------------------------------------------------------------- */

enum gm_status gm_moe_align_plan_create(gm_context *context, const struct gm_moe_align_problem *problem,
                                        const struct gm_plan_options *options, gm_plan **plan) {
    return gm_plan_create(&gm_operation_moe_align, context, problem, options, plan);
}

enum gm_status gm_moe_align_execute(const gm_plan *plan, const struct gm_moe_align_args *args, void *stream) {
    return gm_plan_execute(plan, &gm_operation_moe_align, args, stream);
}

enum gm_status gm_moe_align(gm_context *context, const struct gm_moe_align_problem *problem,
                            const struct gm_moe_align_args *args, void *stream) {
    return gm_plan_and_execute(&gm_operation_moe_align, context, problem, args, stream);
}

enum gm_status gm_moe_align_explain(const struct gm_device *device, const struct gm_moe_align_problem *problem,
                                    const struct gm_plan_options *options, struct gm_candidate *candidates,
                                    size_t capacity, size_t *count) {
    return gm_explain(&gm_operation_moe_align, device, problem, options, candidates, capacity, count);
}
