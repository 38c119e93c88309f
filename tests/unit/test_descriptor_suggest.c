/* SPDX-License-Identifier: Apache-2.0 */
/* The suggested descriptor agrees wherever there is one; questions that make no sense are refused. */
#include "questions.h"

static void assert_suggestion_agrees(struct gm_descriptor_question q) {
    suggest(&q);
    const struct gm_descriptor_answer answer = answer_of(&q);
    ck_assert_msg(answer.agrees, "mode %d, major %d, %u bytes, %u rows: %s", q.map.swizzle, q.operand.major,
                  q.operand.element_bytes, q.operand.rows, answer.sentence);
    ck_assert_uint_eq(answer.wrong, 0);
    const uint32_t k_bytes = q.operand.major == GM_K_MAJOR ? q.boxes * q.map.box[0] * q.operand.element_bytes
                                                           : q.map.box[1] * q.operand.element_bytes;
    ck_assert_uint_ge(k_bytes, 64); /* two K steps at least, so that the step is tested */
    ck_assert_uint_eq(answer.elements, q.operand.rows * k_bytes / q.operand.element_bytes);
    ck_assert_uint_eq(count_wrong(&q, k_bytes / 32), 0);
    ck_assert_ptr_nonnull(strstr(answer.sentence, "elements are read from where TMA writes them"));
}

START_TEST(the_suggestion_agrees) {
    for_every_operand(assert_suggestion_agrees, 8);
}
END_TEST

START_TEST(the_suggestions_of_the_recipes) {
    struct gm_matrix_descriptor d = {.size = sizeof d};
    struct gm_descriptor_question q = question_of(GM_SWIZZLE_128B, GM_K_MAJOR, 2, 128);
    suggest(&q);
    assert_ok(gm_matrix_descriptor_decode(q.descriptor, &d));
    ck_assert(d.start == DESTINATION && d.stride_bytes == 1024 && d.swizzle == GM_SWIZZLE_128B && d.base_offset == 0);
    ck_assert_uint_eq(q.k_step_bytes, 32);
    q = question_of(GM_SWIZZLE_128B, GM_MN_MAJOR, 2, 256);
    suggest(&q);
    assert_ok(gm_matrix_descriptor_decode(q.descriptor, &d));
    ck_assert(d.stride_bytes == 1024 && d.leading_bytes == 64 * 128);
    ck_assert_uint_eq(q.k_step_bytes, 2048);
    q = question_of(GM_SWIZZLE_NONE, GM_MN_MAJOR, 2, 64);
    suggest(&q);
    assert_ok(gm_matrix_descriptor_decode(q.descriptor, &d));
    ck_assert(d.leading_bytes == 128 && d.stride_bytes == 64 * 16);
    ck_assert_uint_eq(q.k_step_bytes, 256);
    q = question_of(GM_SWIZZLE_NONE, GM_K_MAJOR, 2, 64);
    suggest(&q);
    assert_ok(gm_matrix_descriptor_decode(q.descriptor, &d));
    ck_assert(d.leading_bytes == 64 * 16 && d.stride_bytes == 128);
    ck_assert_uint_eq(q.k_step_bytes, 2048);
}
END_TEST

/* A swizzled row that is narrower than its span still takes a whole one. */
START_TEST(narrow_boxes_agree) {
    for (int mode = GM_SWIZZLE_32B; mode <= GM_SWIZZLE_128B; mode++)
        for (uint32_t width = 16; width <= gm_swizzle_span_bytes((enum gm_swizzle_mode)mode); width += 16) {
            struct gm_descriptor_question q = question_of((enum gm_swizzle_mode)mode, GM_MN_MAJOR, 2, 8);
            q.map.box[0] = width / 2;
            suggest(&q);
            ck_assert_int_eq(answer_of(&q).agrees, 1); /* 8 rows, whatever the width */
            ck_assert_uint_eq(count_wrong(&q, 4), 0);
            if (width < 32)
                continue;
            q = question_of((enum gm_swizzle_mode)mode, GM_K_MAJOR, 2, 64);
            q.map.box[0] = width / 2;
            q.boxes = width == 32 ? 3 : 1; /* with one K step a box, there is one from box to box */
            suggest(&q);
            ck_assert_msg(answer_of(&q).agrees, "mode %d, %u bytes: %s", mode, width, answer_of(&q).sentence);
            ck_assert_uint_eq(count_wrong(&q, width == 32 ? 3 : width / 32), 0);
        }
}
END_TEST

START_TEST(destinations_between_patterns_agree) {
    for (uint32_t phase = 0; phase < 8; phase++)
        for (int major = 0; major < 2; major++) {
            struct gm_descriptor_question q = question_of(GM_SWIZZLE_128B, (enum gm_major)major, 2, 64);
            q.destination += phase * 128;
            suggest(&q);
            ck_assert_int_eq(answer_of(&q).agrees, 1);
        }
}
END_TEST

/* ---- refused ---- */

