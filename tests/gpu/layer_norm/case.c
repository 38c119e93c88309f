/* SPDX-License-Identifier: Apache-2.0 */
/* One LayerNorm: its operands, and what the residual and out shall be. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "layer_norm/layer_norm_tests.h"

void describe_ln(const struct ln_case *lc, char *text, size_t bytes) {
    static const char *const inputs[] = {"integer", "normal", "positive", "far", "special", "sign"};
    static const char *const residuals[] = {"", " residual", " residual-after", " residual-between"};
    char counted[32] = "", out[160];
    if (lc->counted)
        snprintf(counted, sizeof counted, " count %d", lc->count);
    snprintf(
        text, bytes,
        "%lld rows%s of %lld %s%s%s%s%s %s sum %s norm %s normalized %s eps %g offset %g pads %lld,%lld,%lld starts "
        "%d,%d,%d,%d,%d%s%s",
        (long long)lc->rows, counted, (long long)lc->columns, gm_type_name(lc->type),
        lc->fp32_weight ? " fp32-weight" : "", lc->no_weight ? " no-weight" : "", lc->no_bias ? " no-bias" : "",
        residuals[lc->residual], inputs[lc->inputs], lc->sum_rounding ? "early" : "late",
        lc->norm_rounding ? "early" : "late", lc->normalized_rounding ? "early" : "late", lc->eps, lc->weight_offset,
        (long long)lc->x_pad, (long long)lc->residual_pad, (long long)lc->out_pad, lc->x_start, lc->residual_start,
        lc->weight_start, lc->bias_start, lc->out_start, lc->in_place ? " in place" : "",
        describe_out(&lc->out, out, sizeof out));
}

/* ---- values ------------------------------------------------------------------------------------------ */

static double drawn(const struct ln_case *lc, uint64_t stream, uint64_t index) {
    const uint64_t seed = (opt.seed + lc->seed) * 4 + stream;
    if (lc->inputs == LN_INTEGERS || lc->inputs == LN_SIGNS)
        return (double)((int)((hash64(seed, index) >> 32) % 9) - 4);
    return round_to(lc->type, hash_normal(seed, index) + (lc->inputs == LN_POSITIVE ? 3 : 0));
}

/* Row r holds value r of a list, every one of its elements or the last of them. Without eps a row of one value is divided by
 * the rounding of its mean. */
static double special(const struct ln_case *lc, int64_t row, int64_t column, double ordinary) {
    const double largest = lc->type == GM_FP16 ? 65504 : 0x1.fep127, least = lc->type == GM_FP16 ? 0x1p-24 : 0x1p-133;
    const bool is_last = column == lc->columns - 1;
    switch (row % 7) {
    case 0:
        return is_last ? NAN : ordinary;
    case 1:
        return is_last ? INFINITY : ordinary;
    case 2:
        return 0;
    case 3:
        return lc->eps == 0 ? ordinary : largest;
    case 4:
        return lc->eps == 0 ? ordinary : least;
    case 5:
        return is_last ? -largest : 0;
    default:
        return ordinary;
    }
}

/* `mean` times the row's deviation, and `times` that above or below it. */
static double sign(const struct ln_case *lc, int64_t row, int64_t column, double mean, double times) {
    const bool is_swapped = hash64(opt.seed + lc->seed, (uint64_t)(row * lc->columns + column) / 2) & 1;
    const bool is_below = (column % 2 == 1) != is_swapped;
    return ldexp(mean + (is_below ? -times : times), (int)(row % 9) - 4);
}

double ln_x(const struct ln_case *lc, int64_t row, int64_t column) {
    const double far = lc->type == GM_BF16 ? 100 : 1000;
    if (lc->inputs == LN_SIGNS)
        return sign(lc, row, column, far, lc->residual ? 3 : 1);
    const double ordinary = drawn(lc, 0, (uint64_t)(row * lc->columns + column));
    if (lc->inputs == LN_FAR)
        return round_to(lc->type, ordinary + far);
    return lc->inputs == LN_SPECIAL ? special(lc, row, column, ordinary) : ordinary;
}

static double ln_residual(const struct ln_case *lc, int64_t row, int64_t column) {
    if (lc->inputs == LN_SIGNS)
        return sign(lc, row, column, 0, -2);
    return drawn(lc, 1, (uint64_t)(row * lc->columns + column));
}

double ln_weight(const struct ln_case *lc, int64_t column) {
    const double scale = lc->weight_scale != 0 ? (double)lc->weight_scale : 1;
    return lc->no_weight ? 1 : round_to(lc->type, scale * drawn(lc, 2, (uint64_t)column));
}

