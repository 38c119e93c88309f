/* SPDX-License-Identifier: Apache-2.0 */
/* axpby through the public functions: the planner chooses. Random problems, numbers that are written down, operands of more
 * than 2^31 elements, and wrong use. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "axpby/axpby_tests.h"

/* ---- random problems ----------------------------------------------------------------------------------- */

static struct axpby_case random_case(struct draws *d) {
    static const int64_t widths[] = {1, 8, 64, 100, 128, 257, 512, 1000, 1024, 2880, 5632, 14336};
    const int64_t most = env.simulated || opt.quick ? 9 : 12;
    struct axpby_case ac = {.rows = 1 + draw(d, 9), .columns = widths[draw(d, most)]};
    ac.type = (enum gm_type)draw(d, AXPBY_TYPES);
    ac.y_type = (enum gm_type)draw(d, AXPBY_TYPES);
    ac.out_type = (enum gm_type)draw(d, AXPBY_TYPES);
    ac.terms = (enum gm_axpby_terms)draw(d, 3);
    ac.inputs = (enum axpby_inputs)draw(d, AXPBY_INPUTS);
    ac.alpha = draw(d, 3) ? (float)draw(d, 100) / 16 - 3 : 0;
    ac.beta = draw(d, 3) ? (float)draw(d, 100) / 16 - 3 : 0;
    ac.gamma = draw(d, 2) ? (float)draw(d, 100) / 7 : 0;
    if (ac.terms != GM_AXPBY_NEITHER && gm_type_bytes(ac.type) == gm_type_bytes(ac.out_type))
        ac.in_place = (int)draw(d, 2);
    ac.counted = draw(d, 4) == 0;
    ac.count = (int)draw(d, 10);
    ac.seed = d->index;
    if (draw(d, 3) == 0) {
        ac.x_start = (int)draw(d, 8);
        ac.y_start = (int)draw(d, 8);
        ac.out_start = (int)draw(d, 8);
        ac.x_pad = draw(d, 9);
        ac.y_pad = draw(d, 9);
        ac.out_pad = draw(d, 9);
    }
    return ac;
}

static void run_fuzz(const struct test *test, struct result *result) {
    struct draws draws = {opt.seed ^ 0xa9b7, 0};
    struct operand_memory memory = {0};
    for (int i = 0; i < (opt.quick ? 40 : env.simulated ? 120 : 500); i++) {
        struct axpby_case ac = random_case(&draws);
        ac.may_refuse = test->mask == GM_ARCH_SM90 ? BIT(GM_REASON_NO_IMAGE) : 0;
        if (!run_axpby(result, &ac, NULL, test->mask, &memory))
            break;
    }
    free_operands(&memory);
}

/* ---- bits, written down -------------------------------------------------------------------------------- */

/* fp32 numbers, and what casts make of them: what other libraries get wrong. */
static const struct {
    float x;
    uint32_t out[AXPBY_TYPES]; /* bf16, fp16, fp32, e4m3, e5m2, int8, uint8, int32 */
} known[] = {
    {-0.0f, {0x8000, 0x8000, 0x80000000, 0x80, 0x80, 0, 0, 0}},
    {2.5f, {0x4020, 0x4100, 0x40200000, 0x42, 0x41, 2, 2, 2}},
    {-3.5f, {0xc060, 0xc300, 0xc0600000, 0xc6, 0xc3, 0xfc, 0, 0xfffffffc}},
    {465, {0x43e8, 0x5f44, 0x43e88000, 0x7e, 0x5f, 127, 255, 465}},
    {65520, {0x4780, 0x7c00, 0x477ff000, 0x7e, 0x7b, 127, 255, 65520}},
    {-3e9f, {0xcf33, 0xfc00, 0xcf32d05e, 0xfe, 0xfb, 0x80, 0, 0x80000000}},
    {INFINITY, {0x7f80, 0x7c00, 0x7f800000, 0x7e, 0x7b, 127, 255, 0x7fffffff}},
    {0x1p-133f, {0x0001, 0, 0x00010000, 0, 0, 0, 0, 0}},
};

