/* SPDX-License-Identifier: Apache-2.0 */
/* How exact sums of fp8 are, of every kernel: of positive operands, whose sums miss what the tensor cores cut off always on
 * the same side. Those of sm80 are of fp16, and cut off less. --verbose prints the errors, as shares of the sums. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "gemm/gemm_tests.h"
#include "workspace.h"

/* What sums of fp16's products may miss of themselves. The products are exact; each mma.sync cuts off less than 2^-23 of
 * what the sum is by then, which is half of it on average. */
static double most_of_fp16(int64_t k) {
    return (double)(k / 16 + 1) * 0x1p-24;
}

/* Looks at the largest error and the mean one of a D of fp32: prints them, or fails of products of fp16. */
static bool check_errors(struct result *result, const struct placed *placed, const struct variant *variant) {
    const struct gemm_case *gc = placed->gc;
    const int64_t count = gc->m * gc->n;
    float *d = malloc((size_t)count * sizeof *d);
    double most = 0, sum = 0;
    bool good = true;
    if (d && check_cuda(result, env.drv->cuMemcpyDtoH(d, placed->args.d, (size_t)count * sizeof *d), "cuMemcpyDtoH")) {
        for (int64_t i = 0; i < count; i++) {
            const double error = placed->sums[i] / (double)d[i] - 1;
            most = fmax(most, fabs(error));
            sum += error;
        }
        good = variant->kernel.arch != GM_ARCH_SM80 || most <= most_of_fp16(gc->k);
        if (opt.verbose || !good)
            printf("%s K %lld: largest error 2^%.2f, mean %.2e\n", variant->kernel.name, (long long)gc->k, log2(most),
                   sum / (double)count);
    }
    free(d);
    if (!good)
        fail(result, "sums of products of fp16 miss more than mma.sync may cut off");
    return good;
}

static bool check_sums(struct result *result, const struct variant *variant, int64_t k, struct buffers *buffers) {
    const enum gm_granularity scales = variant->gemm.sum_scales ? GM_PER_BLOCK : GM_PER_NONE;
    struct gemm_case gc = {.m = variant->gemm.tile_m,
                           .n = variant->gemm.tile_n,
                           .k = k,
                           .ab_type = GM_E4M3,
                           .d_type = GM_FP32,
                           .alpha = 1,
                           .inputs = POSITIVE,
                           .a_scales = scales,
                           .b_scales = scales,
                           .fast_accumulation = variant->gemm.fast_accumulation};
    const struct gm_plan_options options = {.size = sizeof options, .kernel = variant->kernel.name};
    char what[400];
    struct placed placed;
    set_pair(variant, k / 128, &gc.ab_type, &gc.b_type);
    describe_gemm(&gc, what, sizeof what);
    heartbeat(what);
    const uint32_t may_refuse = BIT(GM_REASON_NO_IMAGE) | BIT(GM_REASON_SMEM);
    const int before = result->cases;
    if (!place_gemm(result, &gc, buffers, &placed) || !run_call(result, &placed.call, &options, 0, may_refuse, what))
        return false;
    return result->cases == before || check_errors(result, &placed, variant);
}

static void run_sums(const struct test *test, struct result *result) {
    static const int64_t k[] = {128, 2048, 16384};
    struct buffers buffers = {0};
    struct variant variant;
    for (size_t i = 0; read_variant(i, &variant); i++)
        for (size_t j = 0; j < (env.simulated || opt.self_test ? 1 : COUNT(k)); j++)
            if (GM_TYPE_IS_FP8(variant.kernel.type) && variant.kernel.arch == test->mask && !variant.gemm.extended &&
                !check_sums(result, &variant, env.simulated || opt.self_test ? 640 : k[j], &buffers))
                break;
    free_buffers(&buffers);
}

/* ---- scales of each 128 of K -------------------------------------------------------------------------- */

