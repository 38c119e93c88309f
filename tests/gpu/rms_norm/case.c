/* SPDX-License-Identifier: Apache-2.0 */
/* One RMSNorm: its operands, and what the residual and out shall be. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "rms_norm/rms_norm_tests.h"

void describe_norm(const struct norm_case *nc, char *text, size_t bytes) {
    static const char *const inputs[] = {"integer", "normal", "positive", "special", "sign"};
    char counted[80] = "";
    if (nc->counted)
        snprintf(counted, sizeof counted, " count %d", nc->count);
    if (nc->heads > 1)
        snprintf(counted + strlen(counted), 48, " of %lld heads, pads %lld,%lld", (long long)nc->heads,
                 (long long)nc->x_head_pad, (long long)nc->out_head_pad);
    snprintf(
        text, bytes,
        "%lld rows%s of %lld %s%s%s %s sum %s normalized %s eps %g offset %g pads %lld,%lld,%lld starts %d,%d,%d,%d%s",
        (long long)nc->rows, counted, (long long)nc->columns, gm_type_name(nc->type),
        nc->fp32_weight ? " fp32-weight" : "", nc->residual ? " residual" : "", inputs[nc->inputs],
        nc->sum_rounding ? "early" : "late", nc->normalized_rounding ? "early" : "late", nc->eps, nc->weight_offset,
        (long long)nc->x_pad, (long long)nc->residual_pad, (long long)nc->out_pad, nc->x_start, nc->residual_start,
        nc->weight_start, nc->out_start, nc->in_place ? " in place" : "");
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

double norm_weight(const struct norm_case *nc, int64_t column) {
    const double scale = nc->weight_scale != 0 ? (double)nc->weight_scale : 1;
    return round_to(nc->type, scale * drawn(nc, 2, (uint64_t)column));
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

static double count_value(const void *of, int64_t row, int64_t column) {
    (void)row, (void)column;
    return ((const struct norm_case *)of)->count;
}

/* ---- what it shall have written ------------------------------------------------------------------------- */

/* The factor of a row, and its relative error. */
struct reference {
    double scale, error;
};

static double sum_of(const struct norm_case *nc, int64_t row, int64_t column) {
    const double x = norm_x(nc, row, column);
    if (!nc->residual)
        return x;
    const double sum = (float)(x + norm_residual(nc, row, column));
    return nc->sum_rounding == GM_ROUND_EARLY ? round_to(nc->type, sum) : sum;
}

/* Of the row `s`. The sum overflows and underflows as fp32 does. */
static struct reference refer(const struct norm_case *nc, const double *s) {
    double squares = 0;
    for (int64_t column = 0; column < nc->columns; column++)
        squares += (double)(float)(s[column] * s[column]);
    if (squares > FLT_MAX)
        squares = INFINITY;
    return (struct reference){
        .scale = 1 / sqrt(squares / (double)nc->columns + (double)nc->eps),
        /* A thread adds columns / 32 squares at most, the lanes and warps 10 more; a root halves the error. */
        .error = 0x1p-21 + ((double)nc->columns / 32 + 16) * 0x1p-25,
    };
}

static double expected(const struct norm_case *nc, const struct reference *reference, double s, int64_t column,
                       double *tolerance) {
    const double factor = (double)(float)(norm_weight(nc, column) + (double)nc->weight_offset);
    const double exact = s * reference->scale;
    const double y = nc->normalized_rounding == GM_ROUND_EARLY ? round_to(nc->type, exact) : exact;
    const double out = y * factor;
    double error = fabs(out) * (reference->error + 0x1p-22);
    if (nc->normalized_rounding == GM_ROUND_EARLY) /* a value near a tie is rounded the other way */
        error += 2 * half_ulp(nc->type, fabs(exact)) * fabs(factor);
    const bool is_exact = !isfinite(error) || (nc->inputs == SIGNS && nc->type != GM_FP32);
    *tolerance = is_exact ? 0 : error + half_ulp(nc->type, fabs(out) + error);
    return out;
}

/* One head of out; or a row of the residual, which has no heads. */
static void expect_head(const struct norm_case *nc, int operand, int64_t row, double *want, double *tolerance) {
    for (int64_t column = 0; column < nc->columns; column++) {
        want[column] = sum_of(nc, row, column);
        tolerance[column] = 0;
    }
    if (operand == NORM_RESIDUAL)
        return;
    const struct reference reference = refer(nc, want);
    for (int64_t column = 0; column < nc->columns; column++)
        want[column] = expected(nc, &reference, want[column], column, &tolerance[column]);
}

