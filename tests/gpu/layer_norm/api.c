/* SPDX-License-Identifier: Apache-2.0 */
/* LayerNorm through the public functions: the planner chooses. Random problems, rows beside others, roundings without a bias,
 * operands of more than 2^31 elements, and wrong use. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "columns.h"
#include "layer_norm/layer_norm_tests.h"

/* ---- random problems ----------------------------------------------------------------------------------- */

static struct ln_case random_case(struct draws *d) {
    static const int64_t widths[] = {1, 8, 64, 100, 128, 257, 512, 1000, 1024, 1536, 2048, 4096, 5120};
    const int64_t most = env.simulated || opt.quick ? 9 : 13;
    struct ln_case lc = {.rows = 1 + draw(d, 9), .columns = widths[draw(d, most)], .type = (enum gm_type)draw(d, 3)};
    lc.inputs = (enum ln_inputs)draw(d, 4);
    lc.fp32_weight = (int)draw(d, 2);
    lc.residual = (int)draw(d, 2);
    lc.no_weight = draw(d, 4) == 0;
    lc.no_bias = draw(d, 4) == 0;
    lc.sum_rounding = (enum gm_rounding)draw(d, 2);
    lc.normalized_rounding = (enum gm_rounding)draw(d, 2);
    lc.eps = draw(d, 2) ? 1e-5f : 1e-6f;
    lc.weight_offset = (float)draw(d, 2);
    lc.in_place = draw(d, 4) == 0;
    lc.counted = draw(d, 4) == 0;
    lc.count = (int)draw(d, 10);
    if (draw(d, 3) == 0) {
        lc.out = random_out(d);
        lc.residual = (int)draw(d, 4);
        lc.norm_rounding = (enum gm_rounding)draw(d, 2);
        lc.in_place &= gm_type_bytes(type_of_out(&lc.out, lc.type)) == gm_type_bytes(lc.type);
    }
    lc.seed = d->index;
    if (draw(d, 3) == 0) {
        lc.x_start = (int)draw(d, 8);
        lc.out_start = (int)draw(d, 8);
        lc.x_pad = draw(d, 9);
        lc.residual_pad = draw(d, 9);
        lc.out_pad = draw(d, 9);
    }
    return lc;
}

static void run_fuzz(const struct test *test, struct result *result) {
    struct draws draws = {opt.seed ^ 0x1a4, 0};
    struct operand_memory memory = {0};
    for (int i = 0; i < (opt.quick ? 40 : env.simulated ? 120 : 400); i++) {
        struct ln_case lc = random_case(&draws);
        lc.may_refuse = test->mask == GM_ARCH_SM90 ? BIT(GM_REASON_NO_IMAGE) : 0;
        if (i % 10 == 8 && !lc.in_place)
            lc.out = (struct out_case){.has_type = 1, .type = GM_E4M3, .scaling = GM_SCALE_GROUP};
        if (i % 10 == 9)
            lc.residual = GM_RESIDUAL_BETWEEN;
        if (!run_ln(result, &lc, NULL, test->mask, &memory))
            break;
    }
    free_operands(&memory);
}

/* ---- rows beside others -------------------------------------------------------------------------------- */

/* What is left of out after a call of `rows` rows, in `out`. */
static bool normalise_rows(struct result *result, const struct ln_case *lc, struct operand_memory *memory, uint8_t *out,
                           size_t bytes) {
    struct placed_ln placed = {0};
    const bool ok =
        place_ln(result, lc, memory, &placed) &&
        check_ok(result, gm_layer_norm(env.context, &placed.problem, &placed.args, env.stream), "layer_norm") &&
        check_cuda(result, env.drv->cuStreamSynchronize(env.stream), "synchronize") &&
        check_cuda(result, env.drv->cuMemcpyDtoH(out, placed.args.out, bytes), "copy");
    free_placed(&placed.placed);
    return ok;
}

