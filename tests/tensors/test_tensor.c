/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors as the library's problems want them, and schemas. */
#include "bindings/tensors/call.h"

#include <check.h>
#include <string.h>

static struct tensor tensor(int rank, const int64_t *sizes, const int64_t *strides) {
    struct tensor t = {.rank = rank, .data = 256};
    memcpy(t.size, sizes, (size_t)rank * sizeof *sizes);
    memcpy(t.stride, strides, (size_t)rank * sizeof *strides);
    return t;
}
#define TENSOR(rank, ...)                                                                                              \
    tensor(rank, (const int64_t[2][rank]){__VA_ARGS__}[0], (const int64_t[2][rank]){__VA_ARGS__}[1])

START_TEST(leading_dimensions_become_one) {
    struct leading all;
    struct tensor packed = TENSOR(3, {2, 3, 8}, {24, 8, 1});
    ck_assert(tensor_leading(&packed, 2, &all) && all.count == 6 && all.stride == 8);
    struct tensor wide = TENSOR(3, {2, 3, 8}, {60, 20, 1});
    ck_assert(tensor_leading(&wide, 2, &all) && all.count == 6 && all.stride == 20);
    struct tensor turned = TENSOR(3, {3, 2, 8}, {8, 24, 1});
    ck_assert(!tensor_leading(&turned, 2, &all));
    struct tensor ones = TENSOR(4, {1, 5, 1, 8}, {7, 16, 3, 1});
    ck_assert(tensor_leading(&ones, 3, &all) && all.count == 5 && all.stride == 16);
    struct tensor repeated = TENSOR(2, {4, 8}, {0, 1});
    ck_assert(tensor_leading(&repeated, 1, &all) && all.count == 4 && all.stride == 0);
    struct tensor none = TENSOR(3, {3, 0, 8}, {5, 9, 1});
    ck_assert(tensor_leading(&none, 2, &all) && all.count == 0);
    struct tensor row = TENSOR(1, {8}, {1});
    ck_assert(tensor_leading(&row, 0, &all) && all.count == 1);
}
END_TEST

START_TEST(dense_and_contiguous) {
    struct tensor packed = TENSOR(2, {4, 8}, {8, 1}), column = TENSOR(2, {4, 1}, {8, 5}),
                  turned = TENSOR(2, {4, 8}, {1, 4});
    ck_assert(tensor_is_contiguous(&packed) && tensor_is_dense_last(&packed));
    ck_assert(!tensor_is_contiguous(&column) && tensor_is_dense_last(&column));
    ck_assert(!tensor_is_contiguous(&turned) && !tensor_is_dense_last(&turned));
    ck_assert_int_eq(tensor_elements(&packed), 32);
}
END_TEST

START_TEST(alignment_is_the_pointers) {
    struct tensor t = TENSOR(1, {8}, {1});
    const int expected[] = {16, 1, 2, 1, 4, 1, 2, 1, 8};
    for (unsigned i = 0; i < 9; i++) {
        t.data = 4096 + i;
        ck_assert_int_eq(tensor_align(&t), expected[i]);
    }
}
END_TEST

START_TEST(dimensions_of_one_get_a_stride_behind_the_others) {
    struct tensor t = TENSOR(4, {1, 3, 1, 8}, {0, 8, 1, 1});
    tensor_settle(&t);
    ck_assert_int_eq(t.stride[0], 24);
    ck_assert_int_eq(t.stride[1], 8);
    ck_assert_int_eq(t.stride[2], 24);
    tensor_pack(&t);
    ck_assert_int_eq(t.stride[0], 24);
    ck_assert_int_eq(t.stride[2], 8);
}
END_TEST

