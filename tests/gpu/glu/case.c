/* SPDX-License-Identifier: Apache-2.0 */
/* One gated linear unit: its operands, and what out shall be. */
#include <math.h>
#include <stdlib.h>

#include "glu/glu_tests.h"

void describe_glu(const struct glu_case *gc, char *text, size_t bytes) {
    static const char *const layouts[] = {"apart", "interleaved", "no-up"};
    static const char *const activations[] = {"none", "relu", "gelu-tanh", "gelu-erf", "silu"};
    static const char *const inputs[] = {"integer", "normal", "wide", "special"};
    char counted[32] = "", out[160];
    if (gc->counted)
        snprintf(counted, sizeof counted, " count %d", gc->count);
    snprintf(text, bytes,
             "%lld rows%s of %lld %s %s %s %s %s limit %g factor %g offset %g pads %lld,%lld,%lld starts %d,%d,%d%s%s",
             (long long)gc->rows, counted, (long long)gc->columns, gm_type_name(gc->type), layouts[gc->layout],
             activations[gc->activation], inputs[gc->inputs], gc->rounding ? "early" : "late", gc->limit,
             gc->sigmoid_factor, gc->up_offset, (long long)gc->gate_pad, (long long)gc->up_pad, (long long)gc->out_pad,
             gc->gate_start, gc->up_start, gc->out_start,
             gc->in_place == 1   ? " in place of gate"
             : gc->in_place == 2 ? " in place of up"
                                 : "",
             describe_out(&gc->out, out, sizeof out));
}

/* ---- values ------------------------------------------------------------------------------------------ */

/* Half of the small ones is a number of the type still: an activation of it is near no tie. */
static double special(enum gm_type type, uint64_t random, double ordinary) {
    const double largest = type == GM_FP16 ? 65504 : 0x1.fep127, least = type == GM_FP16 ? 0x1p-22 : 0x1p-131;
    const double values[] = {NAN, INFINITY, -INFINITY, 0, -0.0, largest, -largest, least, -least, ordinary};
    return values[random % COUNT(values)];
}

static double drawn(const struct glu_case *gc, uint64_t stream, int64_t row, int64_t column) {
    const uint64_t seed = (opt.seed + gc->seed) * 2 + stream, index = (uint64_t)(row * gc->columns + column);
    const uint64_t random = hash64(seed, index);
    if (gc->inputs == GLU_INTEGERS)
        return (double)((int)((random >> 32) % 9) - 4);
    const double normal = hash_normal(seed, index);
    if (gc->inputs == GLU_WIDE)
        return round_to(gc->type, ldexp(normal, (int)(random % 37) - 30));
    return gc->inputs == GLU_SPECIAL ? special(gc->type, random, round_to(gc->type, normal))
                                     : round_to(gc->type, normal);
}

static double gate_of(const struct glu_case *gc, int64_t row, int64_t column) {
    return drawn(gc, 0, row, column);
}

static double up_of(const struct glu_case *gc, int64_t row, int64_t column) {
    return round_to(gc->type, (gc->scale != 0 ? (double)gc->scale : 1) * drawn(gc, 1, row, column));
}

static double gate_value(const void *of, int64_t row, int64_t column) {
    const struct glu_case *gc = of;
    if (gc->layout != GM_GLU_INTERLEAVED)
        return gate_of(gc, row, column);
    return column % 2 ? up_of(gc, row, column / 2) : gate_of(gc, row, column / 2);
}

static double up_value(const void *of, int64_t row, int64_t column) {
    return up_of(of, row, column);
}

static double scale_value(const void *of, int64_t row, int64_t column) {
    (void)row, (void)column;
    return (double)((const struct glu_case *)of)->out.static_scale;
}

static double count_value(const void *of, int64_t row, int64_t column) {
    (void)row, (void)column;
    return ((const struct glu_case *)of)->count;
}

/* ---- what it shall have written ------------------------------------------------------------------------- */

