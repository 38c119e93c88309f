/* SPDX-License-Identifier: Apache-2.0 */
/* embed through the public functions: the planner chooses. Random problems, a table and an out of more than 2^31
 * elements, and wrong use. */
#include <stdlib.h>
#include <string.h>

#include "embed/embed_tests.h"

/* ---- random problems ----------------------------------------------------------------------------------- */

static struct embed_case random_case(struct draws *d) {
    static const int64_t widths[] = {1, 8, 64, 100, 128, 257, 512, 1000, 1024, 2880, 5632, 14336};
    const int64_t most = env.simulated || opt.quick ? 9 : 12;
    struct embed_case ec = {
        .tokens = 1 + draw(d, 9), .columns = widths[draw(d, most)], .type = (enum gm_type)draw(d, 3)};
    ec.vocabulary = 1 + draw(d, 30);
    ec.int64_ids = (int)draw(d, 2);
    ec.ids = (enum embed_ids)draw(d, 3);
    ec.inputs = (enum embed_inputs)draw(d, 3);
    ec.scale = draw(d, 2) ? 0 : (float)(1 + draw(d, 100)) / 8;
    ec.flagged = draw(d, 2);
    ec.counted = draw(d, 4) == 0;
    ec.count = (int)draw(d, 10);
    ec.seed = d->index;
    if (draw(d, 3) == 0) {
        ec.ids_start = (int)draw(d, 8);
        ec.table_start = (int)draw(d, 8);
        ec.out_start = (int)draw(d, 8);
        ec.table_pad = draw(d, 9);
        ec.out_pad = draw(d, 9);
    }
    return ec;
}

static void run_fuzz(const struct test *test, struct result *result) {
    struct draws draws = {opt.seed ^ 0xe3b, 0};
    struct operand_memory memory = {0};
    for (int i = 0; i < (opt.quick ? 40 : env.simulated ? 120 : 500); i++) {
        struct embed_case ec = random_case(&draws);
        ec.may_refuse = test->mask == GM_ARCH_SM90 ? BIT(GM_REASON_NO_IMAGE) : 0;
        if (!run_embed(result, &ec, NULL, test->mask, &memory))
            break;
    }
    free_operands(&memory);
}

/* ---- many elements ------------------------------------------------------------------------------------- */

enum { LARGE_COLUMNS = 4096, BLOCK = 1021 };

/* Row r of the table is that of the block, r % BLOCK, and token t looks up row t. `align`: 2, by elements. */
static void large_copy(struct result *result, CUdeviceptr table, CUdeviceptr out, CUdeviceptr ids, int64_t rows,
                       const uint8_t *block, int32_t align) {
    const struct gm_embed_problem problem = {.size = sizeof problem,
                                             .tokens = rows,
                                             .columns = LARGE_COLUMNS,
                                             .vocabulary = rows,
                                             .table_align = align,
                                             .out_align = align};
    const struct gm_embed_args args = {.size = sizeof args, .ids = ids, .table = table, .out = out};
    if (check_cuda(result, env.drv->cuMemsetD8(out, 0xff, (size_t)rows * LARGE_COLUMNS * 2), "poison") &&
        check_cuda(result, env.drv->cuCtxSynchronize(), "poison") && /* env.stream does not wait for it */
        check_ok(result, gm_embed(env.context, &problem, &args, env.stream), "large") &&
        check_cuda(result, env.drv->cuStreamSynchronize(env.stream), "large"))
        check_repeated_rows(result, out, rows, LARGE_COLUMNS * 2, LARGE_COLUMNS, block, BLOCK);
}

static bool fill_large(struct result *result, CUdeviceptr table, CUdeviceptr ids, int64_t rows, uint8_t *block) {
    int32_t *numbers = malloc((size_t)rows * sizeof *numbers);
    bool ok = numbers != NULL;
    for (int64_t row = 0; row < rows && ok; row++)
        numbers[row] = (int32_t)row;
    for (int64_t i = 0; i < (int64_t)BLOCK * LARGE_COLUMNS; i++)
        store_bits(block + 2 * i, GM_BF16, (uint32_t)(hash64(opt.seed, (uint64_t)i) & 0x3fff));
    ok =
        ok && to_device(result, ids, numbers, (size_t)rows * sizeof *numbers) &&
        to_device(result, table, block, (size_t)BLOCK * LARGE_COLUMNS * 2) &&
        repeat_rows(result, table + (uint64_t)BLOCK * LARGE_COLUMNS * 2, rows - BLOCK, LARGE_COLUMNS * 2, table, BLOCK);
    free(numbers);
    return ok;
}

