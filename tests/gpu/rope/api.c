/* SPDX-License-Identifier: Apache-2.0 */
/* The rotary embedding through the public functions: the planner chooses. Random problems, operands of more than 2^31
 * elements, a token alone and among others, and wrong use. */
#include <stdlib.h>
#include <string.h>

#include "rope/rope_tests.h"

/* ---- random problems ----------------------------------------------------------------------------------- */

static struct rope_case random_case(struct draws *d) {
    static const int64_t dims[] = {64, 128, 80, 96, 32, 48, 8, 2, 100, 72, 256, 192, 512, 130};
    const bool slow = env.simulated || opt.quick;
    struct rope_case rc = {.tokens = 1 + draw(d, slow ? 6 : 40), .q_heads = draw(d, 6), .kv_heads = draw(d, 4)};
    rc.q_heads += rc.q_heads + rc.kv_heads == 0;
    rc.head_dim = dims[draw(d, slow ? 10 : (int64_t)COUNT(dims))];
    rc.rotary_dim = draw(d, 3) ? rc.head_dim : 2 + draw(d, rc.head_dim / 2) * 2;
    rc.rotary_offset = draw(d, rc.head_dim - rc.rotary_dim + 1);
    if (draw(d, 2))
        rc.rotary_offset -= rc.rotary_offset % 8;
    rc.page_size = draw(d, 3) ? 1 + draw(d, 5) : 0;
    rc.spare_slots = draw(d, 4);
    rc.type = (enum gm_type)draw(d, 3);
    rc.pairing = (enum gm_rope_pairing)draw(d, 2);
    rc.rounding = (enum gm_rounding)draw(d, 2);
    rc.normalized_rounding = (enum gm_rounding)draw(d, 2);
    rc.norm = (enum gm_rope_norm)draw(d, 2);
    rc.append = rc.kv_heads ? (enum gm_rope_append)draw(d, 3) : GM_ROPE_NO_APPEND;
    rc.inverse = (int)draw(d, 2);
    rc.fp32_weight = (int)draw(d, 2);
    rc.int64_positions = (int)draw(d, 2);
    rc.eps = 1e-5f;
    rc.weight_offset = (float)draw(d, 2);
    rc.k_scale = (float)(1 + draw(d, 1000)) / 777;
    rc.v_scale = (float)(1 + draw(d, 1000)) / 77777;
    rc.layout = (enum rope_layout)draw(d, ROPE_LAYOUTS);
    rc.cache = (enum rope_cache)draw(d, ROPE_CACHES);
    rc.pad = (int)draw(d, 3) * 8;
    rc.in_place = draw(d, 2);
    rc.drops_k = rc.append && draw(d, 2);
    rc.bad = draw(d, 4) == 0;
    rc.huge = draw(d, 8) == 0;
    rc.flagged = draw(d, 2);
    rc.counted = draw(d, 4) == 0;
    rc.count = (int)draw(d, 8);
    rc.inputs = (enum rope_inputs)draw(d, 5);
    rc.eps = rc.inputs == ROPE_SIGNS ? 0 : rc.eps;
    rc.seed = d->index;
    if (draw(d, 4) == 0) {
        rc.start = (int)draw(d, 8);
        rc.pad = (int)draw(d, 9);
    }
    return rc;
}

static void run_fuzz(const struct test *test, struct result *result) {
    struct draws draws = {opt.seed ^ 0x307e, 0};
    struct operand_memory memory = {0};
    for (int i = 0; i < (opt.quick ? 60 : env.simulated ? 150 : 600); i++) {
        struct rope_case rc = random_case(&draws);
        rc.may_refuse = test->mask == GM_ARCH_SM90 ? BIT(GM_REASON_NO_IMAGE) : 0;
        if (!run_rope(result, &rc, NULL, test->mask, &memory))
            break;
    }
    free_operands(&memory);
}

/* ---- a token among others -------------------------------------------------------------------------------- */