static double limited(double x, double limit, double least) {
    return isnan(x) || limit == 0 ? x : fmin(fmax(x, least), limit);
}

/* One element before it becomes out's type, and how far it may be off: 0 where it is exact. The activation's own error, and where it is rounded early the distance to the
 * neighbour that a value near a tie may become. */
static double made(const struct glu_case *gc, int64_t row, int64_t column, double *off) {
    const double limit = (double)gc->limit, factor = gc->sigmoid_factor > 0 ? (double)gc->sigmoid_factor : 1;
    const double x = limited(gate_of(gc, row, column), limit, -INFINITY);
    const bool has_factor = gc->activation == GM_ACT_SILU; /* x sigmoid(f x) is silu(f x) / f */
    double act = has_factor ? activation_value(GM_ACT_SILU, factor * x) / factor : activation_value(gc->activation, x);
    const double tail = fabs(x) * exp(-factor * fabs(x)); /* of |x| sigmoid(-f |x|): its exponent is rounded */
    double error = has_factor ? activation_error(GM_ACT_SILU, factor * x) / factor +
                                    (fabs(act) + tail * (1 + factor * fabs(x))) * 0x1p-22
                              : activation_error(gc->activation, x);
    error += error > 0 ? half_ulp(GM_FP32, fabs(act)) : 0; /* of a denormal it is much */
    double up = 1;
    if (gc->layout != GM_GLU_NO_UP) {
        const bool is_early = gc->rounding == GM_ROUND_EARLY;
        up = (float)(limited(up_of(gc, row, column), limit, -limit) + (double)gc->up_offset);
        if (is_early) {
            up = round_to(gc->type, up);
            error += error > 0 ? 2 * half_ulp(gc->type, fabs(act) + error) : 0;
            act = round_to(gc->type, act);
        }
    }
    double out = act * up;
    if (fabs(out) > 0x1.ffffffp127) /* a product of fp32 */
        out = out > 0 ? INFINITY : -INFINITY;
    error = error * fabs(up) + fabs(out) * 0x1p-24;
    const bool is_exact = !isfinite(error) || (gc->inputs == GLU_INTEGERS && gc->activation <= GM_ACT_RELU);
    *off = is_exact ? 0 : error;
    return out;
}

static void make_row(const struct glu_case *gc, int64_t row, double *v, double *off) {
    for (int64_t column = 0; column < gc->columns; column++)
        v[column] = made(gc, row, column, &off[column]);
}

static void expect_scales(const struct glu_case *gc, int64_t row, int64_t columns, struct expectation *e) {
    double *v = malloc(2 * (size_t)gc->columns * sizeof *v), *off = v + gc->columns;
    int64_t made = -1;
    if (!v)
        exit(2);
    for (int64_t column = 0; column < columns; column++) {
        const int64_t of = row_of_scale(&gc->out, row, column);
        e->tolerance[column] = AS_BEFORE;
        if (gc->counted && of >= gc->count)
            continue;
        if (of != made)
            make_row(gc, of, v, off);
        made = of;
        expect_scale(&gc->out, gc->type, gc->columns, v, off, row, column, &e->want[column], &e->tolerance[column]);
    }
    free(v);
}

static void expect(const struct placed_operands *placed, int operand, int64_t row, struct expectation *e) {
    const struct glu_case *gc = placed->of;
    if (operand == GLU_SCALES) {
        expect_scales(gc, row, placed->operands[operand].columns, e);
        return;
    }
    for (int64_t column = 0; column < gc->columns; column++)
        e->tolerance[column] = AS_BEFORE;
    if (gc->counted && row >= gc->count)
        return;
    make_row(gc, row, e->want, e->tolerance);
    expect_out(&gc->out, gc->type, gc->columns, e->want, e->tolerance);
}

/* ---- placing -------------------------------------------------------------------------------------------- */

