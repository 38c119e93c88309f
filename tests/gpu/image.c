/* SPDX-License-Identifier: Apache-2.0 */
/* A row with another image in its place: the PTX of --image, which the driver compiles (or simulates). This is how
 * tests/mutants/ runs its bugs, here and on hardware. Only for --test=image (or stream_k) --kernel=<row>. */
#include <stdlib.h>
#include <string.h>

#include "gpu_tests.h"
#include "host/image.h"
#include "host/table.h"

enum { IMAGE_HEAD = 16 }; /* bytes: a magic number, and the length */

static struct gm_driver substituted;
static CUresult (*load_data)(CUlibrary *, const void *, int *, void **, unsigned, int *, void **, unsigned);
static char *ptx;

/* The bytes begin with the image of a row that opt.kernel names. An image's first bytes say how long it is. */
static bool is_named_image(const void *bytes) {
    bool is = false;
    for (size_t i = 0; i < gm_kernel_count() && !is; i++) {
        unsigned char *image = glob_match(opt.kernel, gm_kernels[i].name) ? gm_image_unpack(&gm_kernels[i].image) : NULL;
        is = image && memcmp(image, bytes, IMAGE_HEAD) == 0 && memcmp(image, bytes, gm_kernels[i].image.bytes) == 0;
        free(image);
    }
    return is;
}

static CUresult load_substitute(CUlibrary *library, const void *image, int *jit_options, void **jit_values,
                                unsigned jit_count, int *options, void **values, unsigned count) {
    return load_data(library, is_named_image(image) ? ptx : image, jit_options, jit_values, jit_count, options, values,
                     count);
}

static char *read_text(const char *path) {
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    if (file && fseek(file, 0, SEEK_END) == 0) {
        const long bytes = ftell(file);
        rewind(file);
        text = bytes >= 0 ? calloc(1, (size_t)bytes + 1) : NULL;
        if (text && fread(text, 1, (size_t)bytes, file) != (size_t)bytes) {
            free(text);
            text = NULL;
        }
    }
    if (file)
        fclose(file);
    return text;
}

bool substitute_image(const char *path) {
    const struct gm_driver *driver = gm_driver();
    if (!driver || ptx)
        return driver != NULL;
    ptx = read_text(path);
    if (!ptx)
        return false;
    substituted = *driver;
    load_data = driver->cuLibraryLoadData;
    substituted.cuLibraryLoadData = load_substitute;
    gm_driver_install(&substituted);
    return true;
}

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
    for (size_t i = 0; i < gm_kernel_count(); i++)
        add_test("image", gm_kernels[i].name, run_image, (int)i, 0);
}
