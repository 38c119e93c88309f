/* SPDX-License-Identifier: Apache-2.0 */
/* attention_merge through the public functions: the planner chooses. Random problems, operands of more than 2^31 elements,
 * and wrong use. */
#include <stdlib.h>
#include <string.h>

#include "attention_merge/attention_merge_tests.h"

/* ---- random problems ----------------------------------------------------------------------------------- */

static struct merge_case random_case(struct draws *d) {
    static const int64_t widths[] = {1, 8, 64, 100, 128, 67, 192, 80, 256, 512};
    const int64_t most = env.simulated || opt.quick ? 8 : COUNT(widths);
    struct merge_case mc = {.tokens = 1 + draw(d, 9), .heads = 1 + draw(d, 9), .head_dim = widths[draw(d, most)]};
    mc.type = (enum gm_type)draw(d, 3);
    mc.out = (int)draw(d, 4);
    mc.place = mc.out == 0 ? (enum merge_place)draw(d, 3) : MERGE_APART;
    mc.lse_place = (enum merge_place)draw(d, 3);
    mc.has_no_lse = draw(d, 5) == 0;
    mc.layout = (enum merge_layout)draw(d, MERGE_LAYOUTS);
    mc.inputs = (enum merge_inputs)draw(d, MERGE_INPUTS);
    mc.counted = draw(d, 4) == 0;
    mc.count = (int)draw(d, 10);
    mc.lse_start = (int)draw(d, 4);
    mc.seed = d->index;
    if (draw(d, 3) == 0) {
        mc.a_start = (int)draw(d, 8);
        mc.b_start = (int)draw(d, 8);
        mc.out_start = (int)draw(d, 8);
        mc.pad = draw(d, 9);
    }
    return mc;
}

static void run_fuzz(const struct test *test, struct result *result) {
    struct draws draws = {opt.seed ^ 0x3e76e, 0};
    struct operand_memory memory = {0};
    for (int i = 0; i < (opt.quick ? 40 : env.simulated ? 120 : 500); i++) {
        struct merge_case mc = random_case(&draws);
        mc.may_refuse = test->mask == GM_ARCH_SM90 ? BIT(GM_REASON_NO_IMAGE) : 0;
        if (!run_merge(result, &mc, NULL, test->mask, &memory))
            break;
    }
    free_operands(&memory);
}

/* ---- many elements ------------------------------------------------------------------------------------- */

/* A token's heads and their elements; what of the block it repeats. */
struct large {
    int64_t heads, dim, block, tokens;
};

static int64_t columns_of(const struct large *l) {
    return l->heads * l->dim;
}

/* Token t of a is that of the block, t % l->block; b is a, and all lse are 0. So out is a, which has more than 2^31 elements.
 * `align`: 2, by elements. */
static void large_copy(struct result *result, const struct large *l, CUdeviceptr a, CUdeviceptr out, CUdeviceptr lse,
                       const uint8_t *block, int32_t align) {
    const struct gm_attention_merge_problem problem = {.size = sizeof problem,
                                                       .tokens = l->tokens,
                                                       .heads = l->heads,
                                                       .head_dim = l->dim,
                                                       .a_align = align,
                                                       .out_align = align};
    const struct gm_attention_merge_args args = {
        .size = sizeof args, .a = a, .b = a, .lse_a = lse, .lse_b = lse, .out = out};
    const int64_t columns = columns_of(l);
    if (check_cuda(result, env.drv->cuMemsetD8(out, 0xff, (size_t)(l->tokens * columns * 2)), "poison") &&
        check_cuda(result, env.drv->cuCtxSynchronize(), "poison") && /* env.stream does not wait for it */
        check_ok(result, gm_attention_merge(env.context, &problem, &args, env.stream), "large") &&
        check_cuda(result, env.drv->cuStreamSynchronize(env.stream), "large"))
        check_repeated_rows(result, out, l->tokens, (size_t)columns * 2, columns, block, l->block);
}

static bool fill_large(struct result *result, const struct large *l, CUdeviceptr a, CUdeviceptr lse, uint8_t *block) {
    const int64_t elements = l->block * columns_of(l), row_bytes = columns_of(l) * 2;
    for (int64_t i = 0; i < elements; i++)
        store_bits(block + 2 * i, GM_BF16, (uint32_t)(0x1000 + (hash64(opt.seed, (uint64_t)i) & 0x3fff)));
    return check_cuda(result, env.drv->cuMemsetD8(lse, 0, (size_t)(l->tokens * l->heads * 4)), "lse") &&
           to_device(result, a, block, (size_t)elements * 2) &&
           repeat_rows(result, a + (uint64_t)elements * 2, l->tokens - l->block, (size_t)row_bytes, a, l->block);
}

static void run_large_heads(struct result *result, struct large l, bool is_aligned) {
    l.tokens = (INT64_C(1) << 31) / columns_of(&l) + 7;
    const size_t bytes = (size_t)(l.tokens * columns_of(&l) * 2);
    const CUdeviceptr a = take_large(result, 2 * bytes + (size_t)(l.tokens * l.heads * 4));
    uint8_t *block = malloc((size_t)(l.block * columns_of(&l) * 2));
    if (a && block && fill_large(result, &l, a, a + 2 * bytes, block)) {
        if (is_aligned)
            large_copy(result, &l, a, a + bytes, a + 2 * bytes, block, 16);
        large_copy(result, &l, a, a + bytes, a + 2 * bytes, block, 2);
    }
    free(block);
    if (a)
        env.drv->cuMemFree(a);
}

