/* SPDX-License-Identifier: Apache-2.0 */
/* One merge: its operands, and what out and lse shall be. */
#include <math.h>

#include "attention_merge/attention_merge_tests.h"

void describe_merge(const struct merge_case *mc, char *text, size_t bytes) {
    static const char *const inputs[] = {"equal", "normal", "alone", "special"};
    static const char *const layouts[] = {"padded", "packed", "heads outside"};
    static const char *const places[] = {"apart", "in a", "in b"};
    char counted[32] = "";
    if (mc->counted)
        snprintf(counted, sizeof counted, " count %d", mc->count);
    snprintf(text, bytes,
             "%lld tokens%s of %lld heads of %lld %s, out %s %s, lse %s, %s, %s, pad %lld starts %d,%d,%d,%d",
             (long long)mc->tokens, counted, (long long)mc->heads, (long long)mc->head_dim, gm_type_name(mc->type),
             mc->out ? gm_type_name((enum gm_type)(mc->out - 1)) : "same", places[mc->place],
             mc->has_no_lse ? "none" : places[mc->lse_place], inputs[mc->inputs], layouts[mc->layout],
             (long long)mc->pad, mc->a_start, mc->b_start, mc->out_start, mc->lse_start);
}

static enum gm_type out_type_of(const struct merge_case *mc) {
    return mc->out ? (enum gm_type)(mc->out - 1) : mc->type;
}

/* ---- values ------------------------------------------------------------------------------------------ */

/* A row is a head of a token. */
static uint64_t random_of(const struct merge_case *mc, int stream, int64_t row) {
    return hash64((opt.seed + mc->seed) * 8 + (uint64_t)stream, (uint64_t)row);
}

/* Both lse of a row. No two differ by what has about the least weight, 87.3. */
struct pair {
    double a, b;
};

/* Of what is left and what has no weight beside it; or of neither side. */
static struct pair alone(uint64_t random, double usual) {
    const struct pair pairs[] = {{usual, -INFINITY},     {usual, usual - 150},  {INFINITY, usual}, {usual, -1e30},
                                 {-INFINITY, -INFINITY}, {INFINITY, -INFINITY}, {0, -INFINITY},    {1e30, usual}};
    const struct pair p = pairs[random % COUNT(pairs)];
    return random / 16 % 2 ? p : (struct pair){p.b, p.a};
}

static double special_lse(uint64_t random, double usual) {
    const double lse[] = {usual, usual - 1.5, usual - 20, usual - 60, usual - 200, INFINITY, -INFINITY, NAN, -1e30};
    return lse[random % COUNT(lse)];
}

static struct pair lse_of(const struct merge_case *mc, int64_t row) {
    const uint64_t random = random_of(mc, 2, row);
    const double usual = round_to(GM_FP32, 8 * hash_normal(opt.seed + mc->seed + 0x15e, (uint64_t)row));
    struct pair lse = {usual, usual};
    if (mc->inputs == MERGE_ALONE)
        lse = alone(random, usual);
    else if (mc->inputs == MERGE_SPECIAL)
        lse = (struct pair){special_lse(random, usual), special_lse(random >> 8, usual)};
    else if (mc->inputs == MERGE_NORMAL)
        lse = (struct pair){usual + (double)(random % 3) * 100,
                            usual + (double)(random % 3) * 100 + 3 * hash_normal(random, (uint64_t)row)};
    return (struct pair){round_to(GM_FP32, lse.a), round_to(GM_FP32, lse.b)};
}

/* Weights as gristmill/attention_merge.h says: 0 below 2^-126. Where both are 0, neither side has keys. */
struct weights {
    double a, b, largest;
};

static double weight(double lse, double largest) {
    const double w = lse == largest ? 1 : exp(lse - largest);
    return w < 0x1p-126 ? 0 : w;
}

static struct weights weights_of(const struct merge_case *mc, int64_t row) {
    const struct pair lse = lse_of(mc, row);
    const double largest = isnan(lse.a) || isnan(lse.b) ? NAN : fmax(lse.a, lse.b);
    if (largest == -INFINITY)
        return (struct weights){0, 0, largest};
    return (struct weights){weight(lse.a, largest), weight(lse.b, largest), largest};
}

