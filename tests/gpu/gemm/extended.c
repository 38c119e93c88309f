/* SPDX-License-Identifier: Apache-2.0 */
/* Extended epilogues as the planner has them made, in one pass or by a quantiser or a GLU behind the GEMM: scales of 16-bit
 * operands, C of another type, residuals, the largest size, D of 8 bits with every kind of scales; and the bits of a row, which
 * are the same for every number of rows. Rows by name are in rows.c and its neighbours, by fit_variant(). */
#include <stdlib.h>
#include <string.h>

#include "gemm/gemm_tests.h"
#include "host/plan.h"
#include "workspace.h"

enum { LIMIT = 8 << 20 };

struct session {
    struct result *result;
    struct buffers buffers;
    struct guarded_workspace workspace;
};

static void end_session(struct session *s) {
    arena_free(&s->workspace.arena);
    free_buffers(&s->buffers);
}

/* ---- one case --------------------------------------------------------------------------------------------- */

/* Whether the plan has a launch behind the GEMM, before which numbers are rounded. */
static bool is_finished_behind(const gm_plan *plan) {
    return plan->steps && plan->steps->sequence.before < plan->steps->sequence.count;
}

static bool rounds(const struct placed *placed, const struct gm_plan_options *options) {
    gm_plan *plan = NULL;
    if (gm_gemm_plan_create(env.context, &placed->problem, options, &plan) != GM_OK)
        return false; /* run_call() says why */
    const bool found = is_finished_behind(plan);
    gm_plan_destroy(plan);
    return found;
}

static bool run_case(struct session *s, struct gemm_case gc, uint32_t mask, size_t limit) {
    const struct gm_plan_options options = {.size = sizeof options, .arch_mask = mask, .workspace_limit = limit};
    struct placed placed;
    char what[700];
    describe_gemm(&gc, what, sizeof what);
    heartbeat(what);
    if (!place_gemm(s->result, &gc, &s->buffers, &placed))
        return false;
    const bool behind = limit && rounds(&placed, &options);
    gc.rounded_sums = behind && gc.gate;
    gc.rounded_y = behind && !gc.gate;
    return run_call_with_workspace(s->result, &placed.call, &options, gc.repeats, gc.may_refuse, &s->workspace,
                                   gc.m % 2, &placed.args.workspace, &placed.args.workspace_bytes, what);
}

/* ---- what may be refused ------------------------------------------------------------------------------------ */

#define NO_ROOM (BIT(GM_REASON_NO_IMAGE) | BIT(GM_REASON_SMEM))
#define NO_TMA  (BIT(GM_REASON_STRIDE) | BIT(GM_REASON_ALIGNMENT) | BIT(GM_REASON_SIZE) | BIT(GM_REASON_EMPTY_K))
#define NO_SUCH (BIT(GM_REASON_EPILOGUE) | BIT(GM_REASON_LAYOUT) | BIT(GM_REASON_TYPE))

/* Kernels of sm90 take what TMA loads. Without a workspace there are no scales of rows, and of groups and of gates what one
 * kernel makes. With one, everything, but what no second kernel makes: the largest size of what a GLU gates. */
static uint32_t may_refuse(const struct gemm_case *gc, uint32_t mask, size_t limit) {
    const bool has_scales = is_quantised(gc) && gc->out.scaling != GM_SCALE_STATIC;
    if (mask == GM_ARCH_SM90)
        return NO_ROOM | NO_TMA | NO_SUCH;
    if (limit == 0)
        return gc->gate || has_scales ? NO_ROOM | NO_TMA | NO_SUCH : 0;
    return gc->gate && gc->amax ? NO_ROOM | NO_TMA | NO_SUCH : 0;
}

/* ---- random cases ------------------------------------------------------------------------------------------- */