START_TEST(columns_are_packed_apart) {
    char text[TENSOR_SIZES_BYTES];
    struct tensor t = TENSOR(3, {2, 3, 5}, {0, 0, 0}), row = TENSOR(2, {1, 5}, {0, 0}), column = TENSOR(1, {5}, {0});
    tensor_pack_by_column(&t, 4);
    ck_assert(t.stride[0] == 3 && t.stride[1] == 1 && t.stride[2] == 8);
    tensor_pack_by_column(&row, 4);
    ck_assert(row.stride[0] == 1 && row.stride[1] == 4);
    tensor_pack_by_column(&column, 4);
    ck_assert(column.stride[0] == 4);
    ck_assert_str_eq(tensor_sizes(&t, text), "[2, 3, 5]");
    struct tensor scalar = {.rank = 0}, huge = {.rank = 8};
    ck_assert_str_eq(tensor_sizes(&scalar, text), "[]");
    for (int i = 0; i < 8; i++) {
        huge.size[i] = INT64_MAX;
    }
    ck_assert_uint_eq(strlen(tensor_sizes(&huge, text)), TENSOR_SIZES_BYTES - 1);
}
END_TEST

START_TEST(every_schema_is_read) {
    ck_assert_int_gt(tensor_operations_count(), 10);
    for (int i = 0; i < tensor_operations_count(); i++) {
        struct signature signature;
        const char *schema = tensor_operation(i)->schema;
        ck_assert_msg(signature_parse(schema, &signature), "%s", schema);
        ck_assert(strncmp(schema, signature.name, strlen(signature.name)) == 0);
        ck_assert_int_ge(signature.arguments_count, 2);
    }
}
END_TEST

START_TEST(a_schema_is_what_it_says) {
    struct signature s;
    ck_assert(
        signature_parse("f(Tensor(a!) x, Tensor? y=None, float eps=1e-5, int n=-1, bool b=True, *, str t=\"none\", "
                        "ScalarType? d=None) -> (Tensor, Tensor)",
                        &s));
    const enum value_kind kinds[] = {VALUE_TENSOR, VALUE_MAYBE_TENSOR, VALUE_FLOAT,     VALUE_INT,
                                     VALUE_BOOL,   VALUE_STRING,       VALUE_MAYBE_TYPE};
    ck_assert_int_eq(s.arguments_count, 7);
    ck_assert_int_eq(s.outputs_count, 2);
    for (int i = 0; i < 7; i++) {
        ck_assert_int_eq(s.arguments[i].kind, kinds[i]);
        ck_assert_int_eq(s.arguments[i].has_default, i > 0);
    }
    ck_assert_double_eq(s.arguments[2].real, 1e-5);
    ck_assert_int_eq(s.arguments[3].integer, -1);
    ck_assert_int_eq(s.arguments[4].integer, 1);
    ck_assert_str_eq(s.arguments[5].text, "none");
    ck_assert(signature_parse("g(Tensor x, Tensor y) -> ()", &s) && s.outputs_count == 0);
    const char *const wrong[] = {"f",
                                 "f(",
                                 "f(Tensor) -> ()",
                                 "f(Tensor x)",
                                 "f(Tensor x) -> Scalar",
                                 "f(Tensor x) -> Tensor x",
                                 "f(Tensor(a! x) -> ()",
                                 "f(int n=) -> ()",
                                 "f(Tensor x) -> (Tensor"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ck_assert_msg(!signature_parse(wrong[i], &s), "%s", wrong[i]);
    }
}
END_TEST

Suite *tensor_suite(void) {
    Suite *suite = suite_create("tensor");
    TCase *tests = tcase_create("tensor");
    tcase_add_test(tests, leading_dimensions_become_one);
    tcase_add_test(tests, dense_and_contiguous);
    tcase_add_test(tests, alignment_is_the_pointers);
    tcase_add_test(tests, dimensions_of_one_get_a_stride_behind_the_others);
    tcase_add_test(tests, columns_are_packed_apart);
    tcase_add_test(tests, every_schema_is_read);
    tcase_add_test(tests, a_schema_is_what_it_says);
    suite_add_tcase(suite, tests);
    return suite;
}
