/* SPDX-License-Identifier: Apache-2.0 */
/* moe_route through the public functions: the planner chooses. Random problems, logits of more than 2^31 elements, and
 * wrong use. */
#include <stdlib.h>
#include <string.h>

#include "moe_route/moe_route_tests.h"

/* ---- random problems ----------------------------------------------------------------------------------- */

static int64_t smaller(int64_t x, int64_t y) {
    return x < y ? x : y;
}

static struct route_case random_case(struct draws *d) {
    static const int64_t experts[] = {1, 4, 8, 16, 32, 60, 64, 72, 128, 160, 256, 384, 512, 1024};
    struct route_case rc = {.tokens = 1 + draw(d, 9), .experts = experts[draw(d, COUNT(experts))]};
    rc.type = (enum gm_type)draw(d, 3);
    rc.method = (enum gm_route_method)draw(d, 3);
    rc.groups = rc.top_groups = 1;
    if (rc.method == GM_ROUTE_SIGMOID_GROUPED) {
        do
            rc.groups = 1 + draw(d, 32);
        while (rc.experts % rc.groups);
        rc.top_groups = 1 + draw(d, rc.groups);
    }
    rc.k = 1 + draw(d, smaller(32, rc.experts / rc.groups * rc.top_groups));
    rc.inputs = (enum route_inputs)draw(d, ROUTE_INPUTS);
    rc.renormalize = (int)draw(d, 2);
    rc.biased = draw(d, 2);
    rc.scale = draw(d, 2) ? 0 : 2.5f;
    rc.counted = draw(d, 4) == 0;
    rc.count = (int)draw(d, 10);
    rc.seed = d->index;
    if (draw(d, 3) == 0) {
        rc.logits_start = (int)draw(d, 8);
        rc.bias_start = (int)draw(d, 8);
        rc.ids_start = (int)draw(d, 8);
        rc.logits_pad = draw(d, 9);
    }
    return rc;
}

static void run_fuzz(const struct test *test, struct result *result) {
    struct draws draws = {opt.seed ^ 0x40e, 0};
    struct operand_memory memory = {0};
    for (int i = 0; i < (opt.quick ? 40 : env.simulated ? 150 : 500); i++) {
        struct route_case rc = random_case(&draws);
        rc.may_refuse = test->mask == GM_ARCH_SM90 ? BIT(GM_REASON_NO_IMAGE) : 0;
        if (!run_route(result, &rc, NULL, test->mask, &memory))
            break;
    }
    free_operands(&memory);
}

/* ---- many elements ------------------------------------------------------------------------------------- */

enum { LARGE_EXPERTS = 1024, LARGE_K = 4, BLOCK = 1021 };

/* The ids of a block of tokens, repeated until the logits have more than 2^31 elements. */
static void large_choice(struct result *result, CUdeviceptr logits, CUdeviceptr ids, CUdeviceptr weights,
                         int64_t tokens) {
    const struct route_case rc = {
        .tokens = BLOCK, .experts = LARGE_EXPERTS, .k = LARGE_K, .groups = 1, .top_groups = 1, .inputs = ROUTE_NORMAL};
    struct operand_memory memory = {0};
    struct placed_route placed = {0};
    uint8_t *block = malloc((size_t)BLOCK * LARGE_K * 4);
    bool ok = block && place_route(result, &rc, &memory, &placed) &&
              check_ok(result, gm_moe_route(env.context, &placed.problem, &placed.args, env.stream), "block") &&
              check_cuda(result, env.drv->cuStreamSynchronize(env.stream), "block") &&
              check_output(result, &placed.placed.call, "block") &&
              check_cuda(result, env.drv->cuMemcpyDtoH(block, placed.args.ids, (size_t)BLOCK * LARGE_K * 4), "copy");
    ok = ok && repeat_rows(result, logits, tokens, (size_t)LARGE_EXPERTS * 2, placed.args.logits, BLOCK);
    placed.problem.tokens = tokens;
    placed.args.logits = logits;
    placed.args.ids = ids;
    placed.args.weights = weights;
    if (ok && check_ok(result, gm_moe_route(env.context, &placed.problem, &placed.args, env.stream), "large") &&
        check_cuda(result, env.drv->cuStreamSynchronize(env.stream), "large"))
        check_repeated_rows(result, ids, tokens, (size_t)LARGE_K * 4, LARGE_EXPERTS, block, BLOCK);
    free(block);
    free_placed(&placed.placed);
    free_operands(&memory);
}

