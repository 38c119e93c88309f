/* SPDX-License-Identifier: Apache-2.0 */
/* Histograms through the public functions: the planner chooses. Random problems, values of 64 bits, more than 2^31 elements,
 * and wrong use. */
#include <stdlib.h>
#include <string.h>

#include "histogram/histogram_tests.h"

/* ---- random problems ----------------------------------------------------------------------------------- */

static struct histogram_case random_case(struct draws *d) {
    static const enum gm_type types[] = {GM_BF16, GM_FP16, GM_FP32, GM_UINT8, GM_INT32, GM_INT64};
    static const int64_t widths[] = {1, 7, 64, 100, 257, 1000, 4096, 20000, 300000};
    static const int64_t heights[] = {1, 2, 3, 16, 65, 200, 1000};
    static const int64_t bins[] = {1, 8, 64, 100, 256, 1000, 4096, 30000, 70000};
    const bool is_slow = env.simulated || opt.quick || opt.self_test;
    struct histogram_case hc = {.columns = widths[draw(d, is_slow ? 8 : 9)],
                                .rows = heights[draw(d, is_slow ? 6 : 7)],
                                .bins = bins[draw(d, is_slow ? 8 : 9)]};
    if (hc.rows * hc.columns > (is_slow ? 30000 : 5000000))
        hc.rows = 1;
    hc.type = types[draw(d, COUNT(types))];
    hc.of = (enum gm_histogram_of)draw(d, 2);
    if (hc.of == GM_HISTOGRAM_ROWS && hc.rows * hc.bins > (is_slow ? 20000 : 2000000))
        hc.bins = 64;
    hc.inputs = (enum histogram_inputs)draw(d, HISTOGRAM_INPUTS);
    hc.wide = draw(d, 3) == 0;
    hc.accumulate = draw(d, 3) == 0;
    hc.first = draw(d, 400) - 200;
    hc.width = 1 + draw(d, 3) * draw(d, 5000);
    hc.workspace = draw(d, 3) ? GM_HISTOGRAM_WORKSPACE_BYTES : (size_t)draw(d, 100);
    hc.counted = draw(d, 4) == 0;
    hc.count = (int)draw(d, hc.rows + 2);
    hc.x_pad = draw(d, 3) ? 0 : draw(d, 9);
    hc.counts_pad = draw(d, 3) ? 0 : draw(d, 9);
    hc.x_start = draw(d, 3) ? 0 : (int)draw(d, 16);
    hc.counts_start = (int)draw(d, 4);
    hc.sm_budget = draw(d, 4) ? 0 : 1 + (int)draw(d, 8);
    hc.seed = d->index;
    return hc;
}

static void run_fuzz(const struct test *test, struct result *result) {
    struct draws draws = {opt.seed ^ 0x415, 0};
    struct histogram_memory memory = {0};
    for (int i = 0; i < (opt.quick ? 25 : env.simulated ? 60 : 500); i++) {
        struct histogram_case hc = random_case(&draws);
        hc.may_refuse = test->mask == GM_ARCH_SM90 ? BIT(GM_REASON_NO_IMAGE) : 0;
        if (!run_histogram(result, &hc, NULL, test->mask, &memory))
            break;
    }
    free_histogram_memory(&memory);
}

/* ---- values of 64 bits ----------------------------------------------------------------------------------- */

/* Those that agree with the bins in their lower 32 bits only are in none. */
static void run_wide_values(const struct test *test, struct result *result) {
    enum { BINS = 4, WIDTH = 1 << 30 };
    const int64_t first = (INT64_C(5) << 40) - 3, step = INT64_C(1) << 32;
    const int64_t x[] = {first,
                         first + WIDTH - 1,
                         first + 4 * (int64_t)WIDTH - 1,
                         first + 3 * (int64_t)WIDTH,
                         first - 1,
                         first + step,
                         first - step,
                         first + 2 * step + 7,
                         INT64_MAX,
                         INT64_MIN,
                         0};
    const uint32_t want[BINS] = {2, 0, 0, 2};
    const struct gm_histogram_problem problem = {.size = sizeof problem,
                                                 .rows = 1,
                                                 .columns = COUNT(x),
                                                 .bins = BINS,
                                                 .type = GM_INT64,
                                                 .first = first,
                                                 .width = WIDTH};
    struct gm_histogram_args args = {.size = sizeof args};
    struct arena memory = {0};
    uint32_t counts[BINS];
    (void)test;
    args.x = arena_take(result, &memory, sizeof x + sizeof counts);
    args.counts = args.x + sizeof x;
    if (args.x && to_device(result, args.x, x, sizeof x) &&
        check_ok(result, gm_histogram(env.context, &problem, &args, env.stream), "wide values") &&
        check_cuda(result, env.drv->cuStreamSynchronize(env.stream), "wide values") &&
        check_cuda(result, env.drv->cuMemcpyDtoH(counts, args.counts, sizeof counts), "wide values"))
        for (int i = 0; i < BINS; i++)
            if (counts[i] != want[i])
                fail(result, "bin %d of values of 64 bits has %u, want %u", i, counts[i], want[i]);
    result->cases++;
    arena_free(&memory);
}

