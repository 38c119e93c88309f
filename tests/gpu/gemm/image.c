/* SPDX-License-Identifier: Apache-2.0 */
/* A few cases of a row whose image --image has replaced. Only for --test=image --kernel=<row>. */
#include "gemm/gemm_tests.h"

/* Of tf32 what rounding shows in; of tf32x3 and fp8 what is infinite or NaN, too. */
static enum inputs inputs_of(enum gm_type type, size_t i) {
    if ((type == GM_TF32X3 || GM_TYPE_IS_FP8(type)) && i == 1)
        return SPECIAL;
    return type == GM_TF32 || type == GM_TF32X3 ? NORMAL : INTEGER;
}

/* The ring of stages goes round twice, or K ends before a tile's store does; tiles are ragged, both epilogues run, the
 * plain one with alpha too, and strides are odd: of D, and where no TMA loads, of A and B. */
static void run_image(const struct test *test, struct result *result) {
    struct variant v;
    if (!read_variant((size_t)test->kernel, &v))
        return;
    const int64_t twice = 2 * (int64_t)v.gemm.stages * v.gemm.tile_k + v.gemm.tile_k - 8, brief = v.gemm.tile_k + 3;
    const struct {
        int tiles_m, more_m;
        int64_t k;
        bool general, odd;
        float alpha;
    } cases[] = {{2, 0, twice, false, false, 1}, {2, 3, twice, false, false, 2}, {1, 0, brief, true, false, 1},
                 {2, 0, brief, false, false, 1}, {1, 3, twice, false, true, 1},  {1, 3, brief, true, true, 1}};
    struct buffers buffers = {0};
    for (size_t i = 0; i < COUNT(cases); i++) {
        const bool odd_loads = cases[i].odd && !uses_tma(&v);
        struct gemm_case gc = {.m = cases[i].tiles_m * v.gemm.tile_m * v.gemm.cluster_m + cases[i].more_m,
                               .n = v.gemm.tile_n * v.gemm.cluster_n + 16,
                               .k = cases[i].k,
                               .ab_type = v.kernel.type,
                               .d_type = cases[i].general ? GM_FP32 : d_type_of(&v),
                               .a_major = v.gemm.a_major,
                               .b_major = v.gemm.b_major,
                               .bias = cases[i].general ? GM_BIAS_N : GM_BIAS_NONE,
                               .d_pad = cases[i].odd ? 3 : 0,
                               .alpha = cases[i].alpha,
                               .inputs = inputs_of(v.kernel.type, i),
                               .exact = odd_loads};
        const int64_t odd = odd_loads ? copied_elements(v.kernel.type) : 0;
        gc.a_pad = pad_row(gc.ab_type, gc.a_major == GM_K_MAJOR ? gc.k : gc.m) + odd;
        gc.b_pad = pad_row(gc.ab_type, gc.b_major == GM_K_MAJOR ? gc.k : gc.n) + odd;
        gc = fit_variant(&v, &gc);
        if (!run_gemm(result, &gc, v.kernel.name, 0, &buffers))
            break;
    }
    free_buffers(&buffers);
}

void add_gemm_image_tests(void) {
    if (!opt.test || strcmp(opt.test, "image") != 0)
        return;
    for (size_t i = 0; i < gm_kernel_count(); i++)
        if (gm_kernels[i].family->operation == &gm_operation_gemm)
            add_test("image", gm_kernels[i].name, run_image, (int)i, 0);
}
