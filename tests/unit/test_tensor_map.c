/* SPDX-License-Identifier: Apache-2.0 */
/* Every rule of cuTensorMapEncodeTiled: a legal neighbour and an illegal one. And the maps of the rows. */
#include "problem.h"
#include "tensor_map.h"
#include "unit.h"

#include <string.h>

/* A legal rank-3 map of bf16. */
static struct gm_map_desc legal(void) {
    return (struct gm_map_desc){
        .type = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
        .rank = 3,
        .address = 0x1000,
        .dims = {1000, 200, 30},
        .strides = {2048, 2048 * 256},
        .box = {64, 128, 2},
        .element_strides = {1, 1, 1},
        .swizzle = CU_TENSOR_MAP_SWIZZLE_128B,
        .l2_promotion = CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
    };
}

static void interleave_32(struct gm_map_desc *d) {
    d->interleave = CU_TENSOR_MAP_INTERLEAVE_32B;
    d->swizzle = CU_TENSOR_MAP_SWIZZLE_32B;
}

static void as_is(struct gm_map_desc *d) { (void)d; }
static void type_12(struct gm_map_desc *d) { d->type = 12; }
static void type_13(struct gm_map_desc *d) { d->type = 13; }
static void type_minus(struct gm_map_desc *d) { d->type = -1; }
static void rank_1(struct gm_map_desc *d) { d->rank = 1; }
static void rank_0(struct gm_map_desc *d) { d->rank = 0; }
static void rank_6(struct gm_map_desc *d) { d->rank = 6; }
static void rank_5(struct gm_map_desc *d) {
    d->rank = 5;
    d->dims[3] = d->dims[4] = d->box[3] = d->box[4] = d->element_strides[3] = d->element_strides[4] = 1;
    d->strides[2] = d->strides[3] = 16;
}
static void interleaved_rank_3(struct gm_map_desc *d) { d->interleave = CU_TENSOR_MAP_INTERLEAVE_16B; }
static void interleaved_rank_2(struct gm_map_desc *d) { d->interleave = CU_TENSOR_MAP_INTERLEAVE_16B, d->rank = 2; }
static void address_16(struct gm_map_desc *d) { d->address = 0x1010; }
static void address_8(struct gm_map_desc *d) { d->address = 0x1008; }
static void address_32_interleaved(struct gm_map_desc *d) { interleave_32(d), d->address = 0x1020; }
static void address_16_interleaved(struct gm_map_desc *d) { interleave_32(d), d->address = 0x1010; }
static void dim_max(struct gm_map_desc *d) { d->dims[1] = UINT64_C(1) << 32; }
static void dim_over(struct gm_map_desc *d) { d->dims[1] = (UINT64_C(1) << 32) + 1; }
static void dim_1(struct gm_map_desc *d) { d->dims[0] = 1; }
static void dim_0(struct gm_map_desc *d) { d->dims[2] = 0; }
static void dim_past_rank(struct gm_map_desc *d) { d->dims[3] = 0, d->box[4] = 0; }
static void stride_16(struct gm_map_desc *d) { d->strides[0] = 2016; }
static void stride_8(struct gm_map_desc *d) { d->strides[0] = 2008; }
static void stride_max(struct gm_map_desc *d) { d->strides[1] = (UINT64_C(1) << 40) - 16; }
static void stride_over(struct gm_map_desc *d) { d->strides[1] = UINT64_C(1) << 40; }
static void stride_32_interleaved(struct gm_map_desc *d) { interleave_32(d), d->strides[0] = 2080; }
static void stride_16_interleaved(struct gm_map_desc *d) { interleave_32(d), d->strides[0] = 2064; }
static void box_256(struct gm_map_desc *d) { d->box[1] = 256; }
static void box_257(struct gm_map_desc *d) { d->box[1] = 257; }
static void box_0(struct gm_map_desc *d) { d->box[2] = 0; }
static void box_largest(struct gm_map_desc *d) { d->box[0] = 64, d->box[1] = 228, d->box[2] = 8; }
static void box_too_large(struct gm_map_desc *d) { d->box[0] = 64, d->box[1] = 229, d->box[2] = 8; }
static void box_too_large_stepped(struct gm_map_desc *d) { box_too_large(d), d->element_strides[1] = 2; }
static void row_16(struct gm_map_desc *d) { d->box[0] = 8; }
static void row_14(struct gm_map_desc *d) { d->box[0] = 7; }
static void row_14_interleaved(struct gm_map_desc *d) { d->box[0] = 7, d->interleave = CU_TENSOR_MAP_INTERLEAVE_16B; }
static void row_over_128(struct gm_map_desc *d) { d->box[0] = 72; }
static void row_64(struct gm_map_desc *d) { d->box[0] = 32, d->swizzle = CU_TENSOR_MAP_SWIZZLE_64B; }
static void row_over_64(struct gm_map_desc *d) { d->box[0] = 40, d->swizzle = CU_TENSOR_MAP_SWIZZLE_64B; }
static void row_32(struct gm_map_desc *d) { d->box[0] = 16, d->swizzle = CU_TENSOR_MAP_SWIZZLE_32B; }
static void row_over_32(struct gm_map_desc *d) { d->box[0] = 24, d->swizzle = CU_TENSOR_MAP_SWIZZLE_32B; }
static void row_512_unswizzled(struct gm_map_desc *d) { d->box[0] = 256, d->swizzle = CU_TENSOR_MAP_SWIZZLE_NONE; }
static void row_over_span_interleaved(struct gm_map_desc *d) {
    d->box[0] = 72, d->interleave = CU_TENSOR_MAP_INTERLEAVE_16B;
}
static void step_8(struct gm_map_desc *d) { d->element_strides[1] = 8; }
static void step_9(struct gm_map_desc *d) { d->element_strides[1] = 9; }
static void step_0(struct gm_map_desc *d) { d->element_strides[2] = 0; }
static void first_step(struct gm_map_desc *d) { d->element_strides[0] = 99; }
static void first_step_interleaved(struct gm_map_desc *d) {
    d->element_strides[0] = 99, d->interleave = CU_TENSOR_MAP_INTERLEAVE_16B;
}
static void interleave_3(struct gm_map_desc *d) { d->interleave = 3; }
static void interleave_32_swizzle_128(struct gm_map_desc *d) { d->interleave = CU_TENSOR_MAP_INTERLEAVE_32B; }
static void swizzle_4(struct gm_map_desc *d) { d->swizzle = 4; }
static void promotion_0(struct gm_map_desc *d) { d->l2_promotion = 0; }
static void promotion_4(struct gm_map_desc *d) { d->l2_promotion = 4; }
static void nan_bf16(struct gm_map_desc *d) { d->oob_fill = 1; }
static void nan_uint16(struct gm_map_desc *d) { d->oob_fill = 1, d->type = 1; }
static void fill_2(struct gm_map_desc *d) { d->oob_fill = 2; }

