/* SPDX-License-Identifier: Apache-2.0 */
/* dequantize through the public functions: the planner chooses. Random problems, what quantize has made, operands of more than
 * 2^31 elements, and wrong use. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dequantize/dequantize_tests.h"

/* ---- random problems ----------------------------------------------------------------------------------- */

static struct dequantize_case random_case(struct draws *d) {
    static const int64_t widths[] = {1, 8, 64, 100, 128, 257, 512, 1000, 1024, 2880, 7168, 14336};
    const int64_t most = env.simulated || opt.quick ? 9 : 12;
    struct dequantize_case dc = {
        .rows = 1 + draw(d, 9), .columns = widths[draw(d, most)], .out_type = (enum gm_type)draw(d, 3)};
    dc.type = (enum gm_type)(GM_E4M3 + draw(d, 3));
    dc.scaling = (enum gm_scaling)draw(d, 5);
    dc.scaling = dc.scaling == GM_SCALE_AMAX_ONLY ? GM_SCALE_GROUP : dc.scaling;
    dc.format = (enum gm_scale_format)draw(d, 3);
    dc.order = (enum gm_scale_order)draw(d, 2);
    dc.group = draw(d, 2) ? 0 : 32 << draw(d, 3);
    dc.inputs = (enum dequantize_inputs)draw(d, DEQUANTIZE_INPUTS);
    dc.rows += dc.scaling == GM_SCALE_BLOCK ? draw(d, 130) : 0;
    dc.columns = dc.scaling == GM_SCALE_BLOCK && dc.columns > 300 ? 264 : dc.columns;
    dc.counted = draw(d, 4) == 0;
    dc.count = (int)draw(d, 10);
    dc.seed = d->index;
    dc.scales_pad = draw(d, 4);
    if (draw(d, 3) == 0) {
        dc.x_start = (int)draw(d, 16);
        dc.out_start = (int)draw(d, 8);
        dc.scales_start = (int)draw(d, 8);
        dc.x_pad = draw(d, 9);
        dc.out_pad = draw(d, 9);
    }
    return dc;
}

static void run_fuzz(const struct test *test, struct result *result) {
    struct draws draws = {opt.seed ^ 0xdf8, 0};
    struct operand_memory memory = {0};
    for (int i = 0; i < (opt.quick ? 40 : env.simulated ? 80 : 500); i++) {
        struct dequantize_case dc = random_case(&draws);
        dc.may_refuse = test->mask == GM_ARCH_SM90 ? BIT(GM_REASON_NO_IMAGE) : 0;
        if (!run_dequantize(result, &dc, NULL, test->mask, &memory))
            break;
    }
    free_operands(&memory);
}

/* ---- there and back ------------------------------------------------------------------------------------ */

enum { BACK_ROWS = 130, BACK_COLUMNS = 264, BACK_ELEMENTS = BACK_ROWS * BACK_COLUMNS };
struct back {
    float x[BACK_ELEMENTS], out[BACK_ELEMENTS], scales[BACK_ROWS * 8];
    uint8_t q[BACK_ELEMENTS];
};

/* What quantize makes is read with the same members, and is as near to x as out's type and the scale allow. */
static void check_back(struct result *result, CUdeviceptr memory, struct back *host, enum gm_scaling scaling,
                       enum gm_scale_format format, enum gm_scale_order order) {
    const struct gm_quantize_problem there = {.size = sizeof there,
                                              .rows = BACK_ROWS,
                                              .columns = BACK_COLUMNS,
                                              .group = 64,
                                              .type = GM_FP32,
                                              .scaling = scaling,
                                              .scale_format = format,
                                              .scale_order = order};
    const struct gm_dequantize_problem back = {.size = sizeof back,
                                               .rows = BACK_ROWS,
                                               .columns = BACK_COLUMNS,
                                               .group = 64,
                                               .out_type = GM_FP32,
                                               .scaling = scaling,
                                               .scale_format = format,
                                               .scale_order = order};
#define AT(member) (memory + offsetof(struct back, member))
    const struct gm_quantize_args there_args = {sizeof there_args, AT(x), AT(q), AT(scales), 0};
    const struct gm_dequantize_args back_args = {sizeof back_args, AT(q), AT(out), AT(scales), 0};
#undef AT
    if (!to_device(result, memory, host, sizeof *host) ||
        !check_ok(result, gm_quantize(env.context, &there, &there_args, env.stream), "quantize") ||
        !check_ok(result, gm_dequantize(env.context, &back, &back_args, env.stream), "dequantize") ||
        !check_cuda(result, env.drv->cuStreamSynchronize(env.stream), "dequantize") ||
        !check_cuda(result, env.drv->cuMemcpyDtoH(host, memory, sizeof *host), "copy"))
        return;
    for (int i = 0; i < BACK_ELEMENTS; i++)
        if (!(fabsf(host->out[i] - host->x[i]) <= 0x1p-4f * fabsf(host->x[i]) + 0x1p-8f)) {
            fail(result, "scaling %d format %d order %d: %g came back as %g", scaling, format, order,
                 (double)host->x[i], (double)host->out[i]);
            return;
        }
    result->cases++;
}