static double special(enum gm_type type, uint64_t random, double ordinary) {
    const double least = type == GM_FP16 ? 0x1p-24 : type == GM_BF16 ? 0x1p-133 : 0x1p-149;
    const double values[] = {0, -0.0, least, -least, ordinary, ordinary, ordinary};
    const double wild[] = {NAN, INFINITY, -INFINITY};
    return random % 23 == 0 ? wild[random / 32 % COUNT(wild)] : values[random / 32 % COUNT(values)];
}

/* What a side has, 0 for a and 1 for b. */
static double value(const struct merge_case *mc, int side, int64_t row, int64_t column) {
    const uint64_t seed = (opt.seed + mc->seed) * 8 + (uint64_t)side, index = (uint64_t)(row * mc->head_dim + column);
    const uint64_t random = hash64(seed, index);
    const double factor = mc->factor != 0 ? (double)mc->factor : 1;
    const struct weights w = weights_of(mc, row);
    if (mc->inputs == MERGE_EQUAL)
        return factor * (double)(2 * ((int)((random >> 32) % 9) - 4));
    if (mc->inputs == MERGE_ALONE && (side ? w.b : w.a) == 0)
        return random % 3 ? NAN : INFINITY;
    const double ordinary = round_to(mc->type, factor * hash_normal(seed, index));
    return mc->inputs >= MERGE_ALONE ? special(mc->type, random >> 8, ordinary) : ordinary;
}

static const struct merge_case *case_of(const void *of) {
    return ((const struct placed_merge *)of)->mc;
}

static double a_value(const void *of, int64_t row, int64_t column) {
    return value(case_of(of), 0, row, column);
}

static double b_value(const void *of, int64_t row, int64_t column) {
    return value(case_of(of), 1, row, column);
}

static double lse_a_value(const void *of, int64_t row, int64_t column) {
    (void)column;
    return lse_of(case_of(of), row).a;
}

static double lse_b_value(const void *of, int64_t row, int64_t column) {
    (void)column;
    return lse_of(case_of(of), row).b;
}

static double count_value(const void *of, int64_t row, int64_t column) {
    (void)row, (void)column;
    return case_of(of)->count;
}

/* ---- what it shall have written ------------------------------------------------------------------------- */

static const double UNIT = 0x1p-24; /* of fp32: the most that one rounding is off, relative */

/* How far a side's term may be off: its weight by 2.5 roundings of the difference and 2^-22; the inverse of the sum by the
 * other weight's error and 2^-23; and products and sums. */
static double term_error(double term, double weight) {
    return fabs(term) * UNIT * (14 + (weight > 0 && weight < 1 ? -3 * log(weight) : 0)) + 0x1p-147;
}

static double expected_out(const struct merge_case *mc, int64_t row, int64_t column, double *tolerance) {
    const struct weights w = weights_of(mc, row);
    const double a = value(mc, 0, row, column), b = value(mc, 1, row, column);
    *tolerance = 0;
    if (isnan(w.largest))
        return NAN;
    if (w.a == 0 || w.b == 0)
        return w.a != 0 ? a : w.b != 0 ? b : 0;
    const double of_a = w.a / (w.a + w.b) * a, of_b = w.b / (w.a + w.b) * b, sum = of_a + of_b;
    const double error = term_error(of_a, w.a) + term_error(of_b, w.b);
    if (isfinite(error) && mc->inputs != MERGE_EQUAL)
        *tolerance = error + half_ulp(out_type_of(mc), fabs(sum) + error);
    return sum;
}

/* The logarithm is off by 2^-22 * log(2), and by what the weight is; then two roundings. */
static double expected_lse(const struct merge_case *mc, int64_t row, double *tolerance) {
    const struct weights w = weights_of(mc, row);
    const double lse = w.largest + (w.a == 0 || w.b == 0 ? 0 : log(w.a + w.b));
    *tolerance = w.a == 0 || w.b == 0 || !isfinite(lse) ? 0 : 3 * 0x1p-22 + half_ulp(GM_FP32, fabs(lse) + 1);
    return lse;
}