static void expect(const struct placed_operands *placed, int operand, int64_t row, struct expectation *e) {
    const struct norm_case *nc = placed->of;
    const int64_t stride = nc->columns + nc->out_head_pad, columns = placed->operands[operand].columns;
    for (int64_t at = 0; at < columns; at++)
        e->tolerance[at] = AS_BEFORE;
    for (int64_t head = 0; head < heads_of(nc) && (!nc->counted || row < nc->count); head++)
        expect_head(nc, operand, row * heads_of(nc) + head, e->want + head * stride, e->tolerance + head * stride);
}

/* ---- placing -------------------------------------------------------------------------------------------- */

static void list_operands(struct placed_norm *placed, const struct norm_case *nc) {
    const struct gm_rms_norm_problem *p = &placed->problem;
    const enum gm_type weight_type = nc->fp32_weight ? GM_FP32 : nc->type;
    struct operand *o = placed->placed.operands;
    const int64_t last = heads_of(nc) - 1, x_reach = last * x_head_stride(nc) + nc->columns;
    const int64_t out_reach = last * (nc->columns + nc->out_head_pad) + nc->columns;
#define ARGUMENT(member) offsetof(struct gm_rms_norm_args, member)
    o[NORM_X] =
        (struct operand){"x", ARGUMENT(x), nc->type, nc->rows, x_reach, p->x_stride, nc->x_start, .value = x_value};
    o[NORM_RESIDUAL] = (struct operand){
        "residual",         ARGUMENT(residual), nc->type,        nc->residual ? nc->rows : 0, nc->columns,
        p->residual_stride, nc->residual_start, .written = true, .value = residual_value};
    o[NORM_WEIGHT] = (struct operand){"weight",    ARGUMENT(weight), weight_type,      1,
                                      nc->columns, nc->columns,      nc->weight_start, .value = weight_value};
    o[NORM_OUT] = (struct operand){"out",     ARGUMENT(out), nc->type,      nc->rows,
                                   out_reach, p->out_stride, nc->out_start, .written = true};
    o[NORM_COUNT] =
        (struct operand){"row_count", ARGUMENT(row_count), GM_INT32, nc->counted, 1, 1, 0, .value = count_value};
#undef ARGUMENT
    if (nc->in_place)
        o[NORM_X].in_place_of = 1 + NORM_OUT;
}

bool place_norm(struct result *result, const struct norm_case *nc, struct operand_memory *memory,
                struct placed_norm *placed) {
    uint8_t *const before = placed->placed.before;
    *placed = (struct placed_norm){.args = {.size = sizeof placed->args}};
    struct gm_rms_norm_problem *p = &placed->problem;
    const int64_t out_head_stride = nc->columns + nc->out_head_pad;
    *p = (struct gm_rms_norm_problem){.size = sizeof *p,
                                      .rows = nc->rows,
                                      .columns = nc->columns,
                                      .type = nc->type,
                                      .fp32_weight = nc->fp32_weight,
                                      .residual = nc->residual,
                                      .eps = nc->eps,
                                      .weight_offset = nc->weight_offset,
                                      .sum_rounding = nc->sum_rounding,
                                      .normalized_rounding = nc->normalized_rounding,
                                      .x_stride =
                                          heads_of(nc) * x_head_stride(nc) + (nc->in_place ? nc->out_pad : nc->x_pad),
                                      .residual_stride = nc->columns + nc->residual_pad,
                                      .out_stride = heads_of(nc) * out_head_stride + nc->out_pad,
                                      .heads = nc->heads,
                                      .x_head_stride = x_head_stride(nc),
                                      .out_head_stride = out_head_stride};
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
    return true;
}

bool run_norm(struct result *result, const struct norm_case *nc, const char *kernel, uint32_t mask,
              struct operand_memory *memory) {
    const struct gm_plan_options options = {
        .size = sizeof options, .kernel = kernel, .arch_mask = mask, .sm_budget = nc->sm_budget};
    char what[320];
    struct placed_norm placed = {0};
    describe_norm(nc, what, sizeof what);
    heartbeat(what);
    const bool ok = place_norm(result, nc, memory, &placed) &&
                    run_call(result, &placed.placed.call, &options, nc->repeats, nc->may_refuse, what);
    free_placed(&placed.placed);
    return ok;
}