/* ---- many elements -------------------------------------------------------------------------------------- */

enum { LARGE_COLUMNS = 4096, BLOCK = 1021 };

/* Rows repeat, so their counts are those of a block, many times, and of some of its rows; with any row stride and without
 * one, in one part or many. */
static void check_large(struct result *result, const uint8_t *block, CUdeviceptr x, int64_t rows, CUdeviceptr counts,
                        CUdeviceptr workspace) {
    const int64_t columns[] = {LARGE_COLUMNS, LARGE_COLUMNS - 5};
    for (int i = 0; i < 4; i++) {
        const struct gm_plan_options options = {.size = sizeof options,
                                                .workspace_limit = i < 2 ? GM_HISTOGRAM_WORKSPACE_BYTES : 0};
        const struct gm_histogram_problem problem = {.size = sizeof problem,
                                                     .rows = rows,
                                                     .columns = columns[i % 2],
                                                     .bins = 256,
                                                     .type = GM_UINT8,
                                                     .int64_counts = i > 1,
                                                     .x_stride = LARGE_COLUMNS};
        const struct gm_histogram_args args = {.size = sizeof args,
                                               .x = x,
                                               .counts = counts,
                                               .workspace = i < 2 ? workspace : 0,
                                               .workspace_bytes = i < 2 ? GM_HISTOGRAM_WORKSPACE_BYTES : 0};
        int64_t want[256] = {0}, wide[256];
        uint32_t narrow[256];
        gm_plan *plan = NULL;
        for (int64_t row = 0; row < BLOCK; row++)
            for (int64_t column = 0; column < problem.columns; column++)
                want[block[row * LARGE_COLUMNS + column]] += rows / BLOCK + (row < rows % BLOCK);
        if (check_ok(result, gm_histogram_plan_create(env.context, &problem, &options, &plan), "plan") &&
            check_ok(result, gm_histogram_execute(plan, &args, env.stream), "large") &&
            check_cuda(result, env.drv->cuStreamSynchronize(env.stream), "large") &&
            check_cuda(result, env.drv->cuMemcpyDtoH(narrow, counts, sizeof narrow), "copy") &&
            check_cuda(result, env.drv->cuMemcpyDtoH(wide, counts, sizeof wide), "copy"))
            for (int bin = 0; bin < 256; bin++)
                if ((i > 1 ? wide[bin] : narrow[bin]) != want[bin])
                    fail(result, "bin %d of %lld rows of %lld has %lld, want %lld", bin, (long long)rows,
                         (long long)problem.columns, i > 1 ? (long long)wide[bin] : (long long)narrow[bin],
                         (long long)want[bin]);
        gm_plan_destroy(plan);
        result->cases++;
    }
}

static void run_large(const struct test *test, struct result *result) {
    const int64_t rows = (INT64_C(1) << 31) / LARGE_COLUMNS + 700;
    struct arena counts = {0}, workspace = {0}, first = {0};
    uint8_t *const block = malloc((size_t)BLOCK * LARGE_COLUMNS);
    const CUdeviceptr x = take_large(result, (size_t)rows * LARGE_COLUMNS);
    (void)test;
    if (!block)
        exit(2);
    for (int64_t i = 0; x && i < BLOCK * LARGE_COLUMNS; i++)
        block[i] = (uint8_t)(hash64(opt.seed, (uint64_t)i) >> 20);
    if (x && arena_take(result, &first, (size_t)BLOCK * LARGE_COLUMNS) &&
        to_device(result, first.base, block, (size_t)BLOCK * LARGE_COLUMNS) &&
        repeat_rows(result, x, rows, LARGE_COLUMNS, first.base, BLOCK) && arena_take(result, &counts, 2048) &&
        arena_take(result, &workspace, GM_HISTOGRAM_WORKSPACE_BYTES))
        check_large(result, block, x, rows, counts.base, workspace.base);
    arena_free(&counts);
    arena_free(&workspace);
    arena_free(&first);
    free(block);
    if (x)
        env.drv->cuMemFree(x);
}

/* ---- wrong use ----------------------------------------------------------------------------------------- */