/* One, a few, and tiles and one less and one more, primes among them. */
static int64_t draw_size(struct draws *d, bool wide) {
    static const int64_t sizes[] = {1, 2, 7, 16, 31, 63, 64, 65, 127, 128, 129, 131, 160, 192, 256, 257};
    return draw(d, 3) ? sizes[draw(d, wide ? 16 : 12)] : 1 + draw(d, wide ? 264 : 130);
}

static void draw_operands(struct draws *d, struct gemm_case *gc, bool tma) {
    const int64_t unit = gc->ab_type == GM_INT8 ? 4 : tma || draw(d, 2) ? 8 : 1;
    gc->a_pad = unit * (draw(d, 5) + (gc->k == 0)) + (unit - leading(gc, 'a') % unit) % unit;
    gc->b_pad = unit * (draw(d, 5) + (gc->k == 0)) + (unit - leading(gc, 'b') % unit) % unit;
    gc->a_offset = unit == 8 ? 0 : (int)(unit * draw(d, 4));
    gc->b_offset = unit == 8 ? 0 : (int)(unit * draw(d, 4));
    gc->d_pad = draw(d, 2) ? draw(d, 9) : 16 * draw(d, 2) + (16 - columns_of(gc) % 16) % 16;
    gc->c_pad = draw(d, 9);
    gc->r_pad = draw(d, 2) ? draw(d, 9) : gc->d_pad;
    gc->d_offset = draw(d, 2) ? (int)draw(d, 17) : 0;
    gc->c_offset = (int)draw(d, 9);
    gc->r_offset = draw(d, 2) ? (int)draw(d, 9) : gc->d_offset;
    gc->bias_offset = (int)draw(d, 4);
}

static void draw_gate(struct draws *d, struct gemm_case *gc) {
    gc->gate = draw(d, 2) ? GM_GATE_HALVES : GM_GATE_PAIRS;
    gc->a_major = gc->b_major = GM_K_MAJOR;
    gc->n = draw(d, 3) ? (gc->n + 15) / 16 * 16 : (gc->n + 1) / 2 * 2;
    gc->limit = draw(d, 2) ? 7 : 0;
    gc->up_offset = draw(d, 2) ? 1 : 0;
    gc->sigmoid_factor = draw(d, 3) ? 0 : 1.702f;
}

/* To numbers that are tiny one thing is added at most, so that it is rounded once. */
static void draw_addends(struct draws *d, struct gemm_case *gc) {
    const bool many = gc->inputs != SPECIAL;
    gc->bias = (enum gm_bias)(many ? draw(d, gc->gate ? 2 : 3) : 0);
    gc->bias_type = (enum gm_type)draw(d, 3);
    if (gc->gate)
        return;
    if (many && draw(d, 2)) {
        gc->beta = draw(d, 2) ? 0.5f : -1;
        gc->has_c_type = draw(d, 2);
        gc->c_type = (enum gm_type)draw(d, 3);
        gc->in_place = draw(d, 2) && gm_type_bytes(c_type_of(gc)) == gm_type_bytes(gc->d_type);
    }
    gc->residual = draw(d, 2);
    gc->residual_type = (enum gm_type)draw(d, 3);
    gc->residual_in_place =
        gc->residual && gc->beta == 0 && draw(d, 2) && gm_type_bytes(gc->residual_type) == gm_type_bytes(gc->d_type);
}

/* What is infinite or NaN has no activation, which could make nothing of it. */
static void draw_inputs(struct draws *d, struct gemm_case *gc) {
    static const float alphas[] = {1, 1, -0.5f, 2};
    gc->alpha = alphas[draw(d, COUNT(alphas))];
    gc->activation = draw(d, 2) ? (enum gm_activation)draw(d, 5) : GM_ACT_NONE;
    gc->inputs = draw(d, 3) ? INTEGER : NORMAL;
    if (draw(d, 6) == 0 && gc->ab_type != GM_INT8 && gc->k > 0) {
        gc->inputs = draw(d, 2) ? SPECIAL : HOLED;
        gc->activation = GM_ACT_NONE;
    }
}