/* words NULL: legal */
static const struct {
    void (*apply)(struct gm_map_desc *);
    const char *words;
} rules[] = {
    {as_is, NULL},
    {type_12, "a row of the box has 256 bytes, more than the swizzle span of 128"},
    {type_13, "type 13"},
    {type_minus, "type -1"},
    {rank_1, NULL},
    {rank_0, "rank 0"},
    {rank_5, NULL},
    {rank_6, "rank 6"},
    {interleaved_rank_3, NULL},
    {interleaved_rank_2, "rank 2 is not 3 to 5"},
    {address_16, NULL},
    {address_8, "0x1008 is not a multiple of 16"},
    {address_32_interleaved, NULL},
    {address_16_interleaved, "0x1010 is not a multiple of 32"},
    {dim_max, NULL},
    {dim_over, "dimension 1 has 4294967297 elements"},
    {dim_1, NULL},
    {dim_0, "dimension 2 has 0 elements"},
    {dim_past_rank, NULL},
    {stride_16, NULL},
    {stride_8, "2008 bytes, is not a multiple of 16"},
    {stride_max, NULL},
    {stride_over, "not under 2^40"},
    {stride_32_interleaved, NULL},
    {stride_16_interleaved, "2064 bytes, is not a multiple of 32"},
    {box_256, NULL},
    {box_257, "257 elements in dimension 1"},
    {box_0, "0 elements in dimension 2"},
    {row_16, NULL},
    {row_14, "14 bytes, not a multiple of 16"},
    {row_14_interleaved, "14 bytes, not a multiple of 16"},
    {row_over_128, "144 bytes, more than the swizzle span of 128"},
    {row_64, NULL},
    {row_over_64, "80 bytes, more than the swizzle span of 64"},
    {row_32, NULL},
    {row_over_32, "48 bytes, more than the swizzle span of 32"},
    {row_512_unswizzled, NULL},
    {row_over_span_interleaved, NULL},
    {step_8, NULL},
    {step_9, "element stride of dimension 1 is 9"},
    {step_0, "element stride of dimension 2 is 0"},
    {first_step, "element stride of dimension 0 is 99"},
    {first_step_interleaved, "element stride of dimension 0 is 99"},
    {interleave_3, "interleave 3"},
    {interleave_32_swizzle_128, NULL},
    {box_largest, NULL},
    {box_too_large, "the box has 234496 bytes, more than the 233472"},
    {box_too_large_stepped, NULL},
    {swizzle_4, "swizzle 4"},
    {promotion_0, NULL},
    {promotion_4, "L2 promotion 4"},
    {nan_bf16, NULL},
    {nan_uint16, "needs a floating type"},
    {fill_2, "fill 2"},
};