/* Beside signs it is larger than all weights, so that nothing cancels. */
double ln_bias(const struct ln_case *lc, int64_t column) {
    return lc->no_bias ? 0 : drawn(lc, 3, (uint64_t)column) + (lc->inputs == LN_SIGNS ? 16 : 0);
}

/* Of the first of two norms. */
static double ln_x_weight(const struct ln_case *lc, int64_t column) {
    return lc->no_weight ? 1 : round_to(lc->type, drawn(lc, 4, (uint64_t)column));
}

static double ln_x_bias(const struct ln_case *lc, int64_t column) {
    return lc->no_bias ? 0 : drawn(lc, 5, (uint64_t)column);
}

static double x_value(const void *of, int64_t row, int64_t column) {
    return ln_x(of, row, column);
}

static double residual_value(const void *of, int64_t row, int64_t column) {
    return ln_residual(of, row, column);
}

static double weight_value(const void *of, int64_t row, int64_t column) {
    (void)row;
    return ln_weight(of, column);
}

static double bias_value(const void *of, int64_t row, int64_t column) {
    (void)row;
    return ln_bias(of, column);
}

static double x_weight_value(const void *of, int64_t row, int64_t column) {
    (void)row;
    return ln_x_weight(of, column);
}

static double x_bias_value(const void *of, int64_t row, int64_t column) {
    (void)row;
    return ln_x_bias(of, column);
}

static double scale_value(const void *of, int64_t row, int64_t column) {
    (void)row, (void)column;
    return (double)((const struct ln_case *)of)->out.static_scale;
}

static double count_value(const void *of, int64_t row, int64_t column) {
    (void)row, (void)column;
    return ((const struct ln_case *)of)->count;
}

/* ---- what it shall have written ------------------------------------------------------------------------- */

/* Of a row: the mean and the factor, and by how much they may be off, the one in units of s and the other relatively. */
struct reference {
    double mean, scale, mean_error, scale_error;
};

/* Of the row `s`, whose values may be off by `error`. Sums overflow as fp32 does. A thread adds columns / 32 values at most, the
 * lanes and warps 10 more; a root halves the error. */
static struct reference refer(const struct ln_case *lc, const double *s, const double *error) {
    const double columns = (double)lc->columns, steps = columns / 32 + 16;
    double sum = 0, magnitude = 0, squares = 0, off = 0, squares_off = 0;
    for (int64_t column = 0; column < lc->columns; column++) {
        sum += s[column];
        magnitude += fabs(s[column]);
        off += error[column];
    }
    struct reference r = {.mean = fabs(sum) > FLT_MAX ? NAN : sum / columns};
    r.mean_error = magnitude / columns * (steps + 2) * 0x1p-24 + 0x1p-149 + off / columns;
    for (int64_t column = 0; column < lc->columns; column++) {
        squares += (double)(float)((s[column] - r.mean) * (s[column] - r.mean));
        squares_off += fabs(s[column] - r.mean) * error[column];
    }
    if (squares > FLT_MAX)
        squares = INFINITY;
    r.scale = 1 / sqrt(squares / columns + (double)lc->eps);
    r.scale_error = 0x1p-21 + steps * 0x1p-25 + (isinf(r.scale) ? 0 : pow(r.mean_error * r.scale, 2)) +
                    (squares_off > 0 ? squares_off / squares : 0);
    return r;
}

/* A value and its error, rounded to the type. */
static void round_early(const struct ln_case *lc, double *value, double *error) {
    if (*error != 0) /* a value near a tie is rounded the other way */
        *error += 2 * half_ulp(lc->type, fabs(*value) + *error);
    *value = round_to(lc->type, *value);
}

/* The row becomes its norm. */
static void normalize(const struct ln_case *lc, bool is_first, double *s, double *errors) {
    const struct reference r = refer(lc, s, errors);
    const double offset = lc->no_weight ? 0 : (double)lc->weight_offset;
    for (int64_t column = 0; column < lc->columns; column++) {
        const double weight = is_first ? ln_x_weight(lc, column) : ln_weight(lc, column);
        const double factor = (double)(float)(weight + offset);
        const double exact = (s[column] - r.mean) * r.scale;
        const double y = lc->normalized_rounding == GM_ROUND_EARLY ? round_to(lc->type, exact) : exact;
        double error = fabs(exact) * (r.scale_error + 0x1p-22) + (r.mean_error + errors[column]) * r.scale;
        if (lc->normalized_rounding == GM_ROUND_EARLY) /* a value near a tie is rounded the other way */
            error += 2 * half_ulp(lc->type, fabs(exact) + error);
        s[column] = y * factor + (is_first ? ln_x_bias(lc, column) : ln_bias(lc, column));
        errors[column] = error * fabs(factor) + fabs(s[column]) * 0x1p-23;
        if (!isfinite(s[column]) || (lc->inputs == LN_SIGNS && lc->type != GM_FP32))
            errors[column] = 0;
    }
}