/* As TMA takes its operands, and its kernels them, or as any kernel does. */
static struct gemm_case random_case(struct draws *d, bool tma) {
    struct gemm_case gc = {.m = draw_size(d, false), .n = draw_size(d, true), .k = draw_size(d, false)};
    gc.k = draw(d, 16) ? gc.k : 0;
    gc.ab_type = !tma && draw(d, 5) == 0 ? GM_INT8 : (enum gm_type)draw(d, 2);
    if (gc.ab_type != GM_INT8 && !tma && draw(d, 2)) {
        gc.a_major = (enum gm_major)draw(d, 2);
        gc.b_major = (enum gm_major)draw(d, 2);
    }
    gc.d_type = (enum gm_type)(draw(d, 2) ? GM_E4M3 + draw(d, 3) : draw(d, 3));
    gc.out = random_out(d);
    if (gc.ab_type != GM_INT8 && draw(d, 4) == 0)
        draw_gate(d, &gc);
    draw_inputs(d, &gc);
    draw_addends(d, &gc);
    draw_operands(d, &gc, tma);
    gc.a_scales = (enum gm_granularity)draw(d, 3);
    gc.b_scales = (enum gm_granularity)draw(d, 3);
    gc.zero_points = gc.ab_type == GM_INT8 && draw(d, 3) == 0;
    gc.least_amax = draw(d, 3) ? 0 : draw(d, 2) ? 0x1p20f : 3;
    gc.amax = draw(d, 2);
    gc.amax |= !is_extended(&gc);
    gc.repeats = draw(d, 4) == 0;
    return gc;
}

/* Of what is refused without a workspace a few cases only. */
static void fit_one_pass(struct draws *d, struct gemm_case *gc, uint32_t mask) {
    if (draw(d, 8) == 0)
        return;
    if (gc->out.scaling == GM_SCALE_ROW || mask == GM_ARCH_SM80)
        gc->out.scaling = GM_SCALE_STATIC;
    if (gc->gate && mask == GM_ARCH_SM80)
        gc->gate = GM_GATE_NONE;
}

static void run_random(const struct test *test, struct result *result, size_t limit) {
    struct session s = {.result = result};
    bool ok = true;
    if (lacks_sm90(test, result))
        return;
    for (int i = 0; i < (opt.self_test ? 60 : opt.quick ? 24 : env.simulated ? 120 : 600) && ok; i++) {
        struct draws d = {opt.seed ^ 0xe97 ^ (uint64_t)i << 32 ^ (limit ? 1u << 20 : 0), 0};
        struct gemm_case gc = random_case(&d, test->mask == GM_ARCH_SM90 || (test->mask == 0 && i % 3));
        if (limit == 0)
            fit_one_pass(&d, &gc, test->mask);
        gc.may_refuse = may_refuse(&gc, test->mask, limit);
        ok = run_case(&s, gc, test->mask, limit) || opt.verbose;
    }
    end_session(&s);
}

static void run_in_one_pass(const struct test *test, struct result *result) {
    run_random(test, result, 0);
}

static void run_with_workspace(const struct test *test, struct result *result) {
    run_random(test, result, LIMIT);
}

/* ---- 8 bits -------------------------------------------------------------------------------------------------- */

static const struct gemm_case bytes_of = {.m = 33,
                                          .n = 232,
                                          .k = 24,
                                          .a_pad = 8,
                                          .b_pad = 8,
                                          .d_pad = 3,
                                          .alpha = 1,
                                          .amax = true,
                                          .residual = true,
                                          .residual_type = GM_FP16,
                                          .out.static_scale = 0.25f};

