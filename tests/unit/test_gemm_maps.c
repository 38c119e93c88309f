/* SPDX-License-Identifier: Apache-2.0 */
/* The tensor maps of the sm90 rows. */
#include "kernels.h"
#include "planned.h"

/* By the columns that maps depend on. */
#define ROW(layout, tile_m, tile_n, cluster_m, cluster_n, letters, swizzle)                                            \
    SM90_ROW("row", 1, bf16, layout, tile_m, tile_n, 64, 4, cluster_m, cluster_n, letters, swizzle)

static struct gm_gemm_maps maps_of(const struct gm_kernel *row, const struct gm_gemm_problem *problem) {
    const struct gm_gemm_variant v = gm_gemm_variant(row);
    const struct gm_gemm_problem p = normalized(*problem);
    return gm_gemm_sm90_maps(&v, &p);
}

START_TEST(maps_of_a_k_major_row) {
    const struct gm_kernel row = ROW(tn, 128, 192, 2, 1, w1, 128);
    struct gm_gemm_problem p = problem_of(1000, 2000, 3000);
    p.lda = 3008;
    p.d_type = GM_FP32;
    const struct gm_gemm_maps maps = maps_of(&row, &p);
    ck_assert_uint_eq(maps.a.dims[0], 3000);
    ck_assert_uint_eq(maps.a.dims[1], 1000);
    ck_assert_uint_eq(maps.a.strides[0], 6016);
    ck_assert_uint_eq(maps.a.box[0], 64);
    ck_assert_uint_eq(maps.a.box[1], 128);
    ck_assert_uint_eq(maps.b.dims[1], 2000);
    ck_assert_uint_eq(maps.b.box[1], 96); /* each of two CTAs loads half of B */
    ck_assert_int_eq(maps.b.swizzle, CU_TENSOR_MAP_SWIZZLE_128B);
    ck_assert_int_eq(maps.d.type, CU_TENSOR_MAP_DATA_TYPE_FLOAT32);
    ck_assert_uint_eq(maps.d.box[0], 32); /* 128 bytes of fp32 */
    ck_assert_uint_eq(maps.d.box[1], 16); /* of one warp */
    ck_assert_uint_eq(maps.d.strides[0], 8000);
    ck_assert_int_eq(maps.a.l2_promotion, CU_TENSOR_MAP_L2_PROMOTION_L2_128B); /* 6016 is no multiple of 256 */
    ck_assert_int_eq(maps.a_tiles.whole, 7);
    ck_assert_int_eq(maps.a_tiles.rows, 104); /* 1000 = 7 x 128 + 104 */
    ck_assert_uint_eq(maps.a_tail.box[1], 104);
    ck_assert_int_eq(maps.b_tiles.whole, 10);
    ck_assert_int_eq(maps.b_tiles.rows, 40); /* 2000 = 10 x 192 + 80, half of it */
    ck_assert_uint_eq(maps.b_tail.box[1], 40);
}
END_TEST

START_TEST(maps_of_an_mn_major_row) {
    const struct gm_kernel row = ROW(nt, 64, 160, 1, 2, w1, 64);
    struct gm_gemm_problem p = problem_of(1000, 2000, 3000);
    p.ab_type = p.d_type = GM_FP16;
    p.a_major = p.b_major = GM_MN_MAJOR;
    const struct gm_gemm_maps maps = maps_of(&row, &p);
    ck_assert_uint_eq(maps.a.dims[0], 1000);
    ck_assert_uint_eq(maps.a.dims[1], 3000);
    ck_assert_uint_eq(maps.a.strides[0], 2000);
    ck_assert_uint_eq(maps.a.box[0], 32); /* 64 bytes */
    ck_assert_uint_eq(maps.a.box[1], 32); /* half of tile_k: A is shared by two CTAs */
    ck_assert_uint_eq(maps.b.box[1], 64);
    ck_assert_int_eq(maps.a.type, CU_TENSOR_MAP_DATA_TYPE_FLOAT16);
    ck_assert_int_eq(maps.a.swizzle, CU_TENSOR_MAP_SWIZZLE_64B);
    ck_assert_int_eq(maps.d.swizzle, CU_TENSOR_MAP_SWIZZLE_128B); /* 160 columns in three chunks of 64 */
    ck_assert_uint_eq(maps.d.box[0], 64);
}
END_TEST