/* The row becomes its sum with the residual. */
static void add_residual(const struct ln_case *lc, int64_t row, double *s, double *error) {
    for (int64_t column = 0; column < lc->columns; column++) {
        if (lc->norm_rounding == GM_ROUND_EARLY && lc->residual >= GM_RESIDUAL_AFTER)
            round_early(lc, &s[column], &error[column]);
        s[column] = (float)(s[column] + ln_residual(lc, row, column));
        error[column] += error[column] != 0 ? fabs(s[column]) * 0x1p-23 : 0;
        if (lc->sum_rounding == GM_ROUND_EARLY)
            round_early(lc, &s[column], &error[column]);
    }
}

/* A row of what becomes out, or of the residual's new value, and how far it may be off. */
static void make_row(const struct ln_case *lc, bool is_residual, int64_t row, double *s, double *error) {
    for (int64_t column = 0; column < lc->columns; column++) {
        s[column] = ln_x(lc, row, column);
        error[column] = 0;
    }
    if (lc->residual == GM_RESIDUAL_BEFORE)
        add_residual(lc, row, s, error);
    if (lc->residual == GM_RESIDUAL_BEFORE && is_residual)
        return;
    normalize(lc, lc->residual == GM_RESIDUAL_BETWEEN, s, error);
    if (lc->residual >= GM_RESIDUAL_AFTER)
        add_residual(lc, row, s, error);
    if (lc->residual == GM_RESIDUAL_BETWEEN && !is_residual)
        normalize(lc, false, s, error);
}

static void expect_scales(const struct ln_case *lc, int64_t row, int64_t columns, struct expectation *e) {
    double *s = malloc(2 * (size_t)lc->columns * sizeof *s), *error = s + lc->columns;
    int64_t made = -1;
    if (!s)
        exit(2);
    for (int64_t column = 0; column < columns; column++) {
        const int64_t of = row_of_scale(&lc->out, row, column);
        e->tolerance[column] = AS_BEFORE;
        if (lc->counted && of >= lc->count)
            continue;
        if (of != made)
            make_row(lc, false, of, s, error);
        made = of;
        expect_scale(&lc->out, lc->type, lc->columns, s, error, row, column, &e->want[column], &e->tolerance[column]);
    }
    free(s);
}

static void expect(const struct placed_operands *placed, int operand, int64_t row, struct expectation *e) {
    const struct ln_case *lc = placed->of;
    const struct out_case same = {0};
    if (operand == LN_SCALES) {
        expect_scales(lc, row, placed->operands[operand].columns, e);
        return;
    }
    for (int64_t column = 0; column < lc->columns; column++)
        e->tolerance[column] = AS_BEFORE;
    if (lc->counted && row >= lc->count)
        return;
    make_row(lc, operand == LN_RESIDUAL, row, e->want, e->tolerance);
    expect_out(operand == LN_RESIDUAL ? &same : &lc->out, lc->type, lc->columns, e->want, e->tolerance);
}

/* ---- placing -------------------------------------------------------------------------------------------- */

