/* SPDX-License-Identifier: Apache-2.0 */
/* One sorting of slots: its operands, and what offsets, rows and their inverse shall be. */
#include <stdlib.h>

#include "moe_align/moe_align_tests.h"

void describe_align(const struct align_case *ac, char *text, size_t bytes) {
    static const char *const ids[] = {"uniform", "skewed", "one-expert", "bad", "nobody's", "sorted"};
    char counted[32] = "";
    if (ac->counted)
        snprintf(counted, sizeof counted, " count %d", ac->count);
    snprintf(text, bytes, "%lld tokens%s to %lld of %lld experts, %s ids, alignment %lld%s start %d",
             (long long)ac->tokens, counted, (long long)ac->k, (long long)ac->experts, ids[ac->ids],
             (long long)ac->alignment, ac->inverted ? " inverted" : "", ac->start);
}

static int64_t slots_of(const struct align_case *ac) {
    return ac->tokens * ac->k;
}

/* ---- values ------------------------------------------------------------------------------------------ */

static int64_t bad_id(const struct align_case *ac, uint64_t random) {
    const int64_t ids[] = {-1, ac->experts, INT32_MAX, INT32_MIN, -7};
    return ids[random % COUNT(ids)];
}

static int64_t id_of(const struct align_case *ac, int64_t slot) {
    const uint64_t random = hash64(opt.seed + ac->seed, (uint64_t)slot), experts = (uint64_t)ac->experts;
    switch (ac->ids) {
    case ALIGN_SKEWED:
        return (int64_t)((random >> 8) % (random % 4 ? (experts + 7) / 8 : experts));
    case ALIGN_ONE:
        return ac->experts - 1;
    case ALIGN_NONE:
        return bad_id(ac, random);
    case ALIGN_BAD:
        return random % 3 ? (int64_t)((random >> 8) % experts) : bad_id(ac, random >> 8);
    case ALIGN_SORTED:
        return slot * ac->experts / slots_of(ac);
    default:
        return (int64_t)((random >> 8) % experts);
    }
}

static double id_value(const void *of, int64_t row, int64_t slot) {
    (void)row;
    return (double)id_of(of, slot);
}

static double count_value(const void *of, int64_t row, int64_t column) {
    (void)row, (void)column;
    return ((const struct align_case *)of)->count;
}

/* ---- what it shall have written ------------------------------------------------------------------------- */

static int64_t asked_slots(const struct align_case *ac) {
    const int64_t tokens = ac->counted && ac->count < ac->tokens ? ac->count : ac->tokens;
    return tokens > 0 ? tokens * ac->k : 0;
}

static bool is_somebodys(const struct align_case *ac, int64_t slot) {
    return id_of(ac, slot) >= 0 && id_of(ac, slot) < ac->experts;
}

static int64_t round_up(const struct align_case *ac, int64_t rows) {
    const int64_t alignment = ac->alignment > 0 ? ac->alignment : 1;
    return (rows + alignment - 1) / alignment * alignment;
}

/* experts + 1 offsets; freed by the caller. */
static int64_t *find_offsets(const struct align_case *ac) {
    int64_t *offsets = calloc((size_t)ac->experts + 1, sizeof *offsets);
    if (!offsets)
        exit(2);
    for (int64_t slot = 0; slot < asked_slots(ac); slot++)
        if (is_somebodys(ac, slot))
            offsets[id_of(ac, slot) + 1]++;
    for (int64_t e = 0; e < ac->experts; e++)
        offsets[e + 1] = offsets[e] + round_up(ac, offsets[e + 1]);
    return offsets;
}

static void expect_offsets(const struct align_case *ac, const int64_t *offsets, struct expectation *e) {
    for (int64_t i = 0; i <= ac->experts; i++) {
        e->want[i] = (double)offsets[i];
        e->tolerance[i] = 0;
    }
}