static bool is_computed(const struct merge_case *mc, int64_t row) {
    return !mc->counted || row / mc->heads < mc->count;
}

static void expect(const struct placed_operands *placed, int operand, int64_t row, struct expectation *e) {
    const struct merge_case *mc = case_of(placed->of);
    for (int64_t column = 0; column < placed->operands[operand].columns; column++) {
        e->tolerance[column] = AS_BEFORE;
        if (is_computed(mc, row))
            e->want[column] = operand == MERGE_LSE ? expected_lse(mc, row, &e->tolerance[column])
                                                   : expected_out(mc, row, column, &e->tolerance[column]);
    }
}

/* Of a row of which one side is left, or none. */
static bool check_row(struct result *result, const struct placed_operands *placed, const uint8_t *region, int64_t row,
                      const char *what) {
    const struct merge_case *mc = case_of(placed->of);
    const struct operand *o = &placed->operands[MERGE_OUT];
    for (int64_t column = 0; column < mc->head_dim; column++) {
        double tolerance;
        const double want = expected_out(mc, row, column, &tolerance);
        const int64_t at = o->offset(placed->of, row, column) * gm_type_bytes(o->type);
        const uint32_t bits = load_bits(region + placed->at[MERGE_OUT] + at, o->type);
        if (!isnan(want) && bits != double_to_bits(o->type, want)) {
            fail(result, "%s: out[%lld, %lld] has bits 0x%x, want 0x%x of one side alone", what, (long long)row,
                 (long long)column, bits, double_to_bits(o->type, want));
            return false;
        }
    }
    return true;
}

bool compare_merge(struct result *result, const struct call *call, const uint8_t *region, const char *what) {
    const struct placed_operands *placed = (const struct placed_operands *)call;
    const struct merge_case *mc = case_of(placed->of);
    bool ok = compare_placed(result, call, region, what);
    for (int64_t row = 0; row < mc->tokens * mc->heads && ok; row++) {
        const struct weights w = weights_of(mc, row);
        if ((w.a == 0 || w.b == 0) && is_computed(mc, row))
            ok = check_row(result, placed, region, row, what);
    }
    return ok;
}

/* ---- where elements are ------------------------------------------------------------------------------ */

#define OFFSET_OF(operand)                                                                                             \
    static int64_t operand##_offset(const void *of, int64_t row, int64_t column) {                                     \
        const struct gm_attention_merge_problem *p = &((const struct placed_merge *)of)->problem;                      \
        return row / p->heads * p->operand##_token_stride + row % p->heads * p->operand##_head_stride + column;        \
    }
OFFSET_OF(a)
OFFSET_OF(b)
OFFSET_OF(out)
OFFSET_OF(lse_a)
OFFSET_OF(lse_b)
OFFSET_OF(lse)

/* Strides of heads of so many elements, in one of the layouts, and the elements of all. */
static int64_t set_strides(const struct merge_case *mc, int layout, int64_t width, int64_t pad, int64_t *token,
                           int64_t *head) {
    const int64_t padded = width + (layout % MERGE_LAYOUTS == MERGE_PADDED ? pad : 0);
    *head = padded;
    *token = mc->heads * padded + (padded - width);
    if (layout % MERGE_LAYOUTS != MERGE_HEADS_OUTSIDE)
        return mc->tokens * *token;
    *token = width;
    *head = mc->tokens * width;
    return mc->heads * *head;
}

/* ---- placing -------------------------------------------------------------------------------------------- */

#define ARGUMENT(member) offsetof(struct gm_attention_merge_args, member)

