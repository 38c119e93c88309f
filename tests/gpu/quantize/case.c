/* SPDX-License-Identifier: Apache-2.0 */
/* One quantiser: its operands, and what out and the scales shall be, to the bit. */
#include <math.h>
#include <stdlib.h>

#include "quantize/quantize_tests.h"

enum { BLOCK_SIDE = 128 };

void describe_quantize(const struct quantize_case *qc, char *text, size_t bytes) {
    static const char *const scalings[] = {"static", "amax-only", "row", "group", "block"};
    static const char *const formats[] = {"fp32", "power-of-2", "e8m0"};
    static const char *const inputs[] = {"integer", "normal", "positive", "wide",    "middle",
                                         "special", "tiny",   "zero",     "infinite"};
    char counted[32] = "";
    if (qc->counted)
        snprintf(counted, sizeof counted, " count %d", qc->count);
    snprintf(text, bytes,
             "%lld rows%s of %lld %s %s to %s %s%lld %s %s %s floor %g scale %g pads %lld,%lld,%lld starts %d,%d,%d",
             (long long)qc->rows, counted, (long long)qc->columns, gm_type_name(qc->type), inputs[qc->inputs],
             gm_type_name(qc->out_type), scalings[qc->scaling], (long long)qc->group, formats[qc->format],
             qc->order ? "by-column" : "by-row", qc->division ? "reciprocal" : "division", (double)qc->floor,
             (double)qc->static_scale, (long long)qc->x_pad, (long long)qc->out_pad, (long long)qc->scales_pad,
             qc->x_start, qc->out_start, qc->scales_start);
}

/* ---- values ------------------------------------------------------------------------------------------ */

static double limit_of(enum gm_type out_type) {
    return out_type == GM_E4M3 ? 448 : out_type == GM_E5M2 ? 57344 : 127;
}

static double special(enum gm_type type, uint64_t random, double ordinary) {
    const double largest = type == GM_FP16 ? 65504 : 0x1.fep127, least = type == GM_FP16 ? 0x1p-24 : 0x1p-133;
    const double values[] = {NAN, INFINITY, -INFINITY, 0, -0.0, largest, -largest, least, -least, ordinary};
    return values[random % COUNT(values)];
}

/* A middle of two numbers of out's type times the scale, as a float, or one of its neighbours. */
static double middle(const struct quantize_case *qc, uint64_t random) {
    const uint32_t most = qc->out_type == GM_E4M3 ? 0x7e : qc->out_type == GM_E5M2 ? 0x7b : 127;
    const uint32_t bits = (uint32_t)(random >> 8) % most;
    const double m = (bits_to_double(qc->out_type, bits) + bits_to_double(qc->out_type, bits + 1)) / 2;
    const float x = (float)(m * (double)qc->static_scale);
    const float beside = random % 3 == 0 ? x : nextafterf(x, random % 3 == 1 ? INFINITY : 0);
    return random & 0x80 ? -(double)beside : (double)beside;
}

static double drawn(const struct quantize_case *qc, int64_t row, int64_t column) {
    const uint64_t seed = opt.seed + qc->seed, index = (uint64_t)(row * qc->columns + column);
    const uint64_t random = hash64(seed, index);
    if (qc->inputs == QUANTIZE_INTEGERS)
        return (double)((int)((random >> 32) % 17) - 8);
    if (qc->inputs == QUANTIZE_ZEROS)
        return random & 1 ? -0.0 : 0;
    if (qc->inputs == QUANTIZE_MIDDLES)
        return middle(qc, random);
    const double normal = hash_normal(seed, index);
    if (qc->inputs == QUANTIZE_POSITIVE)
        return 2 + normal;
    if (qc->inputs == QUANTIZE_TINY) /* subnormal numbers of every type */
        return normal * (qc->type == GM_FP16 ? 0x1p-20 : 0x1p-130);
    if (qc->inputs == QUANTIZE_WIDE)
        return ldexp(normal, (int)(random % 53) - 40);
    if (qc->inputs == QUANTIZE_INFINITE && random % 37 == 0)
        return random & 64 ? INFINITY : -INFINITY;
    /* NaN among a few rows only: else everything is. */
    return qc->inputs == QUANTIZE_SPECIAL && (row + column / 128) % 3 < 2
               ? special(qc->type, (row + column / 128) % 3 ? random : random % 9 + 1, normal)
               : normal;
}

