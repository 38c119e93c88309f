/* SPDX-License-Identifier: Apache-2.0 */
/* What is explained of a tensor-map request, rule by rule, and what its box delivers. */
#include "host/tensor_map.h"
#include "unit.h"

#include <string.h>

#define RULES_MAX 32

/* A legal rank-3 map of bf16; what is left out is zero. */
static struct gm_tensor_map_request legal(void) {
    return (struct gm_tensor_map_request){
        .size = sizeof(struct gm_tensor_map_request),
        .type = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
        .rank = 3,
        .address = 0x1000,
        .dims = {1000, 200, 30},
        .strides = {2048, 2048 * 256},
        .box = {64, 128, 2},
        .swizzle = GM_SWIZZLE_128B,
    };
}

static const struct gm_rule *rule_named(const struct gm_rule *explained, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(explained[i].name, name) == 0)
            return &explained[i];
    ck_abort_msg("there is no rule \"%s\"", name);
    return NULL;
}

START_TEST(rules_speak_with_the_numbers_of_the_request) {
    struct gm_tensor_map_request request = legal();
    struct gm_rule explained[RULES_MAX] = {{.size = sizeof *explained}};
    size_t count;
    int is_legal;
    assert_ok(gm_tensor_map_explain(&request, explained, RULES_MAX, &count, &is_legal));
    ck_assert_int_eq(is_legal, 1);
    ck_assert_str_eq(rule_named(explained, count, "tensor dimensions")->sentence,
                     "dimensions 1000 x 200 x 30, each 1 to 2^32 elements");
    ck_assert_str_eq(rule_named(explained, count, "alignment of the strides")->sentence,
                     "strides 2048 x 524288 bytes, multiples of 16");
    ck_assert_str_eq(rule_named(explained, count, "box row against swizzle span")->sentence,
                     "a row of the box has 128 bytes, within the swizzle span of 128");
    ck_assert_int_eq(rule_named(explained, count, "NaN fill against element type")->holds, -1);
    request.swizzle = GM_SWIZZLE_NONE;
    request.rank = 1;
    assert_ok(gm_tensor_map_explain(&request, explained, RULES_MAX, &count, &is_legal));
    ck_assert_int_eq(rule_named(explained, count, "box row against swizzle span")->holds, -1);
    ck_assert_int_eq(rule_named(explained, count, "size of the strides")->holds, -1);
    request.rank = 9;
    request.type = 20;
    assert_ok(gm_tensor_map_explain(&request, explained, RULES_MAX, &count, &is_legal));
    ck_assert_int_eq(is_legal, 0);
    ck_assert_int_eq(rule_named(explained, count, "rank")->holds, 0);
    ck_assert_int_eq(rule_named(explained, count, "element type")->holds, 0);
    ck_assert_int_eq(rule_named(explained, count, "box dimensions")->holds, -1);
    ck_assert_int_eq(rule_named(explained, count, "box against shared memory")->holds, -1);
    for (unsigned i = 0; i < 5; i++)
        request.dims[i] = UINT64_MAX;
    request.rank = 5;
    assert_ok(gm_tensor_map_explain(&request, explained, RULES_MAX, &count, &is_legal));
    ck_assert_int_eq(rule_named(explained, count, "tensor dimensions")->holds, 0);
}
END_TEST

START_TEST(a_short_list_of_rules) {
    struct gm_tensor_map_request request = legal();
    request.l2_promotion = 9;
    struct gm_rule explained[3] = {{.size = sizeof *explained}};
    size_t count = 0;
    int is_legal = -1;
    assert_ok(gm_tensor_map_explain(&request, explained, 2, &count, &is_legal));
    ck_assert_uint_eq(count, gm_tensor_map_rule_count());
    ck_assert_int_eq(is_legal, 0); /* the fourth rule is broken */
    ck_assert_ptr_null(explained[2].name);
    assert_ok(gm_tensor_map_explain(&request, NULL, 0, &count, &is_legal));
    assert_fails(gm_tensor_map_explain(&request, NULL, 1, &count, &is_legal), GM_ERROR_INVALID_ARGUMENT, "NULL");
    assert_fails(gm_tensor_map_explain(NULL, NULL, 0, &count, &is_legal), GM_ERROR_INVALID_ARGUMENT, "request");
    assert_fails(gm_tensor_map_explain(&request, NULL, 0, NULL, &is_legal), GM_ERROR_INVALID_ARGUMENT, "count");
    assert_fails(gm_tensor_map_explain(&request, NULL, 0, &count, NULL), GM_ERROR_INVALID_ARGUMENT, "legal");
    explained[0].size = 1;
    assert_fails(gm_tensor_map_explain(&request, explained, 2, &count, &is_legal), GM_ERROR_SIZE, "rules[0].size is 1");
    request.size = 7;
    assert_fails(gm_tensor_map_explain(&request, NULL, 0, &count, &is_legal), GM_ERROR_SIZE, "request.size is 7");
    ck_assert_uint_eq(gm_tensor_map_box_bytes(&request), 0);
    ck_assert_uint_eq(gm_tensor_map_box_bytes(NULL), 0);
}
END_TEST

START_TEST(what_a_box_delivers) {
    static const uint32_t bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
    struct gm_tensor_map_request request = legal();
    for (int type = -2; type < 20; type++)
        ck_assert_uint_eq(gm_tensor_map_element_bytes(type), type >= 0 && type < 13 ? bytes[type] : 0);
    ck_assert_uint_eq(gm_tensor_map_box_bytes(&request), 64 * 128 * 2 * 2);
    request.element_strides[1] = 3; /* every third of 128 rows: 43 */
    ck_assert_uint_eq(gm_tensor_map_box_bytes(&request), 64 * 43 * 2 * 2);
    request.element_strides[0] = 8; /* ignored without interleave */
    ck_assert_uint_eq(gm_tensor_map_box_bytes(&request), 64 * 43 * 2 * 2);
    request.rank = 2;
    ck_assert_uint_eq(gm_tensor_map_box_bytes(&request), 64 * 43 * 2);
}
END_TEST

START_TEST(how_far_apart_the_rows_of_a_box_lie) {
    struct gm_tensor_map_request request = legal();
    request.box[0] = 16; /* 32 bytes */
    struct gm_map_desc desc = gm_map_desc_of(&request);
    ck_assert_uint_eq(gm_tensor_map_row_pitch(&desc), 128);
    desc.swizzle = CU_TENSOR_MAP_SWIZZLE_64B;
    ck_assert_uint_eq(gm_tensor_map_row_pitch(&desc), 64);
    desc.swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
    ck_assert_uint_eq(gm_tensor_map_row_pitch(&desc), 32);
}
END_TEST

Suite *tensor_map_explain_suite(void) {
    Suite *suite = suite_create("tensor_map_explain");
    TCase *cases = tcase_create("explained");
    tcase_add_test(cases, rules_speak_with_the_numbers_of_the_request);
    tcase_add_test(cases, a_short_list_of_rules);
    tcase_add_test(cases, what_a_box_delivers);
    tcase_add_test(cases, how_far_apart_the_rows_of_a_box_lie);
    suite_add_tcase(suite, cases);
    return suite;
}
