/* SPDX-License-Identifier: Apache-2.0 */
/* One axpby: its operands, and what out shall be, to the bit. */
#include <math.h>

#include "axpby/axpby_tests.h"

void describe_axpby(const struct axpby_case *ac, char *text, size_t bytes) {
    static const char *const terms[] = {"x", "x-and-y", "neither"};
    static const char *const inputs[] = {"ordinary", "wide", "special", "middle"};
    char counted[32] = "";
    if (ac->counted)
        snprintf(counted, sizeof counted, " count %d", ac->count);
    snprintf(
        text, bytes,
        "%lld rows%s of %lld %s and %s to %s %s %s alpha %g beta %g gamma %g pads %lld,%lld,%lld starts %d,%d,%d%s",
        (long long)ac->rows, counted, (long long)ac->columns, gm_type_name(ac->type), gm_type_name(ac->y_type),
        gm_type_name(ac->out_type), terms[ac->terms], inputs[ac->inputs], (double)ac->alpha, (double)ac->beta,
        (double)ac->gamma, (long long)ac->x_pad, (long long)ac->y_pad, (long long)ac->out_pad, ac->x_start, ac->y_start,
        ac->out_start,
        ac->in_place == 1   ? " in place of x"
        : ac->in_place == 2 ? " in place of y"
                            : "");
}

/* ---- values ------------------------------------------------------------------------------------------ */

static bool is_integer(enum gm_type type) {
    return type == GM_INT8 || type == GM_UINT8 || type == GM_INT32;
}

static double least_of(enum gm_type type) {
    return type == GM_INT8 ? -128 : type == GM_UINT8 ? 0 : -0x1p31;
}

static double most_of(enum gm_type type) {
    return type == GM_INT8 ? 127 : type == GM_UINT8 ? 255 : 0x1p31 - 1;
}

static double drawn_integer(const struct axpby_case *ac, enum gm_type type, uint64_t random) {
    const double edges[] = {least_of(type), most_of(type), 0, 1, 0x1p24 + 1, -0x1p24 - 3, 0x1p31 - 65};
    const double least = least_of(type), most = most_of(type);
    if (ac->inputs == AXPBY_SPECIAL)
        return fmin(fmax(edges[random % COUNT(edges)], least), most);
    if (ac->inputs == AXPBY_ORDINARY)
        return type == GM_UINT8 ? (double)(random % 100) : (double)(random % 100) - 50;
    return least + (double)((random >> 8) % (uint64_t)(most - least + 1));
}

static double special(enum gm_type type, uint64_t random, double ordinary) {
    static const double largest[] = {0x1.fep127, 65504, 0x1.fffffep127, 448, 57344};
    static const double least[] = {0x1p-133, 0x1p-24, 0x1p-149, 0x1p-9, 0x1p-16};
    const double big = largest[type], small = least[type];
    const double values[] = {NAN, INFINITY, -INFINITY, 0, -0.0, big, -big, small, -small, ordinary};
    const double value = values[random % COUNT(values)];
    return type == GM_E4M3 && isinf(value) ? copysign(448, value) : value;
}

/* The middle of two numbers of out's type, or a float beside it. */
static double middle(const struct axpby_case *ac, uint64_t random) {
    const enum gm_type type = ac->out_type;
    if (is_integer(type))
        return (double)((random >> 8) % 300) - 150 + 0.5;
    if (type == GM_FP32)
        return (double)(float)hash_normal(random, 0);
    const uint32_t bits = (uint32_t)(random >> 8) % (type == GM_BF16   ? 0x7f7f
                                                     : type == GM_FP16 ? 0x7bff
                                                     : type == GM_E4M3 ? 0x7e
                                                                       : 0x7b);
    const float m = (float)((bits_to_double(type, bits) + bits_to_double(type, bits + 1)) / 2);
    const float beside = random % 3 == 0 ? m : nextafterf(m, random % 3 == 1 ? INFINITY : 0);
    return random & 0x80 ? -(double)beside : (double)beside;
}

