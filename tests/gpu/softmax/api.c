/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax through the public functions: the planner chooses. Random problems, rows and variants that must give the same
 * bits, operands of more than 2^31 elements, and wrong use. */
#include <stdlib.h>
#include <string.h>

#include "columns.h"
#include "softmax/softmax_tests.h"

/* ---- random problems ----------------------------------------------------------------------------------- */

static struct softmax_case random_case(struct draws *d) {
    static const int64_t widths[] = {1,    8,    64,   100,   128,   257,    512,   1000,
                                     2048, 4096, 9000, 32000, 50257, 128256, 262144};
    const int64_t most = env.simulated || opt.quick ? 10 : 15;
    struct softmax_case sc = {
        .rows = 1 + draw(d, 9), .columns = widths[draw(d, most)], .type = (enum gm_type)draw(d, 3)};
    sc.fp32_out = sc.type != GM_FP32 && draw(d, 2);
    sc.log = draw(d, 2);
    sc.cap = draw(d, 3) ? 0 : 30;
    sc.temperature = draw(d, 2) ? 0 : 0.75f;
    sc.has_lse = draw(d, 2);
    sc.row_temperatures = draw(d, 3) == 0;
    sc.inputs = (enum softmax_inputs)draw(d, 5);
    sc.in_place = !sc.fp32_out && draw(d, 3) == 0;
    sc.counted = draw(d, 4) == 0;
    sc.count = (int)draw(d, 10);
    sc.seed = d->index;
    if (draw(d, 3) == 0) {
        sc.x_start = (int)draw(d, 8);
        sc.out_start = (int)draw(d, 8);
        sc.x_pad = draw(d, 9);
        sc.out_pad = draw(d, 9);
    }
    return sc;
}

static void run_fuzz(const struct test *test, struct result *result) {
    struct draws draws = {opt.seed ^ 0x50f, 0};
    struct operand_memory memory = {0};
    for (int i = 0; i < (opt.quick ? 40 : env.simulated ? 120 : 500); i++) {
        struct softmax_case sc = random_case(&draws);
        sc.may_refuse = test->mask == GM_ARCH_SM90 ? BIT(GM_REASON_NO_IMAGE) : 0;
        if (!run_softmax(result, &sc, NULL, test->mask, &memory))
            break;
    }
    free_operands(&memory);
}

/* ---- the same bits --------------------------------------------------------------------------------------- */

/* What a kernel (NULL: the planner's) makes of a case, into `out`, without pads; false where it takes no such case. */
static bool compute(struct result *result, const struct softmax_case *sc, const char *kernel,
                    struct operand_memory *memory, uint8_t *out) {
    const struct gm_plan_options options = {.size = sizeof options, .kernel = kernel};
    const size_t row_bytes = (size_t)(sc->columns * gm_type_bytes(sc->fp32_out ? GM_FP32 : sc->type));
    const size_t pitch = row_bytes / (size_t)sc->columns * (size_t)(sc->columns + sc->out_pad);
    struct placed_softmax placed = {0};
    gm_plan *plan = NULL;
    bool ok = place_softmax(result, sc, memory, &placed) &&
              gm_softmax_plan_create(env.context, &placed.problem, &options, &plan) == GM_OK &&
              check_ok(result, gm_softmax_execute(plan, &placed.args, env.stream), "execute") &&
              check_cuda(result, env.drv->cuStreamSynchronize(env.stream), "execute");
    for (int64_t row = 0; row < sc->rows && ok; row++)
        ok = check_cuda(
            result,
            env.drv->cuMemcpyDtoH(out + (size_t)row * row_bytes, placed.args.out + (size_t)row * pitch, row_bytes),
            "copy");
    gm_plan_destroy(plan);
    free_placed(&placed.placed);
    return ok;
}

/* Of every kernel that takes the case, and of unaligned rows. */
static void compare_variants(struct result *result, const struct softmax_case *sc, struct operand_memory *memory) {
    const size_t bytes = (size_t)(sc->rows * sc->columns * gm_type_bytes(sc->fp32_out ? GM_FP32 : sc->type));
    uint8_t *one = malloc(bytes), *other = malloc(bytes);
    if (!one || !other)
        exit(2);
    bool ran = compute(result, sc, NULL, memory, one);
    for (size_t i = 0; i < gm_kernel_count() && ran; i++) {
        const struct gm_kernel *kernel = &gm_kernels[i];
        if (kernel->family->operation != &gm_operation_softmax || kernel->type != sc->type ||
            !compute(result, sc, kernel->name, memory, other))
            continue;
        result->cases++;
        if (memcmp(one, other, bytes) != 0)
            fail(result, "%s gives other bits than the planner's choice, of %lld columns", kernel->name,
                 (long long)sc->columns);
    }
    struct softmax_case unaligned = *sc;
    unaligned.x_start = unaligned.out_start = 1;
    unaligned.x_pad = unaligned.out_pad = 3;
    if (ran && compute(result, &unaligned, NULL, memory, other) && memcmp(one, other, bytes) != 0)
        fail(result, "unaligned rows of %lld columns have other bits", (long long)sc->columns);
    free(one);
    free(other);
}