static void check_known(struct result *result, CUdeviceptr memory, enum gm_type type, uint32_t mask) {
    struct {
        float x[COUNT(known)];
        uint8_t out[4 * COUNT(known)];
    } host = {.x = {0}};
    const int bytes = gm_type_bytes(type);
    const struct gm_axpby_problem problem = {
        .size = sizeof problem, .rows = 1, .columns = COUNT(known), .type = GM_FP32, .out_type = type};
    const struct gm_axpby_args args = {.size = sizeof args, .x = memory, .out = memory + sizeof host.x};
    const struct gm_plan_options options = {.size = sizeof options, .arch_mask = mask};
    gm_plan *plan = NULL;
    for (size_t i = 0; i < COUNT(known); i++)
        host.x[i] = known[i].x;
    if (check_ok(result, gm_axpby_plan_create(env.context, &problem, &options, &plan), "plan") &&
        to_device(result, memory, &host, sizeof host) &&
        check_ok(result, gm_axpby_execute(plan, &args, env.stream), "execute") &&
        check_cuda(result, env.drv->cuStreamSynchronize(env.stream), "execute") &&
        check_cuda(result, env.drv->cuMemcpyDtoH(&host, memory, sizeof host), "copy"))
        for (size_t i = 0; i < COUNT(known); i++) {
            const uint32_t got = load_bits(host.out + (size_t)bytes * i, type);
            if (got != known[i].out[type])
                fail(result, "%g to %s: 0x%x, want 0x%x", (double)known[i].x, gm_type_name(type), got,
                     known[i].out[type]);
            result->cases++;
        }
    gm_plan_destroy(plan);
}

static void run_known(const struct test *test, struct result *result) {
    struct arena arena = {0};
    if (test->mask == GM_ARCH_SM90 && env.device.cc_major != 9) {
        skip(result, "kernels of sm90 want compute capability 9.0");
        return;
    }
    const CUdeviceptr memory = arena_take(result, &arena, 4096);
    for (int type = 0; type < AXPBY_TYPES && memory; type++)
        check_known(result, memory, (enum gm_type)type, test->mask);
    arena_free(&arena);
}

/* ---- many elements ------------------------------------------------------------------------------------- */

enum { LARGE_COLUMNS = 4096, BLOCK = 1021 };

/* x has more than 2^31 elements, a block of rows repeated, and is scaled in place; `align`: 2, by elements. */
static void large_in_place(struct result *result, CUdeviceptr x, int64_t rows, int32_t align) {
    const struct axpby_case ac = {.rows = BLOCK, .columns = LARGE_COLUMNS, .alpha = 3, .gamma = 0.5f};
    const size_t row_bytes = LARGE_COLUMNS * 2, block_bytes = BLOCK * row_bytes;
    struct operand_memory memory = {0};
    struct placed_axpby placed = {0};
    uint8_t *block = malloc(block_bytes);
    bool ok = block && place_axpby(result, &ac, &memory, &placed) &&
              check_ok(result, gm_axpby(env.context, &placed.problem, &placed.args, env.stream), "block") &&
              check_cuda(result, env.drv->cuStreamSynchronize(env.stream), "block") &&
              check_output(result, &placed.placed.call, "block") &&
              check_cuda(result, env.drv->cuMemcpyDtoH(block, placed.args.out, block_bytes), "copy");
    ok = ok && repeat_rows(result, x, rows, row_bytes, placed.args.x, BLOCK);
    placed.problem.rows = rows;
    placed.problem.x_align = placed.problem.out_align = align;
    placed.args.x = placed.args.out = x;
    if (ok && check_ok(result, gm_axpby(env.context, &placed.problem, &placed.args, env.stream), "large") &&
        check_cuda(result, env.drv->cuStreamSynchronize(env.stream), "large"))
        check_repeated_rows(result, x, rows, row_bytes, LARGE_COLUMNS, block, BLOCK);
    free(block);
    free_placed(&placed.placed);
    free_operands(&memory);
}

