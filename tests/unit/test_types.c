/* SPDX-License-Identifier: Apache-2.0 */
/* Element types by their code, as src/common/types.def has them. */
#include "host/types.h"

#include "host/cuda_abi.h"
#include "unit.h"

#include <string.h>

START_TEST(types_have_a_name_bytes_and_a_tma_code) {
    static const struct {
        enum gm_type type;
        const char *name;
        int bytes, tma;
    } types[] = {{GM_BF16, "bf16", 2, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16},
                 {GM_FP16, "fp16", 2, CU_TENSOR_MAP_DATA_TYPE_FLOAT16},
                 {GM_FP32, "fp32", 4, CU_TENSOR_MAP_DATA_TYPE_FLOAT32},
                 {GM_E4M3, "e4m3", 1, CU_TENSOR_MAP_DATA_TYPE_UINT8},
                 {GM_E5M2, "e5m2", 1, CU_TENSOR_MAP_DATA_TYPE_UINT8},
                 {GM_INT8, "int8", 1, CU_TENSOR_MAP_DATA_TYPE_UINT8},
                 {GM_UINT8, "uint8", 1, CU_TENSOR_MAP_DATA_TYPE_UINT8},
                 {GM_INT32, "int32", 4, CU_TENSOR_MAP_DATA_TYPE_INT32},
                 {GM_INT64, "int64", 8, CU_TENSOR_MAP_DATA_TYPE_INT64},
                 {GM_TF32, "tf32", 4, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32},
                 {GM_TF32X3, "tf32x3", 4, CU_TENSOR_MAP_DATA_TYPE_FLOAT32}};
    ck_assert_int_eq(GM_TYPE_COUNT, sizeof types / sizeof *types);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        ck_assert_str_eq(gm_type_name(types[i].type), types[i].name);
        ck_assert_int_eq(gm_type_bytes(types[i].type), types[i].bytes);
        ck_assert_int_eq(gm_type_tma(types[i].type), types[i].tma);
    }
}
END_TEST

/* A name has just these bytes: it is a word of a line, without an end. */
START_TEST(types_are_found_by_all_of_their_name) {
    static const char *const none[] = {"", "b", "bf1", "bf16 ", "bf161", "BF16", "float", "fp8"};
    for (int type = 0; type < GM_TYPE_COUNT; type++) {
        char line[32] = "";
        strcat(line, gm_type_name((enum gm_type)type));
        strcat(line, " fp32");
        ck_assert_int_eq(gm_type_named(line, strlen(line) - 5), type);
    }
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        ck_assert_msg(gm_type_named(none[i], strlen(none[i])) == -1, "%s", none[i]);
}
END_TEST

START_TEST(sets_hold_types) {
    const uint32_t half = GM_TYPE_SET(GM_BF16) | GM_TYPE_SET(GM_FP16);
    ck_assert(half & GM_TYPE_SET(GM_BF16) && half & GM_TYPE_SET(GM_FP16) && !(half & GM_TYPE_SET(GM_FP32)));
}
END_TEST

Suite *types_suite(void) {
    Suite *suite = suite_create("types");
    TCase *cases = tcase_create("element types");
    tcase_add_test(cases, types_have_a_name_bytes_and_a_tma_code);
    tcase_add_test(cases, types_are_found_by_all_of_their_name);
    tcase_add_test(cases, sets_hold_types);
    suite_add_tcase(suite, cases);
    return suite;
}
