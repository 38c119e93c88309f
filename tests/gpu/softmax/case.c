/* SPDX-License-Identifier: Apache-2.0 */
/* One softmax: its operands, and what out and lse shall be. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "softmax/softmax_tests.h"

void describe_softmax(const struct softmax_case *sc, char *text, size_t bytes) {
    static const char *const inputs[] = {"equal", "normal", "positive", "wide", "special"};
    char counted[32] = "";
    if (sc->counted)
        snprintf(counted, sizeof counted, " count %d", sc->count);
    snprintf(text, bytes, "%lld rows%s of %lld %s%s%s %s cap %g %s %g%s pads %lld,%lld starts %d,%d%s",
             (long long)sc->rows, counted, (long long)sc->columns, gm_type_name(sc->type),
             sc->fp32_out ? " to fp32" : "", sc->log ? " log" : "", inputs[sc->inputs], sc->cap,
             sc->row_temperatures ? "temperatures" : "temperature", sc->temperature, sc->has_lse ? " lse" : "",
             (long long)sc->x_pad, (long long)sc->out_pad, sc->x_start, sc->out_start, sc->in_place ? " in place" : "");
}

/* ---- values ------------------------------------------------------------------------------------------ */

/* Rows by turns. */
static double special(const struct softmax_case *sc, int64_t row, int64_t column, double ordinary) {
    const double largest = sc->type == GM_FP16 ? 65504 : 0x1.fep127, least = sc->type == GM_FP16 ? 0x1p-22 : 0x1p-131;
    const bool is_one = column == (row * 7 + 3) % sc->columns, is_odd = column % 2;
    switch (row % 8) {
    case 0:
        return is_one ? NAN : ordinary;
    case 1:
        return is_one ? INFINITY : ordinary;
    case 2:
        return -INFINITY;
    case 3:
        return is_one ? ordinary : -INFINITY;
    case 4:
        return is_odd ? -largest : largest;
    case 5:
        return is_odd ? least : -least;
    case 6:
        return is_one ? NAN : -INFINITY;
    default:
        return is_odd ? 0.0 : -0.0;
    }
}

static double x_value(const void *of, int64_t row, int64_t column) {
    const struct softmax_case *sc = of;
    const uint64_t seed = (opt.seed + sc->seed) * 2, index = (uint64_t)(row * sc->columns + column);
    const uint64_t random = hash64(seed, index);
    if (sc->inputs == SOFTMAX_EQUAL)
        return random % 3 == 0 && column > 0 ? -INFINITY : (double)(row % 5 - 2);
    const double normal = hash_normal(seed, index) * (sc->scale != 0 ? (double)sc->scale : 1);
    if (sc->inputs == SOFTMAX_WIDE)
        return round_to(sc->type, ldexp(normal, (int)(random % 17) - 10));
    if (sc->inputs == SOFTMAX_POSITIVE)
        return round_to(sc->type, 100 + normal);
    const double ordinary = round_to(sc->type, 4 * normal);
    return sc->inputs == SOFTMAX_SPECIAL ? special(sc, row, column, ordinary) : ordinary;
}

static double temperature_value(const void *of, int64_t row, int64_t column) {
    static const double values[] = {1, 0.5, 0, 2, 0.0078125, 3, -1, 0.75};
    (void)of, (void)row;
    return values[column % (int64_t)COUNT(values)];
}

static double count_value(const void *of, int64_t row, int64_t column) {
    (void)row, (void)column;
    return ((const struct softmax_case *)of)->count;
}

/* ---- what it shall have written ------------------------------------------------------------------------- */

/* A row in double. */
struct row {
    double temperature, largest, sum; /* of y; of the exponentials behind the shift */
    double mean;                      /* distance to the largest, over the temperature */
    double error;                     /* that the cap adds */
    double first;                     /* column of the largest x */
    bool is_greedy, has_nan;
};

static double capped(const struct softmax_case *sc, double x) {
    const double cap = (double)sc->cap;
    return cap > 0 && !isnan(x) ? cap * tanh(x / cap) : x;
}

