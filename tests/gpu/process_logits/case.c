/* SPDX-License-Identifier: Apache-2.0 */
/* One call of process_logits: its operands, and what out and counts shall be. */
#include <math.h>

#include "common/process_logits/params.h"
#include "process_logits/process_logits_tests.h"

void describe_logits(const struct logits_case *lc, char *text, size_t bytes) {
    char counted[32] = "";
    if (lc->counted)
        snprintf(counted, sizeof counted, " count %d", lc->count);
    snprintf(text, bytes,
             "%lld rows%s of %lld %s%s%s %s%s%s%s%s%s slots %lld cap %g temperature %g repetition %g frequency %g "
             "presence %g "
             "pad %lld starts %d,%d,%d",
             (long long)lc->rows, counted, (long long)lc->columns, gm_type_name(lc->type), lc->wide ? " wide" : "",
             lc->in_place ? " in place" : "", lc->inputs == LOGITS_SPECIAL ? "special" : "normal",
             lc->has_counts ? " counts" : "", lc->has_last ? " last" : "", lc->has_bias ? " bias" : "",
             lc->has_mask ? " mask" : "", lc->by_row ? " by row" : "", (long long)lc->slots, lc->cap, lc->temperature,
             lc->repetition, lc->frequency, lc->presence, (long long)lc->pad, lc->start, lc->out_start,
             lc->counts_start);
}

/* ---- values ------------------------------------------------------------------------------------------ */

static uint64_t random_at(const struct logits_case *lc, uint64_t stream, int64_t row, int64_t column) {
    return hash64((opt.seed + lc->seed) * 8 + stream, (uint64_t)(row * lc->columns + column));
}

static double logit_value(const void *of, int64_t row, int64_t column) {
    const struct logits_case *lc = of;
    const uint64_t random = random_at(lc, 0, row, column);
    const double largest = lc->type == GM_FP16 ? 65504 : 0x1.fep127, least = lc->type == GM_FP16 ? 0x1p-24 : 0x1p-133;
    const double values[] = {NAN, INFINITY, -INFINITY, 0, -0.0, least, -least, largest, -largest};
    const double factor = lc->factor != 0 ? (double)lc->factor : 1;
    if (lc->inputs == LOGITS_SPECIAL && random % 2)
        return values[random / 2 % COUNT(values)];
    return round_to(lc->type, factor * 3 * hash_normal(opt.seed + lc->seed, (uint64_t)(row * lc->columns + column)));
}

/* Three of four tokens were not seen. Row 1's last token is at a full count. */
static uint32_t count_at(const struct logits_case *lc, int64_t slot, int64_t column) {
    if (slot % 3 == 1 && column == lc->columns - 1)
        return GM_LOGITS_MOST;
    const uint64_t random = random_at(lc, 1, slot, column);
    const uint32_t values[] = {0x8000, 1, 0x8002, 0x7fff, 0xffff, 3, 0x8001, 100};
    return random % 4 ? 0 : values[random / 4 % COUNT(values)];
}

static double count_byte(const void *of, int64_t slot, int64_t byte) {
    return count_at(of, slot, byte / 2) >> (byte % 2 * 8) & 0xff;
}

static double bias_value(const void *of, int64_t slot, int64_t column) {
    const uint64_t random = random_at(of, 2, slot, column);
    return random % 16 ? (double)((int64_t)(random % 4096) - 2048) * 0x1p-7 : -INFINITY;
}

static double mask_value(const void *of, int64_t slot, int64_t word) {
    return (double)(int32_t)random_at(of, 3, slot, word);
}

static int64_t slots_of(const struct logits_case *lc) {
    return lc->slots ? lc->slots : lc->rows;
}

/* `turn`: slots of counts, bias and mask differ. */
static int64_t slot_of(const struct logits_case *lc, int64_t row, int turn) {
    static const int64_t none[] = {-1, INT32_MIN, INT32_MAX};
    if (lc->slots == 0)
        return row;
    if (row % 5 == 1)
        return row % 2 ? none[(row / 5 + turn) % 3] : lc->slots;
    return (lc->slots - 1 - row + turn) % lc->slots;
}

