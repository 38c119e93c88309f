/* SPDX-License-Identifier: Apache-2.0 */
/* What the TMA and cluster experiments predict, against tables and cases worked out by hand. */
#include "bench_tests.h"

#include <stdlib.h>
#include <string.h>

#include "host/cuda_abi.h"
#include "lab/lab_child.h"
#include "lab/tma_im2col.h"
#include "lab/tma_image.h"
#include "lab/tma_reduce.h"
#include "lab/tma_store.h"
#include "lab/tma_stream.h"

static unsigned char tensor[TMA_TENSOR_BYTES], image[TMA_IMAGE_BYTES];

/* ---- loads ---------------------------------------------------------------------------------------- */

START_TEST(chunks_lie_where_the_tables_say) {
    /* Chunk c of row r, the buffer on a multiple of the pattern: c ^ r % 8, c ^ r / 2 % 4, c ^ r / 4 % 2. */
    for (int mode = GM_SWIZZLE_32B; mode <= GM_SWIZZLE_128B; mode++) {
        const uint32_t span = gm_swizzle_span_bytes(mode), rows_of_line = 128 / span;
        const struct tma_shot shot = tma_shot_of_bytes(mode, span, 64);
        for (uint32_t row = 0; row < 64; row++) {
            for (uint32_t chunk = 0; chunk < span / 16; chunk++) {
                const uint32_t there = chunk ^ (row / rows_of_line % (span / 16));
                ck_assert_uint_eq(tma_predict_address(&shot, 1024, row, chunk * 16), 1024 + row * span + there * 16);
            }
        }
    }
}
END_TEST

START_TEST(a_shifted_buffer_keeps_the_absolute_pattern) {
    struct tma_shot shot = tma_shot_of_bytes(GM_SWIZZLE_128B, 128, 8);
    shot.offset = 384; /* row 0 lies in line 3 */
    ck_assert_uint_eq(tma_predict_address(&shot, 0, 0, 0), 384 + 3 * 16);
    ck_assert_uint_eq(tma_predict_address(&shot, 0, 5, 0), 384 + 5 * 128);
}
END_TEST

START_TEST(a_narrow_box_follows_its_pitch) {
    struct tma_shot shot = tma_shot_of_bytes(GM_SWIZZLE_128B, 64, 8);
    ck_assert_uint_eq(tma_predict_address(&shot, 0, 3, 16), 128 + 64); /* line 1, chunk 5 ^ 1 */
    shot.pitch = 128;
    ck_assert_uint_eq(tma_predict_address(&shot, 0, 3, 16), 3 * 128 + (16 ^ 48));
}
END_TEST

START_TEST(an_image_is_box_fill_and_poison) {
    tma_fill_tensor(tensor, sizeof tensor);
    struct tma_shot shot = tma_shot_of_bytes(GM_SWIZZLE_NONE, 32, 4);
    shot.map.dims[0] = 100;
    shot.x = 90;
    shot.y = -1;
    shot.offset = 256;
    shot.fill = 0x77;
    tma_predict_image(&shot, tensor, 2048, image);
    for (uint32_t i = 0; i < TMA_IMAGE_BYTES; i++) {
        unsigned char wanted = TMA_POISON;
        if (i >= 256 && i < 256 + 4 * 32) {
            const uint32_t row = (i - 256) / 32, column = 90 + (i - 256) % 32;
            wanted = row == 0 || column >= 100 ? 0x77 : tensor[(row - 1) * 512 + column];
        }
        ck_assert_msg(image[i] == wanted, "byte %u is 0x%02x, not 0x%02x", i, image[i], wanted);
    }
}
END_TEST

START_TEST(fill_is_laid_out_by_elements) {
    struct tma_shot shot = tma_shot_of_bytes(GM_SWIZZLE_NONE, 32, 1);
    shot.map.type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    shot.map.box[0] = 8;
    shot.y = -1;
    shot.fill = 0x7fffffff;
    tma_predict_image(&shot, tensor, 0, image);
    ck_assert_mem_eq(image, "\xff\xff\xff\x7f\xff\xff\xff\x7f", 8);
}
END_TEST

START_TEST(the_same_bytes_as_wider_elements) {
    struct tma_shot shot = tma_shot_of_bytes(GM_SWIZZLE_128B, 128, 8);
    shot.x = -16;
    shot.y = 3;
    const struct tma_shot wide = tma_as_elements(shot, CU_TENSOR_MAP_DATA_TYPE_FLOAT32);
    static unsigned char of_bytes[TMA_IMAGE_BYTES];
    ck_assert_int_eq(wide.x, -4);
    ck_assert_uint_eq(wide.map.box[0], 32);
    tma_fill_tensor(tensor, sizeof tensor);
    tma_predict_image(&shot, tensor, 1024, of_bytes);
    tma_predict_image(&wide, tensor, 1024, image);
    ck_assert_mem_eq(image, of_bytes, sizeof image);
}
END_TEST

/* ---- launches that the GPU refuses ------------------------------------------------------------------ */