static void run_large(const struct test *test, struct result *result) {
    const int64_t rows = (INT64_C(1) << 31) / LARGE_COLUMNS + 7;
    const CUdeviceptr x = take_large(result, (size_t)rows * LARGE_COLUMNS * 2);
    (void)test;
    if (!x)
        return;
    large_in_place(result, x, rows, 16);
    large_in_place(result, x, rows, 2);
    env.drv->cuMemFree(x);
}

/* ---- wrong use ----------------------------------------------------------------------------------------- */

static void run_arguments(const struct test *test, struct result *result) {
    const struct axpby_case ac = {
        .rows = 5, .columns = 64, .terms = GM_AXPBY_X_AND_Y, .y_type = GM_FP32, .out_pad = 8, .y_pad = 8};
    struct operand_memory memory = {0};
    struct placed_axpby placed = {0};
    gm_plan *plan = NULL;
    (void)test;
    if (place_axpby(result, &ac, &memory, &placed) &&
        check_ok(result, gm_axpby_plan_create(env.context, &placed.problem, NULL, &plan), "plan")) {
        const struct gm_axpby_args good = placed.args;
        const struct {
            const char *what;
            struct gm_axpby_args args;
            enum gm_status want;
        } bad[] = {
#define ARGS(...) {sizeof good, __VA_ARGS__}
            {"x null", ARGS(0, good.y, good.out, 0), GM_ERROR_INVALID_ARGUMENT},
            {"y null", ARGS(good.x, 0, good.out, 0), GM_ERROR_INVALID_ARGUMENT},
            {"out null", ARGS(good.x, good.y, 0, 0), GM_ERROR_INVALID_ARGUMENT},
            {"x at 8, 16 promised", ARGS(good.x + 8, good.y, good.out, 0), GM_ERROR_MISALIGNED},
            {"row_count at 2", ARGS(good.x, good.y, good.out, good.y + 2), GM_ERROR_MISALIGNED},
            {"out is x with another stride", ARGS(good.x, good.y, good.x, 0), GM_ERROR_OVERLAP},
            {"out is y of another size", ARGS(good.x, good.y, good.y, 0), GM_ERROR_OVERLAP},
            {"row_count in out", ARGS(good.x, good.y, good.out, good.out), GM_ERROR_OVERLAP},
#undef ARGS
            {"an old struct", {.size = 8}, GM_ERROR_SIZE}};
        for (size_t i = 0; i < COUNT(bad); i++)
            check_refusal(result, gm_axpby_execute(plan, &bad[i].args, env.stream), bad[i].want, bad[i].what);
        check_unwritten(result, &placed.placed.call, "after refused executes");
    }
    gm_plan_destroy(plan);
    free_placed(&placed.placed);
    free_operands(&memory);
}

/* Nothing is launched, and nothing is looked at. */
static void run_empty(const struct test *test, struct result *result) {
    const struct gm_axpby_problem problem = {.size = sizeof problem, .columns = 64};
    const struct gm_axpby_args args = {.size = sizeof args};
    (void)test;
    result->cases += check_ok(result, gm_axpby(env.context, &problem, &args, env.stream), "no rows");
}

void add_axpby_api_tests(void) {
    add_test("api", "axpby_fuzz_sm80", run_fuzz, -1, GM_ARCH_SM80);
    add_test("api", "axpby_fuzz_sm90", run_fuzz, -1, GM_ARCH_SM90);
    add_test("api", "axpby_to_known_bits_sm80", run_known, -1, GM_ARCH_SM80);
    add_test("api", "axpby_to_known_bits_sm90", run_known, -1, GM_ARCH_SM90);
    add_test("api", "axpby_of_no_rows", run_empty, -1, 0);
    add_test("api", "axpby_of_more_than_2_to_the_31_elements", run_large, -1, 0);
    add_test("badinput", "axpby_arguments", run_arguments, -1, 0);
}