static double x_value(const void *of, int64_t row, int64_t column) {
    const struct quantize_case *qc = of;
    return round_to(qc->type, (qc->times != 0 ? (double)qc->times : 1) * drawn(qc, row, column));
}

static double scale_value(const void *of, int64_t row, int64_t column) {
    (void)row, (void)column;
    return (double)((const struct quantize_case *)of)->static_scale;
}

static double count_value(const void *of, int64_t row, int64_t column) {
    (void)row, (void)column;
    return ((const struct quantize_case *)of)->count;
}

/* ---- scales ------------------------------------------------------------------------------------------ */

static int64_t group_of(const struct quantize_case *qc) {
    return qc->group ? qc->group : 128;
}

static int64_t rows_of_scale(const struct quantize_case *qc) {
    return qc->scaling <= GM_SCALE_AMAX_ONLY ? INT64_MAX : qc->scaling == GM_SCALE_BLOCK ? BLOCK_SIDE : 1;
}

static int64_t columns_of_scale(const struct quantize_case *qc) {
    return qc->scaling == GM_SCALE_GROUP ? group_of(qc) : qc->scaling == GM_SCALE_BLOCK ? BLOCK_SIDE : INT64_MAX;
}

static int64_t parts(int64_t all, int64_t part) {
    return all / part + (all % part != 0);
}

static int64_t counted_rows(const struct quantize_case *qc) {
    const int64_t count = qc->counted && qc->count < qc->rows ? qc->count : qc->rows;
    return count > 0 ? count : 0;
}

/* fp32 arithmetic, like the kernels'. */
static float scale_of(const struct quantize_case *qc, float amax) {
    const float limit = (float)limit_of(qc->out_type);
    const float least = qc->floor > 0 ? qc->floor : qc->scaling == GM_SCALE_GROUP ? 1e-10f / limit : 0x1p-126f;
    if (isnan(amax))
        return NAN;
    const float scale = fmaxf(fminf(amax, 0x1.fffffep127f) / limit, least);
    int exponent;
    const float fraction = frexpf(scale, &exponent);
    return qc->format == GM_SCALE_FP32 ? scale
                                       : fmaxf(ldexpf(1, fraction == 0.5f ? exponent - 1 : exponent), 0x1p-126f);
}

static void find_scales(struct placed_quantize *placed, const struct quantize_case *qc) {
    const int64_t high = rows_of_scale(qc), wide = columns_of_scale(qc), down = parts(qc->rows, high);
    placed->across = parts(qc->columns, wide);
    free(placed->scales);
    placed->scales = calloc((size_t)(down * placed->across), sizeof *placed->scales);
    if (!placed->scales)
        exit(2);
    for (int64_t row = 0; row < counted_rows(qc) && qc->scaling != GM_SCALE_STATIC; row++)
        for (int64_t column = 0; column < qc->columns; column++) {
            float *const amax = &placed->scales[row / high * placed->across + column / wide];
            const float size = (float)fabs(x_value(qc, row, column));
            if (!(size <= *amax) && !isnan(*amax))
                *amax = size;
        }
    for (int64_t i = 0; i < down * placed->across; i++)
        placed->scales[i] = qc->scaling == GM_SCALE_STATIC ? qc->static_scale : scale_of(qc, placed->scales[i]);
}

static float scale_at(const struct placed_quantize *placed, int64_t row, int64_t column) {
    const struct quantize_case *qc = placed->placed.of;
    return placed->scales[row / rows_of_scale(qc) * placed->across + column / columns_of_scale(qc)];
}

/* ---- what it shall have written ------------------------------------------------------------------------- */