START_TEST(what_a_child_printed_names_the_point_and_the_error) {
    static struct lab lab;
    struct lab_trial trial = {0};
    const char *output = "gristmill: cuMemAlloc failed: CUDA_ERROR_INVALID_VALUE\n"
                         "gristmill: cuStreamSynchronize failed: CUDA_ERROR_ILLEGAL_INSTRUCTION\n"
                         "gristmill: toy: point `from 10`: the launch failed\n"
                         "gristmill: cuMemFree failed: CUDA_ERROR_UNKNOWN\n";
    lab_add(&lab, "from 1", "");
    lab_add(&lab, "from 10", "");
    ck_assert_uint_eq(lab_child_failed(&lab, 0, output, &trial), 1);
    ck_assert(trial.refused);
    ck_assert_str_eq(trial.error, "CUDA_ERROR_ILLEGAL_INSTRUCTION");
    ck_assert_uint_eq(lab_child_failed(&lab, 2, output, &trial), 2);
    trial = (struct lab_trial){0};
    ck_assert_uint_eq(lab_child_failed(&lab, 0, "gristmill: toy: point `from 1`: prepare() failed\n", &trial), 2);
    ck_assert(!trial.refused);
}
END_TEST

/* ---- stores --------------------------------------------------------------------------------------- */

START_TEST(a_ragged_row_is_rounded_up_to_the_unit) {
    enum { STRIDE = 544, BOX_ROW = 64 };
    static unsigned char source[BOX_ROW * 2], out[STRIDE * 4];
    struct tma_store store = {.map = {.size = sizeof store.map,
                                      .type = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
                                      .rank = 2,
                                      .dims = {257, 3},
                                      .strides = {STRIDE},
                                      .box = {BOX_ROW / 2, 2}},
                              .x = 256,
                              .y = 2};
    static const struct {
        uint32_t unit, bytes;
    } cases[] = {{1, 2}, {2, 2}, {4, 4}, {16, 16}, {32, 32}};
    memset(source, 1, sizeof source);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memset(out, 0, sizeof out);
        tma_predict_store(&store, source, cases[i].unit, out);
        uint32_t written = 0;
        for (size_t byte = 0; byte < sizeof out; byte++)
            written += out[byte];
        ck_assert_uint_eq(written, cases[i].bytes); /* row 3 does not exist */
        ck_assert_uint_eq(out[2 * STRIDE + 512], 1);
    }
    store.x = 10; /* ends inside: exact, whatever the unit */
    memset(out, 0, sizeof out);
    tma_predict_store(&store, source, 16, out);
    ck_assert_uint_eq(out[2 * STRIDE + 20], 1);
    ck_assert_uint_eq(out[2 * STRIDE + 19], 0);
    ck_assert_uint_eq(out[2 * STRIDE + 20 + BOX_ROW], 0);
}
END_TEST

/* ---- im2col --------------------------------------------------------------------------------------- */

START_TEST(im2col_goes_along_w_inside_the_bounding_box) {
    /* 3 x 2 pixels of 16 channels: pixel (w, h) holds 10 h + w + 1. Corners from -1 to the second last pixel. */
    static unsigned char pixels[16 * 3 * 2], column[16 * 8];
    for (int h = 0; h < 2; h++) {
        for (int w = 0; w < 3; w++)
            memset(pixels + (h * 3 + w) * 16, 10 * h + w + 1, 16);
    }
    const struct im2col load = {.channels = 16,
                                .width = 3,
                                .height = 2,
                                .images = 1,
                                .lower = {-1, 0},
                                .upper = {-1, 0},
                                .box_channels = 16,
                                .box_pixels = 8,
                                .w = -1,
                                .h = 0,
                                .offset_w = 1};
    /* W first: w from -1 to 1, h from 0 to 1, then the next image, which is not there. */
    static const unsigned char w_first[] = {1, 2, 3, 11, 12, 13, 0, 0};
    im2col_predict(&load, IM2COL_W_FIRST, pixels, 0, column);
    for (int i = 0; i < 8; i++)
        ck_assert_uint_eq(column[16 * i], w_first[i]);
    /* H first: w from 0 to 2, h from -1 to 0. */
    static const unsigned char h_first[] = {1, 2, 3, 0, 0, 0, 0, 0};
    im2col_predict(&load, IM2COL_H_FIRST, pixels, 0, column);
    for (int i = 0; i < 8; i++)
        ck_assert_uint_eq(column[16 * i], h_first[i]);
}
END_TEST

/* ---- streams and reductions ------------------------------------------------------------------------ */

START_TEST(the_ctas_of_a_cluster_receive_the_same_boxes) {
    for (uint32_t cluster = 1; cluster <= 8; cluster *= 2) {
        for (uint32_t cta = 0; cta < 128; cta++)
            ck_assert_uint_eq(stream_box(cta, 5, 128, cluster), stream_box(cta / cluster * cluster, 5, 128, cluster));
        ck_assert_uint_eq(stream_box(127, STREAM_TENSOR_BOXES, 128, cluster), stream_box(127, 0, 128, cluster));
    }
    ck_assert_uint_eq(stream_box(1, 0, 128, 1), STREAM_TENSOR_BOXES / 128);
}
END_TEST

