/* SPDX-License-Identifier: Apache-2.0 */
/* moe_finalize through the public functions: the planner chooses. Random problems, operands of more than 2^31 elements,
 * and wrong use. */
#include <stdlib.h>
#include <string.h>

#include "moe_finalize/moe_finalize_tests.h"

/* ---- random problems ----------------------------------------------------------------------------------- */

static struct finalize_case random_case(struct draws *d) {
    static const int64_t widths[] = {1, 8, 64, 100, 128, 257, 512, 1000, 1024, 2880, 5632, 14336};
    const int64_t most = env.simulated || opt.quick ? 9 : 12;
    struct finalize_case fc = {.tokens = 1 + draw(d, 9), .columns = widths[draw(d, most)], .k = 1 + draw(d, 11)};
    fc.x_rows = 1 + draw(d, 60);
    fc.type = (enum gm_type)draw(d, 3);
    fc.weighted = draw(d, 4);
    fc.has_residual = draw(d, 2);
    fc.in_place = fc.has_residual && draw(d, 2);
    fc.slots = (enum finalize_slots)draw(d, 2);
    fc.inputs = (enum finalize_inputs)draw(d, 4);
    fc.counted = draw(d, 4) == 0;
    fc.count = (int)draw(d, 10);
    fc.seed = d->index;
    if (draw(d, 3) == 0) {
        fc.x_start = (int)draw(d, 8);
        fc.residual_start = (int)draw(d, 8);
        fc.out_start = (int)draw(d, 8);
        fc.slots_start = (int)draw(d, 8);
        fc.x_pad = draw(d, 9);
        fc.residual_pad = draw(d, 9);
        fc.out_pad = draw(d, 9);
    }
    return fc;
}

static void run_fuzz(const struct test *test, struct result *result) {
    struct draws draws = {opt.seed ^ 0xf17a1, 0};
    struct operand_memory memory = {0};
    for (int i = 0; i < (opt.quick ? 40 : env.simulated ? 120 : 500); i++) {
        struct finalize_case fc = random_case(&draws);
        fc.may_refuse = test->mask == GM_ARCH_SM90 ? BIT(GM_REASON_NO_IMAGE) : 0;
        if (!run_finalize(result, &fc, NULL, test->mask, &memory))
            break;
    }
    free_operands(&memory);
}

/* ---- many elements ------------------------------------------------------------------------------------- */

enum { LARGE_COLUMNS = 4096, BLOCK = 1021 };

/* Row r of x is that of the block, r % BLOCK; token t has row t alone, with weight 1. So out is x, which has more than 2^31
 * elements. `align`: 2, by elements. */
static void large_copy(struct result *result, CUdeviceptr x, CUdeviceptr out, CUdeviceptr inverse, int64_t rows,
                       const uint8_t *block, int32_t align) {
    const struct gm_moe_finalize_problem problem = {.size = sizeof problem,
                                                    .tokens = rows,
                                                    .columns = LARGE_COLUMNS,
                                                    .k = 1,
                                                    .x_rows = rows,
                                                    .x_align = align,
                                                    .out_align = align};
    const struct gm_moe_finalize_args args = {.size = sizeof args, .x = x, .inverse = inverse, .out = out};
    if (check_cuda(result, env.drv->cuMemsetD8(out, 0xff, (size_t)rows * LARGE_COLUMNS * 2), "poison") &&
        check_cuda(result, env.drv->cuCtxSynchronize(), "poison") && /* env.stream does not wait for it */
        check_ok(result, gm_moe_finalize(env.context, &problem, &args, env.stream), "large") &&
        check_cuda(result, env.drv->cuStreamSynchronize(env.stream), "large"))
        check_repeated_rows(result, out, rows, LARGE_COLUMNS * 2, LARGE_COLUMNS, block, BLOCK);
}

static bool fill_large(struct result *result, CUdeviceptr x, CUdeviceptr inverse, int64_t rows, uint8_t *block) {
    int32_t *numbers = malloc((size_t)rows * sizeof *numbers);
    bool ok = numbers != NULL;
    for (int64_t row = 0; row < rows && ok; row++)
        numbers[row] = (int32_t)row;
    for (int64_t i = 0; i < (int64_t)BLOCK * LARGE_COLUMNS; i++)
        store_bits(block + 2 * i, GM_BF16, (uint32_t)(0x1000 + (hash64(opt.seed, (uint64_t)i) & 0x3fff)));
    ok = ok && to_device(result, inverse, numbers, (size_t)rows * sizeof *numbers) &&
         to_device(result, x, block, (size_t)BLOCK * LARGE_COLUMNS * 2) &&
         repeat_rows(result, x + (uint64_t)BLOCK * LARGE_COLUMNS * 2, rows - BLOCK, LARGE_COLUMNS * 2, x, BLOCK);
    free(numbers);
    return ok;
}

