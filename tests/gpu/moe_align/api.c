/* SPDX-License-Identifier: Apache-2.0 */
/* moe_align through the public functions: the planner chooses. Random problems, and wrong use. */
#include <stdlib.h>
#include <string.h>

#include "moe_align/moe_align_tests.h"

static struct align_case random_case(struct draws *d) {
    static const int64_t experts[] = {1, 2, 8, 33, 60, 64, 128, 256, 257, 512, 1024},
                         alignments[] = {0, 1, 3, 8, 64, 128};
    struct align_case ac = {.tokens = draw(d, draw(d, 3) ? 200 : 1500), .k = 1 + draw(d, 9)};
    ac.experts = experts[draw(d, COUNT(experts))];
    ac.alignment = alignments[draw(d, COUNT(alignments))];
    ac.ids = (enum align_ids)draw(d, ALIGN_IDS);
    ac.inverted = draw(d, 4);
    ac.counted = draw(d, 4) == 0;
    ac.count = (int)draw(d, 300) - 5;
    ac.start = (int)draw(d, 4);
    ac.seed = d->index;
    return ac;
}

static void run_fuzz(const struct test *test, struct result *result) {
    struct draws draws = {opt.seed ^ 0xa119, 0};
    struct operand_memory memory = {0};
    for (int i = 0; i < (opt.quick ? 30 : env.simulated ? 60 : 500); i++) {
        struct align_case ac = random_case(&draws);
        ac.may_refuse = test->mask == GM_ARCH_SM90 ? BIT(GM_REASON_NO_IMAGE) : 0;
        if (!run_align(result, &ac, NULL, test->mask, &memory))
            break;
    }
    free_operands(&memory);
}

static void run_arguments(const struct test *test, struct result *result) {
    const struct align_case ac = {.tokens = 50, .k = 4, .experts = 9, .alignment = 8, .inverted = true};
    struct operand_memory memory = {0};
    struct placed_align placed = {0};
    gm_plan *plan = NULL;
    (void)test;
    if (place_align(result, &ac, &memory, &placed) &&
        check_ok(result, gm_moe_align_plan_create(env.context, &placed.problem, NULL, &plan), "plan")) {
        const struct gm_moe_align_args good = placed.args;
        const struct {
            const char *what;
            struct gm_moe_align_args args;
            enum gm_status want;
        } bad[] = {
#define ARGS(...) {sizeof good, __VA_ARGS__}
            {"ids null", ARGS(0, good.offsets, good.rows, good.inverse, 0), GM_ERROR_INVALID_ARGUMENT},
            {"offsets null", ARGS(good.ids, 0, good.rows, good.inverse, 0), GM_ERROR_INVALID_ARGUMENT},
            {"rows null", ARGS(good.ids, good.offsets, 0, good.inverse, 0), GM_ERROR_INVALID_ARGUMENT},
            {"ids at 2", ARGS(good.ids + 2, good.offsets, good.rows, 0, 0), GM_ERROR_MISALIGNED},
            {"inverse at 1", ARGS(good.ids, good.offsets, good.rows, good.inverse + 1, 0), GM_ERROR_MISALIGNED},
            {"row_count at 2", ARGS(good.ids, good.offsets, good.rows, 0, good.ids + 2), GM_ERROR_MISALIGNED},
            {"rows are the ids", ARGS(good.ids, good.offsets, good.ids, 0, 0), GM_ERROR_OVERLAP},
            {"inverse is the ids", ARGS(good.ids, good.offsets, good.rows, good.ids, 0), GM_ERROR_OVERLAP},
            {"offsets in rows", ARGS(good.ids, good.rows + 8, good.rows, 0, 0), GM_ERROR_OVERLAP},
            {"row_count in offsets", ARGS(good.ids, good.offsets, good.rows, 0, good.offsets), GM_ERROR_OVERLAP},
#undef ARGS
            {"an old struct", {.size = 8}, GM_ERROR_SIZE}};
        for (size_t i = 0; i < COUNT(bad); i++)
            check_refusal(result, gm_moe_align_execute(plan, &bad[i].args, env.stream), bad[i].want, bad[i].what);
        check_unwritten(result, &placed.placed.call, "after refused executes");
    }
    gm_plan_destroy(plan);
    free_placed(&placed.placed);
    free_operands(&memory);
}

void add_align_api_tests(void) {
    add_test("api", "moe_align_fuzz_sm80", run_fuzz, -1, GM_ARCH_SM80);
    add_test("api", "moe_align_fuzz_sm90", run_fuzz, -1, GM_ARCH_SM90);
    add_test("badinput", "moe_align_arguments", run_arguments, -1, 0);
}