static void run_variants(const struct test *test, struct result *result) {
    static const int64_t widths[] = {8, 104, 1000, 4096, 5120, 16384, 30000, 131072, 262144};
    struct operand_memory memory = {0};
    (void)test;
    for (size_t i = 0; i < COUNT(widths) - (opt.quick || env.simulated || opt.self_test ? 3 : 0); i++)
        for (int type = 0; type < 3; type++) {
            const struct softmax_case sc = {.rows = widths[i] > 5000 && env.simulated ? 1 : 5,
                                            .columns = widths[i],
                                            .type = (enum gm_type)type,
                                            .log = i & 1,
                                            .fp32_out = type != GM_FP32,
                                            .cap = i % 3 ? 0 : 30,
                                            .inputs = SOFTMAX_NORMAL};
            compare_variants(result, &sc, &memory);
        }
    free_operands(&memory);
}

/* Rows have the same bits alone, as some of a few, and as some of many: each is compared with that of the call before. */
static bool check_invariance(struct result *result, int64_t width, enum gm_type type, struct operand_memory *memory) {
    static const int64_t counts[] = {1, 2, 7, 65, 300};
    const size_t row_bytes = (size_t)(width * gm_type_bytes(type));
    uint8_t *before = malloc(300 * row_bytes), *out = malloc(300 * row_bytes);
    bool ok = before && out;
    for (size_t i = 0; i < COUNT(counts) && ok; i++) {
        const struct softmax_case sc = {.rows = counts[i], .columns = width, .type = type, .inputs = SOFTMAX_NORMAL};
        ok = compute(result, &sc, NULL, memory, out);
        if (ok && i > 0 && memcmp(before, out, (size_t)counts[i - 1] * row_bytes) != 0) {
            fail(result, "rows of %lld have other bits among %lld rows", (long long)width, (long long)counts[i]);
            ok = false;
        }
        memcpy(before, out, (size_t)counts[i] * row_bytes);
        result->cases++;
    }
    free(before);
    free(out);
    return ok;
}

static void run_invariance(const struct test *test, struct result *result) {
    static const int64_t widths[] = {64, 1000, 4096, 32768};
    struct operand_memory memory = {0};
    (void)test;
    for (size_t i = 0; i < COUNT(widths) - (opt.quick || env.simulated ? 2 : 0); i++)
        for (int type = 0; type < 3; type++)
            if (!check_invariance(result, widths[i], (enum gm_type)type, &memory))
                break;
    free_operands(&memory);
}

/* ---- many elements ------------------------------------------------------------------------------------- */

enum { LARGE_COLUMNS = 4096, BLOCK_ROWS = 1021 };