/* Rows have the same bits alone, as some of a few, and as some of many: each is compared with that of the call before. */
static bool check_invariance(struct result *result, int64_t width, enum gm_type type, struct operand_memory *memory) {
    static const int64_t counts[] = {1, 2, 7, 65, 300};
    const size_t row_bytes = (size_t)width * (size_t)gm_type_bytes(type);
    uint8_t *before = malloc(300 * row_bytes), *out = malloc(300 * row_bytes);
    bool ok = before && out;
    for (size_t i = 0; i < COUNT(counts) && ok; i++) {
        const struct ln_case lc = {
            .rows = counts[i], .columns = width, .type = type, .eps = 1e-5f, .inputs = LN_POSITIVE};
        ok = normalise_rows(result, &lc, memory, out, (size_t)counts[i] * row_bytes);
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
    static const int64_t widths[] = {64, 1000, 4096, 5120};
    struct operand_memory memory = {0};
    (void)test;
    for (size_t i = 0; i < COUNT(widths) - (opt.quick || env.simulated); i++)
        for (int type = 0; type < 3; type++)
            if (!check_invariance(result, widths[i], (enum gm_type)type, &memory))
                break;
    free_operands(&memory);
}

/* What a kernel makes of a case, into `out`; false where it takes no such case. */
static bool run_kernel(struct result *result, const struct ln_case *lc, const struct gm_kernel *kernel,
                       struct operand_memory *memory, uint8_t *out, size_t bytes) {
    const struct gm_plan_options options = {.size = sizeof options, .kernel = kernel->name};
    struct placed_ln placed = {0};
    gm_plan *plan = NULL;
    const bool ok = place_ln(result, lc, memory, &placed) &&
                    gm_layer_norm_plan_create(env.context, &placed.problem, &options, &plan) == GM_OK &&
                    check_ok(result, gm_layer_norm_execute(plan, &placed.args, env.stream), kernel->name) &&
                    check_cuda(result, env.drv->cuStreamSynchronize(env.stream), kernel->name) &&
                    check_cuda(result, env.drv->cuMemcpyDtoH(out, placed.args.out, bytes), kernel->name);
    gm_plan_destroy(plan);
    free_placed(&placed.placed);
    return ok;
}

/* Every kernel that the planner may choose gives the same bits of a row, and so does every kernel with any out. */
static void check_twins(struct result *result, enum gm_type type, int64_t rows, int64_t columns,
                        struct operand_memory *memory) {
    const struct ln_case nc = {
        .rows = rows, .columns = columns, .type = type, .residual = rows > 3, .inputs = LN_POSITIVE};
    const struct gm_layer_norm_problem problem = {
        .size = sizeof problem, .rows = rows, .columns = columns, .type = type, .residual = rows > 3};
    const struct gm_plan_options options = {.size = sizeof options};
    const size_t bytes = (size_t)(nc.rows * columns * gm_type_bytes(type));
    struct gm_candidate *candidates = calloc(gm_kernel_count(), sizeof *candidates);
    uint8_t *one = malloc(bytes), *other = malloc(bytes);
    size_t count = gm_kernel_count();
    const struct gm_kernel *first = NULL;
    if (!candidates || !one || !other ||
        !check_ok(result, gm_layer_norm_explain(&env.device, &problem, &options, candidates, count, &count), "explain"))
        count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct gm_kernel *kernel = &gm_kernels[candidates[i].kernel];
        const int32_t *c = kernel->columns;
        const bool is_twin = candidates[i].reason == GM_ACCEPTED ||
                             (candidates[i].reason == GM_REASON_LAYOUT && c[GM_LAYER_NORM_VECTOR_BYTES] == 16);
        if (!is_twin || !run_kernel(result, &nc, kernel, memory, first ? other : one, bytes))
            continue;
        result->cases++;
        if (first && memcmp(one, other, bytes) != 0)
            fail(result, "%lld rows of %lld: %s and %s give other bits", (long long)rows, (long long)columns,
                 first->name, kernel->name);
        first = first ? first : kernel;
    }
    free(candidates);
    free(one);
    free(other);
}