START_TEST(each_rule_accepts_and_refuses) {
    struct gm_map_desc desc = legal();
    char sentence[160];
    rules[_i].apply(&desc);
    const int verdict = gm_tensor_map_check(&desc, sentence, sizeof sentence);
    if (!rules[_i].words) {
        ck_assert_msg(verdict == 1, "rule %d: refused: %s", _i, sentence);
        ck_assert_str_eq(sentence, "");
    } else {
        ck_assert_msg(verdict == 0, "rule %d: accepted, expected \"%s\"", _i, rules[_i].words);
        ck_assert_msg(strstr(sentence, rules[_i].words) != NULL, "rule %d: \"%s\" lacks \"%s\"", _i, sentence,
                      rules[_i].words);
    }
}
END_TEST

START_TEST(maps_of_a_k_major_row) {
    const struct gm_kernel row = {.arch = GM_ARCH_SM90, .layout = GM_LAYOUT_tn, .tile_m = 128, .tile_n = 192,
                                  .tile_k = 64, .cluster_m = 2, .cluster_n = 1, .smem_map = GM_MAP_sw128};
    struct gm_gemm_problem p = problem_of(1000, 2000, 3000), q;
    p.lda = 3008;
    p.d_type = GM_FP32;
    assert_ok(gm_problem_normalize(&p, &q));
    const struct gm_gemm_maps maps = gm_gemm_sm90_maps(&row, &q);
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
    ck_assert_uint_eq(maps.d.box[1], 64);
    ck_assert_uint_eq(maps.d.strides[0], 8000);
    ck_assert_int_eq(maps.stage_bytes, GM_SM90_STAGE_BYTES(128, 192, 64));
}
END_TEST

START_TEST(maps_of_an_mn_major_row) {
    const struct gm_kernel row = {.arch = GM_ARCH_SM90, .layout = GM_LAYOUT_nt, .tile_m = 64, .tile_n = 160,
                                  .tile_k = 64, .cluster_m = 1, .cluster_n = 2, .smem_map = GM_MAP_sw64};
    struct gm_gemm_problem p = problem_of(1000, 2000, 3000), q;
    p.ab_type = p.d_type = GM_FP16;
    p.a_major = p.b_major = GM_MN_MAJOR;
    assert_ok(gm_problem_normalize(&p, &q));
    const struct gm_gemm_maps maps = gm_gemm_sm90_maps(&row, &q);
    ck_assert_uint_eq(maps.a.dims[0], 1000);
    ck_assert_uint_eq(maps.a.dims[1], 3000);
    ck_assert_uint_eq(maps.a.strides[0], 2000);
    ck_assert_uint_eq(maps.a.box[0], 32); /* 64 bytes */
    ck_assert_uint_eq(maps.a.box[1], 32); /* half of tile_k: A is shared by two CTAs */
    ck_assert_uint_eq(maps.b.box[1], 64);
    ck_assert_int_eq(maps.a.type, CU_TENSOR_MAP_DATA_TYPE_FLOAT16);
    ck_assert_int_eq(maps.a.swizzle, CU_TENSOR_MAP_SWIZZLE_64B);
    ck_assert_int_eq(maps.d.swizzle, CU_TENSOR_MAP_SWIZZLE_64B);
}
END_TEST