static void run_large(const struct test *test, struct result *result) {
    const int64_t rows = (INT64_C(1) << 31) / LARGE_COLUMNS + 7;
    const size_t bytes = (size_t)rows * LARGE_COLUMNS * 2;
    const CUdeviceptr x = take_large(result, 2 * bytes + (size_t)rows * 4);
    uint8_t *block = malloc((size_t)BLOCK * LARGE_COLUMNS * 2);
    (void)test;
    if (x && block && fill_large(result, x, x + 2 * bytes, rows, block)) {
        large_copy(result, x, x + bytes, x + 2 * bytes, rows, block, 16);
        large_copy(result, x, x + bytes, x + 2 * bytes, rows, block, 2);
    }
    free(block);
    if (x)
        env.drv->cuMemFree(x);
}

/* ---- wrong use ----------------------------------------------------------------------------------------- */

static void run_arguments(const struct test *test, struct result *result) {
    const struct finalize_case fc = {.tokens = 5,
                                     .columns = 64,
                                     .k = 4,
                                     .x_rows = 20,
                                     .weighted = true,
                                     .has_residual = true,
                                     .x_pad = 8,
                                     .residual_pad = 16,
                                     .out_pad = 8};
    struct operand_memory memory = {0};
    struct placed_finalize placed = {0};
    gm_plan *plan = NULL;
    (void)test;
    if (place_finalize(result, &fc, &memory, &placed) &&
        check_ok(result, gm_moe_finalize_plan_create(env.context, &placed.problem, NULL, &plan), "plan")) {
        const struct gm_moe_finalize_args g = placed.args;
        const struct {
            const char *what;
            struct gm_moe_finalize_args args;
            enum gm_status want;
        } bad[] = {
#define ARGS(...) {sizeof g, __VA_ARGS__}
            {"x null", ARGS(0, g.inverse, g.weights, g.residual, g.out, 0), GM_ERROR_INVALID_ARGUMENT},
            {"inverse null", ARGS(g.x, 0, g.weights, g.residual, g.out, 0), GM_ERROR_INVALID_ARGUMENT},
            {"out null", ARGS(g.x, g.inverse, g.weights, g.residual, 0, 0), GM_ERROR_INVALID_ARGUMENT},
            {"x at 8, 16 promised", ARGS(g.x + 8, g.inverse, 0, 0, g.out, 0), GM_ERROR_MISALIGNED},
            {"inverse at 2", ARGS(g.x, g.inverse + 2, 0, 0, g.out, 0), GM_ERROR_MISALIGNED},
            {"weights at 2", ARGS(g.x, g.inverse, g.weights + 2, 0, g.out, 0), GM_ERROR_MISALIGNED},
            {"row_count at 2", ARGS(g.x, g.inverse, 0, 0, g.out, g.inverse + 2), GM_ERROR_MISALIGNED},
            {"out is x", ARGS(g.x, g.inverse, 0, 0, g.x, 0), GM_ERROR_OVERLAP},
            {"out is the residual with another stride", ARGS(g.x, g.inverse, 0, g.out, g.out, 0), GM_ERROR_OVERLAP},
            {"weights in out", ARGS(g.x, g.inverse, g.out, 0, g.out, 0), GM_ERROR_OVERLAP},
#undef ARGS
            {"an old struct", {.size = 8}, GM_ERROR_SIZE}};
        for (size_t i = 0; i < COUNT(bad); i++)
            check_refusal(result, gm_moe_finalize_execute(plan, &bad[i].args, env.stream), bad[i].want, bad[i].what);
        check_unwritten(result, &placed.placed.call, "after refused executes");
    }
    gm_plan_destroy(plan);
    free_placed(&placed.placed);
    free_operands(&memory);
}

/* Nothing is launched, and nothing is looked at. */
static void run_empty(const struct test *test, struct result *result) {
    const struct gm_moe_finalize_problem problem = {.size = sizeof problem, .columns = 64, .k = 2, .x_rows = 9};
    const struct gm_moe_finalize_args args = {.size = sizeof args};
    (void)test;
    result->cases += check_ok(result, gm_moe_finalize(env.context, &problem, &args, env.stream), "no tokens");
}

void add_finalize_api_tests(void) {
    add_test("api", "moe_finalize_fuzz_sm80", run_fuzz, -1, GM_ARCH_SM80);
    add_test("api", "moe_finalize_fuzz_sm90", run_fuzz, -1, GM_ARCH_SM90);
    add_test("api", "moe_finalize_of_no_tokens", run_empty, -1, 0);
    add_test("api", "moe_finalize_of_more_than_2_to_the_31_elements", run_large, -1, 0);
    add_test("badinput", "moe_finalize_arguments", run_arguments, -1, 0);
}