static void run_twins(const struct test *test, struct result *result) {
    static const int64_t widths[] = {64, 120, 256, 512, 1000, 1024, 2048, 3072, 4096, 5120, 9216, 12288, 16384, 20000};
    struct operand_memory memory = {0};
    (void)test;
    for (size_t i = 0; i < COUNT(widths); i++)
        for (int type = 0; type < 3; type++)
            for (int64_t rows = 3; rows <= 6; rows += 3)
                check_twins(result, (enum gm_type)type, rows, widths[i], &memory);
    free_operands(&memory);
}

/* ---- out of another type ------------------------------------------------------------------------------- */

static bool read_case(struct result *result, const struct ln_case *lc, uint32_t mask, struct operand_memory *memory,
                      uint8_t *out, uint8_t *scales) {
    struct placed_ln placed = {0};
    const bool ok =
        place_ln(result, lc, memory, &placed) && read_out(result, &placed.placed, mask, LN_OUT, LN_SCALES, out, scales);
    free_placed(&placed.placed);
    return ok;
}

static bool check_two_calls(struct result *result, const struct ln_case *lc, uint32_t mask) {
    struct operand_memory memory = {0};
    struct two_calls calls;
    struct ln_case plain = *lc, fp32 = *lc;
    char what[480];
    plain.out = (struct out_case){0};
    fp32.out = (struct out_case){.has_type = 1, .type = GM_FP32};
    describe_ln(lc, what, sizeof what);
    begin_two_calls(&calls);
    const bool ok = read_case(result, &plain, mask, &memory, calls.norm, NULL) &&
                    read_case(result, &fp32, mask, &memory, calls.wide, NULL) &&
                    read_case(result, lc, mask, &memory, calls.out, calls.scales) &&
                    check_two_calls_made(result, &calls, &lc->out, lc->type, lc->rows, lc->columns, what);
    end_two_calls(&calls);
    free_operands(&memory);
    return ok;
}

static void run_two_calls(const struct test *test, struct result *result) {
    static const int64_t widths[] = {16, 128, 136, 256, 520, 1032, 3072, 4104, 5120, 97, 1001};
    struct draws draws = {opt.seed ^ 0x2ca, 0};
    if (lacks_sm90(test, result))
        return;
    for (int i = 0; i < (opt.quick ? 22 : 55); i++) {
        struct ln_case lc = {.rows = 1 + draw(&draws, 7), .columns = widths[i % 11], .eps = 1e-5f};
        lc.type = (enum gm_type)draw(&draws, 3);
        lc.residual = (int)draw(&draws, 4);
        lc.sum_rounding = (enum gm_rounding)draw(&draws, 2);
        lc.normalized_rounding = (enum gm_rounding)draw(&draws, 2);
        lc.inputs = i % 3 ? LN_NORMAL : LN_SPECIAL;
        lc.out = random_out(&draws);
        lc.out.has_type = 1;
        lc.out.type = (enum gm_type)(GM_E4M3 + draw(&draws, 3));
        lc.out.scales_pad = 0;
        lc.seed = draws.index;
        if (!check_two_calls(result, &lc, test->mask))
            return;
    }
    const struct ln_case long_row = {
        .rows = 2, .columns = 20008, .eps = 1e-5f, .out = {.has_type = 1, .type = GM_E4M3, .scaling = GM_SCALE_ROW}};
    check_two_calls(result, &long_row, test->mask);
}

/* ---- roundings ----------------------------------------------------------------------------------------- */

/* The mean signed error of a row, in units in the last place, away from zero. */
static double bias_of_row(const struct ln_case *lc, int64_t row, const uint8_t *out) {
    const double columns = (double)lc->columns;
    double sum = 0, squares = 0, units = 0;
    for (int64_t i = 0; i < lc->columns; i++)
        sum += ln_x(lc, row, i);
    for (int64_t i = 0; i < lc->columns; i++)
        squares += pow(ln_x(lc, row, i) - sum / columns, 2);
    for (int64_t i = 0; i < lc->columns; i++) {
        const double scale = 1 / sqrt(squares / columns + (double)lc->eps);
        const double want = (ln_x(lc, row, i) - sum / columns) * scale * ln_weight(lc, i) + ln_bias(lc, i);
        const double got = bits_to_double(lc->type, load_bits(out + i * gm_type_bytes(lc->type), lc->type));
        units += (fabs(got) - fabs(want)) / (2 * half_ulp(lc->type, want));
    }
    return units / columns;
}

