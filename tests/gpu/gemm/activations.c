/* SPDX-License-Identifier: Apache-2.0 */
/* Activations of every exponent of fp32, of what is not finite, and of the edges where something under- or overflows:
 * the error relative to the true value, down to denormals, and the same bits from every kind of kernel. A and B are
 * zeros, so that the argument is the bias, exactly. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gemm/gemm_tests.h"

/* On the simulated GPU a kernel stores some 10^5 elements a second. */
enum { ARGUMENTS = 2560, ARGUMENTS_BY_KIND = 768, ROWS = 2, K = 64, K_DIVIDED = 1024, WORKSPACE_BYTES = 16 << 20 };

/* ---- arguments -------------------------------------------------------------------------------------- */

/* Zeros, infinities, NaN, the ends of fp32, and where an intermediate value of some formula over- or underflows: SiLU's
 * exp(-x) at -88.7, its reciprocal at -87.3, its result at -104 to -109; GELU's at -10 and -14. */
static const float edges[] = {0,      INFINITY, NAN,     FLT_MAX, FLT_MIN, 0x1p-149f, 1,        0x1p-24f, 88.72f,
                              87.33f, 87.34f,   88.73f,  103.27f, 103.98f, 105.36f,   108.7f,   109.3f,   126,
                              127,    128,      149,     150,     152,     199.9f,    200,      201,      9.9f,
                              10.05f, 10.1f,    10.56f,  10.6f,   10.9f,   13.1f,     13.2f,    14.1f,    14.49f,
                              14.5f,  14.51f,   0x1p60f, 0x1p64f, 0x1p96f, 0x1p104f,  0x1p126f, 0x1p127f, 6.5e4f};

static float with_sign(float size, bool negative) {
    return copysignf(size, negative ? -1.0f : 1.0f);
}

/* The edges and their neighbours, then every exponent with random fractions, then what is neither tiny nor huge. */
static float argument(size_t i) {
    const uint64_t random = hash64(opt.seed ^ 0xac, i);
    const bool negative = i % 2 == 0;
    if (i < 6 * COUNT(edges)) {
        const float edge = edges[i / 6];
        const float towards[] = {edge, 0, INFINITY};
        return with_sign(nextafterf(edge, towards[i / 2 % 3]), negative);
    }
    if (i % 4 < 2) {
        const uint32_t bits = (uint32_t)(i / 4 * 7 % 255) << 23 | (uint32_t)(random & 0x7fffff);
        float size;
        memcpy(&size, &bits, sizeof size);
        return with_sign(size, negative);
    }
    return with_sign((float)(random >> 40) * (i % 8 < 4 ? 0x1p-17f : 0x1p-20f), negative); /* below 128, below 16 */
}

/* ---- one launch -------------------------------------------------------------------------------------- */

struct launch {
    struct gm_gemm_problem problem;
    int64_t first;      /* argument, a multiple of 8 */
    const char *kernel; /* NULL: the planner's choice under the mask */
    uint32_t mask;
    struct arena a, b, bias, d, amax, workspace;
    uint8_t d_bytes[ROWS * ARGUMENTS * sizeof(float)];
    char what[200];
};

static bool place_launch(struct result *result, struct launch *launch) {
    static float values[ARGUMENTS];
    for (size_t i = 0; i < ARGUMENTS; i++)
        values[i] = argument(i);
    const size_t a_bytes = ROWS * K_DIVIDED * 2, b_bytes = (size_t)ARGUMENTS * K_DIVIDED * 2;
    return arena_take(result, &launch->a, a_bytes) && arena_take(result, &launch->b, b_bytes) &&
           arena_take(result, &launch->bias, sizeof values) && arena_take(result, &launch->d, sizeof launch->d_bytes) &&
           arena_take(result, &launch->amax, sizeof(float)) &&
           arena_take(result, &launch->workspace, WORKSPACE_BYTES) &&
           check_cuda(result, env.drv->cuMemsetD8(launch->a.base, 0, a_bytes), "cuMemsetD8") &&
           check_cuda(result, env.drv->cuMemsetD8(launch->b.base, 0, b_bytes), "cuMemsetD8") &&
           check_cuda(result, env.drv->cuMemsetD8(launch->amax.base, 0, sizeof(float)), "cuMemsetD8") &&
           check_cuda(result, env.drv->cuMemsetD8(launch->workspace.base, 0xff, WORKSPACE_BYTES), "cuMemsetD8") &&
           to_device(result, launch->bias.base, values, sizeof values);
}

static void free_launch(struct launch *launch) {
    struct buffers buffers = {.a = launch->a,
                              .b = launch->b,
                              .c = launch->workspace,
                              .d = launch->d,
                              .bias = launch->bias,
                              .residual = launch->amax};
    free_buffers(&buffers);
}

