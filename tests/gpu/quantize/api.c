/* SPDX-License-Identifier: Apache-2.0 */
/* Quantisers through the public functions: the planner chooses. Random problems, a tensor's scale by two calls, operands of
 * more than 2^31 elements, and wrong use. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "quantize/quantize_tests.h"

/* ---- random problems ----------------------------------------------------------------------------------- */

static struct quantize_case random_case(struct draws *d) {
    static const int64_t widths[] = {1, 8, 64, 100, 128, 257, 512, 1000, 1024, 2880, 7168, 14336, 20000};
    const int64_t most = env.simulated || opt.quick ? 9 : 13;
    struct quantize_case qc = {
        .rows = 1 + draw(d, 9), .columns = widths[draw(d, most)], .type = (enum gm_type)draw(d, 3)};
    qc.out_type = (enum gm_type)(GM_E4M3 + draw(d, 3));
    qc.scaling = (enum gm_scaling)draw(d, 5);
    qc.format = (enum gm_scale_format)draw(d, qc.scaling == GM_SCALE_AMAX_ONLY ? 2 : 3);
    qc.format = qc.scaling == GM_SCALE_STATIC ? GM_SCALE_FP32 : qc.format;
    qc.order = (enum gm_scale_order)draw(d, 2);
    qc.division = (enum gm_division)(draw(d, 4) == 0);
    qc.group = draw(d, 2) ? 0 : 32 << draw(d, 3);
    qc.inputs = (enum quantize_inputs)draw(d, QUANTIZE_INPUTS);
    qc.floor = draw(d, 4) ? 0 : 1.0f / (448 * 512);
    qc.static_scale = qc.scaling == GM_SCALE_AMAX_ONLY
                          ? (float)draw(d, 2)
                          : (float)ldexp(1 + 0x1p-10 * (double)draw(d, 1024), (int)draw(d, 200) - 100);
    qc.rows += qc.scaling == GM_SCALE_BLOCK ? draw(d, 130) : 0;
    qc.columns = qc.scaling == GM_SCALE_BLOCK && qc.columns > 300 ? 264 : qc.columns;
    qc.counted = draw(d, 4) == 0;
    qc.count = (int)draw(d, 10);
    qc.seed = d->index;
    qc.scales_pad = draw(d, 4);
    if (draw(d, 3) == 0) {
        qc.x_start = (int)draw(d, 8);
        qc.out_start = (int)draw(d, 16);
        qc.scales_start = (int)draw(d, 8);
        qc.x_pad = draw(d, 9);
        qc.out_pad = draw(d, 9);
    }
    return qc;
}

static void run_fuzz(const struct test *test, struct result *result) {
    struct draws draws = {opt.seed ^ 0xf8, 0};
    struct operand_memory memory = {0};
    for (int i = 0; i < (opt.quick ? 40 : env.simulated ? 120 : 500); i++) {
        struct quantize_case qc = random_case(&draws);
        qc.may_refuse = test->mask == GM_ARCH_SM90 ? BIT(GM_REASON_NO_IMAGE) : 0;
        if (!run_quantize(result, &qc, NULL, test->mask, &memory))
            break;
    }
    free_operands(&memory);
}

/* ---- bytes, written down ------------------------------------------------------------------------------- */

/* fp32 numbers by scale 1, and what the types make of them: what other libraries get wrong. */
static const struct {
    float x;
    uint8_t e4m3, e5m2, int8;
} known[] = {
    {448, 0x7e, 0x5f, 127},     {464, 0x7e, 0x5f, 127},        {465, 0x7e, 0x5f, 127},   {480, 0x7e, 0x60, 127},
    {1e30f, 0x7e, 0x7b, 127},   {INFINITY, 0x7e, 0x7b, 127},   {57344, 0x7e, 0x7b, 127}, {-INFINITY, 0xfe, 0xfb, 0x81},
    {-65536, 0xfe, 0xfb, 0x81}, {NAN, 0x7f, 0x7f, 0},          {-0.0f, 0x80, 0x80, 0},   {0, 0, 0, 0},
    {0x1p-10f, 0, 0x14, 0},     {0x1.000002p-10f, 1, 0x14, 0}, {2.5f, 0x42, 0x41, 2},    {-0x1.8p-9f, 0x82, 0x9a, 0},
};