/* The rows of all experts hold -1, before their slots come one by one; then `offsets` are the next rows. */
static void expect_slots(const struct align_case *ac, int64_t *offsets, int64_t columns, bool is_inverse,
                         struct expectation *e) {
    for (int64_t i = 0; i < columns; i++) {
        const bool is_written = i < (is_inverse ? asked_slots(ac) : offsets[ac->experts]);
        e->want[i] = -1;
        e->tolerance[i] = is_written ? 0 : AS_BEFORE;
    }
    for (int64_t slot = 0; slot < asked_slots(ac); slot++) {
        if (!is_somebodys(ac, slot))
            continue;
        const int64_t row = offsets[id_of(ac, slot)]++;
        e->want[is_inverse ? slot : row] = (double)(is_inverse ? row : slot);
    }
}

static void expect(const struct placed_operands *placed, int operand, int64_t row, struct expectation *e) {
    const struct align_case *ac = placed->of;
    int64_t *offsets = find_offsets(ac);
    (void)row;
    if (operand == ALIGN_OFFSETS)
        expect_offsets(ac, offsets, e);
    else
        expect_slots(ac, offsets, placed->operands[operand].columns, operand == ALIGN_INVERSE, e);
    free(offsets);
}

/* ---- placing -------------------------------------------------------------------------------------------- */

static struct operand list_of(const char *name, size_t argument, int64_t count, int start) {
    return (struct operand){name, argument, GM_INT32, count > 0, count, count, start, .written = true};
}

static void list_operands(struct placed_align *placed, const struct align_case *ac) {
    struct operand *o = placed->placed.operands;
    const int64_t slots = slots_of(ac), alignment = ac->alignment > 0 ? ac->alignment : 1;
    const int64_t most = slots + (slots < ac->experts ? slots : ac->experts) * (alignment - 1);
#define ARGUMENT(member) offsetof(struct gm_moe_align_args, member)
    o[ALIGN_ID_LIST] = list_of("ids", ARGUMENT(ids), slots, ac->start);
    o[ALIGN_ID_LIST].written = false;
    o[ALIGN_ID_LIST].value = id_value;
    o[ALIGN_OFFSETS] = list_of("offsets", ARGUMENT(offsets), ac->experts + 1, ac->start);
    o[ALIGN_ROWS] = list_of("rows", ARGUMENT(rows), most, ac->start);
    o[ALIGN_INVERSE] = list_of("inverse", ARGUMENT(inverse), ac->inverted ? slots : 0, ac->start);
    o[ALIGN_COUNT] =
        (struct operand){"row_count", ARGUMENT(row_count), GM_INT32, ac->counted, 1, 1, 0, .value = count_value};
#undef ARGUMENT
}

bool place_align(struct result *result, const struct align_case *ac, struct operand_memory *memory,
                 struct placed_align *placed) {
    uint8_t *const before = placed->placed.before;
    *placed = (struct placed_align){.args = {.size = sizeof placed->args}};
    struct gm_moe_align_problem *p = &placed->problem;
    *p = (struct gm_moe_align_problem){
        .size = sizeof *p, .tokens = ac->tokens, .k = ac->k, .experts = ac->experts, .alignment = ac->alignment};
    placed->placed = (struct placed_operands){
        .call = {.operation = &moe_align_tests, .problem = p, .args = &placed->args},
        .of = ac,
        .args = &placed->args,
        .count = ALIGN_OPERANDS,
        .before = before,
        .expect = expect,
    };
    list_operands(placed, ac);
    return place_operands(result, &placed->placed, memory);
}

bool run_align(struct result *result, const struct align_case *ac, const char *kernel, uint32_t mask,
               struct operand_memory *memory) {
    const struct gm_plan_options options = {
        .size = sizeof options, .kernel = kernel, .arch_mask = mask, .sm_budget = ac->sm_budget};
    char what[320];
    struct placed_align placed = {0};
    describe_align(ac, what, sizeof what);
    heartbeat(what);
    const bool ok = place_align(result, ac, memory, &placed) &&
                    run_call(result, &placed.placed.call, &options, ac->repeats, ac->may_refuse, what);
    free_placed(&placed.placed);
    return ok;
}
