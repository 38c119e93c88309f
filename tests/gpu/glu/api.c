/* SPDX-License-Identifier: Apache-2.0 */
/* GLU through the public functions: the planner chooses. Random problems, operands of more than 2^31 elements, one captured
 * graph for any number of rows, and wrong use. */
#include <stdlib.h>
#include <string.h>

#include "glu/glu_tests.h"

/* ---- random problems ----------------------------------------------------------------------------------- */

static struct glu_case random_case(struct draws *d) {
    static const int64_t widths[] = {1, 8, 64, 100, 128, 257, 512, 1000, 1024, 2880, 5632, 14336};
    const int64_t most = env.simulated || opt.quick ? 9 : 12;
    struct glu_case gc = {.rows = 1 + draw(d, 9), .columns = widths[draw(d, most)], .type = (enum gm_type)draw(d, 3)};
    gc.layout = (enum gm_glu_layout)draw(d, 3);
    gc.activation = (enum gm_activation)draw(d, 5);
    gc.rounding = (enum gm_rounding)draw(d, 2);
    gc.inputs = (enum glu_inputs)draw(d, 4);
    gc.limit = draw(d, 2) ? 0 : 7;
    gc.sigmoid_factor = draw(d, 2) ? 0 : 1.702f;
    gc.up_offset = (float)draw(d, 2);
    gc.in_place = gc.layout == GM_GLU_APART ? (int)draw(d, 3) : 0;
    gc.counted = draw(d, 4) == 0;
    gc.count = (int)draw(d, 10);
    gc.seed = d->index;
    if (draw(d, 3) == 0) {
        gc.out = random_out(d);
        gc.in_place *= gm_type_bytes(type_of_out(&gc.out, gc.type)) == gm_type_bytes(gc.type);
    }
    if (draw(d, 3) == 0) {
        gc.gate_start = (int)draw(d, 8);
        gc.up_start = (int)draw(d, 8);
        gc.out_start = (int)draw(d, 8);
        gc.gate_pad = draw(d, 9);
        gc.up_pad = draw(d, 9);
        gc.out_pad = draw(d, 9);
    }
    return gc;
}

static void run_fuzz(const struct test *test, struct result *result) {
    struct draws draws = {opt.seed ^ 0x91e, 0};
    struct operand_memory memory = {0};
    for (int i = 0; i < (opt.quick ? 40 : env.simulated ? 120 : 500); i++) {
        struct glu_case gc = random_case(&draws);
        gc.may_refuse = test->mask == GM_ARCH_SM90 ? BIT(GM_REASON_NO_IMAGE) : 0;
        if (i % 10 == 8 && !gc.in_place)
            gc.out = (struct out_case){.has_type = 1, .type = GM_E4M3, .scaling = GM_SCALE_GROUP};
        if (!run_glu(result, &gc, NULL, test->mask, &memory))
            break;
    }
    free_operands(&memory);
}

/* ---- out of another type ------------------------------------------------------------------------------- */

static bool read_case(struct result *result, const struct glu_case *gc, uint32_t mask, struct operand_memory *memory,
                      uint8_t *out, uint8_t *scales) {
    struct placed_glu placed = {0};
    const bool ok = place_glu(result, gc, memory, &placed) &&
                    read_out(result, &placed.placed, mask, GLU_OUT, GLU_SCALES, out, scales);
    free_placed(&placed.placed);
    return ok;
}

static bool check_two_calls(struct result *result, const struct glu_case *gc, uint32_t mask) {
    struct operand_memory memory = {0};
    struct two_calls calls;
    struct glu_case plain = *gc, fp32 = *gc;
    char what[480];
    plain.out = (struct out_case){0};
    fp32.out = (struct out_case){.has_type = 1, .type = GM_FP32};
    describe_glu(gc, what, sizeof what);
    begin_two_calls(&calls);
    const bool ok = read_case(result, &plain, mask, &memory, calls.norm, NULL) &&
                    read_case(result, &fp32, mask, &memory, calls.wide, NULL) &&
                    read_case(result, gc, mask, &memory, calls.out, calls.scales) &&
                    check_two_calls_made(result, &calls, &gc->out, gc->type, gc->rows, gc->columns, what);
    end_two_calls(&calls);
    free_operands(&memory);
    return ok;
}

static void run_two_calls(const struct test *test, struct result *result) {
    static const int64_t widths[] = {8, 128, 136, 256, 520, 1032, 2880, 4104, 97, 1001};
    struct draws draws = {opt.seed ^ 0x2cb, 0};
    if (lacks_sm90(test, result))
        return;
    for (int i = 0; i < (opt.quick ? 20 : 40); i++) {
        struct glu_case gc = {
            .rows = 1 + draw(&draws, 7), .columns = widths[i % 10], .up_offset = (float)draw(&draws, 2)};
        gc.type = (enum gm_type)draw(&draws, 3);
        gc.layout = (enum gm_glu_layout)draw(&draws, 3);
        gc.activation = (enum gm_activation)draw(&draws, 5);
        gc.rounding = (enum gm_rounding)draw(&draws, 2);
        gc.inputs = i % 3 ? GLU_NORMAL : i % 2 ? GLU_WIDE : GLU_SPECIAL;
        gc.out = random_out(&draws);
        gc.out.has_type = 1;
        gc.out.type = (enum gm_type)(GM_E4M3 + draw(&draws, 3));
        gc.out.scales_pad = 0;
        if (i % 2) /* divisors of many bits, and those that take the long way */
            gc.out.static_scale = i % 4 == 1 ? 0.1f : 0x1.00001p-4f;
        gc.seed = draws.index;
        if (!check_two_calls(result, &gc, test->mask))
            return;
    }
    const struct glu_case long_row = {.rows = 2,
                                      .columns = 20008,
                                      .activation = GM_ACT_SILU,
                                      .inputs = GLU_NORMAL,
                                      .out = {.has_type = 1, .type = GM_E4M3, .scaling = GM_SCALE_ROW}};
    check_two_calls(result, &long_row, test->mask);
}