static double slot_value(const void *of, int64_t row, int64_t column) {
    (void)column;
    return (double)slot_of(of, row, 0);
}

static double bias_slot_value(const void *of, int64_t row, int64_t column) {
    (void)column;
    return (double)slot_of(of, row, 1);
}

static double mask_slot_value(const void *of, int64_t row, int64_t column) {
    (void)column;
    return (double)slot_of(of, row, 2);
}

/* Both ends, and what is no column. */
static double last_value(const void *of, int64_t row, int64_t column) {
    const struct logits_case *lc = of;
    const uint64_t random = random_at(lc, 4, row, 0);
    const double values[] = {(double)lc->columns - 1, 0, -1, (double)lc->columns, INT32_MIN, INT32_MAX};
    (void)column;
    return row % 2 ? values[row / 2 % (int64_t)COUNT(values)] : (double)(random % (uint64_t)lc->columns);
}

static double temperature_value(const void *of, int64_t row, int64_t column) {
    static const float values[] = {0.7f, 1, 0, 1.5f, -1, 1e-40f, 3};
    (void)of, (void)column;
    return row == 8 ? NAN : (double)values[row % (int64_t)COUNT(values)];
}

static double repetition_value(const void *of, int64_t row, int64_t column) {
    static const float values[] = {1.3f, 1, 0.9f, 0, -2};
    (void)of, (void)column;
    return row == 7 ? NAN : (double)values[row % (int64_t)COUNT(values)];
}

static double frequency_value(const void *of, int64_t row, int64_t column) {
    static const float values[] = {0.1f, 0, -0.3f};
    (void)of, (void)column;
    return (double)values[row % (int64_t)COUNT(values)];
}

static double presence_value(const void *of, int64_t row, int64_t column) {
    static const float values[] = {0.6f, -1.1f, 0, 0.2f};
    (void)of, (void)column;
    return (double)values[row % (int64_t)COUNT(values)];
}

static double count_value(const void *of, int64_t row, int64_t column) {
    (void)row, (void)column;
    return ((const struct logits_case *)of)->count;
}

/* ---- what it shall have written ------------------------------------------------------------------------- */

static bool is_computed(const struct logits_case *lc, int64_t row) {
    return !lc->counted || row < lc->count;
}

static uint32_t count_after(const struct logits_case *lc, int64_t row, int64_t slot, int64_t column) {
    const uint32_t count = count_at(lc, slot, column);
    return lc->has_last && (int64_t)last_value(lc, row, 0) == column ? counted_once_more(count, 0) : count;
}

static struct logits_wish wish_of(const struct logits_case *lc, int64_t row, int64_t column) {
    const int64_t slots = slots_of(lc), bias = slot_of(lc, row, 1), mask = slot_of(lc, row, 2),
                  slot = slot_of(lc, row, 0);
    struct logits_wish w = {.cap = lc->cap,
                            .temperature = lc->temperature,
                            .repetition = lc->repetition,
                            .frequency = lc->frequency,
                            .presence = lc->presence,
                            .allowed = true};
    if (lc->by_row) {
        w.temperature = (float)temperature_value(lc, row, 0);
        w.repetition = (float)repetition_value(lc, row, 0);
        w.frequency = (float)frequency_value(lc, row, 0);
        w.presence = (float)presence_value(lc, row, 0);
    }
    if (lc->has_counts && slot >= 0 && slot < slots)
        w.count = count_after(lc, row, slot, column);
    if (lc->has_bias && bias >= 0 && bias < slots)
        w.bias = (float)bias_value(lc, bias, column);
    if (lc->has_mask && mask >= 0 && mask < slots)
        w.allowed = (uint32_t)(int32_t)mask_value(lc, mask, column / 32) >> column % 32 & 1;
    return w;
}

/* Exact, but for the cap's tanh. Behind it each step of fp32 rounds, so where the tanh is another one it may differ by a unit
 * in the last place of what it made, and no step makes more than `most`. */