static void list_operands(struct placed_ln *placed, const struct ln_case *lc) {
    const struct gm_layer_norm_problem *p = &placed->problem;
    const enum gm_type vector_type = lc->fp32_weight ? GM_FP32 : lc->type, out_type = type_of_out(&lc->out, lc->type);
    const bool of_two = lc->residual == GM_RESIDUAL_BETWEEN;
    struct operand *o = placed->placed.operands;
#define ARGUMENT(member) offsetof(struct gm_layer_norm_args, member)
    o[LN_X] =
        (struct operand){"x", ARGUMENT(x), lc->type, lc->rows, lc->columns, p->x_stride, lc->x_start, .value = x_value};
    o[LN_RESIDUAL] = (struct operand){"residual",  ARGUMENT(residual), lc->type,           lc->residual ? lc->rows : 0,
                                      lc->columns, p->residual_stride, lc->residual_start, .value = residual_value};
    o[LN_RESIDUAL].written = lc->residual != GM_RESIDUAL_AFTER;
    o[LN_X_WEIGHT] = (struct operand){"x_weight",  ARGUMENT(x_weight), vector_type,      of_two && !lc->no_weight,
                                      lc->columns, lc->columns,        lc->weight_start, .value = x_weight_value};
    o[LN_X_BIAS] = (struct operand){"x_bias",    ARGUMENT(x_bias), vector_type,    of_two && !lc->no_bias,
                                    lc->columns, lc->columns,      lc->bias_start, .value = x_bias_value};
    o[LN_SCALES] = scales_operand(&lc->out, ARGUMENT(scales), lc->rows, lc->columns, scale_value);
    o[LN_WEIGHT] = (struct operand){"weight",    ARGUMENT(weight), vector_type,      !lc->no_weight,
                                    lc->columns, lc->columns,      lc->weight_start, .value = weight_value};
    o[LN_BIAS] = (struct operand){"bias",      ARGUMENT(bias), vector_type,    !lc->no_bias,
                                  lc->columns, lc->columns,    lc->bias_start, .value = bias_value};
    o[LN_OUT] = (struct operand){"out",       ARGUMENT(out), out_type,      lc->rows,
                                 lc->columns, p->out_stride, lc->out_start, .written = true};
    o[LN_COUNT] =
        (struct operand){"row_count", ARGUMENT(row_count), GM_INT32, lc->counted, 1, 1, 0, .value = count_value};
#undef ARGUMENT
    if (lc->in_place)
        o[lc->residual == GM_RESIDUAL_AFTER ? LN_RESIDUAL : LN_X].in_place_of = 1 + LN_OUT;
}

bool place_ln(struct result *result, const struct ln_case *lc, struct operand_memory *memory,
              struct placed_ln *placed) {
    uint8_t *const before = placed->placed.before;
    *placed = (struct placed_ln){.args = {.size = sizeof placed->args}};
    struct gm_layer_norm_problem *p = &placed->problem;
    const bool is_after = lc->residual == GM_RESIDUAL_AFTER;
    *p = (struct gm_layer_norm_problem){.size = sizeof *p,
                                        .rows = lc->rows,
                                        .columns = lc->columns,
                                        .type = lc->type,
                                        .fp32_weight = lc->fp32_weight,
                                        .residual = lc->residual,
                                        .eps = lc->eps,
                                        .weight_offset = lc->weight_offset,
                                        .sum_rounding = lc->sum_rounding,
                                        .normalized_rounding = lc->normalized_rounding,
                                        .x_stride = lc->columns + (lc->in_place && !is_after ? lc->out_pad : lc->x_pad),
                                        .residual_stride =
                                            lc->columns + (lc->in_place && is_after ? lc->out_pad : lc->residual_pad),
                                        .out_stride = lc->columns + lc->out_pad,
                                        .norm_rounding = lc->norm_rounding,
                                        .scales_stride = scales_stride(&lc->out, lc->rows, lc->columns),
                                        OUT_MEMBERS(lc->out)};
    placed->placed = (struct placed_operands){
        .call = {.operation = &layer_norm_tests, .problem = &placed->problem, .args = &placed->args},
        .of = lc,
        .args = &placed->args,
        .count = LN_OPERANDS,
        .before = before,
        .expect = expect,
    };
    list_operands(placed, lc);
    if (!place_operands(result, &placed->placed, memory))
        return false;
    p->x_align = alignment_of(&placed->placed, LN_X);
    p->residual_align = alignment_of(&placed->placed, LN_RESIDUAL);
    p->weight_align = alignment_of(&placed->placed, LN_WEIGHT);
    p->bias_align = alignment_of(&placed->placed, LN_BIAS);
    p->out_align = alignment_of(&placed->placed, LN_OUT);
    const int32_t of_x_weight = alignment_of(&placed->placed, LN_X_WEIGHT);
    const int32_t of_x_bias = alignment_of(&placed->placed, LN_X_BIAS);
    p->x_weight_align = of_x_weight < of_x_bias ? of_x_weight : of_x_bias;
    return true;
}

bool run_ln(struct result *result, const struct ln_case *lc, const char *kernel, uint32_t mask,
            struct operand_memory *memory) {
    const struct gm_plan_options options = {
        .size = sizeof options, .kernel = kernel, .arch_mask = mask, .sm_budget = lc->sm_budget};
    char what[480];
    struct placed_ln placed = {0};
    describe_ln(lc, what, sizeof what);
    heartbeat(what);
    const bool ok = place_ln(result, lc, memory, &placed) &&
                    run_call(result, &placed.placed.call, &options, lc->repeats, lc->may_refuse, what);
    free_placed(&placed.placed);
    return ok;
}