/* Number i of every type with every kind of scales and every way to divide by them. */
static struct gemm_case number(int i) {
    static const enum gm_scaling scalings[] = {GM_SCALE_STATIC, GM_SCALE_ROW, GM_SCALE_GROUP, GM_SCALE_GROUP,
                                               GM_SCALE_GROUP};
    static const int64_t groups[] = {0, 0, 128, 64, 32};
    struct gemm_case gc = bytes_of;
    const int kind = i / 3 % 5, format = i / 15 % 3, order = i / 45 % 2, division = i / 90;
    gc.ab_type = (enum gm_type)(i % 2);
    gc.inputs = i % 7 == 6 ? NORMAL : INTEGER;
    gc.d_type = (enum gm_type)(GM_E4M3 + i % 3);
    gc.out.scaling = scalings[kind];
    gc.out.group = groups[kind];
    gc.out.format = gc.out.scaling == GM_SCALE_STATIC ? GM_SCALE_FP32 : (enum gm_scale_format)format;
    gc.out.order = (enum gm_scale_order)order;
    gc.out.division = (enum gm_division)division;
    gc.out.scales_pad = i % 2;
    gc.out.floor = i % 11 == 10 ? 0.25f : 0;
    return gc;
}

static void run_bytes(const struct test *test, struct result *result) {
    enum { ALL = 3 * 5 * 3 * 2 * 2, SCATTER = 4 }; /* which leaves no remainder of any factor but 2 out */
    struct session s = {.result = result};
    for (int i = 0; i < ALL; i += opt.quick || opt.self_test ? SCATTER : 1)
        if (!run_case(&s, number((i + i / 16 % SCATTER) % ALL), test->mask, LIMIT))
            break;
    end_session(&s);
}

/* Groups that a kernel of sm90 has whole: none may be refused for want of a workspace. */
static void run_groups(const struct test *test, struct result *result) {
    static const int64_t sizes[][2] = {{1, 128}, {65, 256}, {129, 640}, {200, 144}, {64, 32}};
    struct session s = {.result = result};
    bool ok = true;
    (void)test;
    if (env.device.cc_major != 9 || env.device.cc_minor != 0) {
        skip(result, "kernels that make scales of groups want compute capability 9.0");
        return;
    }
    for (int i = 0; i < (opt.quick ? 10 : 30) && ok; i++) {
        struct gemm_case gc = number(6 + i * 3 % 9 + i / 2 % 3 + i / 3 % 6 * 15);
        const bool gate = i % 3 == 2;
        gc.out.group = i % 2 ? 128 : 0;
        gc.m = sizes[i % 5][0];
        gc.n = sizes[i % 5][1] << gate;
        gc.k = i % 2 ? 136 : 64;
        gc.d_pad = i % 4 == 3 ? 16 : 0;
        gc.gate = gate ? GM_GATE_HALVES : GM_GATE_NONE;
        gc.activation = gate ? GM_ACT_SILU : GM_ACT_NONE;
        gc.residual = !gate;
        gc.out.division = i % 4 == 1 ? GM_DIVIDE_BY_RECIPROCAL : GM_DIVIDE;
        gc.r_pad = i % 2;
        gc.may_refuse = NO_ROOM;
        ok = run_case(&s, gc, 0, 0);
    }
    end_session(&s);
}

/* ---- what is easily got wrong ----------------------------------------------------------------------------------- */