static void run_back(const struct test *test, struct result *result) {
    struct back *host = calloc(1, sizeof *host);
    struct arena arena = {0};
    const CUdeviceptr memory = arena_take(result, &arena, sizeof *host);
    (void)test;
    for (int i = 0; i < BACK_ELEMENTS && host; i++)
        host->x[i] = (float)hash_normal(opt.seed, (uint64_t)i) * (1 + (float)(i % 7));
    for (int scaling = GM_SCALE_ROW; scaling <= GM_SCALE_BLOCK && memory && host; scaling++)
        for (int choice = 0; choice < 6; choice++)
            check_back(result, memory, host, (enum gm_scaling)scaling, (enum gm_scale_format)(choice % 3),
                       (enum gm_scale_order)(choice / 3));
    arena_free(&arena);
    free(host);
}

/* ---- many elements ------------------------------------------------------------------------------------- */

enum { LARGE_COLUMNS = 4096, BLOCK = 1024 };

/* x has more than 2^31 elements, a block of rows repeated; `align`: 2, by elements. */
static void large(struct result *result, CUdeviceptr x, int64_t rows, enum gm_scaling scaling, int32_t align) {
    const struct dequantize_case dc = {.rows = BLOCK, .columns = LARGE_COLUMNS, .inputs = DEQUANTIZE_ONE_SCALE};
    const size_t elements = (size_t)rows * LARGE_COLUMNS, block_bytes = (size_t)BLOCK * LARGE_COLUMNS * 2;
    const CUdeviceptr out = x + elements, scales = out + 2 * elements;
    struct operand_memory memory = {0};
    struct placed_dequantize placed = {0};
    uint8_t *block = malloc(block_bytes);
    bool ok = block && place_dequantize(result, &dc, &memory, &placed) &&
              check_ok(result, gm_dequantize(env.context, &placed.problem, &placed.args, env.stream), "block") &&
              check_cuda(result, env.drv->cuStreamSynchronize(env.stream), "block") &&
              check_output(result, &placed.placed.call, "block") &&
              check_cuda(result, env.drv->cuMemcpyDtoH(block, placed.args.out, block_bytes), "copy");
    ok = ok && repeat_rows(result, x, rows, LARGE_COLUMNS, placed.args.x, BLOCK) &&
         check_cuda(result, env.drv->cuMemsetD8(scales, 0x3f, elements / 4), "scales") &&
         check_cuda(result, env.drv->cuCtxSynchronize(), "scales"); /* env.stream does not wait for it */
    placed.problem.rows = rows;
    placed.problem.scaling = scaling;
    placed.problem.scales_stride = 0;
    placed.problem.x_align = placed.problem.out_align = align;
    placed.args = (struct gm_dequantize_args){sizeof placed.args, x, out, scales, 0};
    if (ok && check_ok(result, gm_dequantize(env.context, &placed.problem, &placed.args, env.stream), "large") &&
        check_cuda(result, env.drv->cuStreamSynchronize(env.stream), "large"))
        check_repeated_rows(result, out, rows, LARGE_COLUMNS * 2, LARGE_COLUMNS, block, BLOCK);
    free(block);
    free_placed(&placed.placed);
    free_operands(&memory);
}

