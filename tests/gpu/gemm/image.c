/* SPDX-License-Identifier: Apache-2.0 */
/* A row on the image of --image, or on its own: few cases, on which the mutants of tests/mutants/ show. Only for
 * --test=image --kernel=<row>. */
#include <string.h>

#include "gemm_tests.h"

/* The ring of stages goes round twice, or K ends before a tile's store does; tiles are ragged, both epilogues run, the
 * plain one with alpha too, and where no TMA loads, odd strides. */
static void run_image(const struct test *test, struct result *result) {
    struct kernel info;
    if (!read_kernel((size_t)test->kernel, &info))
        return fail(result, "%s", gm_last_error());
    const struct kernel *row = &info;
    const int64_t twice = 2 * (int64_t)row->stages * row->tile_k + row->tile_k - 8, brief = row->tile_k + 3;
    const struct {
        int tiles_m, more_m;
        int64_t k;
        bool general, odd;
        float alpha;
    } cases[] = {{2, 0, twice, false, false, 1},
                 {2, 3, twice, false, false, 2},
                 {1, 0, brief, true, false, 1},
                 {2, 0, brief, false, false, 1},
                 {1, 3, twice, false, true, 1}};
    struct buffers buffers = {0};
    for (size_t i = 0; i < COUNT(cases); i++) {
        if (cases[i].odd && row->uses_tma)
            continue;
        struct gemm_case gc = {.m = cases[i].tiles_m * row->tile_m * row->cluster_m + cases[i].more_m,
                               .n = row->tile_n * row->cluster_n + 16,
                               .k = cases[i].k,
                               .ab_type = row->type,
                               .d_type = cases[i].general ? GM_FP32 : row->type,
                               .a_major = row->a_major,
                               .b_major = row->b_major,
                               .bias = cases[i].general ? GM_BIAS_N : GM_BIAS_NONE,
                               .alpha = cases[i].alpha,
                               .inputs = INTEGER,
                               .exact = cases[i].odd};
        gc.a_pad = (8 - (gc.a_major == GM_K_MAJOR ? gc.k : gc.m) % 8) % 8 + cases[i].odd;
        gc.b_pad = (8 - (gc.b_major == GM_K_MAJOR ? gc.k : gc.n) % 8) % 8 + cases[i].odd;
        if (!run_case(result, &gc, row->name, 0, &buffers))
            break;
    }
    free_buffers(&buffers);
}

void add_image_tests(void) {
    if (!opt.test || strcmp(opt.test, "image") != 0)
        return;
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        struct kernel info;
        if (read_kernel(i, &info))
            add_test("image", info.name, run_image, (int)i, 0);
    }
}