/* (y - largest) / temperature, whose parts overflow as they do in fp32. */
static double distance(const struct row *row, double y) {
    return (double)(float)((double)(float)(y - row->largest) / row->temperature);
}

/* The row's y in `y`. */
static struct row row_of(const struct softmax_case *sc, int64_t number, double *y) {
    struct row row = {.temperature = sc->temperature > 0 ? (double)sc->temperature : 1, .largest = -INFINITY};
    if (sc->row_temperatures)
        row.temperature = temperature_value(sc, 0, number);
    row.is_greedy = row.temperature < 0x1p-126;
    for (int64_t column = 0; column < sc->columns; column++) {
        const double x = x_value(sc, number, column), value = capped(sc, x);
        row.has_nan |= isnan(x);
        if (column == 0 || x > x_value(sc, number, (int64_t)row.first))
            row.first = (double)column;
        y[column] = value;
        row.largest = fmax(row.largest, value);
    }
    if (row.has_nan)
        row.largest = NAN;
    for (int64_t column = 0; column < sc->columns && !row.is_greedy; column++) {
        const double d = distance(&row, y[column]), power = exp(d);
        row.sum += power;
        row.mean += power > 0 ? -d * power : 0;
    }
    row.mean /= row.sum;
    row.error = 0x1p-19 * (double)sc->cap / row.temperature;
    return row;
}

/* Whether out is the same in every arithmetic. */
static bool is_exact(const struct softmax_case *sc, const struct row *row) {
    return row->is_greedy || (sc->inputs == SOFTMAX_EQUAL && !sc->log && sc->cap == 0);
}

static double expected_out(const struct softmax_case *sc, const struct row *row, int64_t column, double y,
                           double *tolerance) {
    const enum gm_type type = sc->fp32_out ? GM_FP32 : sc->type;
    *tolerance = 0;
    if (row->has_nan)
        return NAN;
    if (row->is_greedy)
        return (double)column == row->first ? !sc->log : sc->log ? -INFINITY : 0;
    const double d = distance(row, y), error = 0x1p-20 * (3 - d + row->mean) + row->error;
    const double want = sc->log ? d - log(row->sum) : (double)(float)exp(d) / row->sum;
    if (!isfinite(want) || is_exact(sc, row))
        return (double)(float)want;
    const double off = sc->log ? error : isfinite(d) ? want * error + 0x1p-126 : 0;
    *tolerance = off + half_ulp(type, fabs(want) + off);
    return want;
}

static double expected_lse(const struct softmax_case *sc, const struct row *row, double *tolerance) {
    *tolerance = 0;
    if (row->has_nan || (!isfinite(row->largest) && sc->cap == 0))
        return row->largest;
    const double cap_error = 0x1p-19 * (double)sc->cap;
    if (row->is_greedy) {
        *tolerance = cap_error + half_ulp(GM_FP32, fabs(row->largest));
        return row->largest;
    }
    const double lse = (double)(float)(row->largest / row->temperature) + log(row->sum);
    if (isfinite(lse))
        *tolerance = 0x1p-20 * (3 + row->mean + fabs(lse) + fabs(row->largest / row->temperature)) + row->error;
    return lse;
}

static bool is_computed(const struct softmax_case *sc, int64_t row) {
    return !sc->counted || row < sc->count;
}

static void expect(const struct placed_operands *placed, int operand, int64_t number, struct expectation *e) {
    const struct softmax_case *sc = placed->of;
    double *y = malloc((size_t)sc->columns * sizeof *y);
    if (!y)
        exit(2);
    if (operand == SOFTMAX_OUT) {
        const struct row row = row_of(sc, number, y);
        for (int64_t column = 0; column < sc->columns; column++) {
            e->tolerance[column] = AS_BEFORE;
            if (is_computed(sc, number))
                e->want[column] = expected_out(sc, &row, column, y[column], &e->tolerance[column]);
        }
    } else {
        for (int64_t row = 0; row < sc->rows; row++) {
            const struct row of = row_of(sc, row, y);
            e->tolerance[row] = AS_BEFORE;
            if (is_computed(sc, row))
                e->want[row] = expected_lse(sc, &of, &e->tolerance[row]);
        }
    }
    free(y);
}