/* It is far below half a unit: truncation would make it half a unit towards zero. */
static void check_bias(struct result *result, enum gm_type type) {
    const struct ln_case lc = {
        .rows = 16, .columns = 1024, .type = type, .eps = 1e-5f, .inputs = LN_NORMAL, .fp32_weight = 1};
    const size_t row_bytes = (size_t)lc.columns * (size_t)gm_type_bytes(type);
    struct operand_memory memory = {0};
    uint8_t *out = malloc((size_t)lc.rows * row_bytes);
    double units = 0;
    if (out && run_ln(result, &lc, NULL, 0, &memory) &&
        normalise_rows(result, &lc, &memory, out, (size_t)lc.rows * row_bytes)) {
        for (int64_t row = 0; row < lc.rows; row++)
            units += bias_of_row(&lc, row, out + (size_t)row * row_bytes) / (double)lc.rows;
        if (fabs(units) > 0.02)
            fail(result, "%s: the mean error is %.4f units in the last place", gm_type_name(type), units);
    }
    free(out);
    free_operands(&memory);
}

static void run_bias(const struct test *test, struct result *result) {
    (void)test;
    check_bias(result, GM_BF16);
    check_bias(result, GM_FP16);
}

/* ---- many elements ------------------------------------------------------------------------------------- */

enum { LARGE_COLUMNS = 4096, BLOCK = 1021 };