static double drawn(const struct axpby_case *ac, uint64_t stream, enum gm_type type, int64_t row, int64_t column) {
    const uint64_t seed = (opt.seed + ac->seed) * 2 + stream, index = (uint64_t)(row * ac->columns + column);
    const uint64_t random = hash64(seed, index);
    if (is_integer(type))
        return drawn_integer(ac, type, random);
    const double normal = hash_normal(seed, index);
    if (ac->inputs == AXPBY_MIDDLES && type == GM_FP32 && stream == 0)
        return middle(ac, random);
    const int range = type == GM_E4M3 ? 12 : type == GM_E5M2 || type == GM_FP16 ? 24 : 60;
    const bool is_wide = ac->inputs == AXPBY_WIDE || ac->inputs == AXPBY_MIDDLES;
    const double value = is_wide ? ldexp(normal, (int)(random % (uint64_t)range) - range / 2) : normal;
    const double times = stream == 0 && ac->scale != 0 ? (double)ac->scale : 1;
    const double most = type == GM_E4M3 ? 448 : INFINITY;
    const double rounded = round_to(type, fmin(fmax(times * value, -most), most));
    return ac->inputs == AXPBY_SPECIAL ? special(type, random, rounded) : rounded;
}

static double x_value(const void *of, int64_t row, int64_t column) {
    const struct axpby_case *ac = of;
    return drawn(ac, 0, ac->type, row, column);
}

static double y_value(const void *of, int64_t row, int64_t column) {
    const struct axpby_case *ac = of;
    return drawn(ac, 1, ac->y_type, row, column);
}

static double count_value(const void *of, int64_t row, int64_t column) {
    (void)row, (void)column;
    return ((const struct axpby_case *)of)->count;
}

/* ---- what it shall have written ------------------------------------------------------------------------- */

/* A number of fp32 as out's type has it. */
static double saturated(enum gm_type type, float v) {
    if (is_integer(type))
        return isnan(v) ? 0 : fmin(fmax(nearbyint((double)v), least_of(type)), most_of(type));
    const double limit = type == GM_E4M3 ? 448 : type == GM_E5M2 ? 57344 : INFINITY;
    return isnan(v) ? NAN : fmin(fmax((double)v, -limit), limit);
}

static double expected(const struct axpby_case *ac, int64_t row, int64_t column) {
    const float alpha = ac->alpha != 0 ? ac->alpha : 1, beta = ac->beta != 0 ? ac->beta : 1;
    float sum = ac->gamma;
    if (ac->terms != GM_AXPBY_NEITHER && ac->gamma == 0)
        sum = -0.0f; /* it is not added */
    if (ac->terms == GM_AXPBY_X_AND_Y)
        sum = fmaf(beta, (float)y_value(ac, row, column), sum);
    if (ac->terms != GM_AXPBY_NEITHER)
        sum = fmaf(alpha, (float)x_value(ac, row, column), sum);
    return saturated(ac->out_type, sum);
}

static bool is_asked(const struct axpby_case *ac, int64_t row) {
    return !ac->counted || row < ac->count;
}

static void expect(const struct placed_operands *placed, int operand, int64_t row, struct expectation *e) {
    const struct axpby_case *ac = placed->of;
    (void)operand;
    for (int64_t column = 0; column < ac->columns; column++) {
        e->want[column] = expected(ac, row, column);
        e->tolerance[column] = is_asked(ac, row) ? 0 : AS_BEFORE;
    }
}

bool compare_axpby(struct result *result, const struct call *call, const uint8_t *region, const char *what) {
    const struct placed_operands *placed = (const struct placed_operands *)call;
    const struct axpby_case *ac = placed->of;
    const struct operand *o = &placed->operands[AXPBY_OUT];
    const int64_t bytes = gm_type_bytes(o->type);
    if (!compare_placed(result, call, region, what))
        return false;
    for (int64_t row = 0; row < ac->rows && is_asked(ac, row); row++)
        for (int64_t column = 0; column < ac->columns; column++) {
            const double want = expected(ac, row, column);
            const uint32_t bits = double_to_bits(o->type, want);
            const uint32_t got =
                load_bits(region + placed->at[AXPBY_OUT] + (row * o->stride + column) * bytes, o->type);
            if (got == bits || (isnan(want) && bytes > 1))
                continue;
            fail(result, "%s: out[%lld, %lld] is 0x%x, want 0x%x", what, (long long)row, (long long)column, got, bits);
            return false;
        }
    return true;
}

