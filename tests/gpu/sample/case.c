/* SPDX-License-Identifier: Apache-2.0 */
/* One call of sampling: its operands, and what its tokens shall be. */
#include <math.h>
#include <stdlib.h>

#include "sample/sample_tests.h"

void describe_sample(const struct sample_case *sc, char *text, size_t bytes) {
    static const char *const inputs[] = {"normal", "flat",    "ties",    "equal", "special",
                                         "masked", "nothing", "extreme", "spike"};
    char counted[32] = "";
    if (sc->counted)
        snprintf(counted, sizeof counted, " count %d", sc->count);
    snprintf(text, bytes, "%lld rows%s of %lld %s %s temperature %g top_k %lld top_p %g min_p %g%s%s pad %lld start %d",
             (long long)sc->rows, counted, (long long)sc->columns, gm_type_name(sc->type), inputs[sc->inputs],
             sc->temperature, (long long)sc->top_k, sc->top_p, sc->min_p, sc->by_row ? " by row" : "",
             sc->has_logprobs ? " logprobs" : "", (long long)sc->pad, sc->start);
}

/* ---- values ------------------------------------------------------------------------------------------ */

static double special(enum gm_type type, uint64_t random, double ordinary) {
    const double largest = type == GM_FP16 ? 65504 : 0x1.fep127, least = type == GM_FP16 ? 0x1p-24 : 0x1p-133;
    const double values[] = {NAN, -INFINITY, 0, -0.0, least, -least, -largest, ordinary, ordinary, ordinary};
    return random % 1009 == 1 ? INFINITY : values[random / 1009 % COUNT(values)];
}

static double drawn(const struct sample_case *sc, int64_t row, int64_t column) {
    const uint64_t index = (uint64_t)(row * sc->columns + column), seed = opt.seed + sc->seed;
    const uint64_t random = hash64(seed + 77, index);
    const double normal = hash_normal(seed, index), largest = sc->type == GM_FP16 ? 65504 : 0x1.fep127;
    switch (sc->inputs) {
    case SAMPLE_FLAT:
        return normal / 8;
    case SAMPLE_TIES:
        return (double)(random % 9) - 4;
    case SAMPLE_EQUAL:
        return -1.5;
    case SAMPLE_SPECIAL:
        return special(sc->type, random, normal);
    case SAMPLE_MASKED:
        return random % 8 ? -INFINITY : 3 * normal;
    case SAMPLE_NOTHING:
        return random % 2 ? NAN : -INFINITY;
    case SAMPLE_EXTREME:
        return random % 64 ? -largest : largest * (double)(random / 64 % 2 ? 1 : 0.5);
    case SAMPLE_SPIKE:
        return column == sc->columns / 2 ? 0 : -5.59375; /* a mass of nearly 2^32 */
    default:
        return 3 * normal;
    }
}

static double logit_value(const void *of, int64_t row, int64_t column) {
    const struct sample_case *sc = of;
    return round_to(sc->type, drawn(sc, row, column));
}

/* ---- requests ------------------------------------------------------------------------------------------ */

static double temperature_value(const void *of, int64_t row, int64_t column) {
    static const float values[] = {1, 0, 0.7f, 2, 0.05f, -1, 1, 1.5f, 1e-30f};
    (void)of, (void)column;
    return values[(size_t)row % COUNT(values)];
}

static double top_k_value(const void *of, int64_t row, int64_t column) {
    static const int32_t values[] = {0, 50, 1, -1, 7, 600, INT32_MAX};
    (void)of, (void)column;
    return values[(size_t)row % COUNT(values)];
}

static double top_p_value(const void *of, int64_t row, int64_t column) {
    static const float values[] = {0.9f, 1, 0.5f, 0, 0.999f, 1e-12f, -1, 2};
    (void)of, (void)column;
    return row == 9 ? NAN : values[(size_t)row % COUNT(values)];
}

static double min_p_value(const void *of, int64_t row, int64_t column) {
    static const float values[] = {0, 0, 0.05f, 0, -1, 1e-6f, 0, 1, 0.3f, 2};
    (void)of, (void)column;
    return row == 13 ? NAN : values[(size_t)row % COUNT(values)];
}

static double seed_value(const void *of, int64_t row, int64_t column) {
    (void)column;
    return (int32_t)hash64(((const struct sample_case *)of)->seed, (uint64_t)row);
}

static double steps_value(const void *of, int64_t row, int64_t column) {
    (void)of, (void)column;
    return (double)(row * row % 1000 - 3);
}

static double step_value(const void *of, int64_t row, int64_t column) {
    (void)row, (void)column;
    return (double)((const struct sample_case *)of)->seed * 3 + 2;
}

static double count_value(const void *of, int64_t row, int64_t column) {
    (void)row, (void)column;
    return ((const struct sample_case *)of)->count;
}

/* Of all rows where they have none of their own. */
static uint64_t own_seed(const struct sample_case *sc) {
    return hash64(5, sc->noise);
}

