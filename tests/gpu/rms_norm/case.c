/* SPDX-License-Identifier: Apache-2.0 */
/* One RMSNorm: its operands, and what the residual and out shall be. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rms_norm/rms_norm_tests.h"

void describe_norm(const struct norm_case *nc, char *text, size_t bytes) {
    static const char *const inputs[] = {"integer", "normal", "positive", "special", "sign"};
    static const char *const residuals[] = {"", " residual", " residual-after", " residual-between"};
    char counted[80] = "", out[160];
    if (nc->counted)
        snprintf(counted, sizeof counted, " count %d", nc->count);
    if (nc->heads > 1)
        snprintf(counted + strlen(counted), 48, " of %lld heads, pads %lld,%lld", (long long)nc->heads,
                 (long long)nc->x_head_pad, (long long)nc->out_head_pad);
    snprintf(text, bytes,
             "%lld rows%s of %lld %s%s%s %s sum %s norm %s normalized %s eps %g offset %g pads %lld,%lld,%lld starts "
             "%d,%d,%d,%d%s%s",
             (long long)nc->rows, counted, (long long)nc->columns, gm_type_name(nc->type),
             nc->fp32_weight ? " fp32-weight" : "", residuals[nc->residual], inputs[nc->inputs],
             nc->sum_rounding ? "early" : "late", nc->norm_rounding ? "early" : "late",
             nc->normalized_rounding ? "early" : "late", nc->eps, nc->weight_offset, (long long)nc->x_pad,
             (long long)nc->residual_pad, (long long)nc->out_pad, nc->x_start, nc->residual_start, nc->weight_start,
             nc->out_start, nc->in_place ? " in place" : "", describe_out(&nc->out, out, sizeof out));
}

/* ---- values ------------------------------------------------------------------------------------------ */

static double drawn(const struct norm_case *nc, uint64_t stream, uint64_t index) {
    const uint64_t seed = (opt.seed + nc->seed) * 4 + stream;
    if (nc->inputs == INTEGERS || nc->inputs == SIGNS)
        return (double)((int)((hash64(seed, index) >> 32) % 9) - 4);
    return round_to(nc->type, hash_normal(seed, index) + (nc->inputs == POSITIVE ? 3 : 0));
}

/* Row r holds value r of a list, every one of its elements or the last of them. */
static double special(const struct norm_case *nc, int64_t row, int64_t column, double ordinary) {
    const double largest = nc->type == GM_FP16 ? 65504 : 0x1.fep127, least = nc->type == GM_FP16 ? 0x1p-24 : 0x1p-133;
    const bool is_last = column == nc->columns - 1;
    switch (row % 7) {
    case 0:
        return is_last ? NAN : ordinary;
    case 1:
        return is_last ? INFINITY : ordinary;
    case 2:
        return 0;
    case 3:
        return largest;
    case 4:
        return least;
    case 5:
        return is_last ? -largest : 0;
    default:
        return ordinary;
    }
}

/* `times` the magnitude of the row, of either sign. */
static double sign(const struct norm_case *nc, int64_t row, int64_t column, double times) {
    const bool is_negative = hash64(opt.seed + nc->seed, (uint64_t)(row * nc->columns + column)) & 1;
    return ldexp(is_negative ? -times : times, (int)(row % 9) - 4);
}

double norm_x(const struct norm_case *nc, int64_t row, int64_t column) {
    if (nc->inputs == SIGNS)
        return sign(nc, row, column, nc->residual ? 3 : 1);
    const double ordinary = drawn(nc, 0, (uint64_t)(row * nc->columns + column));
    return nc->inputs == SPECIAL_ROWS ? special(nc, row, column, ordinary) : ordinary;
}

double norm_residual(const struct norm_case *nc, int64_t row, int64_t column) {
    if (nc->inputs == SIGNS)
        return sign(nc, row, column, -2);
    return drawn(nc, 1, (uint64_t)(row * nc->columns + column));
}

/* A few are -0, which 0 is added to. */
double norm_weight(const struct norm_case *nc, int64_t column) {
    if (nc->inputs == NORMAL_ROWS && column % 61 == 7)
        return -0.0;
    const double scale = nc->weight_scale != 0 ? (double)nc->weight_scale : 1;
    return round_to(nc->type, scale * drawn(nc, 2, (uint64_t)column));
}