static double tolerance_of(const struct logits_wish *w, enum gm_type type, double want) {
    const double r = w->repetition > 0 ? (double)w->repetition : 1, t = w->temperature > 0 ? (double)w->temperature : 1;
    const double times = w->count & GM_LOGITS_MOST, factor = w->count ? fmax(r, 1 / r) : 1;
    const double most = ((double)w->cap + fabs((double)w->bias)) * factor + fabs((double)w->frequency) * times +
                        (times > 0 ? fabs((double)w->presence) : 0);
    const int steps = (w->bias != 0) + (w->count != 0) + (times > 0 ? 2 : 0);
    const double error = (0x1p-19 * (double)w->cap * factor + steps * 2 * half_ulp(GM_FP32, most)) / t;
    return w->cap > 0 && isfinite(want) ? error + 2 * half_ulp(type, fabs(want) + error) : 0;
}

static void expect_counts(const struct logits_case *lc, int64_t slot, struct expectation *e) {
    int64_t owner = -1;
    for (int64_t row = 0; row < lc->rows; row++)
        if (slot_of(lc, row, 0) == slot && is_computed(lc, row))
            owner = row;
    for (int64_t byte = 0; byte < 2 * lc->columns; byte++) {
        const uint32_t count = owner < 0 ? count_at(lc, slot, byte / 2) : count_after(lc, owner, slot, byte / 2);
        e->want[byte] = count >> (byte % 2 * 8) & 0xff;
        e->tolerance[byte] = 0;
    }
}

static void expect(const struct placed_operands *placed, int operand, int64_t row, struct expectation *e) {
    const struct logits_case *lc = placed->of;
    if (operand == LOGITS_COUNTS) {
        expect_counts(lc, row, e);
        return;
    }
    const enum gm_type type = lc->wide ? GM_FP32 : lc->type;
    for (int64_t column = 0; column < lc->columns; column++) {
        e->tolerance[column] = AS_BEFORE;
        if (!is_computed(lc, row))
            continue;
        const struct logits_wish wish = wish_of(lc, row, column);
        e->want[column] = round_to(type, (double)logits_model((float)logit_value(lc, row, column), &wish, 0));
        e->tolerance[column] = tolerance_of(&wish, type, e->want[column]);
    }
}

/* ---- placing -------------------------------------------------------------------------------------------- */

static void list_operands(struct placed_logits *placed, const struct logits_case *lc) {
    const struct gm_process_logits_problem *p = &placed->problem;
    struct operand *o = placed->placed.operands;
    const int64_t columns = lc->columns, slots = slots_of(lc), by_row = lc->by_row ? lc->rows : 0;
#define ARGUMENT(member) offsetof(struct gm_process_logits_args, member)
#define NUMBERS(member, type_, rows_, value_)                                                                          \
    (struct operand) {                                                                                                 \
        .name = #member, .argument = ARGUMENT(member), .type = type_, .rows = rows_, .columns = 1, .stride = 1,        \
        .value = value_                                                                                                \
    }
    o[LOGITS_LOGITS] = (struct operand){"logits", ARGUMENT(logits), lc->type,  lc->rows,
                                        columns,  p->logits_stride, lc->start, .value = logit_value};
    o[LOGITS_OUT] =
        (struct operand){"out",         ARGUMENT(out),  lc->wide ? GM_FP32 : lc->type, lc->rows, columns, p->out_stride,
                         lc->out_start, .written = true};
    o[LOGITS_COUNTS] = (struct operand){"counts",
                                        ARGUMENT(counts),
                                        GM_UINT8,
                                        lc->has_counts ? slots : 0,
                                        2 * columns,
                                        2 * p->counts_stride,
                                        2 * lc->counts_start,
                                        .written = lc->has_last,
                                        .value = count_byte};
    o[LOGITS_BIAS] = (struct operand){"bias",  ARGUMENT(bias), GM_FP32,       lc->has_bias ? slots : 0,
                                      columns, p->bias_stride, lc->out_start, .value = bias_value};
    o[LOGITS_MASK] = (struct operand){
        "mask",         ARGUMENT(mask), GM_INT32,           lc->has_mask ? slots : 0, (columns + 31) / 32,
        p->mask_stride, lc->out_start,  .value = mask_value};
    o[LOGITS_SLOTS] = NUMBERS(slots, GM_INT32, lc->slots && lc->has_counts ? lc->rows : 0, slot_value);
    o[LOGITS_BIAS_SLOTS] = NUMBERS(bias_slots, GM_INT32, lc->slots && lc->has_bias ? lc->rows : 0, bias_slot_value);
    o[LOGITS_MASK_SLOTS] = NUMBERS(mask_slots, GM_INT32, lc->slots && lc->has_mask ? lc->rows : 0, mask_slot_value);
    o[LOGITS_LAST_IDS] = NUMBERS(last_ids, GM_INT32, lc->has_last ? lc->rows : 0, last_value);
    o[LOGITS_TEMPERATURES] = NUMBERS(temperatures, GM_FP32, by_row, temperature_value);
    o[LOGITS_REPETITIONS] = NUMBERS(repetitions, GM_FP32, by_row, repetition_value);
    o[LOGITS_FREQUENCIES] = NUMBERS(frequencies, GM_FP32, by_row, frequency_value);
    o[LOGITS_PRESENCES] = NUMBERS(presences, GM_FP32, by_row, presence_value);
    o[LOGITS_COUNT] = NUMBERS(row_count, GM_INT32, lc->counted, count_value);
#undef NUMBERS
#undef ARGUMENT
    if (lc->in_place)
        o[LOGITS_LOGITS].in_place_of = 1 + LOGITS_OUT;
}