/* x has more than 2^31 elements: a block of rows, repeated, and normalised in place. */
static void large_in_place(struct result *result, CUdeviceptr x, int64_t rows) {
    const struct ln_case lc = {
        .rows = BLOCK, .columns = LARGE_COLUMNS, .type = GM_BF16, .eps = 1e-5f, .inputs = LN_NORMAL};
    const size_t row_bytes = LARGE_COLUMNS * 2, block_bytes = BLOCK * row_bytes;
    struct operand_memory memory = {0};
    struct placed_ln placed = {0};
    uint8_t *block = malloc(block_bytes);
    const bool ok =
        block && run_ln(result, &lc, NULL, 0, &memory) && normalise_rows(result, &lc, &memory, block, block_bytes) &&
        place_ln(result, &lc, &memory, &placed) && repeat_rows(result, x, rows, row_bytes, placed.args.x, BLOCK);
    placed.problem.rows = rows;
    placed.args.x = placed.args.out = x;
    if (ok && check_ok(result, gm_layer_norm(env.context, &placed.problem, &placed.args, env.stream), "large") &&
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
    large_in_place(result, x, rows);
    env.drv->cuMemFree(x);
}

/* ---- wrong use ----------------------------------------------------------------------------------------- */

static void run_arguments(const struct test *test, struct result *result) {
    const struct ln_case lc = {
        .rows = 5, .columns = 64, .type = GM_BF16, .eps = 1e-5f, .residual = 1, .x_pad = 8, .out_pad = 8};
    struct operand_memory memory = {0};
    struct placed_ln placed = {0};
    gm_plan *plan = NULL;
    (void)test;
    if (place_ln(result, &lc, &memory, &placed) &&
        check_ok(result, gm_layer_norm_plan_create(env.context, &placed.problem, NULL, &plan), "plan") &&
        check_cuda(result, env.drv->cuMemsetD8(placed.placed.call.region, POISON, placed.placed.call.region_bytes),
                   "poison")) {
        const struct gm_layer_norm_args good = placed.args;
        const gm_device_ptr x = good.x, residual = good.residual, weight = good.weight, bias = good.bias,
                            out = good.out;
        const struct {
            const char *what;
            struct gm_layer_norm_args args;
            enum gm_status want;
        } bad[] = {
#define ARGS(x_, residual_, weight_, bias_, out_, count)                                                               \
    {.size = sizeof good,                                                                                              \
     .x = x_,                                                                                                          \
     .residual = residual_,                                                                                            \
     .weight = weight_,                                                                                                \
     .bias = bias_,                                                                                                    \
     .out = out_,                                                                                                      \
     .row_count = count}
            {"x null", ARGS(0, residual, weight, bias, out, 0), GM_ERROR_INVALID_ARGUMENT},
            {"residual null", ARGS(x, 0, weight, bias, out, 0), GM_ERROR_INVALID_ARGUMENT},
            {"out null", ARGS(x, residual, weight, bias, 0, 0), GM_ERROR_INVALID_ARGUMENT},
            {"odd x", ARGS(x + 1, residual, weight, bias, out, 0), GM_ERROR_MISALIGNED},
            {"weight at 8, 16 promised", ARGS(x, residual, weight + 8, bias, out, 0), GM_ERROR_MISALIGNED},
            {"bias at 8, 16 promised", ARGS(x, residual, weight, bias + 8, out, 0), GM_ERROR_MISALIGNED},
            {"row_count at 2", ARGS(x, residual, weight, bias, out, weight + 2), GM_ERROR_MISALIGNED},
            {"x 16 bytes into out", ARGS(out + 16, residual, weight, bias, out, 0), GM_ERROR_OVERLAP},
            {"residual is out", ARGS(x, out, weight, bias, out, 0), GM_ERROR_OVERLAP},
            {"residual is x", ARGS(x, x, weight, bias, out, 0), GM_ERROR_OVERLAP},
            {"weight in out", ARGS(x, residual, out + 32, bias, out, 0), GM_ERROR_OVERLAP},
            {"bias in residual", ARGS(x, residual, weight, residual + 32, out, 0), GM_ERROR_OVERLAP},
            {"row_count in out", ARGS(x, residual, weight, bias, out, out), GM_ERROR_OVERLAP},
            {"row_count in residual", ARGS(x, residual, weight, bias, out, residual + 4), GM_ERROR_OVERLAP},
#undef ARGS
            {"an old struct", {.size = 8}, GM_ERROR_SIZE}};
        for (size_t i = 0; i < COUNT(bad); i++)
            check_refusal(result, gm_layer_norm_execute(plan, &bad[i].args, env.stream), bad[i].want, bad[i].what);
        check_refusal(result, gm_gemm_execute(plan, &(struct gm_gemm_args){.size = sizeof(struct gm_gemm_args)}, NULL),
                      GM_ERROR_INVALID_ARGUMENT, "a plan of another operation");
        check_unwritten(result, &placed.placed.call, "after refused executes");
    }
    gm_plan_destroy(plan);
    free_placed(&placed.placed);
    free_operands(&memory);
}

/* Nothing is launched, and nothing is looked at. */
static void run_empty(const struct test *test, struct result *result) {
    const struct gm_layer_norm_problem problem = {.size = sizeof problem, .columns = 64};
    const struct gm_layer_norm_args args = {.size = sizeof args};
    (void)test;
    result->cases += check_ok(result, gm_layer_norm(env.context, &problem, &args, env.stream), "no rows");
}

void add_ln_api_tests(void) {
    add_test("api", "layer_norm_fuzz_sm80", run_fuzz, -1, GM_ARCH_SM80);
    add_test("api", "layer_norm_fuzz_sm90", run_fuzz, -1, GM_ARCH_SM90);
    add_test("api", "layer_norm_rounds_without_bias", run_bias, -1, 0);
    add_test("api", "layer_norm_of_no_rows", run_empty, -1, 0);
    add_test("api", "layer_norm_of_more_than_2_to_the_31_elements", run_large, -1, 0);
    add_test("invariance", "layer_norm_rows_have_the_same_bits_beside_others", run_invariance, -1, 0);
    add_test("invariance", "layer_norm_variants_of_one_order_give_the_same_bits", run_twins, -1, 0);
    add_test("api", "layer_norm_quantised_is_two_calls_sm80", run_two_calls, -1, GM_ARCH_SM80);
    add_test("api", "layer_norm_quantised_is_two_calls_sm90", run_two_calls, -1, GM_ARCH_SM90);
    add_test("badinput", "layer_norm_arguments", run_arguments, -1, 0);
}