/* x has more than 2^31 elements, a block of rows repeated, and becomes its log-softmax in place; `align`: 2, by elements. */
static void large_in_place(struct result *result, CUdeviceptr x, int64_t rows, int32_t align) {
    const struct softmax_case sc = {
        .rows = BLOCK_ROWS, .columns = LARGE_COLUMNS, .log = true, .inputs = SOFTMAX_NORMAL};
    const size_t row_bytes = LARGE_COLUMNS * 2, block_bytes = BLOCK_ROWS * row_bytes;
    struct operand_memory memory = {0};
    struct placed_softmax placed = {0};
    uint8_t *block = malloc(block_bytes);
    bool ok = block && place_softmax(result, &sc, &memory, &placed) &&
              check_ok(result, gm_softmax(env.context, &placed.problem, &placed.args, env.stream), "block") &&
              check_cuda(result, env.drv->cuStreamSynchronize(env.stream), "block") &&
              check_output(result, &placed.placed.call, "block") &&
              check_cuda(result, env.drv->cuMemcpyDtoH(block, placed.args.out, block_bytes), "copy");
    ok = ok && repeat_rows(result, x, rows, row_bytes, placed.args.x, BLOCK_ROWS);
    placed.problem.rows = rows;
    placed.problem.x_align = placed.problem.out_align = align;
    placed.args.x = placed.args.out = x;
    if (ok && check_ok(result, gm_softmax(env.context, &placed.problem, &placed.args, env.stream), "large") &&
        check_cuda(result, env.drv->cuStreamSynchronize(env.stream), "large"))
        check_repeated_rows(result, x, rows, row_bytes, LARGE_COLUMNS, block, BLOCK_ROWS);
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

/* Several blocks of the sum's order. */
static void run_wide(const struct test *test, struct result *result) {
    static const int64_t widths[] = {262144 + 8, 2 * 262144, 3 * 262144 + 1000, 300001};
    struct operand_memory memory = {0};
    (void)test;
    for (size_t i = 0; i < COUNT(widths) - 3 * (env.simulated || opt.quick); i++)
        for (int type = 0; type < 3; type++) {
            const struct softmax_case sc = {.rows = env.simulated ? 1 : 3,
                                            .columns = widths[i],
                                            .type = (enum gm_type)type,
                                            .log = type == 1,
                                            .has_lse = true,
                                            .row_temperatures = !env.simulated,
                                            .inputs = SOFTMAX_POSITIVE};
            if (run_softmax(result, &sc, NULL, 0, &memory) && !env.simulated)
                compare_variants(result, &sc, &memory);
        }
    free_operands(&memory);
}

/* ---- wrong use ----------------------------------------------------------------------------------------- */

static void run_arguments(const struct test *test, struct result *result) {
    const struct softmax_case sc = {.rows = 5, .columns = 64, .out_pad = 8, .x_pad = 16, .has_lse = true};
    struct operand_memory memory = {0};
    struct placed_softmax placed = {0};
    gm_plan *plan = NULL;
    (void)test;
    if (place_softmax(result, &sc, &memory, &placed) &&
        check_ok(result, gm_softmax_plan_create(env.context, &placed.problem, NULL, &plan), "plan")) {
        const struct gm_softmax_args good = placed.args;
        const struct {
            const char *what;
            struct gm_softmax_args args;
            enum gm_status want;
        } bad[] = {
#define ARGS(...) {sizeof good, __VA_ARGS__}
            {"x null", ARGS(0, good.out, 0, 0, 0), GM_ERROR_INVALID_ARGUMENT},
            {"out null", ARGS(good.x, 0, 0, 0, 0), GM_ERROR_INVALID_ARGUMENT},
            {"x at 8, 16 promised", ARGS(good.x + 8, good.out, 0, 0, 0), GM_ERROR_MISALIGNED},
            {"lse at 2", ARGS(good.x, good.out, good.lse + 2, 0, 0), GM_ERROR_MISALIGNED},
            {"temperatures at 2", ARGS(good.x, good.out, 0, good.x + 2, 0), GM_ERROR_MISALIGNED},
            {"row_count at 2", ARGS(good.x, good.out, 0, 0, good.x + 2), GM_ERROR_MISALIGNED},
            {"out 16 bytes into x", ARGS(good.x, good.x + 16, 0, 0, 0), GM_ERROR_OVERLAP},
            {"out is x with another stride", ARGS(good.x, good.x, 0, 0, 0), GM_ERROR_OVERLAP},
            {"lse in out", ARGS(good.x, good.out, good.out + 16, 0, 0), GM_ERROR_OVERLAP},
            {"temperatures in lse", ARGS(good.x, good.out, good.lse, good.lse, 0), GM_ERROR_OVERLAP},
            {"row_count in out", ARGS(good.x, good.out, 0, 0, good.out), GM_ERROR_OVERLAP},
#undef ARGS
            {"an old struct", {.size = 8}, GM_ERROR_SIZE}};
        for (size_t i = 0; i < COUNT(bad); i++)
            check_refusal(result, gm_softmax_execute(plan, &bad[i].args, env.stream), bad[i].want, bad[i].what);
        check_unwritten(result, &placed.placed.call, "after refused executes");
    }
    gm_plan_destroy(plan);
    free_placed(&placed.placed);
    free_operands(&memory);
}

/* Nothing is launched, and nothing is looked at. */
static void run_empty(const struct test *test, struct result *result) {
    const struct gm_softmax_problem problem = {.size = sizeof problem, .columns = 64};
    const struct gm_softmax_args args = {.size = sizeof args};
    (void)test;
    result->cases += check_ok(result, gm_softmax(env.context, &problem, &args, env.stream), "no rows");
}

void add_softmax_api_tests(void) {
    add_test("api", "softmax_fuzz_sm80", run_fuzz, -1, GM_ARCH_SM80);
    add_test("api", "softmax_fuzz_sm90", run_fuzz, -1, GM_ARCH_SM90);
    add_test("api", "softmax_of_no_rows", run_empty, -1, 0);
    add_test("api", "softmax_of_more_than_2_to_the_31_elements", run_large, -1, 0);
    add_test("api", "softmax_of_rows_of_several_blocks", run_wide, -1, 0);
    add_test("invariance", "softmax_rows_have_the_same_bits_beside_others", run_invariance, -1, 0);
    add_test("invariance", "softmax_variants_give_the_same_bits", run_variants, -1, 0);
    add_test("badinput", "softmax_arguments", run_arguments, -1, 0);
}
