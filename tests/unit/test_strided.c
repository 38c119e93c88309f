/* SPDX-License-Identifier: Apache-2.0 */
/* Operands of several dimensions: strides, and what of them a call's ranges are. */
#include "host/strided.h"

#include "unit.h"

static struct gm_strided heads_of(int64_t tokens, int64_t token_stride, int64_t heads, int64_t head_stride) {
    return (struct gm_strided){.name = "q",
                               .dimension = {{"token", tokens, token_stride}, {"head", heads, head_stride}},
                               .dimensions = 2,
                               .columns = 64,
                               .element_bytes = 2};
}

static void check_matrix(const struct gm_strided *s, int64_t rows, int64_t columns, int64_t stride) {
    const struct gm_matrix m = gm_matrix_of(s);
    ck_assert_int_eq(m.rows, rows);
    ck_assert_int_eq(m.columns, columns);
    ck_assert_int_eq(m.stride, stride);
}

START_TEST(zeros_are_packed) {
    struct gm_strided s = heads_of(5, 0, 3, 0);
    assert_ok(gm_fill_strided(&s));
    ck_assert(s.dimension[0].stride == 192 && s.dimension[1].stride == 64 && s.align == 16);
    check_matrix(&s, 15, 64, 64);
    s = heads_of(5, 0, 3, 80);
    assert_ok(gm_fill_strided(&s));
    ck_assert_int_eq(s.dimension[0].stride, 240);
    check_matrix(&s, 15, 64, 80);
    s = heads_of(0, 0, 3, 0);
    assert_ok(gm_fill_strided(&s));
    ck_assert_int_eq(gm_matrix_of(&s).rows, 0);
}
END_TEST

START_TEST(rows_go_as_deep_as_dimensions_follow_each_other) {
    struct gm_strided s = heads_of(5, 1000, 3, 64); /* a slice of a row */
    assert_ok(gm_fill_strided(&s));
    check_matrix(&s, 5, 192, 1000);
    s = heads_of(5, 64, 3, 320); /* heads outside */
    assert_ok(gm_fill_strided(&s));
    check_matrix(&s, 15, 64, 64);
    s = heads_of(5, 64, 3, 400);
    assert_ok(gm_fill_strided(&s));
    check_matrix(&s, 3, 4 * 64 + 64, 400);
    s = heads_of(5, 1000, 1, 3); /* the stride of one head is none */
    assert_ok(gm_fill_strided(&s));
    check_matrix(&s, 5, 64, 1000);
    struct gm_strided pages = {.name = "k_cache",
                               .dimension = {{"page", 7, 4096}, {"token", 16, 128}, {"head", 2, 64}},
                               .dimensions = 3,
                               .columns = 64,
                               .element_bytes = 1,
                               .align = 8};
    assert_ok(gm_fill_strided(&pages)); /* beside pages of another cache */
    check_matrix(&pages, 7, 2048, 4096);
    pages.dimension[0].stride = 2048;
    check_matrix(&pages, 7 * 32, 64, 64);
}
END_TEST

START_TEST(strides_that_cannot_be_have_sentences) {
    struct gm_strided s = heads_of(5, 191, 3, 64);
    assert_fails(gm_fill_strided(&s), GM_ERROR_INVALID_ARGUMENT,
                 "q_token_stride is 191; what lies within it has 192 elements");
    s = heads_of(5, 64, 3, 319);
    assert_fails(gm_fill_strided(&s), GM_ERROR_INVALID_ARGUMENT,
                 "q_head_stride is 319; what lies within it has 320 elements");
    s = heads_of(5, 0, 3, 63);
    assert_fails(gm_fill_strided(&s), GM_ERROR_INVALID_ARGUMENT, "q_head_stride is 63; what lies within it has 64");
    s = heads_of(5, -1, 3, 0);
    assert_fails(gm_fill_strided(&s), GM_ERROR_INVALID_ARGUMENT, "q_token_stride is -1; it must be 0 or more");
    s = heads_of(5, INT64_C(1) << 61, 3, 0);
    assert_fails(gm_fill_strided(&s), GM_ERROR_INVALID_ARGUMENT,
                 "q_token_stride is 2305843009213693952; 5 of it exceed");
    s = heads_of(5, 0, 3, INT64_C(1) << 62);
    assert_fails(gm_fill_strided(&s), GM_ERROR_INVALID_ARGUMENT, "q_head_stride");
    s = heads_of(5, 0, 3, 0), s.align = 3;
    assert_fails(gm_fill_strided(&s), GM_ERROR_INVALID_ARGUMENT, "q_align is 3");
}
END_TEST

START_TEST(chunks_ask_every_stride) {
    char text[256];
    const struct gm_sentence why = {text, sizeof text};
    struct gm_strided s = heads_of(5, 0, 3, 68);
    assert_ok(gm_fill_strided(&s));
    ck_assert_int_eq(gm_check_strided_vectors(&s, 16, &why), GM_REASON_STRIDE);
    ck_assert_str_eq(text, "q_token_stride 204 x 2 B = 408 B is not a multiple of the 16 that it loads at once");
    ck_assert_int_eq(gm_check_strided_vectors(&s, 8, &why), GM_ACCEPTED);
    s.dimension[0].count = 1;
    ck_assert_int_eq(gm_check_strided_vectors(&s, 16, &why), GM_REASON_STRIDE);
    ck_assert_ptr_nonnull(strstr(text, "q_head_stride 68"));
    s.dimension[1].count = 1;
    ck_assert_int_eq(gm_check_strided_vectors(&s, 16, &why), GM_ACCEPTED);
    s.align = 8;
    ck_assert_int_eq(gm_check_strided_vectors(&s, 16, &why), GM_REASON_ALIGNMENT);
    s.dimension[0].count = 0; /* nobody asks */
    ck_assert_int_eq(gm_check_strided_vectors(&s, 16, &why), GM_ACCEPTED);
}
END_TEST

Suite *strided_suite(void) {
    Suite *suite = suite_create("strided");
    TCase *tests = tcase_create("strided");
    tcase_add_test(tests, zeros_are_packed);
    tcase_add_test(tests, rows_go_as_deep_as_dimensions_follow_each_other);
    tcase_add_test(tests, strides_that_cannot_be_have_sentences);
    tcase_add_test(tests, chunks_ask_every_stride);
    suite_add_tcase(suite, tests);
    return suite;
}