/* x / scale, saturated. */
static double quotient(const struct quantize_case *qc, float x, float scale) {
    const double limit = limit_of(qc->out_type);
    const bool is_scale = isfinite(scale) && scale > 0;
    int exponent;
    const float fraction = frexpf(scale, &exponent); /* its reciprocal is neither too small nor too large */
    const float product = (float)ldexp((double)x * (double)(1 / fraction), -exponent);
    const float q = !is_scale ? NAN : qc->division == GM_DIVIDE_BY_RECIPROCAL ? product : x / scale;
    if (isnan(q))
        return qc->out_type == GM_INT8 ? 0 : NAN;
    return (double)q > limit ? limit : (double)q < -limit ? -limit : (double)q;
}

static void expect_scales(const struct placed_quantize *placed, int64_t row, struct expectation *e) {
    const struct quantize_case *qc = placed->placed.of;
    const struct operand *o = &placed->placed.operands[QUANTIZE_SCALES];
    for (int64_t column = 0; column < o->columns; column++) {
        const bool is_turned = qc->order == GM_SCALES_BY_COLUMN || qc->scaling == GM_SCALE_ROW;
        const int64_t down = is_turned ? column : row, across = is_turned ? row : column;
        const int64_t first_row = qc->scaling <= GM_SCALE_AMAX_ONLY ? 0 : down * rows_of_scale(qc);
        const float scale = placed->scales[down * placed->across + across];
        e->tolerance[column] = first_row < counted_rows(qc) ? 0 : AS_BEFORE;
        e->want[column] = (double)scale;
        if (qc->scaling == GM_SCALE_AMAX_ONLY)
            e->want[column] = isnan(scale) ? NAN : fmax((double)scale, (double)qc->static_scale);
        if (qc->format == GM_SCALE_E8M0)
            e->want[column] = isnan(scale) ? 255 : ilogbf(scale) + 127;
    }
}

static void expect(const struct placed_operands *operands, int operand, int64_t row, struct expectation *e) {
    const struct placed_quantize *placed = (const struct placed_quantize *)operands;
    const struct quantize_case *qc = operands->of;
    if (operand == QUANTIZE_SCALES) {
        expect_scales(placed, row, e);
        return;
    }
    for (int64_t column = 0; column < qc->columns; column++) {
        e->tolerance[column] = row < counted_rows(qc) ? 0 : AS_BEFORE;
        e->want[column] = quotient(qc, (float)x_value(qc, row, column), scale_at(placed, row, column));
    }
}

bool compare_quantize(struct result *result, const struct call *call, const uint8_t *region, const char *what) {
    const struct placed_quantize *placed = (const struct placed_quantize *)call;
    const struct quantize_case *qc = placed->placed.of;
    const struct operand *o = &placed->placed.operands[QUANTIZE_OUT];
    if (!compare_placed(result, call, region, what))
        return false;
    for (int64_t row = 0; row < counted_rows(qc) && o->rows; row++)
        for (int64_t column = 0; column < qc->columns; column++) {
            const double want = quotient(qc, (float)x_value(qc, row, column), scale_at(placed, row, column));
            const uint8_t got = region[placed->placed.at[QUANTIZE_OUT] + (size_t)(row * o->stride + column)];
            if (got == double_to_bits(qc->out_type, want))
                continue;
            fail(result, "%s: out[%lld, %lld] is 0x%02x, want 0x%02x", what, (long long)row, (long long)column, got,
                 double_to_bits(qc->out_type, want));
            return false;
        }
    return true;
}

/* ---- placing -------------------------------------------------------------------------------------------- */