/* Tokens have the same bits, by however many tokens the planner chose the kernel. */
static void run_alone(const struct test *test, struct result *result) {
    const struct rope_case rc = {.tokens = env.simulated || opt.self_test ? 24 : 4000,
                                 .q_heads = 8,
                                 .kv_heads = 2,
                                 .head_dim = 128,
                                 .rotary_dim = 128,
                                 .norm = GM_ROPE_NORM,
                                 .eps = 1e-6f,
                                 .inputs = ROPE_NORMAL};
    struct operand_memory memory = {0};
    struct placed_rope placed = {0};
    (void)test;
    if (place_rope(result, &rc, &memory, &placed) &&
        check_ok(result, gm_rope(env.context, &placed.problem, &placed.args, env.stream), "all") &&
        check_cuda(result, env.drv->cuStreamSynchronize(env.stream), "all")) {
        uint8_t *all = malloc(placed.placed.call.region_bytes), *few = malloc(placed.placed.call.region_bytes);
        const size_t q_bytes = (size_t)(placed.problem.q_out_token_stride * 2);
        check_cuda(result, env.drv->cuMemcpyDtoH(all, placed.args.q_out, (size_t)rc.tokens * q_bytes), "copy");
        for (int64_t tokens = 1; tokens < rc.tokens; tokens *= 3) {
            placed.problem.tokens = tokens;
            if (!poison_output(result, &placed.placed.call) ||
                !check_ok(result, gm_rope(env.context, &placed.problem, &placed.args, env.stream), "few") ||
                !check_cuda(result, env.drv->cuStreamSynchronize(env.stream), "few") ||
                !check_cuda(result, env.drv->cuMemcpyDtoH(few, placed.args.q_out, (size_t)tokens * q_bytes), "copy"))
                break;
            if (memcmp(few, all, (size_t)tokens * q_bytes) != 0)
                fail(result, "%lld tokens alone have other bits than among %lld", (long long)tokens,
                     (long long)rc.tokens);
            result->cases++;
        }
        free(all);
        free(few);
    }
    free_placed(&placed.placed);
    free_operands(&memory);
}

/* ---- many elements ------------------------------------------------------------------------------------- */

enum { LARGE_HEADS = 32, LARGE_DIM = 128, BLOCK = 1021 };

/* q has more than 2^31 elements, a block of tokens repeated, with the positions of the block, and is rotated in
 * place. */
static void large_in_place(struct result *result, CUdeviceptr q, CUdeviceptr positions, int64_t tokens, int32_t align) {
    const struct rope_case rc = {
        .tokens = BLOCK, .q_heads = LARGE_HEADS, .head_dim = LARGE_DIM, .rotary_dim = LARGE_DIM, .inputs = ROPE_NORMAL};
    const size_t row_bytes = LARGE_HEADS * LARGE_DIM * 2, block_bytes = BLOCK * row_bytes;
    struct operand_memory memory = {0};
    struct placed_rope placed = {0};
    uint8_t *block = malloc(block_bytes);
    bool ok = block && place_rope(result, &rc, &memory, &placed) &&
              check_ok(result, gm_rope(env.context, &placed.problem, &placed.args, env.stream), "block") &&
              check_cuda(result, env.drv->cuStreamSynchronize(env.stream), "block") &&
              check_output(result, &placed.placed.call, "block") &&
              check_cuda(result, env.drv->cuMemcpyDtoH(block, placed.args.q_out, block_bytes), "copy");
    ok = ok && repeat_rows(result, q, tokens, row_bytes, placed.args.q, BLOCK) &&
         repeat_rows(result, positions, tokens, 4, placed.args.positions, BLOCK);
    placed.problem.tokens = tokens;
    placed.problem.q_align = placed.problem.q_out_align = align;
    placed.args.q = placed.args.q_out = q;
    placed.args.positions = positions;
    if (ok && check_ok(result, gm_rope(env.context, &placed.problem, &placed.args, env.stream), "large") &&
        check_cuda(result, env.drv->cuStreamSynchronize(env.stream), "large"))
        check_repeated_rows(result, q, tokens, row_bytes, LARGE_HEADS * LARGE_DIM, block, BLOCK);
    free(block);
    free_placed(&placed.placed);
    free_operands(&memory);
}

static void run_large(const struct test *test, struct result *result) {
    const int64_t tokens = (INT64_C(1) << 31) / (LARGE_HEADS * LARGE_DIM) + 7;
    const size_t q_bytes = (size_t)tokens * LARGE_HEADS * LARGE_DIM * 2;
    const CUdeviceptr q = take_large(result, q_bytes + (size_t)tokens * 4);
    (void)test;
    if (!q)
        return;
    large_in_place(result, q, q + q_bytes, tokens, 16);
    large_in_place(result, q, q + q_bytes, tokens, 2);
    env.drv->cuMemFree(q);
}

/* ---- wrong use ----------------------------------------------------------------------------------------- */