/* ---- placing -------------------------------------------------------------------------------------------- */

static void list_operands(struct placed_axpby *placed, const struct axpby_case *ac) {
    const struct gm_axpby_problem *p = &placed->problem;
    struct operand *o = placed->placed.operands;
    const int64_t x_rows = ac->terms != GM_AXPBY_NEITHER ? ac->rows : 0;
    const int64_t y_rows = ac->terms == GM_AXPBY_X_AND_Y ? ac->rows : 0;
#define ARGUMENT(member) offsetof(struct gm_axpby_args, member)
    o[AXPBY_X] =
        (struct operand){"x", ARGUMENT(x), ac->type, x_rows, ac->columns, p->x_stride, ac->x_start, .value = x_value};
    o[AXPBY_Y] =
        (struct operand){"y", ARGUMENT(y), ac->y_type, y_rows, ac->columns, p->y_stride, ac->y_start, .value = y_value};
    o[AXPBY_OUT] = (struct operand){"out",       ARGUMENT(out), ac->out_type,  ac->rows,
                                    ac->columns, p->out_stride, ac->out_start, .written = true};
    o[AXPBY_COUNT] =
        (struct operand){"row_count", ARGUMENT(row_count), GM_INT32, ac->counted, 1, 1, 0, .value = count_value};
#undef ARGUMENT
    if (ac->in_place)
        o[ac->in_place == 1 ? AXPBY_X : AXPBY_Y].in_place_of = 1 + AXPBY_OUT;
}

bool place_axpby(struct result *result, const struct axpby_case *ac, struct operand_memory *memory,
                 struct placed_axpby *placed) {
    uint8_t *const before = placed->placed.before;
    *placed = (struct placed_axpby){.args = {.size = sizeof placed->args}};
    struct gm_axpby_problem *p = &placed->problem;
    *p = (struct gm_axpby_problem){.size = sizeof *p,
                                   .rows = ac->rows,
                                   .columns = ac->columns,
                                   .type = ac->type,
                                   .y_type = ac->y_type,
                                   .out_type = ac->out_type,
                                   .terms = ac->terms,
                                   .alpha = ac->alpha,
                                   .beta = ac->beta,
                                   .gamma = ac->gamma,
                                   .x_stride = ac->columns + (ac->in_place == 1 ? ac->out_pad : ac->x_pad),
                                   .y_stride = ac->columns + (ac->in_place == 2 ? ac->out_pad : ac->y_pad),
                                   .out_stride = ac->columns + ac->out_pad};
    placed->placed = (struct placed_operands){
        .call = {.operation = &axpby_tests, .problem = p, .args = &placed->args},
        .of = ac,
        .args = &placed->args,
        .count = AXPBY_OPERANDS,
        .before = before,
        .expect = expect,
    };
    list_operands(placed, ac);
    if (!place_operands(result, &placed->placed, memory))
        return false;
    p->x_align = alignment_of(&placed->placed, AXPBY_X);
    p->y_align = alignment_of(&placed->placed, AXPBY_Y);
    p->out_align = alignment_of(&placed->placed, AXPBY_OUT);
    return true;
}

bool run_axpby(struct result *result, const struct axpby_case *ac, const char *kernel, uint32_t mask,
               struct operand_memory *memory) {
    const struct gm_plan_options options = {
        .size = sizeof options, .kernel = kernel, .arch_mask = mask, .sm_budget = ac->sm_budget};
    char what[320];
    struct placed_axpby placed = {0};
    describe_axpby(ac, what, sizeof what);
    heartbeat(what);
    const bool ok = place_axpby(result, ac, memory, &placed) &&
                    run_call(result, &placed.placed.call, &options, ac->repeats, ac->may_refuse, what);
    free_placed(&placed.placed);
    return ok;
}