/* Of the first of two norms. */
double norm_x_weight(const struct norm_case *nc, int64_t column) {
    return round_to(nc->type, drawn(nc, 3, (uint64_t)column));
}

/* A head is a row of its own, number row * heads + head. */
static int64_t heads_of(const struct norm_case *nc) {
    return nc->heads > 1 ? nc->heads : 1;
}

static int64_t x_head_stride(const struct norm_case *nc) {
    return nc->columns + (nc->in_place ? nc->out_head_pad : nc->x_head_pad);
}

/* Between heads is NaN, as around rows. */
static double x_value(const void *of, int64_t row, int64_t at) {
    const struct norm_case *nc = of;
    const int64_t head = at / x_head_stride(nc), column = at % x_head_stride(nc);
    return column < nc->columns ? norm_x(nc, row * heads_of(nc) + head, column) : NAN;
}

static double residual_value(const void *of, int64_t row, int64_t column) {
    return norm_residual(of, row, column);
}

static double weight_value(const void *of, int64_t row, int64_t column) {
    (void)row;
    return norm_weight(of, column);
}

static double x_weight_value(const void *of, int64_t row, int64_t column) {
    (void)row;
    return norm_x_weight(of, column);
}

static double scale_value(const void *of, int64_t row, int64_t column) {
    (void)row, (void)column;
    return (double)((const struct norm_case *)of)->out.static_scale;
}

static double count_value(const void *of, int64_t row, int64_t column) {
    (void)row, (void)column;
    return ((const struct norm_case *)of)->count;
}

/* ---- what it shall have written ------------------------------------------------------------------------- */

/* The factor of a row, and its relative error. */
struct reference {
    double scale, error;
};

/* Of the row `s`, whose values may be off by `error`. The sum overflows and underflows as fp32 does. */
static struct reference refer(const struct norm_case *nc, const double *s, const double *error) {
    double squares = 0, off = 0;
    for (int64_t column = 0; column < nc->columns; column++) {
        squares += (double)(float)(s[column] * s[column]);
        off += fabs(s[column]) * error[column];
    }
    if (squares > FLT_MAX)
        squares = INFINITY;
    return (struct reference){
        .scale = 1 / sqrt(squares / (double)nc->columns + (double)nc->eps),
        /* A thread adds columns / 32 squares at most, the lanes and warps 10 more; a root halves the error. */
        .error = 0x1p-21 + ((double)nc->columns / 32 + 16) * 0x1p-25 + (off > 0 ? off / squares : 0),
    };
}

/* A value and its error, rounded to the type. */
static void round_early(const struct norm_case *nc, double *value, double *error) {
    if (*error != 0) /* a value near a tie is rounded the other way */
        *error += 2 * half_ulp(nc->type, fabs(*value) + *error);
    *value = round_to(nc->type, *value);
}

/* The row becomes its norm. */
static void normalize(const struct norm_case *nc, double (*weight)(const struct norm_case *, int64_t), double *s,
                      double *error) {
    const struct reference reference = refer(nc, s, error);
    for (int64_t column = 0; column < nc->columns; column++) {
        const double factor = (double)(float)(weight(nc, column) + (double)nc->weight_offset);
        const double exact = s[column] * reference.scale;
        const double y = nc->normalized_rounding == GM_ROUND_EARLY ? round_to(nc->type, exact) : exact;
        const double before = error[column] * reference.scale;
        s[column] = y * factor;
        error[column] = fabs(s[column]) * (reference.error + 0x1p-22) + before * fabs(factor);
        if (nc->normalized_rounding == GM_ROUND_EARLY) /* a value near a tie is rounded the other way */
            error[column] += 2 * half_ulp(nc->type, fabs(exact) + before) * fabs(factor);
        if (!isfinite(error[column]) || (nc->inputs == SIGNS && nc->type != GM_FP32))
            error[column] = 0;
    }
}

