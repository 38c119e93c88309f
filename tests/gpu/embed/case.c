/* SPDX-License-Identifier: Apache-2.0 */
/* One look-up: its operands, and what out and the error flag shall be. */
#include <math.h>

#include "embed/embed_tests.h"

void describe_embed(const struct embed_case *ec, char *text, size_t bytes) {
    static const char *const inputs[] = {"integer", "normal", "special"}, *const ids[] = {"any", "bad", "edge"};
    char counted[32] = "";
    if (ec->counted)
        snprintf(counted, sizeof counted, " count %d", ec->count);
    snprintf(text, bytes,
             "%lld tokens%s of %lld %s of %lld, %s int%d ids, %s, scale %g%s pads %lld,%lld starts %d,%d,%d",
             (long long)ec->tokens, counted, (long long)ec->columns, gm_type_name(ec->type), (long long)ec->vocabulary,
             ids[ec->ids], ec->int64_ids ? 64 : 32, inputs[ec->inputs], ec->scale, ec->flagged ? " flag" : "",
             (long long)ec->table_pad, (long long)ec->out_pad, ec->ids_start, ec->table_start, ec->out_start);
}

/* ---- values ------------------------------------------------------------------------------------------ */

static double special(enum gm_type type, uint64_t random, double ordinary) {
    const double largest = type == GM_FP16 ? 65504 : 0x1.fep127, least = type == GM_FP16 ? 0x1p-24 : 0x1p-133;
    const double values[] = {NAN, INFINITY, -INFINITY, 0, -0.0, largest, -largest, least, -least, ordinary};
    return values[random % COUNT(values)];
}

static double table_value(const void *of, int64_t row, int64_t column) {
    const struct embed_case *ec = of;
    const uint64_t seed = opt.seed + ec->seed, index = (uint64_t)(row * ec->columns + column);
    const double factor = ec->factor != 0 ? (double)ec->factor : 1;
    if (ec->inputs == EMBED_INTEGERS)
        return factor * (double)((int)((hash64(seed, index) >> 32) % 9) - 4);
    const double normal = round_to(ec->type, factor * hash_normal(seed, index));
    return ec->inputs == EMBED_SPECIAL ? special(ec->type, hash64(seed, index), normal) : normal;
}

/* Each of them by turns. */
static int64_t bad_id(const struct embed_case *ec, int64_t number) {
    const int64_t narrow[] = {-1, ec->vocabulary, INT32_MAX, INT32_MIN};
    const int64_t wide[] = {INT64_C(1) << 32, -(INT64_C(1) << 32), INT64_MAX, (INT64_C(1) << 40) + ec->vocabulary - 1};
    if (ec->int64_ids)
        return number % 2 ? wide[number / 2 % 4] : narrow[number / 2 % 4];
    return narrow[number % 4];
}

static int64_t id_of(const struct embed_case *ec, int64_t token) {
    const uint64_t random = hash64(opt.seed + ec->seed + 0x1d5, (uint64_t)token);
    if (ec->ids == EMBED_EDGES)
        return random % 2 ? 0 : ec->vocabulary - 1;
    if (ec->ids == EMBED_BAD && token % 3 == 0)
        return bad_id(ec, token / 3);
    return (int64_t)((random >> 8) % (uint64_t)ec->vocabulary);
}

static bool is_bad(const struct embed_case *ec, int64_t token) {
    return id_of(ec, token) < 0 || id_of(ec, token) >= ec->vocabulary;
}

/* Ids of 64 bits are two columns, the low half first. */
static double id_value(const void *of, int64_t token, int64_t half) {
    const int64_t id = id_of(of, token);
    return half ? (double)(id >> 32) : (double)(int32_t)(uint32_t)(uint64_t)id;
}

static double flag_value(const void *of, int64_t row, int64_t column) {
    (void)of, (void)row, (void)column;
    return 0;
}

static double count_value(const void *of, int64_t row, int64_t column) {
    (void)row, (void)column;
    return ((const struct embed_case *)of)->count;
}

/* ---- what it shall have written ------------------------------------------------------------------------- */

static bool is_asked(const struct embed_case *ec, int64_t token) {
    return !ec->counted || token < ec->count;
}