static void run_arguments(const struct test *test, struct result *result) {
    const struct rope_case rc = {.tokens = 5,
                                 .q_heads = 2,
                                 .kv_heads = 1,
                                 .head_dim = 64,
                                 .rotary_dim = 64,
                                 .norm = GM_ROPE_NORM,
                                 .append = GM_ROPE_APPEND_E4M3,
                                 .k_scale = 1,
                                 .v_scale = 1,
                                 .layout = ROPE_PADDED,
                                 .pad = 8};
    struct operand_memory memory = {0};
    struct placed_rope placed = {0};
    gm_plan *plan = NULL;
    (void)test;
    if (place_rope(result, &rc, &memory, &placed) &&
        check_ok(result, gm_rope_plan_create(env.context, &placed.problem, NULL, &plan), "plan")) {
        const struct gm_rope_args good = placed.args;
        static const struct {
            const char *what;
            size_t member;
            int add; /* -1: the address becomes NULL */
            enum gm_status want;
        } bad[] = {
#define BAD(member, add, want) {#member " " #add, offsetof(struct gm_rope_args, member), add, want}
            BAD(q, -1, GM_ERROR_INVALID_ARGUMENT),        BAD(k, -1, GM_ERROR_INVALID_ARGUMENT),
            BAD(v, -1, GM_ERROR_INVALID_ARGUMENT),        BAD(positions, -1, GM_ERROR_INVALID_ARGUMENT),
            BAD(table, -1, GM_ERROR_INVALID_ARGUMENT),    BAD(q_weight, -1, GM_ERROR_INVALID_ARGUMENT),
            BAD(k_weight, -1, GM_ERROR_INVALID_ARGUMENT), BAD(q_out, -1, GM_ERROR_INVALID_ARGUMENT),
            BAD(k_cache, -1, GM_ERROR_INVALID_ARGUMENT),  BAD(v_cache, -1, GM_ERROR_INVALID_ARGUMENT),
            BAD(slots, -1, GM_ERROR_INVALID_ARGUMENT),    BAD(k_scale, -1, GM_ERROR_INVALID_ARGUMENT),
            BAD(v_scale, -1, GM_ERROR_INVALID_ARGUMENT),  BAD(q, 8, GM_ERROR_MISALIGNED),
            BAD(table, 4, GM_ERROR_MISALIGNED),           BAD(slots, 4, GM_ERROR_MISALIGNED),
            BAD(k_scale, 2, GM_ERROR_MISALIGNED),         BAD(k_cache, 1, GM_ERROR_MISALIGNED)};
#undef BAD
        for (size_t i = 0; i < COUNT(bad); i++) {
            struct gm_rope_args args = good;
            gm_device_ptr *const member = (gm_device_ptr *)(void *)((char *)&args + bad[i].member);
            *member = bad[i].add < 0 ? 0 : *member + (gm_device_ptr)bad[i].add;
            check_refusal(result, gm_rope_execute(plan, &args, env.stream), bad[i].want, bad[i].what);
        }
        struct gm_rope_args args = good;
        args.k_out = good.q_out + 16;
        check_refusal(result, gm_rope_execute(plan, &args, env.stream), GM_ERROR_OVERLAP, "k_out in q_out");
        args = good, args.error_flag = good.k_cache;
        check_refusal(result, gm_rope_execute(plan, &args, env.stream), GM_ERROR_OVERLAP, "error_flag in k_cache");
        args = good, args.size = 8;
        check_refusal(result, gm_rope_execute(plan, &args, env.stream), GM_ERROR_SIZE, "an old struct");
        check_unwritten(result, &placed.placed.call, "after refused executes");
    }
    gm_plan_destroy(plan);
    free_placed(&placed.placed);
    free_operands(&memory);
}

/* Nothing is launched, and nothing is looked at. */
static void run_empty(const struct test *test, struct result *result) {
    const struct gm_rope_problem problem = {.size = sizeof problem, .q_heads = 2, .head_dim = 64};
    const struct gm_rope_args args = {.size = sizeof args};
    (void)test;
    result->cases += check_ok(result, gm_rope(env.context, &problem, &args, env.stream), "no tokens");
}

void add_rope_api_tests(void) {
    add_test("api", "rope_fuzz_sm80", run_fuzz, -1, GM_ARCH_SM80);
    add_test("api", "rope_fuzz_sm90", run_fuzz, -1, GM_ARCH_SM90);
    add_test("api", "rope_of_a_token_among_others", run_alone, -1, 0);
    add_test("api", "rope_of_no_tokens", run_empty, -1, 0);
    add_test("api", "rope_of_more_than_2_to_the_31_elements", run_large, -1, 0);
    add_test("badinput", "rope_arguments", run_arguments, -1, 0);
}
