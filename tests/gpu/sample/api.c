/* SPDX-License-Identifier: Apache-2.0 */
/* Sampling through the public functions: the planner chooses. Random problems, many repeats, more than 2^31 elements, and
 * wrong use. */
#include <stdlib.h>
#include <string.h>

#include "sample/sample_tests.h"

/* ---- random problems ----------------------------------------------------------------------------------- */

static struct sample_case random_case(struct draws *d) {
    static const int64_t widths[] = {1, 2, 8, 31, 64, 257, 512, 520, 1000, 1023, 1024, 4097, 32000, 128256};
    static const float temperatures[] = {0, 1, 0.6f, 3}, shares[] = {0, 0.9f, 0.5f, 0.99f},
                       least[] = {0, 0, 0.1f, 1e-3f};
    const int64_t most = env.simulated || opt.quick ? 11 : 14;
    struct sample_case sc = {
        .rows = 1 + draw(d, 4), .columns = widths[draw(d, most)], .type = (enum gm_type)draw(d, 3)};
    sc.temperature = temperatures[draw(d, 4)];
    sc.top_p = shares[draw(d, 4)];
    sc.min_p = least[draw(d, 4)];
    sc.top_k = draw(d, 2) ? draw(d, 800) : 0;
    sc.inputs = (enum sample_inputs)draw(d, SAMPLE_INPUTS);
    sc.by_row = draw(d, 3) == 0;
    sc.has_logprobs = draw(d, 3) == 0;
    sc.counted = draw(d, 4) == 0;
    sc.count = (int)draw(d, 5);
    sc.step = draw(d, 1000);
    sc.seed = sc.noise = d->index;
    if (draw(d, 3) == 0) {
        sc.start = (int)draw(d, 8);
        sc.pad = draw(d, 9);
    }
    return sc;
}

static void run_fuzz(const struct test *test, struct result *result) {
    struct draws draws = {opt.seed ^ 0x5a3, 0};
    struct operand_memory memory = {0};
    for (int i = 0; i < (opt.quick ? 40 : env.simulated ? 100 : 500); i++) {
        struct sample_case sc = random_case(&draws);
        sc.may_refuse = test->mask == GM_ARCH_SM90 ? BIT(GM_REASON_NO_IMAGE) : 0;
        if (!run_sample(result, &sc, NULL, test->mask, &memory))
            break;
    }
    free_operands(&memory);
}

/* Ties everywhere, and the same tokens every time. */
static void run_repeats(const struct test *test, struct result *result) {
    struct operand_memory memory = {0};
    (void)test;
    for (int i = 0; i < 4; i++) {
        const struct sample_case sc = {.rows = env.simulated ? 2 : 64,
                                       .columns = env.simulated ? 1024 : 32000,
                                       .temperature = 1,
                                       .top_k = i % 2 ? 50 : 0,
                                       .top_p = i / 2 ? 0.9f : 0,
                                       .inputs = SAMPLE_TIES,
                                       .repeats = env.simulated || opt.self_test ? 3 : 1000};
        run_sample(result, &sc, NULL, 0, &memory);
    }
    free_operands(&memory);
}

/* ---- many elements ------------------------------------------------------------------------------------- */

enum { LARGE_COLUMNS = 131072, BLOCK = 61 };

/* x has more than 2^31 elements, a block of rows repeated; `align`: 2, by elements. */
static void large(struct result *result, CUdeviceptr x, CUdeviceptr ids, int64_t rows, int32_t align) {
    const struct sample_case sc = {
        .rows = BLOCK, .columns = LARGE_COLUMNS, .temperature = 1, .top_k = 40, .top_p = 0.9f, .seed = 3};
    struct operand_memory memory = {0};
    struct placed_sample placed = {0};
    uint8_t block[BLOCK * 4];
    bool ok = place_sample(result, &sc, &memory, &placed) &&
              check_ok(result, gm_sample(env.context, &placed.problem, &placed.args, env.stream), "block") &&
              check_cuda(result, env.drv->cuStreamSynchronize(env.stream), "block") &&
              check_output(result, &placed.placed.call, "block") &&
              check_cuda(result, env.drv->cuMemcpyDtoH(block, placed.args.ids, sizeof block), "copy");
    ok = ok && repeat_rows(result, x, rows, LARGE_COLUMNS * 2, placed.args.logits, BLOCK);
    placed.problem.rows = rows;
    placed.problem.logits_align = align;
    placed.args.logits = x;
    placed.args.ids = ids;
    if (ok && check_ok(result, gm_sample(env.context, &placed.problem, &placed.args, env.stream), "large") &&
        check_cuda(result, env.drv->cuStreamSynchronize(env.stream), "large"))
        check_repeated_rows(result, ids, rows, 4, LARGE_COLUMNS, block, BLOCK);
    free_placed(&placed.placed);
    free_operands(&memory);
}