/* 256 bytes at once where rows are made of such pieces, unless memory sets the pace. */
START_TEST(promotion_into_l2) {
    static const struct {
        int64_t m, n, k;
        int promotion;
    } cases[] = {{65, 4096, 4096, CU_TENSOR_MAP_L2_PROMOTION_L2_256B},
                 {64, 4096, 4096, CU_TENSOR_MAP_L2_PROMOTION_L2_128B},
                 {4096, 64, 4096, CU_TENSOR_MAP_L2_PROMOTION_L2_128B},
                 {4096, 65, 4096, CU_TENSOR_MAP_L2_PROMOTION_L2_256B},
                 {4096, 4096, 4160, CU_TENSOR_MAP_L2_PROMOTION_L2_128B}};
    const struct gm_kernel row = ROW(tn, 64, 128, 1, 1, w1, 128);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct gm_gemm_problem p = problem_of(cases[i].m, cases[i].n, cases[i].k);
        const struct gm_gemm_maps maps = maps_of(&row, &p);
        ck_assert_int_eq(maps.a.l2_promotion, cases[i].promotion);
        ck_assert_int_eq(maps.b.l2_promotion, cases[i].promotion);
    }
    const struct gm_kernel nt = ROW(nt, 64, 128, 1, 1, w1, 128);
    for (size_t i = 0; i < 2; i++) { /* MN-major operands alike */
        struct gm_gemm_problem p = problem_of(cases[i].m, cases[i].n, cases[i].k);
        p.a_major = p.b_major = GM_MN_MAJOR;
        p.lda = 128;
        const struct gm_gemm_maps maps = maps_of(&nt, &p);
        ck_assert_int_eq(maps.a.l2_promotion, cases[i].promotion);
        ck_assert_int_eq(maps.b.l2_promotion, cases[i].promotion);
    }
}
END_TEST

START_TEST(the_last_rows_have_a_box_of_their_own) {
    struct gm_kernel row = ROW(tn, 64, 128, 1, 1, w1, 128);
    struct gm_gemm_problem p = problem_of(17, 256, 512);
    struct gm_gemm_maps maps = maps_of(&row, &p);
    ck_assert_uint_eq(maps.a.box[1], 64);
    ck_assert_int_eq(maps.a_tiles.whole, 0);
    ck_assert_int_eq(maps.a_tiles.rows, 17);
    ck_assert_uint_eq(maps.a_tail.box[1], 17);
    ck_assert_int_eq(maps.b_tiles.whole, 2);
    ck_assert_int_eq(maps.b_tiles.rows, 0);
    ck_assert_int_eq(maps.b.l2_promotion, CU_TENSOR_MAP_L2_PROMOTION_L2_128B); /* few tokens */
    /* Four CTAs fetch as many rows each: 20, of which 3 are TMA's zeros. */
    row = (struct gm_kernel)ROW(tn, 64, 128, 1, 4, w1, 128);
    maps = maps_of(&row, &p);
    ck_assert_int_eq(maps.a_tiles.rows, 5);
    ck_assert_uint_eq(maps.a_tail.box[1], 5);
    p.m = 63; /* no more than the tile has */
    maps = maps_of(&row, &p);
    ck_assert_int_eq(maps.a_tiles.rows, 16);
    /* A is M-major: its ragged end is one of columns. */
    row = (struct gm_kernel)ROW(nn, 64, 128, 1, 4, w1, 128);
    p.a_major = GM_MN_MAJOR;
    maps = maps_of(&row, &p);
    ck_assert_int_eq(maps.a_tiles.whole, INT32_MAX);
    ck_assert_int_eq(maps.a_tiles.rows, 0);
}
END_TEST

START_TEST(a_swapped_row_stores_rows_of_its_n_side) {
    const struct gm_kernel row = ROW(tn, 144, 128, 1, 1, w2s, 128);
    struct gm_gemm_problem p = problem_of(1000, 2000, 3000);
    const struct gm_gemm_maps maps = maps_of(&row, &p);
    ck_assert_uint_eq(maps.a.box[1], 144);
    ck_assert_uint_eq(maps.b.box[1], 128);
    ck_assert_uint_eq(maps.d.box[0], 64); /* an atom's columns of 16-bit elements */
    ck_assert_uint_eq(maps.d.box[1], 72);
}
END_TEST