START_TEST(questions_that_are_refused) {
    struct gm_descriptor_question q = question_of(GM_SWIZZLE_128B, GM_K_MAJOR, 2, 64);
    struct gm_descriptor_answer answer = {.size = sizeof answer, .wrong = 77};
    uint64_t bits = 5;
    uint32_t step = 6;
    suggest(&q);
    assert_fails(gm_descriptor_compare(NULL, &answer), GM_ERROR_INVALID_ARGUMENT, "question is NULL");
    assert_fails(gm_descriptor_compare(&q, NULL), GM_ERROR_INVALID_ARGUMENT, "answer is NULL");
    assert_fails(gm_descriptor_suggest(NULL, &bits, &step), GM_ERROR_INVALID_ARGUMENT, "question is NULL");
    assert_fails(gm_descriptor_suggest(&q, NULL, &step), GM_ERROR_INVALID_ARGUMENT, "descriptor is NULL");
    assert_fails(gm_descriptor_suggest(&q, &bits, NULL), GM_ERROR_INVALID_ARGUMENT, "k_step_bytes is NULL");
    struct gm_descriptor_question bad = q;
    bad.descriptor |= UINT64_C(1) << 60;
    assert_fails(gm_descriptor_compare(&bad, &answer), GM_ERROR_INVALID_ARGUMENT, "sets bit 60");
    bad = q;
    bad.operand.rows = 65;
    assert_fails(gm_descriptor_compare(&bad, &answer), GM_ERROR_INVALID_ARGUMENT, "not 65");
    assert_fails(gm_descriptor_suggest(&bad, &bits, &step), GM_ERROR_INVALID_ARGUMENT, "not 65");
    bad = q;
    bad.map.size = 0;
    assert_fails(gm_descriptor_compare(&bad, &answer), GM_ERROR_SIZE, "question.map.size is 0");
    bad = q;
    bad.operand.size = 0;
    assert_fails(gm_descriptor_compare(&bad, &answer), GM_ERROR_SIZE, "operand.size is 0");
    bad = q;
    bad.size = 1;
    assert_fails(gm_descriptor_compare(&bad, &answer), GM_ERROR_SIZE, "question.size is 1");
    answer.size = 2;
    assert_fails(gm_descriptor_compare(&q, &answer), GM_ERROR_SIZE, "answer.size is 2");
    ck_assert(answer.wrong == 77 && bits == 5 && step == 6); /* nothing was written */
}
END_TEST

START_TEST(operands_that_no_descriptor_fits) {
    struct gm_descriptor_question q = question_of(GM_SWIZZLE_128B, GM_K_MAJOR, 2, 64);
    uint64_t bits = 5;
    uint32_t step = 6;
    q.map.box[0] = 8;
    assert_fails(gm_descriptor_suggest(&q, &bits, &step), GM_ERROR_INVALID_ARGUMENT,
                 "a row of the box has 16 bytes, and an instruction takes 32 bytes of k");
    q.map.swizzle = GM_SWIZZLE_NONE;
    q.map.box[0] = 64;
    assert_fails(gm_descriptor_suggest(&q, &bits, &step), GM_ERROR_INVALID_ARGUMENT,
                 "rows of the box lie 128 bytes apart, and without a swizzle WGMMA reads rows 16 bytes apart");
    q.map.swizzle = GM_SWIZZLE_128B;
    q.map.box[1] = 32;
    assert_fails(gm_descriptor_suggest(&q, &bits, &step), GM_ERROR_INVALID_ARGUMENT, "32 rows, the operand 64");
    q.operand.major = GM_MN_MAJOR;
    q.map.box[0] = 32;
    assert_fails(gm_descriptor_suggest(&q, &bits, &step), GM_ERROR_INVALID_ARGUMENT,
                 "a box holds 32 of the 64 rows, and WGMMA goes on to the next box after 64");
    q.map.box[0] = 64;
    q.map.box[1] = 8;
    assert_fails(gm_descriptor_suggest(&q, &bits, &step), GM_ERROR_INVALID_ARGUMENT, "the box is 8 k deep");
    q.map.box[1] = 0;
    assert_fails(gm_descriptor_suggest(&q, &bits, &step), GM_ERROR_INVALID_ARGUMENT, "the tensor map is illegal");
    q.map.box[0] = 0;
    assert_fails(gm_descriptor_suggest(&q, &bits, &step), GM_ERROR_INVALID_ARGUMENT, "the tensor map is illegal");
    ck_assert(bits == 5 && step == 6);
}
END_TEST

Suite *descriptor_suggest_suite(void) {
    Suite *suite = suite_create("descriptor_suggest");
    TCase *cases = tcase_create("suggestions");
    tcase_add_test(cases, the_suggestion_agrees);
    tcase_add_test(cases, the_suggestions_of_the_recipes);
    tcase_add_test(cases, narrow_boxes_agree);
    tcase_add_test(cases, destinations_between_patterns_agree);
    suite_add_tcase(suite, cases);
    TCase *refused = tcase_create("refused");
    tcase_add_test(refused, questions_that_are_refused);
    tcase_add_test(refused, operands_that_no_descriptor_fits);
    suite_add_tcase(suite, refused);
    return suite;
}
