/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor loads, against a plain model. */
#include "sim_tests.h"

#include "copy_model.h"
#include "sim/copies/tensor_map.h"

#include <stdio.h>

static void check_load(struct shot s, uint64_t seed) {
    char what[128];
    uint64_t images;
    shot_complete(&s);
    snprintf(what, sizeof what, "type %d, swizzle %d, rank %u, box %u x %u at %d,%d, offset %u", s.type, s.swizzle,
             s.rank, s.box[0], s.box[1], s.at[0], s.at[1], s.offset);
    const struct map map = shot_encode(&s, kernel_memory(tensor, TENSOR_BYTES));
    ck_assert_msg(shot_load(&s, &map, shot_load_instruction(s.rank), 1, seed, &images) == 0, "%s: fails", what);
    kernel_clean();
    shot_predict_load(&s, IMAGE_BASE);
    shot_compare(images, what);
}

START_TEST(boxes_lie_where_the_swizzle_says) {
    for (int swizzle = 0; swizzle <= 3; swizzle++) {
        const uint32_t row = swizzle ? 16u << swizzle : 64;
        for (uint32_t offset = 0; offset <= 1024; offset += 128)
            check_load((struct shot){.type = U8,
                                     .swizzle = swizzle,
                                     .rank = 2,
                                     .dims = {256, 200},
                                     .box = {row, 40},
                                     .at = {32, 5},
                                     .offset = offset},
                       offset / 128);
    }
}
END_TEST

START_TEST(narrow_boxes_have_rows_a_span_apart) {
    for (int swizzle = 1; swizzle <= 3; swizzle++)
        for (uint32_t row = 16; row < 16u << swizzle; row += 16)
            check_load((struct shot){.type = BF16,
                                     .swizzle = swizzle,
                                     .rank = 2,
                                     .dims = {128, 100},
                                     .box = {row / 2, 20},
                                     .at = {8, 90},
                                     .offset = 256},
                       row);
}
END_TEST

START_TEST(what_lies_outside_is_filled) {
    static const struct {
        int type, fill;
    } types[] = {{U8, 0}, {F32, 0}, {F16, 1}, {BF16, 1}, {F32, 1}, {F64, 1}};
    static const int places[][2] = {{16, 4},    {-16, 4}, {80, 4},  {16, -3},    {16, 48},
                                    {-48, -15}, {96, 49}, {112, 4}, {-304, -300}};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        const uint32_t bytes = shot_element_bytes(types[t].type);
        for (size_t p = 0; p < sizeof places / sizeof *places; p++)
            check_load((struct shot){.type = types[t].type,
                                     .fill = types[t].fill,
                                     .swizzle = 2,
                                     .rank = 2,
                                     .dims = {104 / bytes - (bytes < 4), 50},
                                     .strides = {112},
                                     .box = {64 / bytes, 16},
                                     .at = {places[p][0] / (int)bytes, places[p][1]}},
                       p);
    }
}
END_TEST

START_TEST(boxes_of_every_rank) {
    check_load((struct shot){.type = F32, .rank = 1, .dims = {100}, .box = {64}, .at = {60}}, 0);
    check_load(
        (struct shot){.type = F32, .rank = 3, .dims = {32, 9, 11}, .box = {32, 4, 5}, .at = {0, 7, -2}, .swizzle = 3},
        1);
    check_load(
        (struct shot){
            .type = BF16, .rank = 4, .dims = {16, 5, 4, 7}, .box = {16, 3, 4, 5}, .at = {0, -1, 1, 4}, .swizzle = 1},
        2);
    check_load(
        (struct shot){.type = U8, .rank = 5, .dims = {32, 3, 4, 5, 6}, .box = {32, 3, 2, 2, 4}, .at = {0, 1, 1, -1, 3}},
        3);
}
END_TEST

START_TEST(element_strides_skip) {
    check_load((struct shot){.type = F32,
                             .rank = 3,
                             .dims = {32, 40, 9},
                             .box = {32, 15, 8},
                             .steps = {5, 4, 3},
                             .at = {0, -4, 1},
                             .swizzle = 3},
               0);
}
END_TEST

START_TEST(maps_lie_in_global_memory_too) {
    struct shot s = {.type = U8, .rank = 2, .dims = {64, 64}, .box = {64, 8}};
    shot_complete(&s);
    const struct map map = shot_encode(&s, kernel_memory(tensor, TENSOR_BYTES)), nothing = {{0}};
    const uint64_t map_address = kernel_memory(&map, sizeof map);
    uint64_t images;
    const char *there =
        kernel_text("mov.b64 map_at, 0x%llx;\n%s", (unsigned long long)map_address, shot_load_instruction(2));
    ck_assert_int_eq(shot_load(&s, &nothing, there, 1, 0, &images), 0);
    kernel_clean();
    shot_predict_load(&s, IMAGE_BASE);
    shot_compare(images, "a map in global memory");
    ck_assert_int_ne(shot_load(&s, &nothing, shot_load_instruction(2), 1, 0, &images), 0);
    kernel_reported(SIM_REPORT_DESCRIPTOR, "no tensor map");
}
END_TEST

