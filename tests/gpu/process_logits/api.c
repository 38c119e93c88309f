/* SPDX-License-Identifier: Apache-2.0 */
/* process_logits through the public functions: the planner chooses. Random problems, more than 2^31 elements, and wrong
 * use. */
#include <stdlib.h>
#include <string.h>

#include "process_logits/process_logits_tests.h"

/* ---- random problems ----------------------------------------------------------------------------------- */

static struct logits_case random_case(struct draws *d) {
    static const int64_t widths[] = {1, 8, 31, 64, 100, 257, 512, 1024, 4097, 32000, 128256};
    static const float reals[] = {0, 1, 0.6f, 1.7f}, signed_reals[] = {0, 0.5f, -0.3f, 1.1f};
    const int64_t most = env.simulated || opt.quick ? 8 : 11;
    struct logits_case lc = {
        .rows = 1 + draw(d, 9), .columns = widths[draw(d, most)], .type = (enum gm_type)draw(d, 3)};
    lc.temperature = reals[draw(d, 4)];
    lc.repetition = reals[draw(d, 4)];
    lc.frequency = signed_reals[draw(d, 4)];
    lc.presence = signed_reals[draw(d, 4)];
    lc.cap = draw(d, 6) ? 0 : 30;
    lc.has_counts = draw(d, 4);
    lc.has_last = lc.has_counts && draw(d, 2);
    lc.has_bias = draw(d, 2);
    lc.has_mask = draw(d, 2);
    lc.by_row = lc.cap == 0 && draw(d, 3) == 0;
    lc.slots = draw(d, 2) ? lc.rows + draw(d, 5) : 0;
    lc.wide = lc.type != GM_FP32 && draw(d, 3) == 0;
    lc.in_place = !lc.wide && draw(d, 2);
    lc.inputs = lc.cap == 0 && draw(d, 3) == 0 ? LOGITS_SPECIAL : LOGITS_NORMAL;
    lc.counted = draw(d, 4) == 0;
    lc.count = (int)draw(d, 10);
    lc.seed = d->index;
    if (draw(d, 3) == 0) {
        lc.start = (int)draw(d, 8);
        lc.out_start = (int)draw(d, 8);
        lc.counts_start = (int)draw(d, 8);
        lc.pad = draw(d, 9);
    }
    return lc;
}

static void run_fuzz(const struct test *test, struct result *result) {
    struct draws draws = {opt.seed ^ 0x109175, 0};
    struct operand_memory memory = {0};
    for (int i = 0; i < (opt.quick ? 40 : env.simulated ? 80 : 300); i++) {
        struct logits_case lc = random_case(&draws);
        lc.may_refuse = test->mask == GM_ARCH_SM90 ? BIT(GM_REASON_NO_IMAGE) : 0;
        if (!run_logits(result, &lc, NULL, test->mask, &memory))
            break;
    }
    free_operands(&memory);
}

/* ---- many elements ------------------------------------------------------------------------------------- */

enum { LARGE_COLUMNS = 131072, BLOCK = 61 };

/* x has more than 2^31 elements, a block of rows repeated, and is processed in place with temperature 2: no exponent is so
 * small that halving rounds. `align`: 2, by elements. */
static void large(struct result *result, CUdeviceptr x, int64_t rows, uint8_t *block, int32_t align) {
    const struct gm_process_logits_problem problem = {.size = sizeof problem,
                                                      .rows = rows,
                                                      .columns = LARGE_COLUMNS,
                                                      .temperature = 2,
                                                      .logits_align = align,
                                                      .out_align = align};
    const struct gm_process_logits_args args = {.size = sizeof args, .logits = x, .out = x};
    const size_t block_bytes = (size_t)BLOCK * LARGE_COLUMNS * 2;
    for (size_t i = 0; i < block_bytes / 2; i++)
        store_bits(block + 2 * i, GM_BF16, (uint32_t)(0x1000 + (hash64(opt.seed, i) & 0x3fff)));
    bool ok = to_device(result, x, block, block_bytes) &&
              repeat_rows(result, x + block_bytes, rows - BLOCK, LARGE_COLUMNS * 2, x, BLOCK);
    for (size_t i = 0; i < block_bytes / 2; i++)
        store_bits(block + 2 * i, GM_BF16, load_bits(block + 2 * i, GM_BF16) - 0x80);
    ok = ok && check_ok(result, gm_process_logits(env.context, &problem, &args, env.stream), "large") &&
         check_cuda(result, env.drv->cuStreamSynchronize(env.stream), "large");
    if (ok)
        check_repeated_rows(result, x, rows, LARGE_COLUMNS * 2, LARGE_COLUMNS, block, BLOCK);
}