static void expect_flag(const struct embed_case *ec, struct expectation *e) {
    e->tolerance[0] = AS_BEFORE;
    for (int64_t token = 0; token < ec->tokens; token++)
        if (is_asked(ec, token) && is_bad(ec, token)) {
            e->want[0] = 1;
            e->tolerance[0] = 0;
        }
}

/* The product is that of fp32, which is then rounded to the type. */
static void expect(const struct placed_operands *placed, int operand, int64_t row, struct expectation *e) {
    const struct embed_case *ec = placed->of;
    if (operand == EMBED_FLAG) {
        expect_flag(ec, e);
        return;
    }
    for (int64_t column = 0; column < ec->columns; column++) {
        const double x = is_bad(ec, row) ? 0 : table_value(ec, id_of(ec, row), column);
        e->want[column] = ec->scale > 0 ? (double)(float)(x * (double)ec->scale) : x;
        e->tolerance[column] = is_asked(ec, row) ? 0 : AS_BEFORE;
    }
}

/* ---- placing -------------------------------------------------------------------------------------------- */

static void list_operands(struct placed_embed *placed, const struct embed_case *ec) {
    const struct gm_embed_problem *p = &placed->problem;
    struct operand *o = placed->placed.operands;
    const int halves = ec->int64_ids ? 2 : 1;
#define ARGUMENT(member) offsetof(struct gm_embed_args, member)
    o[EMBED_IDS] = (struct operand){"ids",  ARGUMENT(ids),          GM_INT32,         ec->tokens, halves,
                                    halves, halves * ec->ids_start, .value = id_value};
    o[EMBED_TABLE] = (struct operand){"table",     ARGUMENT(table), ec->type,        ec->vocabulary,
                                      ec->columns, p->table_stride, ec->table_start, .value = table_value};
    o[EMBED_OUT] = (struct operand){"out",       ARGUMENT(out), ec->type,      ec->tokens,
                                    ec->columns, p->out_stride, ec->out_start, .written = true};
    o[EMBED_FLAG] = (struct operand){"error_flag",    ARGUMENT(error_flag), GM_INT32, ec->flagged, 1, 1, 0,
                                     .written = true, .value = flag_value};
    o[EMBED_COUNT] =
        (struct operand){"row_count", ARGUMENT(row_count), GM_INT32, ec->counted, 1, 1, 0, .value = count_value};
#undef ARGUMENT
}

bool place_embed(struct result *result, const struct embed_case *ec, struct operand_memory *memory,
                 struct placed_embed *placed) {
    uint8_t *const before = placed->placed.before;
    *placed = (struct placed_embed){.args = {.size = sizeof placed->args}};
    struct gm_embed_problem *p = &placed->problem;
    *p = (struct gm_embed_problem){.size = sizeof *p,
                                   .tokens = ec->tokens,
                                   .columns = ec->columns,
                                   .vocabulary = ec->vocabulary,
                                   .type = ec->type,
                                   .int64_ids = ec->int64_ids,
                                   .scale = ec->scale,
                                   .table_stride = ec->columns + ec->table_pad,
                                   .out_stride = ec->columns + ec->out_pad};
    placed->placed = (struct placed_operands){
        .call = {.operation = &embed_tests, .problem = p, .args = &placed->args},
        .of = ec,
        .args = &placed->args,
        .count = EMBED_OPERANDS,
        .before = before,
        .expect = expect,
    };
    list_operands(placed, ec);
    if (!place_operands(result, &placed->placed, memory))
        return false;
    p->table_align = alignment_of(&placed->placed, EMBED_TABLE);
    p->out_align = alignment_of(&placed->placed, EMBED_OUT);
    return true;
}

bool run_embed(struct result *result, const struct embed_case *ec, const char *kernel, uint32_t mask,
               struct operand_memory *memory) {
    const struct gm_plan_options options = {
        .size = sizeof options, .kernel = kernel, .arch_mask = mask, .sm_budget = ec->sm_budget};
    char what[320];
    struct placed_embed placed = {0};
    describe_embed(ec, what, sizeof what);
    heartbeat(what);
    const bool ok = place_embed(result, ec, memory, &placed) &&
                    run_call(result, &placed.placed.call, &options, ec->repeats, ec->may_refuse, what);
    free_placed(&placed.placed);
    return ok;
}
