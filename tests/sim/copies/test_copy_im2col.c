/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor loads in im2col mode, against a plain walk through the pixels. */
#include "sim_tests.h"

#include "copy_model.h"
#include "gristmill/smem.h"
#include "sim/copies/tensor_map.h"

#include <string.h>

enum { CHANNELS = 64, WIDTH = 7, HEIGHT = 5, IMAGES = 3, PIXELS = 64 };

struct filter {
    int lower[2], upper[2], w, h, n, offset_w, offset_h, step_w;
};

static uint8_t pixel_byte(int c, int w, int h, int n) {
    if (c >= CHANNELS || w < 0 || w >= WIDTH || h < 0 || h >= HEIGHT || n >= IMAGES)
        return 0;
    return tensor[((n * HEIGHT + h) * WIDTH + w) * CHANNELS + c];
}

static void predict_im2col(const struct filter *f, int channels, int first, int swizzle) {
    const struct gm_swizzle xor = gm_swizzle_of_mode((enum gm_swizzle_mode)swizzle);
    int w = f->w, h = f->h, n = f->n;
    memset(predicted, POISON, sizeof predicted);
    for (int pixel = 0; pixel < PIXELS; pixel++) {
        for (int c = 0; c < channels; c++)
            predicted[gm_swizzle_apply(xor, (uint32_t)(IMAGE_BASE + pixel * channels + c)) - IMAGE_BASE] =
                pixel_byte(first + c, w + f->offset_w, h + f->offset_h, n);
        w += f->step_w;
        if (w > WIDTH - 1 + f->upper[0]) {
            w = f->lower[0];
            if (++h > HEIGHT - 1 + f->upper[1]) {
                h = f->lower[1];
                n++;
            }
        }
    }
}

static void check_im2col(const struct filter *f, uint32_t channels, int first, int swizzle) {
    struct shot s = {.type = U8, .rank = 4, .dims = {CHANNELS, WIDTH, HEIGHT, IMAGES}};
    const uint32_t steps[] = {1, (uint32_t)f->step_w, 1, 1};
    struct map map;
    uint64_t images;
    shot_complete(&s);
    ck_assert_int_eq(sim_tensor_map_encode_im2col(&map, U8, 4, kernel_memory(tensor, TENSOR_BYTES), s.dims, s.strides,
                                                  f->lower, f->upper, channels, PIXELS, steps, 0, swizzle, 0, 0),
                     0);
    s.box[0] = channels * PIXELS; /* what the barrier expects */
    s.box[1] = s.box[2] = s.box[3] = 1;
    const int at[] = {first, f->w, f->h, f->n};
    memcpy(s.at, at, sizeof at);
    const char *loads =
        kernel_text("mov.b16 h0, %d; mov.b16 h1, %d; "
                    "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
                    "[d], [map_at, {a,b,c,at}], [bar], {h0, h1};",
                    f->offset_w, f->offset_h);
    ck_assert_int_eq(shot_load(&s, &map, loads, 1, 0, &images), 0);
    kernel_clean();
    predict_im2col(f, (int)channels, first, swizzle);
    shot_compare(images, "im2col");
}

START_TEST(im2col_walks_along_w_first) {
    static const struct filter filters[] = {
        {{-2, -1}, {-1, 0}, 0, 0, 0, 0, 0, 1},   {{-2, -1}, {-1, 0}, -1, -1, 0, 0, 0, 1},
        {{-2, -1}, {-1, 0}, -1, -1, 0, 2, 0, 1}, {{-2, -1}, {-1, 0}, 3, 2, 1, 2, 1, 1},
        {{-1, -3}, {1, -2}, 0, 0, 0, 0, 0, 1},   {{-1, -3}, {1, -2}, 2, 1, 1, 1, 3, 1},
        {{0, 0}, {-2, -1}, 0, 0, 0, 2, 1, 1},    {{-1, -1}, {0, 0}, -1, -1, 0, 1, 1, 2}};
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
        check_im2col(&filters[i], CHANNELS, 0, 2);
        check_im2col(&filters[i], 16, 32, 0);
    }
}
END_TEST

Suite *copy_im2col_suite(void) {
    Suite *suite = suite_create("im2col loads");
    TCase *tests = tcase_create("im2col loads");
    tcase_add_checked_fixture(tests, shot_begin, kernel_end);
    tcase_add_test(tests, im2col_walks_along_w_first);
    suite_add_tcase(suite, tests);
    return suite;
}