static const struct gemm_case specials[] = {
    /* D in the residual's place, of each type, with an odd stride and without. */
    {.m = 65, .n = 72, .k = 40, .alpha = 1, .residual = true, .residual_in_place = true, .d_pad = 8},
    {.m = 65,
     .n = 73,
     .k = 40,
     .alpha = 1,
     .residual = true,
     .residual_in_place = true,
     .d_pad = 2,
     .ab_type = GM_FP16,
     .d_type = GM_FP16,
     .residual_type = GM_FP16,
     .activation = GM_ACT_RELU},
    {.m = 33,
     .n = 130,
     .k = 40,
     .alpha = 1,
     .residual = true,
     .residual_in_place = true,
     .d_type = GM_FP32,
     .residual_type = GM_FP32,
     .amax = true,
     .bias = GM_BIAS_M,
     .bias_type = GM_FP32},
    {.m = 33, .n = 64, .k = 40, .alpha = 1, .residual = true, .residual_in_place = true, .residual_type = GM_FP16},
    /* The residual is added behind the activation, C before it. */
    {.m = 40,
     .n = 64,
     .k = 24,
     .alpha = 1,
     .beta = 1,
     .residual = true,
     .activation = GM_ACT_RELU,
     .has_c_type = true,
     .c_type = GM_FP32},
    {.m = 40, .n = 64, .k = 24, .alpha = 1, .residual = true, .residual_type = GM_FP32, .activation = GM_ACT_SILU},
    /* C that is not read is NaN, of another type. */
    {.m = 40, .n = 61, .k = 24, .alpha = 1, .c_is_nan = true, .has_c_type = true, .c_type = GM_FP16},
    {.m = 40, .n = 61, .k = 24, .alpha = 1, .c_is_nan = true, .d_type = GM_INT8, .out.static_scale = 1},
    /* What amax holds, and NaN, which wins, in D of every kind. */
    {.m = 70, .n = 90, .k = 24, .alpha = 1, .amax = true, .least_amax = 0x1p30f},
    {.m = 70, .n = 90, .k = 24, .alpha = 1, .amax = true, .least_amax = 0x1p30f, .inputs = HOLED},
    {.m = 40, .n = 128, .k = 24, .alpha = 1, .amax = true, .inputs = HOLED, .d_type = GM_E4M3, .out.static_scale = 2},
    {.m = 40, .n = 128, .k = 24, .alpha = 1, .amax = true, .inputs = HOLED, .d_type = GM_INT8, .out.static_scale = 2},
    {.m = 40,
     .n = 128,
     .k = 24,
     .alpha = 1,
     .amax = true,
     .inputs = HOLED,
     .d_type = GM_E4M3,
     .out = {.scaling = GM_SCALE_GROUP, .format = GM_SCALE_E8M0}},
    {.m = 40,
     .n = 100,
     .k = 24,
     .alpha = 1,
     .amax = true,
     .inputs = HOLED,
     .d_type = GM_E5M2,
     .out = {.scaling = GM_SCALE_ROW}},
    /* A static scale that is no scale makes NaN, or in int8 zeros. */
    {.m = 20, .n = 40, .k = 24, .alpha = 1, .d_type = GM_E4M3, .out.static_scale = 0},
    {.m = 20, .n = 40, .k = 24, .alpha = 1, .d_type = GM_INT8, .out.static_scale = -1},
    /* Sizes of one, and a K of none. */
    {.m = 1, .n = 1, .k = 1, .alpha = 1, .amax = true, .residual = true, .d_type = GM_E4M3, .out.static_scale = 1},
    {.m = 129, .n = 1, .k = 33, .alpha = 1, .amax = true, .residual = true, .a_scales = GM_PER_ROW},
    {.m = 1,
     .n = 257,
     .k = 33,
     .alpha = 1,
     .amax = true,
     .b_scales = GM_PER_ROW,
     .d_type = GM_E5M2,
     .out.static_scale = 1},
    {.m = 40,
     .n = 72,
     .k = 0,
     .alpha = 1,
     .amax = true,
     .residual = true,
     .d_type = GM_E4M3,
     .out = {.scaling = GM_SCALE_GROUP}},
    {.m = 40, .n = 72, .k = 0, .alpha = 1, .beta = 2, .amax = true, .has_c_type = true, .c_type = GM_FP32},
    {.m = 40, .n = 0, .k = 8, .alpha = 1, .amax = true, .least_amax = 5},
    {.m = 0, .n = 40, .k = 8, .alpha = 1, .residual = true},
    /* Each scale by itself; beside a gate those of ups are not those of gates. */
    {.m = 75, .n = 140, .k = 72, .alpha = 1, .a_scales = GM_PER_ROW},
    {.m = 75, .n = 140, .k = 72, .alpha = 1, .b_scales = GM_PER_ROW},
    {.m = 75, .n = 140, .k = 72, .alpha = 1, .a_scales = GM_PER_TENSOR, .b_scales = GM_PER_ROW, .bias = GM_BIAS_N},
    {.m = 75, .n = 160, .k = 72, .alpha = -0.5f, .b_scales = GM_PER_ROW, .gate = GM_GATE_HALVES, .bias = GM_BIAS_N},
    {.m = 75, .n = 160, .k = 72, .alpha = 1, .a_scales = GM_PER_ROW, .b_scales = GM_PER_ROW, .gate = GM_GATE_PAIRS},
    {.m = 20,
     .n = 96,
     .k = 40,
     .alpha = 1,
     .ab_type = GM_INT8,
     .a_scales = GM_PER_ROW,
     .b_scales = GM_PER_ROW,
     .d_type = GM_INT8,
     .amax = true,
     .zero_points = true,
     .out.static_scale = 4},
    {.m = 20,
     .n = 96,
     .k = 40,
     .alpha = 1,
     .ab_type = GM_INT8,
     .a_scales = GM_PER_ROW,
     .b_scales = GM_PER_TENSOR,
     .d_type = GM_INT8,
     .out = {.scaling = GM_SCALE_ROW}},
};