/* The row becomes its sum with the residual. */
static void add_residual(const struct norm_case *nc, int64_t row, double *s, double *error) {
    for (int64_t column = 0; column < nc->columns; column++) {
        if (nc->norm_rounding == GM_ROUND_EARLY && nc->residual >= GM_RESIDUAL_AFTER)
            round_early(nc, &s[column], &error[column]);
        s[column] = (float)(s[column] + norm_residual(nc, row, column));
        error[column] += error[column] != 0 ? fabs(s[column]) * 0x1p-23 : 0;
        if (nc->sum_rounding == GM_ROUND_EARLY)
            round_early(nc, &s[column], &error[column]);
    }
}

/* A row of what becomes out, or of the residual's new value, and how far it may be off. */
static void make_row(const struct norm_case *nc, bool is_residual, int64_t row, double *s, double *error) {
    for (int64_t column = 0; column < nc->columns; column++) {
        s[column] = norm_x(nc, row, column);
        error[column] = 0;
    }
    if (nc->residual == GM_RESIDUAL_BEFORE)
        add_residual(nc, row, s, error);
    if (nc->residual == GM_RESIDUAL_BEFORE && is_residual)
        return;
    normalize(nc, nc->residual == GM_RESIDUAL_BETWEEN ? norm_x_weight : norm_weight, s, error);
    if (nc->residual >= GM_RESIDUAL_AFTER)
        add_residual(nc, row, s, error);
    if (nc->residual == GM_RESIDUAL_BETWEEN && !is_residual)
        normalize(nc, norm_weight, s, error);
}

static void expect_scales(const struct norm_case *nc, int64_t row, int64_t columns, struct expectation *e) {
    double *s = malloc(2 * (size_t)nc->columns * sizeof *s), *error = s + nc->columns;
    int64_t made = -1;
    if (!s)
        exit(2);
    for (int64_t column = 0; column < columns; column++) {
        const int64_t of = row_of_scale(&nc->out, row, column);
        e->tolerance[column] = AS_BEFORE;
        if (nc->counted && of >= nc->count)
            continue;
        if (of != made)
            make_row(nc, false, of, s, error);
        made = of;
        expect_scale(&nc->out, nc->type, nc->columns, s, error, row, column, &e->want[column], &e->tolerance[column]);
    }
    free(s);
}

static void expect(const struct placed_operands *placed, int operand, int64_t row, struct expectation *e) {
    const struct norm_case *nc = placed->of;
    const struct out_case same = {0};
    const int64_t stride = nc->columns + nc->out_head_pad, columns = placed->operands[operand].columns;
    if (operand == NORM_SCALES) {
        expect_scales(nc, row, columns, e);
        return;
    }
    for (int64_t at = 0; at < columns; at++)
        e->tolerance[at] = AS_BEFORE;
    for (int64_t head = 0; head < heads_of(nc) && (!nc->counted || row < nc->count); head++) {
        double *want = e->want + head * stride, *tolerance = e->tolerance + head * stride;
        make_row(nc, operand == NORM_RESIDUAL, row * heads_of(nc) + head, want, tolerance);
        expect_out(operand == NORM_RESIDUAL ? &same : &nc->out, nc->type, nc->columns, want, tolerance);
    }
}

/* ---- placing -------------------------------------------------------------------------------------------- */