static void check_known(struct result *result, CUdeviceptr memory, enum gm_type out_type, uint32_t mask) {
    struct {
        float scale, x[COUNT(known)];
        uint8_t out[COUNT(known)];
    } host = {.scale = 1};
    const struct gm_quantize_problem problem = {.size = sizeof problem,
                                                .rows = 1,
                                                .columns = COUNT(known),
                                                .type = GM_FP32,
                                                .out_type = out_type,
                                                .x_align = 4,
                                                .out_align = 4};
    const struct gm_quantize_args args = {sizeof args, memory + 4, memory + 4 + sizeof host.x, memory, 0};
    const struct gm_plan_options options = {.size = sizeof options, .arch_mask = mask};
    gm_plan *plan = NULL;
    for (size_t i = 0; i < COUNT(known); i++)
        host.x[i] = known[i].x;
    if (check_ok(result, gm_quantize_plan_create(env.context, &problem, &options, &plan), "plan") &&
        to_device(result, memory, &host, sizeof host) &&
        check_ok(result, gm_quantize_execute(plan, &args, env.stream), "execute") &&
        check_cuda(result, env.drv->cuStreamSynchronize(env.stream), "execute") &&
        check_cuda(result, env.drv->cuMemcpyDtoH(&host, memory, sizeof host), "copy"))
        for (size_t i = 0; i < COUNT(known); i++) {
            const uint8_t want = out_type == GM_E4M3   ? known[i].e4m3
                                 : out_type == GM_E5M2 ? known[i].e5m2
                                                       : known[i].int8;
            if (host.out[i] != want)
                fail(result, "%g to %s: 0x%02x, want 0x%02x", (double)known[i].x, gm_type_name(out_type), host.out[i],
                     want);
            result->cases++;
        }
    gm_plan_destroy(plan);
}

static void run_known(const struct test *test, struct result *result) {
    struct arena arena = {0};
    if (test->mask == GM_ARCH_SM90 && env.device.cc_major != 9) {
        skip(result, "kernels of sm90 want compute capability 9.0");
        return;
    }
    const CUdeviceptr memory = arena_take(result, &arena, 4096);
    for (int type = GM_E4M3; type <= GM_INT8 && memory; type++)
        check_known(result, memory, (enum gm_type)type, test->mask);
    arena_free(&arena);
}

/* ---- one scale for a tensor ---------------------------------------------------------------------------- */

/* Its largest size by one call, and out by another, behind it on the stream. */
static void run_tensor(const struct test *test, struct result *result) {
    struct quantize_case qc = {.rows = 37, .columns = 520, .out_type = GM_E4M3, .inputs = QUANTIZE_NORMAL, .times = 3};
    struct operand_memory memory = {0};
    struct placed_quantize placed = {0};
    (void)test;
    float amax = 0;
    qc.static_scale = 1; /* for now */
    if (place_quantize(result, &qc, &memory, &placed)) {
        const struct operand *x = &placed.placed.operands[QUANTIZE_X];
        for (int64_t row = 0; row < qc.rows; row++)
            for (int64_t column = 0; column < qc.columns; column++)
                amax = fmaxf(amax, (float)fabs(x->value(&qc, row, column)));
        placed.scales[0] = amax / 448;
        struct gm_quantize_problem find = placed.problem;
        struct gm_quantize_args args = placed.args;
        find.scaling = GM_SCALE_AMAX_ONLY;
        args.out = 0;
        if (check_cuda(result, env.drv->cuMemsetD8(placed.args.scales, 0, 4), "zero") &&
            check_cuda(result, env.drv->cuCtxSynchronize(), "zero") &&
            check_ok(result, gm_quantize(env.context, &find, &args, env.stream), "amax") &&
            check_ok(result, gm_quantize(env.context, &placed.problem, &placed.args, env.stream), "static") &&
            check_cuda(result, env.drv->cuStreamSynchronize(env.stream), "static"))
            result->cases += check_output(result, &placed.placed.call, "a tensor");
    }
    free_quantize(&placed);
    free_operands(&memory);
}

/* ---- many elements ------------------------------------------------------------------------------------- */

enum { LARGE_COLUMNS = 4096, BLOCK = 1024 };

/* x has more than 2^31 elements, a block of rows repeated; `align`: 2, by elements. The scales lie behind out. */
static void large(struct result *result, CUdeviceptr x, CUdeviceptr out, int64_t rows, enum gm_scaling scaling,
                  int32_t align) {
    const struct quantize_case qc = {.rows = BLOCK,
                                     .columns = LARGE_COLUMNS,
                                     .out_type = GM_E4M3,
                                     .scaling = scaling,
                                     .static_scale = 0.0123f,
                                     .inputs = QUANTIZE_NORMAL};
    const size_t block_bytes = (size_t)BLOCK * LARGE_COLUMNS;
    struct operand_memory memory = {0};
    struct placed_quantize placed = {0};
    uint8_t *block = malloc(block_bytes);
    bool ok = block && place_quantize(result, &qc, &memory, &placed) &&
              check_ok(result, gm_quantize(env.context, &placed.problem, &placed.args, env.stream), "block") &&
              check_cuda(result, env.drv->cuStreamSynchronize(env.stream), "block") &&
              check_output(result, &placed.placed.call, "block") &&
              check_cuda(result, env.drv->cuMemcpyDtoH(block, placed.args.out, block_bytes), "copy");
    ok = ok && repeat_rows(result, x, rows, LARGE_COLUMNS * 2, placed.args.x, BLOCK);
    placed.problem.rows = rows;
    placed.problem.scales_stride = 0;
    placed.problem.x_align = placed.problem.out_align = align;
    placed.args.x = x;
    placed.args.out = out;
    if (scaling != GM_SCALE_STATIC)
        placed.args.scales = out + (uint64_t)rows * LARGE_COLUMNS;
    if (ok && check_ok(result, gm_quantize(env.context, &placed.problem, &placed.args, env.stream), "large") &&
        check_cuda(result, env.drv->cuStreamSynchronize(env.stream), "large"))
        check_repeated_rows(result, out, rows, LARGE_COLUMNS, LARGE_COLUMNS, block, BLOCK);
    free(block);
    free_quantize(&placed);
    free_operands(&memory);
}

