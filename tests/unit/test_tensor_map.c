/* SPDX-License-Identifier: Apache-2.0 */
/* Every rule of cuTensorMapEncodeTiled: a legal neighbour and an illegal one. And that the
 * explanation of a request says the same. */
#include "host/tensor_map.h"
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

/* ---- explained ---- */

#define RULES_MAX 32

static struct gm_tensor_map_request request_of(const struct gm_map_desc *d) {
    struct gm_tensor_map_request r = {.size = sizeof r,
                                      .type = d->type,
                                      .rank = d->rank,
                                      .address = d->address,
                                      .interleave = d->interleave,
                                      .swizzle = (enum gm_swizzle_mode)d->swizzle,
                                      .l2_promotion = d->l2_promotion,
                                      .oob_fill = d->oob_fill};
    memcpy(r.dims, d->dims, sizeof r.dims);
    memcpy(r.strides, d->strides, sizeof r.strides);
    memcpy(r.box, d->box, sizeof r.box);
    memcpy(r.element_strides, d->element_strides, sizeof r.element_strides);
    return r;
}

/* All rules have a verdict and a sentence; the first broken one is the sentence of the check. */
START_TEST(the_explanation_agrees_with_the_check) {
    struct gm_map_desc desc = legal();
    struct gm_rule explained[RULES_MAX] = {{.size = sizeof *explained}};
    char sentence[160];
    size_t count = 0;
    int is_legal = -1, broken = 0;
    rules[_i].apply(&desc);
    const int verdict = gm_tensor_map_check(&desc, sentence, sizeof sentence);
    const struct gm_tensor_map_request request = request_of(&desc);
    assert_ok(gm_tensor_map_explain(&request, explained, RULES_MAX, &count, &is_legal));
    ck_assert_uint_eq(count, gm_tensor_map_rule_count());
    ck_assert_uint_le(count, RULES_MAX);
    for (size_t i = 0; i < count; i++) {
        ck_assert_uint_eq(explained[i].size, sizeof *explained);
        ck_assert_uint_gt(strlen(explained[i].sentence), 10);
        ck_assert(explained[i].holds >= -1 && explained[i].holds <= 1);
        if (explained[i].holds == 0 && broken++ == 0)
            ck_assert_str_eq(explained[i].sentence, sentence);
    }
    if (desc.element_strides[2] == 0) { /* what a request leaves 0 is 1 */
        ck_assert_int_eq(is_legal, 1);
        return;
    }
    ck_assert_int_eq(is_legal, verdict);
    ck_assert_int_eq(broken == 0, verdict);
    ck_assert_int_eq(gm_tensor_map_box_bytes(&request) != 0, verdict);
}
END_TEST

Suite *tensor_map_suite(void) {
    Suite *suite = suite_create("tensor_map");
    TCase *cases = tcase_create("rules");
    tcase_add_loop_test(cases, each_rule_accepts_and_refuses, 0, (int)(sizeof rules / sizeof *rules));
    suite_add_tcase(suite, cases);
    TCase *explained = tcase_create("explained");
    tcase_add_loop_test(explained, the_explanation_agrees_with_the_check, 0, (int)(sizeof rules / sizeof *rules));
    suite_add_tcase(suite, explained);
    return suite;
}