/* ---- loads that are refused ------------------------------------------------------------------------------------- */

static void check_refused(struct shot s, const char *instruction, enum gm_sim_report_kind kind, const char *words) {
    uint64_t images;
    shot_complete(&s);
    const struct map map = shot_encode(&s, kernel_memory(tensor, TENSOR_BYTES));
    ck_assert_int_ne(shot_load(&s, &map, instruction, 1, 0, &images), 0);
    kernel_reported(kind, words);
}

START_TEST(illegal_loads_are_refused) {
    struct shot s = {.type = U8, .rank = 2, .dims = {256, 64}, .box = {64, 8}, .at = {8, 0}};
    check_refused(s, shot_load_instruction(2), SIM_REPORT_ILLEGAL, "multiple of 16 bytes");
    s.at[0] = -4;
    check_refused(s, shot_load_instruction(2), SIM_REPORT_ILLEGAL, "multiple of 16 bytes");
    s.at[0] = 0;
    check_refused(s, shot_load_instruction(3), SIM_REPORT_ILLEGAL, "dimensions");
    s.offset = 64;
    check_refused(s, shot_load_instruction(2), SIM_REPORT_MISALIGNED, "128");
    s.offset = IMAGE_BYTES - 128;
    check_refused(s, shot_load_instruction(2), SIM_REPORT_OUT_OF_BOUNDS, "");
    s.offset = 0;
    s.dims[1] = 100000;
    s.at[1] = 1020;
    s.box[1] = 16; /* the tensor ends after 1024 rows in truth */
    check_refused(s, shot_load_instruction(2), SIM_REPORT_OUT_OF_BOUNDS, "");
}
END_TEST

START_TEST(a_wrong_total_is_found) {
    struct shot s = {.type = U8, .rank = 2, .dims = {64, 64}, .box = {64, 8}};
    uint64_t images;
    shot_complete(&s);
    const struct map map = shot_encode(&s, kernel_memory(tensor, TENSOR_BYTES));
    const char *twice = kernel_text("%s add.u32 d, d, 8192; %s", shot_load_instruction(2), shot_load_instruction(2));
    shot_load(&s, &map, twice, 1, 0, &images);
    kernel_reported(SIM_REPORT_TRANSACTIONS, "");
}
END_TEST

/* ---- multicast -------------------------------------------------------------------------------------------------- */

START_TEST(multicast_reaches_the_ctas_of_the_mask) {
    struct shot s = {.type = BF16, .swizzle = 3, .rank = 2, .dims = {64, 64}, .box = {64, 32}, .offset = 1024};
    shot_complete(&s);
    const struct map map = shot_encode(&s, kernel_memory(tensor, TENSOR_BYTES));
    const char *sends = "setp.eq.u32 more, rank, %d; @more "
                        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                        ".multicast::cluster [d], [map_at, {a, b}], [bar], h0;\n";
    char first[512], second[512];
    snprintf(first, sizeof first, sends, 1);
    snprintf(second, sizeof second, sends, 3);
    /* CTA 1 sends to 0 and 2, CTA 3 to itself and 1. */
    const char *both = kernel_text("mov.b16 h0, 5; %s mov.b16 h0, 10; %s", first, second);
    for (uint64_t seed = 0; seed < 4; seed++) {
        uint64_t images;
        ck_assert_int_eq(shot_load(&s, &map, both, 4, seed, &images), 0);
        kernel_clean();
        shot_predict_load(&s, IMAGE_BASE);
        for (uint64_t cta = 0; cta < 4; cta++)
            shot_compare(images + cta * IMAGE_BYTES, "multicast");
    }
    uint64_t images;
    ck_assert_int_ne(shot_load(&s, &map, kernel_text("mov.b16 h0, 18; %s", first), 4, 0, &images), 0);
    kernel_reported(SIM_REPORT_ILLEGAL, "names CTA 4 of a cluster of 4");
}
END_TEST

Suite *copy_tensor_suite(void) {
    Suite *suite = suite_create("tensor loads");
    TCase *tests = tcase_create("tensor loads");
    tcase_add_checked_fixture(tests, shot_begin, kernel_end);
    tcase_add_test(tests, boxes_lie_where_the_swizzle_says);
    tcase_add_test(tests, narrow_boxes_have_rows_a_span_apart);
    tcase_add_test(tests, what_lies_outside_is_filled);
    tcase_add_test(tests, boxes_of_every_rank);
    tcase_add_test(tests, element_strides_skip);
    tcase_add_test(tests, maps_lie_in_global_memory_too);
    tcase_add_test(tests, illegal_loads_are_refused);
    tcase_add_test(tests, a_wrong_total_is_found);
    tcase_add_test(tests, multicast_reaches_the_ctas_of_the_mask);
    suite_add_tcase(suite, tests);
    return suite;
}