static void list_operands(struct placed_glu *placed, const struct glu_case *gc) {
    const struct gm_glu_problem *p = &placed->problem;
    struct operand *o = placed->placed.operands;
    const int64_t pairs = gc->layout == GM_GLU_INTERLEAVED ? 2 : 1;
#define ARGUMENT(member) offsetof(struct gm_glu_args, member)
    o[GLU_GATE] = (struct operand){"gate",         ARGUMENT(gate), gc->type,           gc->rows, pairs * gc->columns,
                                   p->gate_stride, gc->gate_start, .value = gate_value};
    o[GLU_UP] = (struct operand){"up",        ARGUMENT(up), gc->type,     gc->layout == GM_GLU_APART ? gc->rows : 0,
                                 gc->columns, p->up_stride, gc->up_start, .value = up_value};
    o[GLU_OUT] = (struct operand){"out",         ARGUMENT(out),  type_of_out(&gc->out, gc->type),
                                  gc->rows,      gc->columns,    p->out_stride,
                                  gc->out_start, .written = true};
    o[GLU_SCALES] = scales_operand(&gc->out, ARGUMENT(scales), gc->rows, gc->columns, scale_value);
    o[GLU_COUNT] =
        (struct operand){"row_count", ARGUMENT(row_count), GM_INT32, gc->counted, 1, 1, 0, .value = count_value};
#undef ARGUMENT
    if (gc->in_place)
        o[gc->in_place == 1 ? GLU_GATE : GLU_UP].in_place_of = 1 + GLU_OUT;
}

bool place_glu(struct result *result, const struct glu_case *gc, struct operand_memory *memory,
               struct placed_glu *placed) {
    const int64_t pairs = gc->layout == GM_GLU_INTERLEAVED ? 2 : 1;
    uint8_t *const before = placed->placed.before;
    *placed = (struct placed_glu){.args = {.size = sizeof placed->args}};
    struct gm_glu_problem *p = &placed->problem;
    *p = (struct gm_glu_problem){.size = sizeof *p,
                                 .rows = gc->rows,
                                 .columns = gc->columns,
                                 .type = gc->type,
                                 .layout = gc->layout,
                                 .activation = gc->activation,
                                 .rounding = gc->rounding,
                                 .limit = gc->limit,
                                 .sigmoid_factor = gc->sigmoid_factor,
                                 .up_offset = gc->up_offset,
                                 .gate_stride = pairs * gc->columns + (gc->in_place == 1 ? gc->out_pad : gc->gate_pad),
                                 .up_stride = gc->columns + (gc->in_place == 2 ? gc->out_pad : gc->up_pad),
                                 .out_stride = gc->columns + gc->out_pad,
                                 .scales_stride = scales_stride(&gc->out, gc->rows, gc->columns),
                                 OUT_MEMBERS(gc->out)};
    placed->placed = (struct placed_operands){
        .call = {.operation = &glu_tests, .problem = &placed->problem, .args = &placed->args},
        .of = gc,
        .args = &placed->args,
        .count = GLU_OPERANDS,
        .before = before,
        .expect = expect,
    };
    list_operands(placed, gc);
    if (!place_operands(result, &placed->placed, memory))
        return false;
    p->gate_align = alignment_of(&placed->placed, GLU_GATE);
    p->up_align = alignment_of(&placed->placed, GLU_UP);
    p->out_align = alignment_of(&placed->placed, GLU_OUT);
    return true;
}

bool run_glu(struct result *result, const struct glu_case *gc, const char *kernel, uint32_t mask,
             struct operand_memory *memory) {
    const struct gm_plan_options options = {
        .size = sizeof options, .kernel = kernel, .arch_mask = mask, .sm_budget = gc->sm_budget};
    char what[480];
    struct placed_glu placed = {0};
    describe_glu(gc, what, sizeof what);
    heartbeat(what);
    const bool ok = place_glu(result, gc, memory, &placed) &&
                    run_call(result, &placed.placed.call, &options, gc->repeats, gc->may_refuse, what);
    free_placed(&placed.placed);
    return ok;
}