static const struct reduce_type *type_named(const char *name) {
    unsigned i = 0;
    while (i < reduce_type_count && strcmp(reduce_types[i].name, name) != 0)
        i++;
    ck_assert_uint_lt(i, reduce_type_count);
    return &reduce_types[i];
}

START_TEST(reductions_follow_the_type) {
    const struct reduce_type *u32 = type_named("u32"), *s32 = type_named("s32"), *s64 = type_named("s64"),
                             *f16 = type_named("f16"), *bf16 = type_named("bf16"), *f64 = type_named("f64");
    ck_assert_uint_eq(reduce_bits(REDUCE_ADD, u32, 0xffffffff, 2), 1);
    ck_assert_uint_eq(reduce_bits(REDUCE_MIN, u32, 0xffffffff, 2), 2);
    ck_assert_uint_eq(reduce_bits(REDUCE_MIN, s32, 0xffffffff, 2), 0xffffffff);
    ck_assert_uint_eq(reduce_bits(REDUCE_MAX, s64, ~UINT64_C(0), 2), 2);
    ck_assert_uint_eq(reduce_bits(REDUCE_INC, u32, 3, 3), 0);
    ck_assert_uint_eq(reduce_bits(REDUCE_INC, u32, 2, 3), 3);
    ck_assert_uint_eq(reduce_bits(REDUCE_DEC, u32, 0, 3), 3);
    ck_assert_uint_eq(reduce_bits(REDUCE_DEC, u32, 5, 3), 3);
    ck_assert_uint_eq(reduce_bits(REDUCE_DEC, u32, 2, 3), 1);
    ck_assert_uint_eq(reduce_bits(REDUCE_ADD, f16, 0x4000, 0xc200), 0xbc00);  /* 2 + -3 = -1 */
    ck_assert_uint_eq(reduce_bits(REDUCE_MAX, bf16, 0xbf80, 0x4000), 0x4000); /* -1, 2 */
    ck_assert_uint_eq(reduce_bits(REDUCE_ADD, f16, 0x0003, 0x8001), 0x0002);  /* subnormal */
    ck_assert_uint_eq(reduce_bits(REDUCE_ADD, f64, 0, 1), 1);
    ck_assert(reduce_is_listed(REDUCE_MIN, bf16) && reduce_is_listed(REDUCE_ADD, f16));
    ck_assert(!reduce_is_listed(REDUCE_INC, s32) && !reduce_is_listed(REDUCE_ADD, s64));
}
END_TEST

START_TEST(a_map_takes_other_pairs_than_the_documents_list) {
    const struct reduce_type *u64 = type_named("u64"), *s64 = type_named("s64"), *f32 = type_named("f32"),
                             *ftz = type_named("f32.ftz");
    ck_assert(reduce_is_listed(REDUCE_XOR, s64) && !reduce_is_taken(REDUCE_XOR, s64));
    ck_assert(reduce_is_taken(REDUCE_XOR, u64) && reduce_is_taken(REDUCE_MIN, s64));
    ck_assert(!reduce_is_listed(REDUCE_ADD, ftz) && reduce_is_taken(REDUCE_ADD, ftz));
    ck_assert_uint_eq(reduce_bits(REDUCE_ADD, f32, 0x80000006, 0x80000003), 0x80000009);
    ck_assert_uint_eq(reduce_bits(REDUCE_ADD, ftz, 0x80000006, 0x80000003), 0x80000000); /* -0 + -0 */
    ck_assert_uint_eq(reduce_bits(REDUCE_ADD, ftz, 0x80000006, 0x00000003), 0);
    ck_assert_uint_eq(reduce_bits(REDUCE_ADD, ftz, 0x40000000, 0xc0400000), 0xbf800000); /* 2 - 3 */
}
END_TEST

TCase *lab_tma_tests(void) {
    TCase *tests = tcase_create("lab_tma");
    tcase_add_test(tests, chunks_lie_where_the_tables_say);
    tcase_add_test(tests, a_shifted_buffer_keeps_the_absolute_pattern);
    tcase_add_test(tests, a_narrow_box_follows_its_pitch);
    tcase_add_test(tests, an_image_is_box_fill_and_poison);
    tcase_add_test(tests, fill_is_laid_out_by_elements);
    tcase_add_test(tests, the_same_bytes_as_wider_elements);
    tcase_add_test(tests, what_a_child_printed_names_the_point_and_the_error);
    tcase_add_test(tests, a_ragged_row_is_rounded_up_to_the_unit);
    tcase_add_test(tests, im2col_goes_along_w_inside_the_bounding_box);
    tcase_add_test(tests, the_ctas_of_a_cluster_receive_the_same_boxes);
    tcase_add_test(tests, reductions_follow_the_type);
    tcase_add_test(tests, a_map_takes_other_pairs_than_the_documents_list);
    return tests;
}