static void run_large(const struct test *test, struct result *result) {
    const int64_t rows = (INT64_C(1) << 31) / LARGE_COLUMNS + BLOCK;
    const size_t elements = (size_t)rows * LARGE_COLUMNS;
    const CUdeviceptr x = take_large(result, elements * 2 + elements + elements / 16);
    (void)test;
    if (!x)
        return;
    for (int scaling = GM_SCALE_STATIC; scaling <= GM_SCALE_BLOCK; scaling++)
        if (scaling != GM_SCALE_AMAX_ONLY) {
            large(result, x, x + elements * 2, rows, (enum gm_scaling)scaling, 16);
            large(result, x, x + elements * 2, rows, (enum gm_scaling)scaling, 2);
        }
    env.drv->cuMemFree(x);
}

/* ---- wrong use ----------------------------------------------------------------------------------------- */

static void run_arguments(const struct test *test, struct result *result) {
    const struct quantize_case qc = {
        .rows = 5, .columns = 64, .out_type = GM_E4M3, .scaling = GM_SCALE_ROW, .out_pad = 8, .x_pad = 8};
    struct operand_memory memory = {0};
    struct placed_quantize placed = {0};
    gm_plan *plan = NULL;
    (void)test;
    if (place_quantize(result, &qc, &memory, &placed) &&
        check_ok(result, gm_quantize_plan_create(env.context, &placed.problem, NULL, &plan), "plan")) {
        const struct gm_quantize_args good = placed.args;
        const struct {
            const char *what;
            struct gm_quantize_args args;
            enum gm_status want;
        } bad[] = {
#define ARGS(...) {sizeof good, __VA_ARGS__}
            {"x null", ARGS(0, good.out, good.scales, 0), GM_ERROR_INVALID_ARGUMENT},
            {"out null", ARGS(good.x, 0, good.scales, 0), GM_ERROR_INVALID_ARGUMENT},
            {"scales null", ARGS(good.x, good.out, 0, 0), GM_ERROR_INVALID_ARGUMENT},
            {"x at 8, 16 promised", ARGS(good.x + 8, good.out, good.scales, 0), GM_ERROR_MISALIGNED},
            {"scales at 2", ARGS(good.x, good.out, good.scales + 2, 0), GM_ERROR_MISALIGNED},
            {"row_count at 2", ARGS(good.x, good.out, good.scales, good.x + 2), GM_ERROR_MISALIGNED},
            {"out in x", ARGS(good.x, good.x, good.scales, 0), GM_ERROR_OVERLAP},
            {"scales in x", ARGS(good.x, good.out, good.x + 16, 0), GM_ERROR_OVERLAP},
            {"scales in out", ARGS(good.x, good.out, good.out, 0), GM_ERROR_OVERLAP},
            {"row_count in out", ARGS(good.x, good.out, good.scales, good.out), GM_ERROR_OVERLAP},
#undef ARGS
            {"an old struct", {.size = 8}, GM_ERROR_SIZE}};
        for (size_t i = 0; i < COUNT(bad); i++)
            check_refusal(result, gm_quantize_execute(plan, &bad[i].args, env.stream), bad[i].want, bad[i].what);
        check_unwritten(result, &placed.placed.call, "after refused executes");
    }
    gm_plan_destroy(plan);
    free_quantize(&placed);
    free_operands(&memory);
}

/* Nothing is launched, and nothing is looked at. */
static void run_empty(const struct test *test, struct result *result) {
    const struct gm_quantize_problem problem = {.size = sizeof problem, .columns = 64};
    const struct gm_quantize_args args = {.size = sizeof args};
    (void)test;
    result->cases += check_ok(result, gm_quantize(env.context, &problem, &args, env.stream), "no rows");
}

void add_quantize_api_tests(void) {
    add_test("api", "quantize_fuzz_sm80", run_fuzz, -1, GM_ARCH_SM80);
    add_test("api", "quantize_fuzz_sm90", run_fuzz, -1, GM_ARCH_SM90);
    add_test("api", "quantize_to_known_bytes_sm80", run_known, -1, GM_ARCH_SM80);
    add_test("api", "quantize_to_known_bytes_sm90", run_known, -1, GM_ARCH_SM90);
    add_test("api", "quantize_a_tensor_by_two_calls", run_tensor, -1, 0);
    add_test("api", "quantize_of_no_rows", run_empty, -1, 0);
    add_test("api", "quantize_of_more_than_2_to_the_31_elements", run_large, -1, 0);
    add_test("badinput", "quantize_arguments", run_arguments, -1, 0);
}