START_TEST(every_sm90_row_gets_legal_maps_for_legal_problems) {
    static const int64_t sizes[][3] = {{1, 8, 8}, {1, 1, 1}, {7, 24, 40}, {4096, 4096, 4096}, {65, 1000, 8}};
    char sentence[160];
    for (size_t i = 0; i < gemm_count(); i++) {
        const struct gm_kernel *row = &gm_kernels[i];
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes && row->family == &gm_family_gemm_sm90; s++) {
            struct gm_gemm_problem p = problem_of(sizes[s][0], sizes[s][1], sizes[s][2]);
            const int layout = gm_gemm_variant(row).layout;
            set_operand_types(&p, row);
            p.fast_accumulation = gm_gemm_variant(row).fast_accumulation;
            p.d_type = gm_type_bytes(row->type) == 4 ? GM_FP32 : row->type == GM_INT8 ? GM_INT32 : p.d_type;
            p.a_major = GM_LAYOUT_A_MN(layout) ? GM_MN_MAJOR : GM_K_MAJOR;
            p.b_major = GM_LAYOUT_B_MN(layout) ? GM_MN_MAJOR : GM_K_MAJOR;
            p.lda = p.ldb = p.ldd = 4096;
            if (gm_gemm_variant(row).sum_scales)
                p.a_scales = p.b_scales = GM_PER_BLOCK;
            if (gm_gemm_variant(row).gate) {
                p.gate = (enum gm_gate)(1 + s % 2);
                p.n = (p.n + 15) / 16 * 16;
            }
            if (gm_gemm_variant(row).extended) {
                p.amax = 1;
                p.d_type = row->type == GM_INT8 ? GM_BF16 : s % 2 ? GM_E4M3 : p.d_type;
            }
            const struct gm_gemm_maps maps = maps_of(row, &p);
            ck_assert_msg(gm_tensor_map_check(&maps.a, sentence, sizeof sentence), "%s: A: %s", row->name, sentence);
            ck_assert_msg(gm_tensor_map_check(&maps.b, sentence, sizeof sentence), "%s: B: %s", row->name, sentence);
            ck_assert_msg(!maps.a_tiles.rows || gm_tensor_map_check(&maps.a_tail, sentence, sizeof sentence),
                          "%s: A's last rows: %s", row->name, sentence);
            ck_assert_msg(!maps.b_tiles.rows || gm_tensor_map_check(&maps.b_tail, sentence, sizeof sentence),
                          "%s: B's last rows: %s", row->name, sentence);
            ck_assert_msg(gm_tensor_map_check(&maps.d, sentence, sizeof sentence), "%s: D: %s", row->name, sentence);
        }
    }
}
END_TEST

START_TEST(the_stride_of_a_single_row_is_replaced_by_a_legal_one) {
    const struct gm_kernel row = ROW(tn, 64, 64, 1, 1, w1, 128);
    struct gm_gemm_problem p = problem_of(1, 9, 24);
    const struct gm_gemm_maps maps = maps_of(&row, &p);
    char sentence[160];
    ck_assert_uint_eq(maps.d.strides[0], 16);
    ck_assert_msg(gm_tensor_map_check(&maps.d, sentence, sizeof sentence), "%s", sentence);
}
END_TEST

/* 8 gates, 8 ups, 8 gates, ... wherever they lie; the last tile's box has whole 16 rows for each of two CTAs. */
START_TEST(a_gate_has_a_map_of_gates_and_ups) {
    const struct gm_kernel row = ROW(tn, 128, 256, 2, 1, w2g, 128);
    struct gm_gemm_problem p = problem_of(300, 2 * 152, 64);
    p.gate = GM_GATE_HALVES;
    struct gm_gemm_maps maps = maps_of(&row, &p);
    ck_assert_uint_eq(maps.b.rank, 4);
    ck_assert_uint_eq(maps.b.dims[3], 19);
    ck_assert_uint_eq(maps.b.box[1] * maps.b.box[2] * maps.b.box[3], 128);
    ck_assert_uint_eq(maps.b.strides[0], 128);
    ck_assert_uint_eq(maps.b.strides[1], 152 * 128);
    ck_assert_uint_eq(maps.b.strides[2], 8 * 128);
    ck_assert_int_eq(maps.b_tiles.whole, 1);
    ck_assert_int_eq(maps.b_tiles.rows, 32); /* 48 are left for two */
    ck_assert_uint_eq(maps.b_tail.box[3], 2);
    ck_assert_uint_eq(maps.d.dims[0], 152);
    p.gate = GM_GATE_PAIRS;
    maps = maps_of(&row, &p);
    ck_assert_uint_eq(maps.b.strides[0], 256);
    ck_assert_uint_eq(maps.b.strides[1], 128);
    ck_assert_uint_eq(maps.b.strides[2], 16 * 128);
}
END_TEST

static void ask_for_amax(struct gm_gemm_problem *p) {
    p->amax = 1;
}
static void ask_for_residual(struct gm_gemm_problem *p) {
    p->residual = 1;
}
static void ask_for_scales(struct gm_gemm_problem *p) {
    p->b_scales = GM_PER_ROW;
}
static void ask_for_c_type(struct gm_gemm_problem *p) {
    p->has_c_type = 1, p->c_type = GM_FP32;
}
static void ask_for_bytes(struct gm_gemm_problem *p) {
    p->d_type = GM_E4M3;
}