bool place_logits(struct result *result, const struct logits_case *lc, struct operand_memory *memory,
                  struct placed_logits *placed) {
    uint8_t *const before = placed->placed.before;
    *placed = (struct placed_logits){.args = {.size = sizeof placed->args}};
    struct gm_process_logits_problem *p = &placed->problem;
    *p = (struct gm_process_logits_problem){.size = sizeof *p,
                                            .rows = lc->rows,
                                            .columns = lc->columns,
                                            .slots = lc->slots,
                                            .type = lc->type,
                                            .fp32_out = lc->wide,
                                            .cap = lc->cap,
                                            .temperature = lc->temperature,
                                            .repetition = lc->repetition,
                                            .frequency = lc->frequency,
                                            .presence = lc->presence,
                                            .logits_stride = lc->columns + lc->pad,
                                            .out_stride = lc->columns + lc->pad,
                                            .counts_stride = lc->columns + lc->pad,
                                            .bias_stride = lc->columns + lc->pad,
                                            .mask_stride = (lc->columns + 31) / 32 + lc->pad};
    placed->placed = (struct placed_operands){
        .call = {.operation = &process_logits_tests, .problem = p, .args = &placed->args},
        .of = lc,
        .args = &placed->args,
        .count = LOGITS_OPERANDS,
        .before = before,
        .expect = expect,
    };
    list_operands(placed, lc);
    if (!place_operands(result, &placed->placed, memory))
        return false;
    p->logits_align = alignment_of(&placed->placed, LOGITS_LOGITS);
    p->out_align = alignment_of(&placed->placed, LOGITS_OUT);
    p->counts_align = lc->has_counts ? alignment_of(&placed->placed, LOGITS_COUNTS) : 0;
    p->bias_align = lc->has_bias ? alignment_of(&placed->placed, LOGITS_BIAS) : 0;
    return true;
}

bool run_logits(struct result *result, const struct logits_case *lc, const char *kernel, uint32_t mask,
                struct operand_memory *memory) {
    const struct gm_plan_options options = {
        .size = sizeof options, .kernel = kernel, .arch_mask = mask, .sm_budget = lc->sm_budget};
    char what[400];
    struct placed_logits placed = {0};
    describe_logits(lc, what, sizeof what);
    heartbeat(what);
    const bool ok = place_logits(result, lc, memory, &placed) &&
                    run_call(result, &placed.placed.call, &options, lc->repeats, lc->may_refuse, what);
    free_placed(&placed.placed);
    return ok;
}