static void run_large(const struct test *test, struct result *result) {
    const int64_t rows = (INT64_C(1) << 31) / LARGE_COLUMNS + BLOCK;
    const size_t elements = (size_t)rows * LARGE_COLUMNS;
    const CUdeviceptr x = take_large(result, elements * 3 + elements / 4);
    (void)test;
    if (!x)
        return;
    for (int scaling = GM_SCALE_STATIC; scaling <= GM_SCALE_BLOCK; scaling++)
        if (scaling != GM_SCALE_AMAX_ONLY) {
            large(result, x, rows, (enum gm_scaling)scaling, 16);
            large(result, x, rows, (enum gm_scaling)scaling, 2);
        }
    env.drv->cuMemFree(x);
}

/* ---- wrong use ----------------------------------------------------------------------------------------- */

static void run_arguments(const struct test *test, struct result *result) {
    const struct dequantize_case dc = {.rows = 5, .columns = 64, .scaling = GM_SCALE_ROW, .out_pad = 8, .x_pad = 8};
    struct operand_memory memory = {0};
    struct placed_dequantize placed = {0};
    gm_plan *plan = NULL;
    (void)test;
    if (place_dequantize(result, &dc, &memory, &placed) &&
        check_ok(result, gm_dequantize_plan_create(env.context, &placed.problem, NULL, &plan), "plan")) {
        const struct gm_dequantize_args good = placed.args;
        const struct {
            const char *what;
            struct gm_dequantize_args args;
            enum gm_status want;
        } bad[] = {
#define ARGS(...) {sizeof good, __VA_ARGS__}
            {"x null", ARGS(0, good.out, good.scales, 0), GM_ERROR_INVALID_ARGUMENT},
            {"out null", ARGS(good.x, 0, good.scales, 0), GM_ERROR_INVALID_ARGUMENT},
            {"scales null", ARGS(good.x, good.out, 0, 0), GM_ERROR_INVALID_ARGUMENT},
            {"out at 8, 16 promised", ARGS(good.x, good.out + 8, good.scales, 0), GM_ERROR_MISALIGNED},
            {"scales at 2", ARGS(good.x, good.out, good.scales + 2, 0), GM_ERROR_MISALIGNED},
            {"row_count at 2", ARGS(good.x, good.out, good.scales, good.x + 2), GM_ERROR_MISALIGNED},
            {"out is x", ARGS(good.x, good.x, good.scales, 0), GM_ERROR_OVERLAP},
            {"scales in out", ARGS(good.x, good.out, good.out, 0), GM_ERROR_OVERLAP},
            {"row_count in out", ARGS(good.x, good.out, good.scales, good.out), GM_ERROR_OVERLAP},
#undef ARGS
            {"an old struct", {.size = 8}, GM_ERROR_SIZE}};
        for (size_t i = 0; i < COUNT(bad); i++)
            check_refusal(result, gm_dequantize_execute(plan, &bad[i].args, env.stream), bad[i].want, bad[i].what);
        check_unwritten(result, &placed.placed.call, "after refused executes");
    }
    gm_plan_destroy(plan);
    free_placed(&placed.placed);
    free_operands(&memory);
}

/* Nothing is launched, and nothing is looked at. */
static void run_empty(const struct test *test, struct result *result) {
    const struct gm_dequantize_problem problem = {.size = sizeof problem, .columns = 64};
    const struct gm_dequantize_args args = {.size = sizeof args};
    (void)test;
    result->cases += check_ok(result, gm_dequantize(env.context, &problem, &args, env.stream), "no rows");
}

void add_dequantize_api_tests(void) {
    add_test("api", "dequantize_fuzz_sm80", run_fuzz, -1, GM_ARCH_SM80);
    add_test("api", "dequantize_fuzz_sm90", run_fuzz, -1, GM_ARCH_SM90);
    add_test("api", "dequantize_what_quantize_made", run_back, -1, 0);
    add_test("api", "dequantize_of_no_rows", run_empty, -1, 0);
    add_test("api", "dequantize_of_more_than_2_to_the_31_elements", run_large, -1, 0);
    add_test("badinput", "dequantize_arguments", run_arguments, -1, 0);
}