/* alpha is -1: A B is +0, so that what the bias is added to is -0, and changes no bias, not even -0. */
static bool run_launch(struct result *result, struct launch *launch) {
    static const float minus_one = -1;
    const struct gm_plan_options options = {.size = sizeof options,
                                            .kernel = launch->kernel,
                                            .arch_mask = launch->mask,
                                            .workspace_limit = WORKSPACE_BYTES};
    const struct gm_gemm_args args = {.size = sizeof args,
                                      .a = launch->a.base,
                                      .b = launch->b.base,
                                      .d = launch->d.base,
                                      .bias = launch->bias.base + (CUdeviceptr)(launch->first * 4),
                                      .amax = launch->problem.amax ? launch->amax.base : 0,
                                      .alpha = &minus_one,
                                      .workspace = launch->workspace.base,
                                      .workspace_bytes = WORKSPACE_BYTES};
    gm_plan *plan = NULL;
    heartbeat(launch->what);
    const bool ok =
        check_ok(result, gm_gemm_plan_create(env.context, &launch->problem, &options, &plan), launch->what) &&
        check_ok(result, gm_gemm_execute(plan, &args, env.stream), launch->what) &&
        check_cuda(result, env.drv->cuStreamSynchronize(env.stream), launch->what) &&
        check_cuda(result, env.drv->cuMemcpyDtoH(launch->d_bytes, launch->d.base, sizeof launch->d_bytes),
                   launch->what);
    gm_plan_destroy(plan);
    return ok;
}

static void describe(struct launch *launch, enum gm_activation activation, enum gm_type d_type, int64_t n, int64_t k) {
    static const char *const names[] = {"none", "relu", "gelu-tanh", "gelu-erf", "silu"};
    launch->problem = (struct gm_gemm_problem){.size = sizeof launch->problem,
                                               .m = ROWS,
                                               .n = n,
                                               .k = k,
                                               .d_type = d_type,
                                               .activation = activation,
                                               .bias = GM_BIAS_N,
                                               .bias_type = GM_FP32};
    snprintf(launch->what, sizeof launch->what, "%s to %s, %s", names[activation], gm_type_name(d_type),
             launch->kernel                 ? launch->kernel
             : launch->mask == GM_ARCH_SM80 ? "sm80"
                                            : "sm90");
}

/* ---- values ------------------------------------------------------------------------------------------ */

/* Infinities, zeros and NaN have no error; what is below half the smallest number is a zero, of the value's sign. */
static bool is_right(enum gm_activation activation, enum gm_type type, float x, uint32_t got_bits) {
    const double want = activation_value(activation, x), got = bits_to_double(type, got_bits);
    if (isnan(want))
        return isnan(got);
    if (signbit(want) != signbit(got) && activation != GM_ACT_RELU)
        return false;
    const double error = activation_error(activation, x);
    const double least = round_to(type, fabs(want) - error), most = round_to(type, fabs(want) + error);
    return fabs(got) >= least && fabs(got) <= most;
}

static void check_values(struct result *result, const struct launch *launch, enum gm_activation activation) {
    const enum gm_type type = launch->problem.d_type;
    for (int64_t i = 0; i < ROWS * launch->problem.n; i++) {
        const float x = argument((size_t)(launch->first + i % launch->problem.n));
        const uint32_t bits = load_bits(launch->d_bytes + i * gm_type_bytes(type), type);
        if (!is_right(activation, type, x, bits)) {
            fail(result, "%s: of %.9g is %.9g (0x%x), want %.9g", launch->what, x, bits_to_double(type, bits), bits,
                 activation_value(activation, x));
            return;
        }
    }
    result->cases++;
}

static void run_values(const struct test *test, struct result *result) {
    if (opt.self_test) {
        skip(result, "the stand-in's activations are the CPU's");
        return;
    }
    if (test->mask == GM_ARCH_SM90 && env.device.cc_major != 9) {
        skip(result, "no sm90 row runs on compute capability %d.%d", env.device.cc_major, env.device.cc_minor);
        return;
    }
    static struct launch launch;
    launch = (struct launch){.mask = test->mask};
    bool ok = place_launch(result, &launch);
    for (int activation = GM_ACT_RELU; activation <= GM_ACT_SILU && ok; activation++)
        for (int type = GM_BF16; type <= GM_FP32 && ok; type++) {
            describe(&launch, (enum gm_activation)activation, (enum gm_type)type, ARGUMENTS, K);
            ok = run_launch(result, &launch);
            if (ok)
                check_values(result, &launch, (enum gm_activation)activation);
        }
    free_launch(&launch);
}

/* ---- every kind of kernel ---------------------------------------------------------------------------- */