#define SUMS(m_, n_, k_, of_a, of_b)                                                                                   \
    .ab_type = GM_E4M3, .alpha = 1, .m = m_, .n = n_, .k = k_, .a_scales = GM_PER_##of_a, .b_scales = GM_PER_##of_b
/* What is easily got wrong: ends of K, N and M within a block, one of each, operands of one scale, both orders, D that a
 * quantiser or a GLU makes of the sums, what TMA cannot load. */
static const struct gemm_case cases_of_sums[] = {
    {SUMS(128, 256, 1024, GROUP, BLOCK), .inputs = NORMAL},
    {SUMS(300, 272, 656, GROUP, BLOCK), .a_scale_order = GM_SCALES_BY_COLUMN},
    {SUMS(300, 272, 656, GROUP, GROUP), .b_scale_order = GM_SCALES_BY_COLUMN},
    {SUMS(1, 400, 1168, GROUP, BLOCK)},
    {SUMS(129, 8, 16, GROUP, BLOCK)},
    {SUMS(17, 264, 272, BLOCK, GROUP), .beta = 1, .bias = GM_BIAS_N},
    {SUMS(70, 130, 128, TENSOR, BLOCK), .activation = GM_ACT_SILU},
    {SUMS(70, 136, 144, ROW, GROUP), .d_type = GM_FP32},
    {SUMS(70, 136, 141, GROUP, BLOCK)},
    {SUMS(33, 256, 256, GROUP, BLOCK), .gate = GM_GATE_HALVES, .activation = GM_ACT_SILU, .rounded_sums = true,
     .inputs = NORMAL},
    {SUMS(33, 256, 256, GROUP, BLOCK), .d_type = GM_E4M3, .out.scaling = GM_SCALE_GROUP, .rounded_y = true},
    {SUMS(302, 424, 384, GROUP, BLOCK), .a_scale_order = GM_SCALES_BY_COLUMN}, /* rows by fours, two of the last */
    {SUMS(300, 400, 656, GROUP, BLOCK), .a_scale_order = GM_SCALES_BY_COLUMN, .inputs = NORMAL},
    {SUMS(300, 400, 656, GROUP, BLOCK), .a_scale_format = GM_SCALE_E8M0},
    {SUMS(301, 264, 1040, GROUP, BLOCK), .a_scale_order = GM_SCALES_BY_COLUMN, .a_scale_format = GM_SCALE_E8M0,
     .b_scale_format = GM_SCALE_E8M0},
    {SUMS(130, 650, 1680, BLOCK, GROUP), .a_scale_order = GM_SCALES_BY_COLUMN, .b_scale_order = GM_SCALES_BY_COLUMN,
     .a_scale_format = GM_SCALE_E8M0, .b_scale_format = GM_SCALE_E8M0},
    {SUMS(5, 1300, 528, GROUP, BLOCK), .b_scale_order = GM_SCALES_BY_COLUMN, .b_scale_format = GM_SCALE_E8M0},
    {SUMS(1, 136, 272, GROUP, GROUP), .a_scale_format = GM_SCALE_E8M0, .b_scale_format = GM_SCALE_POWER_OF_2},
};

/* As the planner chooses, with a workspace for what takes a second kernel. */
static bool check_chosen(struct result *result, const struct gemm_case *gc, uint32_t mask, struct buffers *buffers,
                         struct guarded_workspace *workspace) {
    const struct gm_plan_options options = {.size = sizeof options, .arch_mask = mask, .workspace_limit = 8 << 20};
    char what[600];
    struct placed placed;
    describe_gemm(gc, what, sizeof what);
    heartbeat(what);
    return place_gemm(result, gc, buffers, &placed) &&
           run_call_with_workspace(result, &placed.call, &options, 1, BIT(GM_REASON_NO_IMAGE), workspace, gc->m % 2,
                                   &placed.args.workspace, &placed.args.workspace_bytes, what);
}