static void run_large(const struct test *test, struct result *result) {
    (void)test;
    run_large_heads(result, (struct large){.heads = 32, .dim = 128, .block = 1021}, true);
}

/* More than 2^31 heads: of one element each, by elements. */
static void run_many_heads(const struct test *test, struct result *result) {
    (void)test;
    run_large_heads(result, (struct large){.heads = 65536, .dim = 1, .block = 61}, false);
}

/* ---- wrong use ----------------------------------------------------------------------------------------- */

static void run_arguments(const struct test *test, struct result *result) {
    const struct merge_case mc = {.tokens = 5, .heads = 4, .head_dim = 64, .layout = MERGE_PADDED, .pad = 8};
    struct operand_memory memory = {0};
    struct placed_merge placed = {0};
    gm_plan *plan = NULL;
    (void)test;
    if (place_merge(result, &mc, &memory, &placed) &&
        check_ok(result, gm_attention_merge_plan_create(env.context, &placed.problem, NULL, &plan), "plan")) {
        const struct gm_attention_merge_args g = placed.args;
        const struct {
            const char *what;
            struct gm_attention_merge_args args;
            enum gm_status want;
        } bad[] = {
#define ARGS(...) {sizeof g, __VA_ARGS__}
            {"a null", ARGS(0, g.b, g.lse_a, g.lse_b, g.out, g.lse, 0), GM_ERROR_INVALID_ARGUMENT},
            {"b null", ARGS(g.a, 0, g.lse_a, g.lse_b, g.out, g.lse, 0), GM_ERROR_INVALID_ARGUMENT},
            {"lse_a null", ARGS(g.a, g.b, 0, g.lse_b, g.out, g.lse, 0), GM_ERROR_INVALID_ARGUMENT},
            {"lse_b null", ARGS(g.a, g.b, g.lse_a, 0, g.out, g.lse, 0), GM_ERROR_INVALID_ARGUMENT},
            {"out null", ARGS(g.a, g.b, g.lse_a, g.lse_b, 0, g.lse, 0), GM_ERROR_INVALID_ARGUMENT},
            {"a at 8, 16 promised", ARGS(g.a + 8, g.b, g.lse_a, g.lse_b, g.out, g.lse, 0), GM_ERROR_MISALIGNED},
            {"lse_b at 2", ARGS(g.a, g.b, g.lse_a, g.lse_b + 2, g.out, g.lse, 0), GM_ERROR_MISALIGNED},
            {"row_count at 2", ARGS(g.a, g.b, g.lse_a, g.lse_b, g.out, g.lse, g.lse_a + 2), GM_ERROR_MISALIGNED},
            {"out is a with other strides", ARGS(g.out, g.b, g.lse_a, g.lse_b, g.out, 0, 0), GM_ERROR_OVERLAP},
            {"lse is lse_a with other strides", ARGS(g.a, g.b, g.lse, g.lse_b, g.out, g.lse, 0), GM_ERROR_OVERLAP},
            {"lse in out", ARGS(g.a, g.b, g.lse_a, g.lse_b, g.out, g.out, 0), GM_ERROR_OVERLAP},
#undef ARGS
            {"an old struct", {.size = 8}, GM_ERROR_SIZE}};
        for (size_t i = 0; i < COUNT(bad); i++)
            check_refusal(result, gm_attention_merge_execute(plan, &bad[i].args, env.stream), bad[i].want, bad[i].what);
        check_unwritten(result, &placed.placed.call, "after refused executes");
    }
    gm_plan_destroy(plan);
    free_placed(&placed.placed);
    free_operands(&memory);
}

/* Nothing is launched, and nothing is looked at. */
static void run_empty(const struct test *test, struct result *result) {
    const struct gm_attention_merge_problem no_tokens = {.size = sizeof no_tokens, .heads = 4, .head_dim = 64},
                                            no_heads = {.size = sizeof no_heads, .tokens = 4, .head_dim = 64};
    const struct gm_attention_merge_args args = {.size = sizeof args};
    (void)test;
    result->cases += check_ok(result, gm_attention_merge(env.context, &no_tokens, &args, env.stream), "no tokens");
    result->cases += check_ok(result, gm_attention_merge(env.context, &no_heads, &args, env.stream), "no heads");
}

void add_merge_api_tests(void) {
    add_test("api", "attention_merge_fuzz_sm80", run_fuzz, -1, GM_ARCH_SM80);
    add_test("api", "attention_merge_fuzz_sm90", run_fuzz, -1, GM_ARCH_SM90);
    add_test("api", "attention_merge_of_nothing", run_empty, -1, 0);
    add_test("api", "attention_merge_of_more_than_2_to_the_31_elements", run_large, -1, 0);
    add_test("api", "attention_merge_of_more_than_2_to_the_31_heads", run_many_heads, -1, 0);
    add_test("badinput", "attention_merge_arguments", run_arguments, -1, 0);
}