static void run_large(const struct test *test, struct result *result) {
    const int64_t tokens = (INT64_C(1) << 31) / LARGE_EXPERTS + 7;
    const uint64_t bytes = (uint64_t)tokens * LARGE_EXPERTS * 2,
                   slots = ((uint64_t)tokens * LARGE_K * 4 + 255) / 256 * 256;
    const CUdeviceptr logits = take_large(result, (size_t)(bytes + 2 * slots + 256));
    (void)test;
    if (!logits)
        return;
    const CUdeviceptr ids = logits + (bytes + 255) / 256 * 256;
    large_choice(result, logits, ids, ids + slots, tokens);
    env.drv->cuMemFree(logits);
}

/* ---- wrong use ----------------------------------------------------------------------------------------- */

static void run_arguments(const struct test *test, struct result *result) {
    const struct route_case rc = {
        .tokens = 5, .experts = 64, .k = 4, .groups = 1, .top_groups = 1, .logits_pad = 8, .biased = true};
    struct operand_memory memory = {0};
    struct placed_route placed = {0};
    gm_plan *plan = NULL;
    (void)test;
    if (place_route(result, &rc, &memory, &placed) &&
        check_ok(result, gm_moe_route_plan_create(env.context, &placed.problem, NULL, &plan), "plan")) {
        const struct gm_moe_route_args good = placed.args;
        const struct {
            const char *what;
            struct gm_moe_route_args args;
            enum gm_status want;
        } bad[] = {
#define ARGS(...) {sizeof good, __VA_ARGS__}
            {"logits null", ARGS(0, good.bias, good.ids, good.weights, 0), GM_ERROR_INVALID_ARGUMENT},
            {"ids null", ARGS(good.logits, good.bias, 0, good.weights, 0), GM_ERROR_INVALID_ARGUMENT},
            {"weights null", ARGS(good.logits, good.bias, good.ids, 0, 0), GM_ERROR_INVALID_ARGUMENT},
            {"logits at 8, 16 promised", ARGS(good.logits + 8, 0, good.ids, good.weights, 0), GM_ERROR_MISALIGNED},
            {"bias at 2", ARGS(good.logits, good.bias + 2, good.ids, good.weights, 0), GM_ERROR_MISALIGNED},
            {"row_count at 2", ARGS(good.logits, 0, good.ids, good.weights, good.bias + 2), GM_ERROR_MISALIGNED},
            {"ids are the weights", ARGS(good.logits, 0, good.ids, good.ids, 0), GM_ERROR_OVERLAP},
            {"ids in the logits", ARGS(good.logits, 0, good.logits, good.weights, 0), GM_ERROR_OVERLAP},
            {"weights are the bias", ARGS(good.logits, good.bias, good.ids, good.bias, 0), GM_ERROR_OVERLAP},
#undef ARGS
            {"an old struct", {.size = 8}, GM_ERROR_SIZE}};
        for (size_t i = 0; i < COUNT(bad); i++)
            check_refusal(result, gm_moe_route_execute(plan, &bad[i].args, env.stream), bad[i].want, bad[i].what);
        check_unwritten(result, &placed.placed.call, "after refused executes");
    }
    gm_plan_destroy(plan);
    free_placed(&placed.placed);
    free_operands(&memory);
}

/* Nothing is launched, and nothing is looked at. */
static void run_empty(const struct test *test, struct result *result) {
    const struct gm_moe_route_problem problem = {.size = sizeof problem, .experts = 64, .k = 2};
    const struct gm_moe_route_args args = {.size = sizeof args};
    (void)test;
    result->cases += check_ok(result, gm_moe_route(env.context, &problem, &args, env.stream), "no tokens");
}

void add_route_api_tests(void) {
    add_test("api", "moe_route_fuzz_sm80", run_fuzz, -1, GM_ARCH_SM80);
    add_test("api", "moe_route_fuzz_sm90", run_fuzz, -1, GM_ARCH_SM90);
    add_test("api", "moe_route_of_no_tokens", run_empty, -1, 0);
    add_test("api", "moe_route_of_more_than_2_to_the_31_elements", run_large, -1, 0);
    add_test("badinput", "moe_route_arguments", run_arguments, -1, 0);
}