static void list_scales(struct placed_quantize *placed, const struct quantize_case *qc) {
    struct operand *o = &placed->placed.operands[QUANTIZE_SCALES];
    const bool is_turned = qc->order == GM_SCALES_BY_COLUMN || qc->scaling == GM_SCALE_ROW;
    const int64_t down = parts(qc->rows, rows_of_scale(qc)), across = placed->across;
    const int64_t rows = is_turned ? across : down, columns = is_turned ? down : across;
    *o = (struct operand){"scales",
                          offsetof(struct gm_quantize_args, scales),
                          qc->format == GM_SCALE_E8M0 && qc->scaling != GM_SCALE_STATIC ? GM_UINT8 : GM_FP32,
                          rows,
                          columns,
                          columns + (qc->scaling >= GM_SCALE_GROUP ? qc->scales_pad : 0),
                          qc->scales_start,
                          .written = qc->scaling != GM_SCALE_STATIC,
                          .value = qc->scaling <= GM_SCALE_AMAX_ONLY ? scale_value : NULL};
    placed->problem.scales_stride = o->stride;
}

static void list_operands(struct placed_quantize *placed, const struct quantize_case *qc) {
    const struct gm_quantize_problem *p = &placed->problem;
    struct operand *o = placed->placed.operands;
    const int64_t out_rows = qc->scaling == GM_SCALE_AMAX_ONLY ? 0 : qc->rows;
#define ARGUMENT(member) offsetof(struct gm_quantize_args, member)
    o[QUANTIZE_X] =
        (struct operand){"x", ARGUMENT(x), qc->type, qc->rows, qc->columns, p->x_stride, qc->x_start, .value = x_value};
    o[QUANTIZE_OUT] = (struct operand){"out",       ARGUMENT(out), qc->out_type,  out_rows,
                                       qc->columns, p->out_stride, qc->out_start, .written = true};
    o[QUANTIZE_COUNT] =
        (struct operand){"row_count", ARGUMENT(row_count), GM_INT32, qc->counted, 1, 1, 0, .value = count_value};
#undef ARGUMENT
    list_scales(placed, qc);
}

bool place_quantize(struct result *result, const struct quantize_case *qc, struct operand_memory *memory,
                    struct placed_quantize *placed) {
    uint8_t *const before = placed->placed.before;
    float *const scales = placed->scales;
    *placed = (struct placed_quantize){.args = {.size = sizeof placed->args}, .scales = scales};
    struct gm_quantize_problem *p = &placed->problem;
    *p = (struct gm_quantize_problem){.size = sizeof *p,
                                      .rows = qc->rows,
                                      .columns = qc->columns,
                                      .group = qc->group,
                                      .type = qc->type,
                                      .out_type = qc->out_type,
                                      .scaling = qc->scaling,
                                      .scale_format = qc->format,
                                      .scale_order = qc->order,
                                      .division = qc->division,
                                      .scale_floor = qc->floor,
                                      .x_stride = qc->columns + qc->x_pad,
                                      .out_stride = qc->columns + qc->out_pad};
    placed->placed = (struct placed_operands){
        .call = {.operation = &quantize_tests, .problem = &placed->problem, .args = &placed->args},
        .of = qc,
        .args = &placed->args,
        .count = QUANTIZE_OPERANDS,
        .before = before,
        .expect = expect,
    };
    find_scales(placed, qc);
    list_operands(placed, qc);
    if (!place_operands(result, &placed->placed, memory))
        return false;
    p->x_align = alignment_of(&placed->placed, QUANTIZE_X);
    p->out_align = alignment_of(&placed->placed, QUANTIZE_OUT);
    return true;
}

void free_quantize(struct placed_quantize *placed) {
    free_placed(&placed->placed);
    free(placed->scales);
    placed->scales = NULL;
}

bool run_quantize(struct result *result, const struct quantize_case *qc, const char *kernel, uint32_t mask,
                  struct operand_memory *memory) {
    const struct gm_plan_options options = {
        .size = sizeof options, .kernel = kernel, .arch_mask = mask, .sm_budget = qc->sm_budget};
    char what[320];
    struct placed_quantize placed = {0};
    describe_quantize(qc, what, sizeof what);
    heartbeat(what);
    const bool ok = place_quantize(result, qc, memory, &placed) &&
                    run_call(result, &placed.placed.call, &options, qc->repeats, qc->may_refuse, what);
    free_quantize(&placed);
    return ok;
}