static void run_large(const struct test *test, struct result *result) {
    const int64_t rows = (INT64_C(1) << 31) / LARGE_COLUMNS + 7;
    const size_t bytes = (size_t)rows * LARGE_COLUMNS * 2;
    const CUdeviceptr x = take_large(result, bytes + (size_t)rows * 4);
    (void)test;
    if (!x)
        return;
    large(result, x, x + bytes, rows, 16);
    large(result, x, x + bytes, rows, 2);
    env.drv->cuMemFree(x);
}

/* ---- wrong use ----------------------------------------------------------------------------------------- */

static void run_arguments(const struct test *test, struct result *result) {
    const struct sample_case sc = {.rows = 5, .columns = 64, .by_row = true, .has_logprobs = true, .pad = 8};
    struct operand_memory memory = {0};
    struct placed_sample placed = {0};
    gm_plan *plan = NULL;
    (void)test;
    if (place_sample(result, &sc, &memory, &placed) &&
        check_ok(result, gm_sample_plan_create(env.context, &placed.problem, NULL, &plan), "plan")) {
        const struct gm_sample_args good = placed.args;
        const struct {
            const char *what;
            size_t member;
            gm_device_ptr address;
            enum gm_status want;
        } bad[] = {
#define BAD(what, member, address, want) {what, offsetof(struct gm_sample_args, member), address, want}
            BAD("logits null", logits, 0, GM_ERROR_INVALID_ARGUMENT),
            BAD("ids null", ids, 0, GM_ERROR_INVALID_ARGUMENT),
            BAD("logits at 8, 16 promised", logits, good.logits + 8, GM_ERROR_MISALIGNED),
            BAD("ids at 2", ids, good.ids + 2, GM_ERROR_MISALIGNED),
            BAD("seeds at 4", seeds, good.seeds + 4, GM_ERROR_MISALIGNED),
            BAD("step at 4", step, good.step + 4, GM_ERROR_MISALIGNED),
            BAD("top_ks at 1", top_ks, good.top_ks + 1, GM_ERROR_MISALIGNED),
            BAD("ids in logits", ids, good.logits + 64, GM_ERROR_OVERLAP),
            BAD("logprobs are ids", logprobs, good.ids, GM_ERROR_OVERLAP),
            BAD("min_ps in ids", min_ps, good.ids + 4, GM_ERROR_OVERLAP),
            BAD("row_count in ids", row_count, good.ids, GM_ERROR_OVERLAP),
            BAD("an old struct", size, 8, GM_ERROR_SIZE),
#undef BAD
        };
        for (size_t i = 0; i < COUNT(bad); i++) {
            struct gm_sample_args args = good;
            memcpy((char *)&args + bad[i].member, &bad[i].address, sizeof bad[i].address);
            check_refusal(result, gm_sample_execute(plan, &args, env.stream), bad[i].want, bad[i].what);
        }
        check_unwritten(result, &placed.placed.call, "after refused executes");
    }
    gm_plan_destroy(plan);
    free_placed(&placed.placed);
    free_operands(&memory);
}

/* Nothing is launched, and nothing is looked at. */
static void run_empty(const struct test *test, struct result *result) {
    const struct gm_sample_problem problem = {.size = sizeof problem, .columns = 64};
    const struct gm_sample_args args = {.size = sizeof args};
    (void)test;
    result->cases += check_ok(result, gm_sample(env.context, &problem, &args, env.stream), "no rows");
}

void add_sample_api_tests(void) {
    add_test("api", "sample_fuzz_sm80", run_fuzz, -1, GM_ARCH_SM80);
    add_test("api", "sample_fuzz_sm90", run_fuzz, -1, GM_ARCH_SM90);
    add_test("api", "sample_repeats", run_repeats, -1, 0);
    add_test("api", "sample_of_no_rows", run_empty, -1, 0);
    add_test("api", "sample_of_more_than_2_to_the_31_elements", run_large, -1, 0);
    add_test("badinput", "sample_arguments", run_arguments, -1, 0);
}