static void run_sum_scales(const struct test *test, struct result *result) {
    struct buffers buffers = {0};
    struct guarded_workspace workspace = {0};
    (void)test;
    for (size_t i = 0; i < COUNT(cases_of_sums); i++) {
        struct gemm_case gc = cases_of_sums[i];
        gc.a_scales_pad = (int)(i % 3);
        gc.b_scales_pad = (int)(i % 2) * 5;
        if (!check_chosen(result, &gc, GM_ARCH_SM90, &buffers, &workspace))
            break;
    }
    arena_free(&workspace.arena);
    free_buffers(&buffers);
}

/* ---- e4m3 beside e5m2 ---------------------------------------------------------------------------------- */

#define PAIR(m_, n_, k_) .alpha = 1, .m = m_, .n = n_, .k = k_
/* What is easily got wrong: one row, one column (D^T = B^T A^T, whose operands change places), operands that are turned or
 * copied before, infinities, every kind of D, and what a second kernel makes. */
static const struct gemm_case cases_of_pairs[] = {
    {PAIR(200, 136, 528), .inputs = NORMAL},
    {PAIR(1, 400, 272), .d_type = GM_FP32},
    {PAIR(136, 1, 272), .a_scales = GM_PER_ROW, .b_scales = GM_PER_TENSOR},
    {PAIR(70, 90, 45), .d_pad = 3, .inputs = SPECIAL},
    {PAIR(70, 90, 64), .d_type = GM_FP32, .inputs = SPECIAL},
    {PAIR(300, 272, 656), .beta = 1, .bias = GM_BIAS_N, .activation = GM_ACT_RELU, .a_scales = GM_PER_ROW,
     .b_scales = GM_PER_ROW},
    {PAIR(130, 72, 141), .d_type = GM_FP16},
    {PAIR(144, 80, 100), .a_major = GM_MN_MAJOR, .b_major = GM_MN_MAJOR},
    {PAIR(130, 260, 256), .residual = true, .residual_type = GM_FP32, .amax = true, .inputs = NORMAL},
    {PAIR(33, 256, 256), .d_type = GM_E5M2, .amax = true, .out.static_scale = 0.25f, .a_scales = GM_PER_ROW},
    {PAIR(65, 192, 128), .d_type = GM_E4M3, .residual = true, .out.scaling = GM_SCALE_ROW, .rounded_y = true},
    {PAIR(40, 96, 128), .d_type = GM_INT8, .beta = 1, .has_c_type = true, .c_type = GM_FP16, .out.static_scale = 2},
    {PAIR(33, 256, 256), .gate = GM_GATE_HALVES, .activation = GM_ACT_SILU, .rounded_sums = true},
    {PAIR(129, 264, 1040), .fast_accumulation = true, .d_type = GM_FP32},
    {PAIR(40, 56, 0), .beta = 1, .a_pad = 16, .b_pad = 16},
};

static void run_pairs(const struct test *test, struct result *result) {
    struct buffers buffers = {0};
    struct guarded_workspace workspace = {0};
    bool ok = true;
    for (size_t i = 0; i < 2 * COUNT(cases_of_pairs) && ok; i++) {
        struct gemm_case gc = cases_of_pairs[i / 2];
        gc.ab_type = i % 2 ? GM_E4M3 : GM_E5M2;
        gc.b_type = i % 2 ? GM_E5M2 : GM_E4M3;
        ok = check_chosen(result, &gc, test->mask, &buffers, &workspace);
    }
    arena_free(&workspace.arena);
    free_buffers(&buffers);
}

void add_gemm_fp8_tests(void) {
    add_test("fp8", "pairs", run_pairs, -1, 0);
    add_test("fp8", "pairs_sm80", run_pairs, -1, GM_ARCH_SM80);
    add_test("fp8", "sum_scales", run_sum_scales, -1, GM_ARCH_SM90);
    add_test("fp8", "sums", run_sums, -1, GM_ARCH_SM90);
    add_test("fp8", "sums_sm80", run_sums, -1, GM_ARCH_SM80);
}