/* ---- placing -------------------------------------------------------------------------------------------- */

static void list_operands(struct placed_softmax *placed, const struct softmax_case *sc) {
    const struct gm_softmax_problem *p = &placed->problem;
    struct operand *o = placed->placed.operands;
    const enum gm_type out = sc->fp32_out ? GM_FP32 : sc->type;
#define ARGUMENT(member) offsetof(struct gm_softmax_args, member)
    o[SOFTMAX_X] =
        (struct operand){"x", ARGUMENT(x), sc->type, sc->rows, sc->columns, p->x_stride, sc->x_start, .value = x_value};
    o[SOFTMAX_OUT] = (struct operand){"out",       ARGUMENT(out), out,           sc->rows,
                                      sc->columns, p->out_stride, sc->out_start, .written = true};
    o[SOFTMAX_LSE] =
        (struct operand){"lse", ARGUMENT(lse), GM_FP32, sc->has_lse, sc->rows, sc->rows, 1, .written = true};
    o[SOFTMAX_TEMPERATURES] = (struct operand){"temperatures",
                                               ARGUMENT(temperatures),
                                               GM_FP32,
                                               sc->row_temperatures,
                                               sc->rows,
                                               sc->rows,
                                               1,
                                               .value = temperature_value};
    o[SOFTMAX_COUNT] =
        (struct operand){"row_count", ARGUMENT(row_count), GM_INT32, sc->counted, 1, 1, 0, .value = count_value};
#undef ARGUMENT
    if (sc->in_place)
        o[SOFTMAX_X].in_place_of = 1 + SOFTMAX_OUT;
}

bool place_softmax(struct result *result, const struct softmax_case *sc, struct operand_memory *memory,
                   struct placed_softmax *placed) {
    uint8_t *const before = placed->placed.before;
    *placed = (struct placed_softmax){.args = {.size = sizeof placed->args}};
    struct gm_softmax_problem *p = &placed->problem;
    *p = (struct gm_softmax_problem){.size = sizeof *p,
                                     .rows = sc->rows,
                                     .columns = sc->columns,
                                     .type = sc->type,
                                     .fp32_out = sc->fp32_out,
                                     .log = sc->log,
                                     .cap = sc->cap,
                                     .temperature = sc->temperature,
                                     .x_stride = sc->columns + (sc->in_place ? sc->out_pad : sc->x_pad),
                                     .out_stride = sc->columns + sc->out_pad};
    placed->placed = (struct placed_operands){
        .call = {.operation = &softmax_tests, .problem = &placed->problem, .args = &placed->args},
        .of = sc,
        .args = &placed->args,
        .count = SOFTMAX_OPERANDS,
        .before = before,
        .expect = expect,
    };
    list_operands(placed, sc);
    if (!place_operands(result, &placed->placed, memory))
        return false;
    p->x_align = alignment_of(&placed->placed, SOFTMAX_X);
    p->out_align = alignment_of(&placed->placed, SOFTMAX_OUT);
    return true;
}

bool run_softmax(struct result *result, const struct softmax_case *sc, const char *kernel, uint32_t mask,
                 struct operand_memory *memory) {
    const struct gm_plan_options options = {
        .size = sizeof options, .kernel = kernel, .arch_mask = mask, .sm_budget = sc->sm_budget};
    char what[320];
    struct placed_softmax placed = {0};
    describe_softmax(sc, what, sizeof what);
    heartbeat(what);
    const bool ok = place_softmax(result, sc, memory, &placed) &&
                    run_call(result, &placed.placed.call, &options, sc->repeats, sc->may_refuse, what);
    free_placed(&placed.placed);
    return ok;
}
