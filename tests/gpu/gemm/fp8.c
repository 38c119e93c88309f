/* SPDX-License-Identifier: Apache-2.0 */
/* How exact sums of fp8 are, of every kernel: of positive operands, whose sums miss what the tensor cores cut off always on
 * the same side. --verbose prints the errors, as shares of the sums. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "gemm/gemm_tests.h"

/* Prints the largest error and the mean one of a D of fp32. */
static void print_errors(struct result *result, const struct placed *placed, const char *kernel) {
    const struct gemm_case *gc = placed->gc;
    const int64_t count = gc->m * gc->n;
    float *d = malloc((size_t)count * sizeof *d);
    double most = 0, sum = 0;
    if (d && check_cuda(result, env.drv->cuMemcpyDtoH(d, placed->args.d, (size_t)count * sizeof *d), "cuMemcpyDtoH")) {
        for (int64_t i = 0; i < count; i++) {
            const double error = placed->logical->acc[i] / (double)d[i] - 1;
            most = fmax(most, fabs(error));
            sum += error;
        }
        printf("%s K %lld: largest error 2^%.2f, mean %.2e\n", kernel, (long long)gc->k, log2(most),
               sum / (double)count);
    }
    free(d);
}

static bool check_sums(struct result *result, const struct variant *variant, int64_t k, struct buffers *buffers) {
    const struct gemm_case gc = {.m = variant->gemm.tile_m,
                                 .n = variant->gemm.tile_n,
                                 .k = k,
                                 .ab_type = GM_E4M3,
                                 .d_type = GM_FP32,
                                 .alpha = 1,
                                 .inputs = POSITIVE,
                                 .fast_accumulation = variant->gemm.fast_accumulation};
    const struct gm_plan_options options = {.size = sizeof options, .kernel = variant->kernel.name};
    char what[400];
    struct placed placed;
    describe_gemm(&gc, what, sizeof what);
    heartbeat(what);
    const uint32_t may_refuse = BIT(GM_REASON_NO_IMAGE) | BIT(GM_REASON_SMEM);
    if (!place_gemm(result, &gc, buffers, &placed) || !run_call(result, &placed.call, &options, 0, may_refuse, what))
        return false;
    if (opt.verbose && result->cases > 0)
        print_errors(result, &placed, variant->kernel.name);
    return true;
}

static void run_sums(const struct test *test, struct result *result) {
    static const int64_t k[] = {128, 2048, 16384};
    struct buffers buffers = {0};
    struct variant variant;
    (void)test;
    for (size_t i = 0; read_variant(i, &variant); i++)
        for (size_t j = 0; j < (env.simulated || opt.self_test ? 1 : COUNT(k)); j++)
            if (variant.kernel.type == GM_E4M3 && !variant.gemm.extended &&
                !check_sums(result, &variant, env.simulated || opt.self_test ? 640 : k[j], &buffers))
                break;
    free_buffers(&buffers);
}

void add_gemm_fp8_tests(void) {
    add_test("fp8", "sums", run_sums, -1, GM_ARCH_SM90);
}