static void list_operands(struct placed_norm *placed, const struct norm_case *nc) {
    const struct gm_rms_norm_problem *p = &placed->problem;
    const enum gm_type weight_type = nc->fp32_weight ? GM_FP32 : nc->type, out_type = type_of_out(&nc->out, nc->type);
    const int64_t of_two = nc->residual == GM_RESIDUAL_BETWEEN;
    struct operand *o = placed->placed.operands;
    const int64_t last = heads_of(nc) - 1, x_reach = last * x_head_stride(nc) + nc->columns;
    const int64_t out_reach = last * (nc->columns + nc->out_head_pad) + nc->columns;
#define ARGUMENT(member) offsetof(struct gm_rms_norm_args, member)
    o[NORM_X] =
        (struct operand){"x", ARGUMENT(x), nc->type, nc->rows, x_reach, p->x_stride, nc->x_start, .value = x_value};
    o[NORM_RESIDUAL] =
        (struct operand){"residual",  ARGUMENT(residual), nc->type,           nc->residual ? nc->rows : 0,
                         nc->columns, p->residual_stride, nc->residual_start, .value = residual_value};
    o[NORM_RESIDUAL].written = nc->residual != GM_RESIDUAL_AFTER;
    o[NORM_X_WEIGHT] = (struct operand){"x_weight",  ARGUMENT(x_weight), weight_type,      of_two,
                                        nc->columns, nc->columns,        nc->weight_start, .value = x_weight_value};
    o[NORM_SCALES] = scales_operand(&nc->out, ARGUMENT(scales), nc->rows, nc->columns, scale_value);
    o[NORM_WEIGHT] = (struct operand){"weight",    ARGUMENT(weight), weight_type,      1,
                                      nc->columns, nc->columns,      nc->weight_start, .value = weight_value};
    o[NORM_OUT] = (struct operand){"out",     ARGUMENT(out), out_type,      nc->rows,
                                   out_reach, p->out_stride, nc->out_start, .written = true};
    o[NORM_COUNT] =
        (struct operand){"row_count", ARGUMENT(row_count), GM_INT32, nc->counted, 1, 1, 0, .value = count_value};
#undef ARGUMENT
    if (nc->in_place)
        o[nc->residual == GM_RESIDUAL_AFTER ? NORM_RESIDUAL : NORM_X].in_place_of = 1 + NORM_OUT;
}

bool place_norm(struct result *result, const struct norm_case *nc, struct operand_memory *memory,
                struct placed_norm *placed) {
    uint8_t *const before = placed->placed.before;
    *placed = (struct placed_norm){.args = {.size = sizeof placed->args}};
    struct gm_rms_norm_problem *p = &placed->problem;
    const int64_t out_head_stride = nc->columns + nc->out_head_pad;
    const bool is_after = nc->residual == GM_RESIDUAL_AFTER;
    *p = (struct gm_rms_norm_problem){
        .size = sizeof *p,
        .rows = nc->rows,
        .columns = nc->columns,
        .type = nc->type,
        .fp32_weight = nc->fp32_weight,
        .residual = nc->residual,
        .eps = nc->eps,
        .weight_offset = nc->weight_offset,
        .sum_rounding = nc->sum_rounding,
        .normalized_rounding = nc->normalized_rounding,
        .x_stride = heads_of(nc) * x_head_stride(nc) + (nc->in_place && !is_after ? nc->out_pad : nc->x_pad),
        .residual_stride = nc->columns + (nc->in_place && is_after ? nc->out_pad : nc->residual_pad),
        .out_stride = heads_of(nc) * out_head_stride + nc->out_pad,
        .heads = nc->heads,
        .x_head_stride = x_head_stride(nc),
        .out_head_stride = out_head_stride,
        .norm_rounding = nc->norm_rounding,
        .scales_stride = scales_stride(&nc->out, nc->rows, nc->columns),
        OUT_MEMBERS(nc->out)};
    placed->placed = (struct placed_operands){
        .call = {.operation = &rms_norm_tests, .problem = &placed->problem, .args = &placed->args},
        .of = nc,
        .args = &placed->args,
        .count = NORM_OPERANDS,
        .before = before,
        .expect = expect,
    };
    list_operands(placed, nc);
    if (!place_operands(result, &placed->placed, memory))
        return false;
    p->x_align = alignment_of(&placed->placed, NORM_X);
    p->residual_align = alignment_of(&placed->placed, NORM_RESIDUAL);
    p->weight_align = alignment_of(&placed->placed, NORM_WEIGHT);
    p->out_align = alignment_of(&placed->placed, NORM_OUT);
    p->x_weight_align = alignment_of(&placed->placed, NORM_X_WEIGHT);
    return true;
}

bool run_norm(struct result *result, const struct norm_case *nc, const char *kernel, uint32_t mask,
              struct operand_memory *memory) {
    const struct gm_plan_options options = {
        .size = sizeof options, .kernel = kernel, .arch_mask = mask, .sm_budget = nc->sm_budget};
    char what[480];
    struct placed_norm placed = {0};
    describe_norm(nc, what, sizeof what);
    heartbeat(what);
    const bool ok = place_norm(result, nc, memory, &placed) &&
                    run_call(result, &placed.placed.call, &options, nc->repeats, nc->may_refuse, what);
    free_placed(&placed.placed);
    return ok;
}