START_TEST(a_row_with_a_gate_says_what_it_does_not_take) {
    const struct gm_kernel row = ROW(tn, 128, 256, 2, 1, w2g, 128), plain = ROW(tn, 128, 256, 2, 1, w2, 128);
    const struct gm_device h200 = device_of("h200");
    struct gm_gemm_problem p = problem_of(300, 320, 64);
    ck_assert_int_eq(judge(&row, &h200, p, NULL).reason, GM_REASON_EPILOGUE);
    assert_judged("the problem has none");
    p.gate = GM_GATE_HALVES;
    ck_assert_int_eq(judge(&row, &h200, p, NULL).reason, GM_ACCEPTED);
    ck_assert_int_eq(judge(&plain, &h200, p, NULL).reason, GM_REASON_EPILOGUE);
    assert_judged("the problem has a gate");
    p.d_type = GM_FP32;
    ck_assert_int_eq(judge(&row, &h200, p, NULL).reason, GM_REASON_TYPE);
    assert_judged("D is fp32");
    p = problem_of(300, 328, 64);
    p.gate = GM_GATE_HALVES;
    ck_assert_int_eq(judge(&row, &h200, p, NULL).reason, GM_REASON_SIZE);
    assert_judged("N 328 is not a multiple of 16");
    p = problem_of(1, 1 << 20, 64);
    p.gate = GM_GATE_HALVES;
    p.ldb = INT64_C(1) << 21;
    ck_assert_int_eq(judge(&row, &h200, p, NULL).reason, GM_REASON_SIZE);
    assert_judged("TMA steps less than 2^40");
}
END_TEST

/* Each row takes one kind of problem; of D's scales those of groups that lie in its tile. */
START_TEST(a_row_with_an_extended_epilogue_says_what_it_does_not_take) {
    const struct gm_kernel row = SM90_EXTENDED("extended", 128, 128, 6, w2), plain = ROW(tn, 128, 128, 1, 1, w2, 128);
    const struct gm_kernel swapped = SM90_EXTENDED("swapped", 128, 128, 6, w2s),
                           narrow = SM90_EXTENDED("n", 128, 64, 6, w2);
    const struct gm_kernel sm80 = SM80_EXTENDED("sm80", 128, 128, 4, 2, 2);
    const struct gm_device h200 = device_of("h200");
    struct gm_gemm_problem p = problem_of(300, 320, 64);
    ck_assert_int_eq(judge(&row, &h200, p, NULL).reason, GM_REASON_EPILOGUE);
    assert_judged("the problem has none");
    ck_assert_int_eq(judge(&plain, &h200, p, NULL).reason, GM_ACCEPTED);
    void (*const parts[])(struct gm_gemm_problem *) = {ask_for_amax, ask_for_residual, ask_for_scales, ask_for_c_type,
                                                       ask_for_bytes};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        p = problem_of(300, 320, 64);
        parts[i](&p);
        ck_assert_int_eq(judge(&row, &h200, p, NULL).reason, GM_ACCEPTED);
        ck_assert_int_eq(judge(&sm80, &h200, p, NULL).reason, GM_ACCEPTED);
        ck_assert_int_eq(judge(&plain, &h200, p, NULL).reason, GM_REASON_EPILOGUE);
        assert_judged("has no extended epilogue");
    }
    p.d_scaling = GM_SCALE_GROUP;
    ck_assert_int_eq(judge(&row, &h200, p, NULL).reason, GM_ACCEPTED);
    ck_assert_int_eq(judge(&swapped, &h200, p, NULL).reason, GM_REASON_EPILOGUE);
    ck_assert_int_eq(judge(&narrow, &h200, p, NULL).reason, GM_REASON_EPILOGUE);
    ck_assert_int_eq(judge(&sm80, &h200, p, NULL).reason, GM_REASON_EPILOGUE);
    assert_judged("a static scale only");
    p.d_scaling = GM_SCALE_ROW;
    ck_assert_int_eq(judge(&row, &h200, p, NULL).reason, GM_REASON_EPILOGUE);
    assert_judged("workspace_limit");
}
END_TEST

Suite *gemm_maps_suite(void) {
    Suite *suite = suite_create("gemm_maps");
    TCase *maps = tcase_create("maps of rows");
    tcase_add_test(maps, maps_of_a_k_major_row);
    tcase_add_test(maps, maps_of_an_mn_major_row);
    tcase_add_test(maps, promotion_into_l2);
    tcase_add_test(maps, the_last_rows_have_a_box_of_their_own);
    tcase_add_test(maps, a_swapped_row_stores_rows_of_its_n_side);
    tcase_add_test(maps, every_sm90_row_gets_legal_maps_for_legal_problems);
    tcase_add_test(maps, the_stride_of_a_single_row_is_replaced_by_a_legal_one);
    tcase_add_test(maps, a_gate_has_a_map_of_gates_and_ups);
    tcase_add_test(maps, a_row_with_a_gate_says_what_it_does_not_take);
    tcase_add_test(maps, a_row_with_an_extended_epilogue_says_what_it_does_not_take);
    suite_add_tcase(suite, maps);
    return suite;
}