/* What decides which epilogue a row has, apart from its tile. */
static uint64_t kind_of(const struct variant *variant) {
    const struct gm_gemm_kernel_info *gemm = &variant->gemm;
    const int parts[] = {
        variant->kernel.arch, (int)gemm->schedule, gemm->cluster_k > 1, gemm->swap,
        gemm->warp_k > 1,     gemm->split_k,       (int)gemm->smem_map, gemm->cluster_m > 1 || gemm->cluster_n > 1,
        (int)gemm->extended};
    uint64_t kind = hash64(0, is_gemv(variant));
    for (size_t i = 0; i < COUNT(parts); i++)
        kind = hash64(kind, (uint64_t)parts[i]);
    return kind;
}

/* The first row of every kind that takes K-major bf16 and runs here. */
static size_t rows_by_kind(int *rows, size_t most) {
    uint64_t kinds[64];
    size_t count = 0;
    for (size_t i = 0; i < gm_kernel_count() && count < most; i++) {
        struct variant variant;
        if (!read_variant(i, &variant) || variant.gemm.gate || variant.kernel.type != GM_BF16 ||
            variant.gemm.a_major != GM_K_MAJOR || variant.gemm.b_major != GM_K_MAJOR ||
            (variant.kernel.arch == GM_ARCH_SM90 && env.device.cc_major != 9) ||
            variant.kernel.smem_bytes > env.device.smem_per_block_bytes)
            continue;
        const uint64_t kind = kind_of(&variant);
        size_t k = 0;
        while (k < count && kinds[k] != kind)
            k++;
        if (k == count) {
            kinds[count] = kind;
            rows[count++] = (int)i;
        }
    }
    return count;
}

/* What one kernel made of the arguments, in each row of D. */
typedef uint32_t kind_bits[ROWS][ARGUMENTS_BY_KIND];

/* A row made for equal pieces has an epilogue of its own for them, and takes one tile at a time. One of extended epilogues
 * is asked for amax as well, which changes no bit of D. */
static bool run_kind(struct result *result, struct launch *launch, const struct variant *variant,
                     enum gm_activation activation, kind_bits bits) {
    char name[128];
    const bool split_k = variant->gemm.split_k;
    const int64_t step = split_k ? variant->gemm.tile_n * variant->gemm.cluster_n / 8 * 8 : ARGUMENTS_BY_KIND;
    snprintf(name, sizeof name, "%s%s", variant->kernel.name, split_k ? "/k2" : "");
    launch->kernel = name;
    for (launch->first = 0; launch->first < ARGUMENTS_BY_KIND; launch->first += step) {
        const int64_t left = ARGUMENTS_BY_KIND - launch->first, n = left < step ? left : step;
        describe(launch, activation, GM_FP32, n, split_k ? K_DIVIDED : K);
        launch->problem.amax = (int32_t)variant->gemm.extended;
        if (!run_launch(result, launch))
            return false;
        check_values(result, launch, activation);
        for (int r = 0; r < ROWS; r++)
            memcpy(bits[r] + launch->first, launch->d_bytes + r * n * 4, (size_t)n * 4);
    }
    return result->state == PASSED;
}

static void compare_kinds(struct result *result, struct launch *launch, const int *rows, size_t count,
                          enum gm_activation activation) {
    static kind_bits first, other;
    for (size_t r = 0; r < count; r++) {
        struct variant variant;
        if (!read_variant((size_t)rows[r], &variant) ||
            !run_kind(result, launch, &variant, activation, r ? other : first))
            return;
        if (r > 0 && memcmp(first, other, sizeof first) != 0)
            fail(result, "%s: other bits than %s", launch->what, gm_kernels[rows[0]].name);
    }
}

static void run_kinds(const struct test *test, struct result *result) {
    (void)test;
    if (opt.self_test) {
        skip(result, "the stand-in's activations are the CPU's");
        return;
    }
    int rows[64];
    static struct launch launch;
    launch = (struct launch){.mask = 0};
    const size_t count = rows_by_kind(rows, COUNT(rows));
    const bool ok = place_launch(result, &launch);
    for (int activation = GM_ACT_RELU; activation <= GM_ACT_SILU && ok; activation++)
        compare_kinds(result, &launch, rows, count, (enum gm_activation)activation);
    snprintf(result->note, sizeof result->note, "%zu kinds of kernel", count);
    free_launch(&launch);
}

void add_gemm_activations_tests(void) {
    add_test("activations", "are_right_down_to_denormals_sm80", run_values, -1, GM_ARCH_SM80);
    add_test("activations", "are_right_down_to_denormals_sm90", run_values, -1, GM_ARCH_SM90);
    add_test("activations", "have_the_same_bits_from_every_kind_of_kernel", run_kinds, -1, 0);
}