static void refuse_each(struct result *result, const gm_plan *plan, const struct gm_histogram_args *good,
                        const struct call *call) {
    const gm_device_ptr x = good->x, counts = good->counts, w = good->workspace;
    const size_t bytes = good->workspace_bytes;
    const struct {
        const char *what;
        struct gm_histogram_args args;
        enum gm_status want;
    } bad[] = {
#define ARGS(...) {sizeof *good, __VA_ARGS__}
        {"x null", ARGS(0, counts, 0, w, bytes), GM_ERROR_INVALID_ARGUMENT},
        {"counts null", ARGS(x, 0, 0, w, bytes), GM_ERROR_INVALID_ARGUMENT},
        {"x at 2", ARGS(x + 2, counts, 0, w, bytes), GM_ERROR_MISALIGNED},
        {"counts at 1", ARGS(x, counts + 1, 0, w, bytes), GM_ERROR_MISALIGNED},
        {"row_count at 2", ARGS(x, counts, x + 2, w, bytes), GM_ERROR_MISALIGNED},
        {"counts in x", ARGS(x, x + 16, 0, w, bytes), GM_ERROR_OVERLAP},
        {"row_count in counts", ARGS(x, counts, counts, w, bytes), GM_ERROR_OVERLAP},
        {"no workspace", ARGS(x, counts, 0, 0, bytes), GM_ERROR_WORKSPACE},
        {"a byte too few", ARGS(x, counts, 0, w, bytes - 1), GM_ERROR_WORKSPACE},
        {"workspace at 8", ARGS(x, counts, 0, w + 8, bytes), GM_ERROR_MISALIGNED},
        {"workspace in x", ARGS(x, counts, 0, x, bytes), GM_ERROR_OVERLAP},
#undef ARGS
        {"an old struct", {.size = 8}, GM_ERROR_SIZE}};
    for (size_t i = 0; i < COUNT(bad); i++)
        check_refusal(result, gm_histogram_execute(plan, &bad[i].args, env.stream), bad[i].want, bad[i].what);
    check_unwritten(result, call, "after refused executes");
}

static void run_arguments(const struct test *test, struct result *result) {
    const struct histogram_case hc = {.rows = 1, .columns = 40000, .bins = 64, .type = GM_FP32};
    const struct gm_plan_options options = {.size = sizeof options, .workspace_limit = GM_HISTOGRAM_WORKSPACE_BYTES};
    struct histogram_memory memory = {0};
    struct placed_histogram placed = {0};
    gm_plan *plan = NULL;
    (void)test;
    if (place_histogram(result, &hc, &memory, &placed) &&
        check_ok(result, gm_histogram_plan_create(env.context, &placed.problem, &options, &plan), "plan")) {
        const size_t bytes = gm_plan_workspace_bytes(plan);
        if (bytes == 0)
            fail(result, "the plan asks for no workspace");
        placed.args.workspace = arena_take(result, &memory.workspace.arena, bytes + 16);
        placed.args.workspace_bytes = bytes;
        if (placed.args.workspace)
            refuse_each(result, plan, &placed.args, &placed.placed.call);
    }
    gm_plan_destroy(plan);
    free_placed_histogram(&placed);
    free_histogram_memory(&memory);
}

/* Nothing is launched, and nothing is looked at. */
static void run_empty(const struct test *test, struct result *result) {
    const struct gm_histogram_problem no_rows = {
        .size = sizeof no_rows, .columns = 64, .bins = 8, .type = GM_UINT8, .of = GM_HISTOGRAM_ROWS};
    const struct gm_histogram_problem nothing_to_add = {
        .size = sizeof nothing_to_add, .rows = 3, .bins = 8, .type = GM_INT32, .accumulate = 1};
    const struct gm_histogram_args args = {.size = sizeof args};
    (void)test;
    result->cases += check_ok(result, gm_histogram(env.context, &no_rows, &args, env.stream), "no rows") &&
                     check_ok(result, gm_histogram(env.context, &nothing_to_add, &args, env.stream), "nothing to add");
}

void add_histogram_api_tests(void) {
    add_test("api", "histogram_fuzz_sm80", run_fuzz, -1, GM_ARCH_SM80);
    add_test("api", "histogram_fuzz_sm90", run_fuzz, -1, GM_ARCH_SM90);
    add_test("api", "histogram_of_nothing", run_empty, -1, 0);
    add_test("api", "histogram_of_values_of_64_bits", run_wide_values, -1, 0);
    add_test("api", "histogram_of_more_than_2_to_the_31_elements", run_large, -1, 0);
    add_test("badinput", "histogram_arguments", run_arguments, -1, 0);
}