static void run_specials(const struct test *test, struct result *result) {
    struct session s = {.result = result};
    for (size_t i = 0; i < COUNT(specials); i++)
        if (!run_case(&s, specials[i], test->mask, LIMIT) && !opt.verbose)
            break;
    end_session(&s);
}

/* ---- one row's bits --------------------------------------------------------------------------------------------- */

enum { ROW = 2, COLUMNS = 256, DEPTH = 328, ROW_BYTES = 2 * COLUMNS };

/* Of a row of D, and of its scales. */
struct bits {
    uint8_t d[ROW_BYTES], scales[ROW_BYTES];
};

static const struct gemm_case rows_of[] = {
    {.d_type = GM_BF16, .residual = true, .residual_type = GM_FP32, .a_scales = GM_PER_ROW, .b_scales = GM_PER_ROW},
    {.d_type = GM_E4M3, .amax = true, .activation = GM_ACT_GELU_TANH, .out.static_scale = 0.25f},
    {.d_type = GM_E4M3, .out = {.scaling = GM_SCALE_GROUP}},
    {.d_type = GM_INT8, .residual = true, .out = {.scaling = GM_SCALE_ROW}},
    {.d_type = GM_E4M3, .gate = GM_GATE_HALVES, .activation = GM_ACT_SILU, .out = {.scaling = GM_SCALE_GROUP}},
};

/* Where the scales of a row lie, and how long they are: 0 where there are none that are written. */
static size_t scales_of_row(const struct placed *placed, size_t *bytes) {
    const struct operand *o = &placed->scales;
    const size_t one = o->rows ? (size_t)gm_type_bytes(o->type) : 0;
    const bool each_has_one = placed->gc->out.scaling == GM_SCALE_ROW;
    *bytes = o->rows && o->written ? (each_has_one ? 1 : (size_t)o->columns) * one : 0;
    return ROW * (each_has_one ? 1 : (size_t)o->stride) * one;
}

static bool read_row(struct result *result, const struct placed *placed, struct bits *bits, const char *what) {
    const size_t element = (size_t)gm_type_bytes(placed->gc->d_type),
                 d_at = ROW * (size_t)placed->problem.ldd * element;
    size_t scale_bytes;
    const size_t scales_at = scales_of_row(placed, &scale_bytes);
    memset(bits, 0, sizeof *bits);
    return check_cuda(result, env.drv->cuMemcpyDtoH(bits->d, placed->args.d + d_at, COLUMNS * element), what) &&
           (scale_bytes == 0 ||
            check_cuda(result, env.drv->cuMemcpyDtoH(bits->scales, placed->args.d_scales + scales_at, scale_bytes),
                       what));
}