static void run_large(const struct test *test, struct result *result) {
    const int64_t rows = (INT64_C(1) << 31) / LARGE_COLUMNS + 7;
    const size_t bytes = (size_t)rows * LARGE_COLUMNS * 2;
    const CUdeviceptr table = take_large(result, 2 * bytes + (size_t)rows * 4);
    uint8_t *block = malloc((size_t)BLOCK * LARGE_COLUMNS * 2);
    (void)test;
    if (table && block && fill_large(result, table, table + 2 * bytes, rows, block)) {
        large_copy(result, table, table + bytes, table + 2 * bytes, rows, block, 16);
        large_copy(result, table, table + bytes, table + 2 * bytes, rows, block, 2);
    }
    free(block);
    if (table)
        env.drv->cuMemFree(table);
}

/* ---- wrong use ----------------------------------------------------------------------------------------- */

static void run_arguments(const struct test *test, struct result *result) {
    const struct embed_case ec = {.tokens = 5, .columns = 64, .vocabulary = 9, .out_pad = 8, .table_pad = 8};
    struct operand_memory memory = {0};
    struct placed_embed placed = {0};
    gm_plan *plan = NULL;
    (void)test;
    if (place_embed(result, &ec, &memory, &placed) &&
        check_ok(result, gm_embed_plan_create(env.context, &placed.problem, NULL, &plan), "plan")) {
        const struct gm_embed_args good = placed.args;
        const struct {
            const char *what;
            struct gm_embed_args args;
            enum gm_status want;
        } bad[] = {
#define ARGS(...) {sizeof good, __VA_ARGS__}
            {"ids null", ARGS(0, good.table, good.out, 0, 0), GM_ERROR_INVALID_ARGUMENT},
            {"table null", ARGS(good.ids, 0, good.out, 0, 0), GM_ERROR_INVALID_ARGUMENT},
            {"out null", ARGS(good.ids, good.table, 0, 0, 0), GM_ERROR_INVALID_ARGUMENT},
            {"ids at 2", ARGS(good.ids + 2, good.table, good.out, 0, 0), GM_ERROR_MISALIGNED},
            {"table at 8, 16 promised", ARGS(good.ids, good.table + 8, good.out, 0, 0), GM_ERROR_MISALIGNED},
            {"error_flag at 2", ARGS(good.ids, good.table, good.out, good.ids + 2, 0), GM_ERROR_MISALIGNED},
            {"row_count at 2", ARGS(good.ids, good.table, good.out, 0, good.ids + 2), GM_ERROR_MISALIGNED},
            {"out is the table", ARGS(good.ids, good.table, good.table, 0, 0), GM_ERROR_OVERLAP},
            {"error_flag in out", ARGS(good.ids, good.table, good.out, good.out, 0), GM_ERROR_OVERLAP},
            {"error_flag in ids", ARGS(good.ids, good.table, good.out, good.ids, 0), GM_ERROR_OVERLAP},
            {"row_count in out", ARGS(good.ids, good.table, good.out, 0, good.out), GM_ERROR_OVERLAP},
#undef ARGS
            {"an old struct", {.size = 8}, GM_ERROR_SIZE}};
        for (size_t i = 0; i < COUNT(bad); i++)
            check_refusal(result, gm_embed_execute(plan, &bad[i].args, env.stream), bad[i].want, bad[i].what);
        check_unwritten(result, &placed.placed.call, "after refused executes");
    }
    gm_plan_destroy(plan);
    free_placed(&placed.placed);
    free_operands(&memory);
}

/* Nothing is launched, and nothing is looked at. */
static void run_empty(const struct test *test, struct result *result) {
    const struct gm_embed_problem problem = {.size = sizeof problem, .columns = 64, .vocabulary = 9};
    const struct gm_embed_args args = {.size = sizeof args};
    (void)test;
    result->cases += check_ok(result, gm_embed(env.context, &problem, &args, env.stream), "no tokens");
}

void add_embed_api_tests(void) {
    add_test("api", "embed_fuzz_sm80", run_fuzz, -1, GM_ARCH_SM80);
    add_test("api", "embed_fuzz_sm90", run_fuzz, -1, GM_ARCH_SM90);
    add_test("api", "embed_of_no_tokens", run_empty, -1, 0);
    add_test("api", "embed_of_more_than_2_to_the_31_elements", run_large, -1, 0);
    add_test("badinput", "embed_arguments", run_arguments, -1, 0);
}