static struct sample_wish wish_of(const struct sample_case *sc, int64_t row) {
    if (!sc->by_row)
        return (struct sample_wish){
            sc->temperature, sc->top_p == 0 ? 1 : sc->top_p, sc->min_p, (int32_t)sc->top_k, own_seed(sc), sc->step};
    return (struct sample_wish){.temperature = (float)temperature_value(sc, row, 0),
                                .top_p = (float)top_p_value(sc, row, 0),
                                .min_p = (float)min_p_value(sc, row, 0),
                                .top_k = (int32_t)top_k_value(sc, row, 0),
                                .seed = (uint64_t)(int64_t)seed_value(sc, row, 0),
                                .step = sc->step + (int64_t)steps_value(sc, row, 0) + (int64_t)step_value(sc, 0, 0)};
}

static void expect(const struct placed_operands *placed, int operand, int64_t row, struct expectation *e) {
    const struct sample_case *sc = placed->of;
    const struct sample_wish wish = wish_of(sc, row);
    float *logits = malloc((size_t)sc->columns * sizeof(float)), logprob;
    if (!logits)
        exit(2);
    e->tolerance[0] = AS_BEFORE;
    if (!sc->counted || row < sc->count) {
        for (int64_t column = 0; column < sc->columns; column++)
            logits[column] = (float)logit_value(sc, row, column);
        const int32_t id = sample_model(logits, (int)sc->columns, &wish, 0, &logprob);
        e->want[0] = operand == SAMPLE_IDS ? id : (double)logprob;
        e->tolerance[0] = 0;
    }
    free(logits);
}

/* ---- placing -------------------------------------------------------------------------------------------- */

static void list_operands(struct placed_sample *placed, const struct sample_case *sc) {
    struct operand *o = placed->placed.operands;
    const int64_t by_row = sc->by_row ? sc->rows : 0;
#define OPERAND(member, type_, rows_, ...)                                                                             \
    (struct operand) {                                                                                                 \
        .name = #member, .argument = offsetof(struct gm_sample_args, member), .type = type_, .rows = rows_,            \
        .columns = 1, .stride = 1, __VA_ARGS__                                                                         \
    }
    o[SAMPLE_LOGITS] =
        (struct operand){"logits",    offsetof(struct gm_sample_args, logits), sc->type,  sc->rows,
                         sc->columns, placed->problem.logits_stride,           sc->start, .value = logit_value};
    o[SAMPLE_TEMPERATURES] = OPERAND(temperatures, GM_FP32, by_row, .value = temperature_value);
    o[SAMPLE_TOP_KS] = OPERAND(top_ks, GM_INT32, by_row, .value = top_k_value);
    o[SAMPLE_TOP_PS] = OPERAND(top_ps, GM_FP32, by_row, .value = top_p_value);
    o[SAMPLE_MIN_PS] = OPERAND(min_ps, GM_FP32, by_row, .value = min_p_value);
    o[SAMPLE_SEEDS] = OPERAND(seeds, GM_INT64, by_row, .value = seed_value);
    o[SAMPLE_STEPS] = OPERAND(steps, GM_INT64, by_row, .value = steps_value);
    o[SAMPLE_STEP] = OPERAND(step, GM_INT64, sc->by_row, .value = step_value);
    o[SAMPLE_COUNT] = OPERAND(row_count, GM_INT32, sc->counted, .value = count_value);
    o[SAMPLE_IDS] = OPERAND(ids, GM_INT32, sc->rows, .written = true);
    o[SAMPLE_LOGPROBS] = OPERAND(logprobs, GM_FP32, sc->has_logprobs ? sc->rows : 0, .written = true);
#undef OPERAND
}

bool place_sample(struct result *result, const struct sample_case *sc, struct operand_memory *memory,
                  struct placed_sample *placed) {
    uint8_t *const before = placed->placed.before;
    *placed =
        (struct placed_sample){.args = {.size = sizeof placed->args, .seed = own_seed(sc), .first_step = sc->step}};
    placed->problem = (struct gm_sample_problem){.size = sizeof placed->problem,
                                                 .rows = sc->rows,
                                                 .columns = sc->columns,
                                                 .type = sc->type,
                                                 .temperature = sc->temperature,
                                                 .top_p = sc->top_p,
                                                 .min_p = sc->min_p,
                                                 .top_k = sc->top_k,
                                                 .logits_stride = sc->columns + sc->pad};
    placed->placed = (struct placed_operands){
        .call = {.operation = &sample_tests, .problem = &placed->problem, .args = &placed->args},
        .of = sc,
        .args = &placed->args,
        .count = SAMPLE_OPERANDS,
        .before = before,
        .expect = expect,
    };
    list_operands(placed, sc);
    if (!place_operands(result, &placed->placed, memory))
        return false;
    placed->problem.logits_align = alignment_of(&placed->placed, SAMPLE_LOGITS);
    return true;
}

bool run_sample(struct result *result, const struct sample_case *sc, const char *kernel, uint32_t mask,
                struct operand_memory *memory) {
    const struct gm_plan_options options = {
        .size = sizeof options, .kernel = kernel, .arch_mask = mask, .sm_budget = sc->sm_budget};
    char what[320];
    struct placed_sample placed = {0};
    describe_sample(sc, what, sizeof what);
    heartbeat(what);
    const bool ok = place_sample(result, sc, memory, &placed) &&
                    run_call(result, &placed.placed.call, &options, sc->repeats, sc->may_refuse, what);
    free_placed(&placed.placed);
    return ok;
}
