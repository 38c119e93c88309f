/* SPDX-License-Identifier: Apache-2.0 */
/* One sum over experts: its operands, and what out shall be. */
#include <math.h>

#include "moe_finalize/moe_finalize_tests.h"

void describe_finalize(const struct finalize_case *fc, char *text, size_t bytes) {
    static const char *const inputs[] = {"integer", "normal", "positive", "special"};
    static const char *const slots[] = {"some", "all", "no"};
    char counted[32] = "";
    if (fc->counted)
        snprintf(counted, sizeof counted, " count %d", fc->count);
    snprintf(text, bytes,
             "%lld tokens%s of %lld %s, %lld of %lld rows, %s slots, %s%s%s%s pads %lld,%lld,%lld starts %d,%d,%d,%d",
             (long long)fc->tokens, counted, (long long)fc->columns, gm_type_name(fc->type), (long long)fc->k,
             (long long)fc->x_rows, slots[fc->slots], inputs[fc->inputs], fc->weighted ? " weighted" : "",
             fc->has_residual ? " residual" : "", fc->in_place ? " in place" : "", (long long)fc->x_pad,
             (long long)fc->residual_pad, (long long)fc->out_pad, fc->x_start, fc->residual_start, fc->out_start,
             fc->slots_start);
}

/* ---- values ------------------------------------------------------------------------------------------ */

static double special(enum gm_type type, uint64_t random, double ordinary) {
    const double least = type == GM_FP16 ? 0x1p-24 : 0x1p-133;
    const double values[] = {0, -0.0, least, -least, ordinary, ordinary, ordinary};
    const double wild[] = {NAN, INFINITY, -INFINITY};
    return random % 23 == 0 ? wild[random / 32 % COUNT(wild)] : values[random / 32 % COUNT(values)];
}

static double drawn(const struct finalize_case *fc, uint64_t stream, int64_t row, int64_t column) {
    const uint64_t seed = (opt.seed + fc->seed) * 4 + stream, index = (uint64_t)(row * fc->columns + column);
    const uint64_t random = hash64(seed, index);
    const double factor = fc->factor != 0 ? (double)fc->factor : 1, normal = hash_normal(seed, index);
    if (fc->inputs == FINALIZE_INTEGERS)
        return factor * (double)((int)((random >> 32) % 9) - 4);
    if (fc->inputs == FINALIZE_POSITIVE)
        return round_to(fc->type, 1 + (double)(random >> 40) * 0x1p-24);
    const double ordinary = round_to(fc->type, factor * normal);
    return fc->inputs == FINALIZE_SPECIAL ? special(fc->type, random >> 8, ordinary) : ordinary;
}

static double x_value(const void *of, int64_t row, int64_t column) {
    return drawn(of, 0, row, column);
}

static double residual_value(const void *of, int64_t row, int64_t column) {
    return drawn(of, 1, row, column);
}

static uint64_t slot_random(const struct finalize_case *fc, int64_t token, int64_t slot) {
    return hash64(opt.seed + fc->seed + 0x51075, (uint64_t)(token * fc->k + slot));
}

static bool has_row(const struct finalize_case *fc, int64_t token, int64_t slot) {
    return fc->slots == FINALIZE_ALL || (fc->slots == FINALIZE_SOME && slot_random(fc, token, slot) % 5 != 0);
}

static double inverse_value(const void *of, int64_t token, int64_t slot) {
    const struct finalize_case *fc = of;
    const uint64_t random = slot_random(fc, token, slot) >> 8;
    const double none[] = {-1, (double)fc->x_rows, INT32_MAX, INT32_MIN};
    return has_row(fc, token, slot) ? (double)(random % (uint64_t)fc->x_rows) : none[random % COUNT(none)];
}

static double weight_value(const void *of, int64_t token, int64_t slot) {
    const struct finalize_case *fc = of;
    const uint64_t random = slot_random(fc, token, slot) >> 24;
    if (!has_row(fc, token, slot))
        return NAN;
    return fc->inputs == FINALIZE_INTEGERS ? (double)(random % 9) / 4 - 1 : (double)(random % 4096 + 1) * 0x1p-12;
}

static double count_value(const void *of, int64_t row, int64_t column) {
    (void)row, (void)column;
    return ((const struct finalize_case *)of)->count;
}

/* ---- what it shall have written ------------------------------------------------------------------------- */

/* One element, and how far it may be off: the sum of k + 1 terms of fp32, and the last rounding. */
static double expected(const struct finalize_case *fc, int64_t token, int64_t column, double *tolerance) {
    double sum = fc->has_residual ? residual_value(fc, token, column) : 0, magnitude = fabs(sum);
    for (int64_t slot = 0; slot < fc->k; slot++) {
        if (!has_row(fc, token, slot))
            continue;
        const double weight = fc->weighted ? weight_value(fc, token, slot) : 1;
        const double term = weight * x_value(fc, (int64_t)inverse_value(fc, token, slot), column);
        sum += term;
        magnitude += fabs(term);
    }
    const double error = (double)fc->k * (magnitude * 0x1p-24 + 0x1p-149);
    *tolerance =
        fc->inputs == FINALIZE_INTEGERS || !isfinite(error) ? 0 : error + half_ulp(fc->type, fabs(sum) + error);
    return sum;
}