/* ---- many elements ------------------------------------------------------------------------------------- */

enum { LARGE_COLUMNS = 4096, BLOCK = 1021 };

/* x has more than 2^31 elements, a block of rows repeated, and becomes its SiLU in place; `align`: 2, by elements. */
static void large_in_place(struct result *result, CUdeviceptr x, int64_t rows, int32_t align) {
    const struct glu_case gc = {.rows = BLOCK,
                                .columns = LARGE_COLUMNS,
                                .activation = GM_ACT_SILU,
                                .layout = GM_GLU_NO_UP,
                                .inputs = GLU_NORMAL};
    const size_t row_bytes = LARGE_COLUMNS * 2, block_bytes = BLOCK * row_bytes;
    struct operand_memory memory = {0};
    struct placed_glu placed = {0};
    uint8_t *block = malloc(block_bytes);
    bool ok = block && place_glu(result, &gc, &memory, &placed) &&
              check_ok(result, gm_glu(env.context, &placed.problem, &placed.args, env.stream), "block") &&
              check_cuda(result, env.drv->cuStreamSynchronize(env.stream), "block") &&
              check_output(result, &placed.placed.call, "block") &&
              check_cuda(result, env.drv->cuMemcpyDtoH(block, placed.args.out, block_bytes), "copy");
    ok = ok && repeat_rows(result, x, rows, row_bytes, placed.args.gate, BLOCK);
    placed.problem.rows = rows;
    placed.problem.gate_align = placed.problem.out_align = align;
    placed.args.gate = placed.args.out = x;
    if (ok && check_ok(result, gm_glu(env.context, &placed.problem, &placed.args, env.stream), "large") &&
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
    const struct glu_case gc = {.rows = 5, .columns = 64, .activation = GM_ACT_SILU, .out_pad = 8, .gate_pad = 8};
    struct operand_memory memory = {0};
    struct placed_glu placed = {0};
    gm_plan *plan = NULL;
    (void)test;
    if (place_glu(result, &gc, &memory, &placed) &&
        check_ok(result, gm_glu_plan_create(env.context, &placed.problem, NULL, &plan), "plan")) {
        const struct gm_glu_args good = placed.args;
        const struct {
            const char *what;
            struct gm_glu_args args;
            enum gm_status want;
        } bad[] = {
#define ARGS(...) {sizeof good, __VA_ARGS__, 0}
            {"gate null", ARGS(0, good.up, good.out, 0), GM_ERROR_INVALID_ARGUMENT},
            {"up null", ARGS(good.gate, 0, good.out, 0), GM_ERROR_INVALID_ARGUMENT},
            {"out null", ARGS(good.gate, good.up, 0, 0), GM_ERROR_INVALID_ARGUMENT},
            {"gate at 8, 16 promised", ARGS(good.gate + 8, good.up, good.out, 0), GM_ERROR_MISALIGNED},
            {"row_count at 2", ARGS(good.gate, good.up, good.out, good.up + 2), GM_ERROR_MISALIGNED},
            {"out 16 bytes into gate", ARGS(good.gate, good.up, good.gate + 16, 0), GM_ERROR_OVERLAP},
            {"out is up with another stride", ARGS(good.gate, good.up, good.up, 0), GM_ERROR_OVERLAP},
            {"row_count in out", ARGS(good.gate, good.up, good.out, good.out), GM_ERROR_OVERLAP},
#undef ARGS
            {"an old struct", {.size = 8}, GM_ERROR_SIZE}};
        for (size_t i = 0; i < COUNT(bad); i++)
            check_refusal(result, gm_glu_execute(plan, &bad[i].args, env.stream), bad[i].want, bad[i].what);
        check_unwritten(result, &placed.placed.call, "after refused executes");
    }
    gm_plan_destroy(plan);
    free_placed(&placed.placed);
    free_operands(&memory);
}

/* Nothing is launched, and nothing is looked at. */
static void run_empty(const struct test *test, struct result *result) {
    const struct gm_glu_problem problem = {.size = sizeof problem, .columns = 64};
    const struct gm_glu_args args = {.size = sizeof args};
    (void)test;
    result->cases += check_ok(result, gm_glu(env.context, &problem, &args, env.stream), "no rows");
}

void add_glu_api_tests(void) {
    add_test("api", "glu_fuzz_sm80", run_fuzz, -1, GM_ARCH_SM80);
    add_test("api", "glu_fuzz_sm90", run_fuzz, -1, GM_ARCH_SM90);
    add_test("api", "glu_quantised_is_two_calls_sm80", run_two_calls, -1, GM_ARCH_SM80);
    add_test("api", "glu_quantised_is_two_calls_sm90", run_two_calls, -1, GM_ARCH_SM90);
    add_test("api", "glu_of_no_rows", run_empty, -1, 0);
    add_test("api", "glu_of_more_than_2_to_the_31_elements", run_large, -1, 0);
    add_test("badinput", "glu_arguments", run_arguments, -1, 0);
}