static void list_operands(struct placed_merge *placed, const struct merge_case *mc) {
    struct gm_attention_merge_problem *p = &placed->problem;
    struct operand *o = placed->placed.operands;
    const int64_t rows = mc->tokens * mc->heads, d = mc->head_dim;
    const int out = (int)mc->layout + (mc->place == MERGE_IN_A ? 0 : mc->place == MERGE_IN_B ? 1 : 2);
    const int lse = (int)mc->layout + (mc->lse_place == MERGE_IN_A ? 1 : mc->lse_place == MERGE_IN_B ? 2 : 0);
#define OPERAND(member, of_type, count, layout, width, pad, first, ...)                                                \
    (struct operand) {                                                                                                 \
        .name = #member, .argument = ARGUMENT(member), .type = of_type, .rows = count, .columns = width,               \
        .start = first, .offset = member##_offset,                                                                     \
        .extent = set_strides(mc, layout, width, pad, &p->member##_token_stride, &p->member##_head_stride),            \
        __VA_ARGS__                                                                                                    \
    }
    o[MERGE_A] = OPERAND(a, mc->type, rows, (int)mc->layout, d, mc->pad, mc->a_start, .value = a_value);
    o[MERGE_B] = OPERAND(b, mc->type, rows, (int)mc->layout + 1, d, mc->pad, mc->b_start, .value = b_value);
    o[MERGE_OUT] = OPERAND(out, out_type_of(mc), rows, out, d, mc->pad, mc->out_start, .written = true);
    o[MERGE_LSE_A] = OPERAND(lse_a, GM_FP32, rows, (int)mc->layout + 1, 1, 1, mc->lse_start, .value = lse_a_value);
    o[MERGE_LSE_B] = OPERAND(lse_b, GM_FP32, rows, (int)mc->layout + 2, 1, 1, mc->lse_start / 2, .value = lse_b_value);
    o[MERGE_LSE] = OPERAND(lse, GM_FP32, mc->has_no_lse ? 0 : rows, lse, 1, 1, mc->lse_start * 3, .written = true);
    o[MERGE_COUNT] =
        (struct operand){"row_count", ARGUMENT(row_count), GM_INT32, mc->counted, 1, 1, 0, .value = count_value};
    if (mc->place != MERGE_APART)
        o[mc->place == MERGE_IN_A ? MERGE_A : MERGE_B].in_place_of = 1 + MERGE_OUT;
    if (mc->lse_place != MERGE_APART && !mc->has_no_lse)
        o[mc->lse_place == MERGE_IN_A ? MERGE_LSE_A : MERGE_LSE_B].in_place_of = 1 + MERGE_LSE;
}

bool place_merge(struct result *result, const struct merge_case *mc, struct operand_memory *memory,
                 struct placed_merge *placed) {
    uint8_t *const before = placed->placed.before;
    *placed = (struct placed_merge){.mc = mc, .args = {.size = sizeof placed->args}};
    struct gm_attention_merge_problem *p = &placed->problem;
    *p = (struct gm_attention_merge_problem){.size = sizeof *p,
                                             .tokens = mc->tokens,
                                             .heads = mc->heads,
                                             .head_dim = mc->head_dim,
                                             .type = mc->type,
                                             .has_out_type = mc->out > 0,
                                             .out_type = out_type_of(mc)};
    placed->placed = (struct placed_operands){
        .call = {.operation = &attention_merge_tests, .problem = p, .args = &placed->args},
        .of = placed,
        .args = &placed->args,
        .count = MERGE_OPERANDS,
        .before = before,
        .expect = expect,
    };
    list_operands(placed, mc);
    if (!place_operands(result, &placed->placed, memory))
        return false;
    p->a_align = alignment_of(&placed->placed, MERGE_A);
    p->b_align = alignment_of(&placed->placed, MERGE_B);
    p->out_align = alignment_of(&placed->placed, MERGE_OUT);
    return true;
}

bool run_merge(struct result *result, const struct merge_case *mc, const char *kernel, uint32_t mask,
               struct operand_memory *memory) {
    const struct gm_plan_options options = {
        .size = sizeof options, .kernel = kernel, .arch_mask = mask, .sm_budget = mc->sm_budget};
    char what[320];
    struct placed_merge placed = {0};
    describe_merge(mc, what, sizeof what);
    heartbeat(what);
    const bool ok = place_merge(result, mc, memory, &placed) &&
                    run_call(result, &placed.placed.call, &options, mc->repeats, mc->may_refuse, what);
    free_placed(&placed.placed);
    return ok;
}