START_TEST(a_box_ends_with_the_operands_rows) {
    struct gm_kernel row = {.arch = GM_ARCH_SM90, .layout = GM_LAYOUT_tn, .tile_m = 64, .tile_n = 128, .tile_k = 64,
                            .cluster_m = 1, .cluster_n = 1, .smem_map = GM_MAP_sw128};
    struct gm_gemm_problem p = problem_of(17, 100, 512), q;
    assert_ok(gm_problem_normalize(&p, &q));
    struct gm_gemm_maps maps = gm_gemm_sm90_maps(&row, &q);
    ck_assert_uint_eq(maps.a.box[1], 24); /* 17 rows in whole patterns of 8 */
    ck_assert_uint_eq(maps.b.box[1], 104);
    ck_assert_int_eq(maps.stage_bytes, (24 + 104) * 64 * 2);
    row.cluster_n = 2; /* shares of a multicast tile stay whole */
    maps = gm_gemm_sm90_maps(&row, &q);
    ck_assert_uint_eq(maps.a.box[1], 32);
    ck_assert_int_eq(maps.stage_bytes, (64 + 104) * 64 * 2);
}
END_TEST

START_TEST(every_sm90_row_gets_legal_maps_for_legal_problems) {
    static const int64_t sizes[][3] = {{1, 8, 8}, {1, 1, 1}, {7, 24, 40}, {4096, 4096, 4096}, {65, 1000, 8}};
    char sentence[160];
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct gm_kernel *row = &gm_kernels[i];
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes && row->arch == GM_ARCH_SM90; s++) {
            struct gm_gemm_problem p = problem_of(sizes[s][0], sizes[s][1], sizes[s][2]), q;
            p.ab_type = (enum gm_type)row->type;
            p.a_major = GM_LAYOUT_A_MN(row->layout) ? GM_MN_MAJOR : GM_K_MAJOR;
            p.b_major = GM_LAYOUT_B_MN(row->layout) ? GM_MN_MAJOR : GM_K_MAJOR;
            p.lda = p.ldb = p.ldd = 4096;
            assert_ok(gm_problem_normalize(&p, &q));
            const struct gm_gemm_maps maps = gm_gemm_sm90_maps(row, &q);
            ck_assert_msg(gm_tensor_map_check(&maps.a, sentence, sizeof sentence), "%s: A: %s", row->name, sentence);
            ck_assert_msg(gm_tensor_map_check(&maps.b, sentence, sizeof sentence), "%s: B: %s", row->name, sentence);
            ck_assert_msg(gm_tensor_map_check(&maps.d, sentence, sizeof sentence), "%s: D: %s", row->name, sentence);
        }
    }
}
END_TEST

START_TEST(the_stride_of_a_single_row_is_replaced_by_a_legal_one) {
    const struct gm_kernel row = {.arch = GM_ARCH_SM90, .layout = GM_LAYOUT_tn, .tile_m = 64, .tile_n = 64,
                                  .tile_k = 64, .cluster_m = 1, .cluster_n = 1, .smem_map = GM_MAP_sw128};
    struct gm_gemm_problem p = problem_of(1, 9, 24), q;
    assert_ok(gm_problem_normalize(&p, &q));
    const struct gm_gemm_maps maps = gm_gemm_sm90_maps(&row, &q);
    char sentence[160];
    ck_assert_uint_eq(maps.d.strides[0], 16);
    ck_assert_msg(gm_tensor_map_check(&maps.d, sentence, sizeof sentence), "%s", sentence);
}
END_TEST

Suite *tensor_map_suite(void) {
    Suite *suite = suite_create("tensor_map");
    TCase *cases = tcase_create("rules");
    tcase_add_loop_test(cases, each_rule_accepts_and_refuses, 0, (int)(sizeof rules / sizeof *rules));
    suite_add_tcase(suite, cases);
    TCase *maps = tcase_create("maps of rows");
    tcase_add_test(maps, maps_of_a_k_major_row);
    tcase_add_test(maps, maps_of_an_mn_major_row);
    tcase_add_test(maps, a_box_ends_with_the_operands_rows);
    tcase_add_test(maps, every_sm90_row_gets_legal_maps_for_legal_problems);
    tcase_add_test(maps, the_stride_of_a_single_row_is_replaced_by_a_legal_one);
    suite_add_tcase(suite, maps);
    return suite;
}