static void run_large(const struct test *test, struct result *result) {
    const int64_t rows = (INT64_C(1) << 31) / LARGE_COLUMNS + 7;
    const CUdeviceptr x = take_large(result, (size_t)rows * LARGE_COLUMNS * 2);
    uint8_t *block = malloc((size_t)BLOCK * LARGE_COLUMNS * 2);
    (void)test;
    if (x && block) {
        large(result, x, rows, block, 16);
        large(result, x, rows, block, 2);
    }
    free(block);
    if (x)
        env.drv->cuMemFree(x);
}

/* ---- wrong use ----------------------------------------------------------------------------------------- */

static void run_arguments(const struct test *test, struct result *result) {
    const struct logits_case lc = {.rows = 5,
                                   .columns = 64,
                                   .slots = 6,
                                   .has_counts = true,
                                   .has_bias = true,
                                   .has_mask = true,
                                   .by_row = true,
                                   .pad = 8};
    struct operand_memory memory = {0};
    struct placed_logits placed = {0};
    gm_plan *plan = NULL;
    (void)test;
    if (place_logits(result, &lc, &memory, &placed) &&
        check_ok(result, gm_process_logits_plan_create(env.context, &placed.problem, NULL, &plan), "plan")) {
        const struct gm_process_logits_args good = placed.args;
        const struct {
            const char *what;
            size_t member;
            gm_device_ptr address;
            enum gm_status want;
        } bad[] = {
#define BAD(what, member, address, want) {what, offsetof(struct gm_process_logits_args, member), address, want}
            BAD("logits null", logits, 0, GM_ERROR_INVALID_ARGUMENT),
            BAD("out null", out, 0, GM_ERROR_INVALID_ARGUMENT),
            BAD("logits at 8, 16 promised", logits, good.logits + 8, GM_ERROR_MISALIGNED),
            BAD("mask at 2", mask, good.mask + 2, GM_ERROR_MISALIGNED),
            BAD("slots at 2", slots, good.slots + 2, GM_ERROR_MISALIGNED),
            BAD("last_ids at 1", last_ids, good.slots + 1, GM_ERROR_MISALIGNED),
            BAD("out in logits", out, good.logits + 16, GM_ERROR_OVERLAP),
            BAD("counts are out", counts, good.out, GM_ERROR_OVERLAP),
            BAD("temperatures in out", temperatures, good.out + 4, GM_ERROR_OVERLAP),
            BAD("row_count in out", row_count, good.out, GM_ERROR_OVERLAP),
            BAD("an old struct", size, 8, GM_ERROR_SIZE),
#undef BAD
        };
        for (size_t i = 0; i < COUNT(bad); i++) {
            struct gm_process_logits_args args = good;
            memcpy((char *)&args + bad[i].member, &bad[i].address, sizeof bad[i].address);
            check_refusal(result, gm_process_logits_execute(plan, &args, env.stream), bad[i].want, bad[i].what);
        }
        check_unwritten(result, &placed.placed.call, "after refused executes");
    }
    gm_plan_destroy(plan);
    free_placed(&placed.placed);
    free_operands(&memory);
}

/* Nothing is launched, and nothing is looked at. */
static void run_empty(const struct test *test, struct result *result) {
    const struct gm_process_logits_problem problem = {.size = sizeof problem, .columns = 64};
    const struct gm_process_logits_args args = {.size = sizeof args};
    (void)test;
    result->cases += check_ok(result, gm_process_logits(env.context, &problem, &args, env.stream), "no rows");
}

void add_logits_api_tests(void) {
    add_test("api", "process_logits_fuzz_sm80", run_fuzz, -1, GM_ARCH_SM80);
    add_test("api", "process_logits_fuzz_sm90", run_fuzz, -1, GM_ARCH_SM90);
    add_test("api", "process_logits_of_no_rows", run_empty, -1, 0);
    add_test("api", "process_logits_of_more_than_2_to_the_31_elements", run_large, -1, 0);
    add_test("badinput", "process_logits_arguments", run_arguments, -1, 0);
}