static struct gemm_case case_of_rows(size_t number, int64_t m) {
    struct gemm_case gc = rows_of[number];
    gc.m = m;
    gc.n = gc.gate ? 2 * COLUMNS : COLUMNS;
    gc.k = DEPTH;
    gc.alpha = 0.75f;
    gc.inputs = NORMAL;
    return gc;
}

static bool row_bits(struct session *s, struct gemm_case gc, uint32_t mask, struct bits *bits) {
    const struct gm_plan_options options = {
        .size = sizeof options, .arch_mask = mask, .flags = GM_PLAN_BATCH_INVARIANT, .workspace_limit = LIMIT};
    struct placed placed;
    gm_plan *plan = NULL;
    char what[700];
    describe_gemm(&gc, what, sizeof what);
    heartbeat(what);
    bool ok = place_gemm(s->result, &gc, &s->buffers, &placed) &&
              check_ok(s->result, gm_gemm_plan_create(env.context, &placed.problem, &options, &plan), what) &&
              place_workspace(s->result, &s->workspace, gm_plan_workspace_bytes(plan), true);
    const bool behind = ok && is_finished_behind(plan);
    gc.rounded_sums = behind && gc.gate;
    gc.rounded_y = behind && !gc.gate;
    placed.args.workspace = s->workspace.address;
    placed.args.workspace_bytes = s->workspace.bytes;
    ok = ok && check_ok(s->result, gm_gemm_execute(plan, &placed.args, env.stream), what) &&
         check_cuda(s->result, env.drv->cuStreamSynchronize(env.stream), what) &&
         check_output(s->result, &placed.call, what) && read_row(s->result, &placed, bits, what);
    gm_plan_destroy(plan);
    return ok;
}

static void run_rows(const struct test *test, struct result *result) {
    static const int64_t most[] = {3, 16, 64, 65, 129, 300, 777};
    const size_t count = !env.simulated ? COUNT(most) : opt.quick ? 5 : 6;
    struct session s = {.result = result};
    struct bits first, bits;
    if (opt.self_test) {
        skip(result, "the stand-in's sums are the CPU's");
        return;
    }
    for (size_t c = 0; c < COUNT(rows_of); c++)
        for (size_t i = 0; i < count && result->state == PASSED; i++) {
            if (!row_bits(&s, case_of_rows(c, most[i]), test->mask, i ? &bits : &first))
                break;
            result->cases++;
            if (i && memcmp(&first, &bits, sizeof bits) != 0)
                fail(result, "case %zu: a row of %lld has other bits than of %lld", c, (long long)most[i],
                     (long long)most[0]);
        }
    end_session(&s);
}

void add_gemm_extended_tests(void) {
    add_test("extended", "random_sm80", run_in_one_pass, -1, GM_ARCH_SM80);
    add_test("extended", "random_sm90", run_in_one_pass, -1, GM_ARCH_SM90);
    add_test("extended", "random_all", run_in_one_pass, -1, 0);
    add_test("extended", "random_with_workspace_sm80", run_with_workspace, -1, GM_ARCH_SM80);
    add_test("extended", "random_with_workspace_all", run_with_workspace, -1, 0);
    add_test("extended", "every_kind_of_8_bits_sm80", run_bytes, -1, GM_ARCH_SM80);
    add_test("extended", "every_kind_of_8_bits_all", run_bytes, -1, 0);
    add_test("extended", "groups_in_one_pass", run_groups, -1, 0);
    add_test("extended", "what_is_easily_got_wrong_sm80", run_specials, -1, GM_ARCH_SM80);
    add_test("extended", "what_is_easily_got_wrong_all", run_specials, -1, 0);
    add_test("extended", "an_extended_row_has_the_same_bits_sm80", run_rows, -1, GM_ARCH_SM80);
    add_test("extended", "an_extended_row_has_the_same_bits_all", run_rows, -1, 0);
}