static void expect(const struct placed_operands *placed, int operand, int64_t row, struct expectation *e) {
    const struct finalize_case *fc = placed->of;
    (void)operand;
    for (int64_t column = 0; column < fc->columns; column++) {
        e->tolerance[column] = AS_BEFORE;
        if (!fc->counted || row < fc->count)
            e->want[column] = expected(fc, row, column, &e->tolerance[column]);
    }
}

/* ---- placing -------------------------------------------------------------------------------------------- */

static void list_operands(struct placed_finalize *placed, const struct finalize_case *fc) {
    const struct gm_moe_finalize_problem *p = &placed->problem;
    struct operand *o = placed->placed.operands;
    const int64_t columns = fc->columns, residuals = fc->has_residual ? fc->tokens : 0;
#define ARGUMENT(member) offsetof(struct gm_moe_finalize_args, member)
    o[FINALIZE_X] =
        (struct operand){"x", ARGUMENT(x), fc->type, fc->x_rows, columns, p->x_stride, fc->x_start, .value = x_value};
    o[FINALIZE_INVERSE] = (struct operand){"inverse",       ARGUMENT(inverse),     GM_INT32, fc->tokens, fc->k, fc->k,
                                           fc->slots_start, .value = inverse_value};
    o[FINALIZE_WEIGHTS] =
        (struct operand){"weights",       ARGUMENT(weights),    GM_FP32, fc->weighted ? fc->tokens : 0, fc->k, fc->k,
                         fc->slots_start, .value = weight_value};
    o[FINALIZE_RESIDUAL] =
        (struct operand){"residual", ARGUMENT(residual), fc->type,           residuals,
                         columns,    p->residual_stride, fc->residual_start, .value = residual_value};
    o[FINALIZE_OUT] = (struct operand){"out",   ARGUMENT(out), fc->type,      fc->tokens,
                                       columns, p->out_stride, fc->out_start, .written = true};
    o[FINALIZE_COUNT] =
        (struct operand){"row_count", ARGUMENT(row_count), GM_INT32, fc->counted, 1, 1, 0, .value = count_value};
#undef ARGUMENT
    if (fc->has_residual && fc->in_place)
        o[FINALIZE_RESIDUAL].in_place_of = 1 + FINALIZE_OUT;
}

bool place_finalize(struct result *result, const struct finalize_case *fc, struct operand_memory *memory,
                    struct placed_finalize *placed) {
    uint8_t *const before = placed->placed.before;
    *placed = (struct placed_finalize){.args = {.size = sizeof placed->args}};
    struct gm_moe_finalize_problem *p = &placed->problem;
    *p = (struct gm_moe_finalize_problem){.size = sizeof *p,
                                          .tokens = fc->tokens,
                                          .columns = fc->columns,
                                          .k = fc->k,
                                          .x_rows = fc->x_rows,
                                          .type = fc->type,
                                          .x_stride = fc->columns + fc->x_pad,
                                          .residual_stride =
                                              fc->columns + (fc->in_place ? fc->out_pad : fc->residual_pad),
                                          .out_stride = fc->columns + fc->out_pad};
    placed->placed = (struct placed_operands){
        .call = {.operation = &moe_finalize_tests, .problem = p, .args = &placed->args},
        .of = fc,
        .args = &placed->args,
        .count = FINALIZE_OPERANDS,
        .before = before,
        .expect = expect,
    };
    list_operands(placed, fc);
    if (!place_operands(result, &placed->placed, memory))
        return false;
    p->x_align = alignment_of(&placed->placed, FINALIZE_X);
    p->residual_align = fc->has_residual ? alignment_of(&placed->placed, FINALIZE_RESIDUAL) : 0;
    p->out_align = alignment_of(&placed->placed, FINALIZE_OUT);
    return true;
}

bool run_finalize(struct result *result, const struct finalize_case *fc, const char *kernel, uint32_t mask,
                  struct operand_memory *memory) {
    const struct gm_plan_options options = {
        .size = sizeof options, .kernel = kernel, .arch_mask = mask, .sm_budget = fc->sm_budget};
    char what[320];
    struct placed_finalize placed = {0};
    describe_finalize(fc, what, sizeof what);
    heartbeat(what);
    const bool ok = place_finalize(result, fc, memory, &placed) &&
                    run_call(result, &placed.placed.call, &options, fc->repeats, fc->may_refuse, what);
    free_placed(&placed.placed);
    return ok;
}
