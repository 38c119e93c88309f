/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor map against matrix descriptor: every wrong field is named. */
#include "questions.h"

/* ---- one wrong field ---- */

/* The answer counts what we count; and when anything is wrong, its sentence has the words. Returns whether it agrees.
 */
static int assert_found(const struct gm_descriptor_question *q, uint32_t k_steps, const char *words) {
    const struct gm_descriptor_answer answer = answer_of(q);
    const uint32_t wrong = count_wrong(q, k_steps);
    ck_assert_uint_eq(answer.wrong, wrong);
    ck_assert_int_eq(answer.agrees, wrong == 0);
    ck_assert_msg(wrong == 0 || strstr(answer.sentence, words),
                  "mode %d, major %d, %u bytes, %u rows: \"%s\" lacks "
                  "\"%s\"",
                  q->map.swizzle, q->operand.major, q->operand.element_bytes, q->operand.rows, answer.sentence, words);
    if (wrong)
        ck_assert_uint_ne(answer.written, answer.read);
    return answer.agrees;
}

enum field { START, LEADING, STRIDE, BASE_OFFSET, MODE };

static struct gm_descriptor_question with_field(struct gm_descriptor_question q, enum field field, uint32_t value) {
    struct gm_matrix_descriptor d = {.size = sizeof d};
    assert_ok(gm_matrix_descriptor_decode(q.descriptor, &d));
    if (field == START)
        d.start = value;
    else if (field == LEADING)
        d.leading_bytes = value;
    else if (field == STRIDE)
        d.stride_bytes = value;
    else if (field == BASE_OFFSET)
        d.base_offset = value;
    else
        d.swizzle = (enum gm_swizzle_mode)value;
    assert_ok(gm_matrix_descriptor_encode(&d, &q.descriptor));
    return q;
}

static void assert_descriptor_fields_are_named(struct gm_descriptor_question q) {
    static const uint32_t offsets[] = {0, 16, 32, 64, 128, 144, 256, 512, 1024, 2048, 4096, 8192, 16384};
    static const uint32_t starts[] = {0, DESTINATION - 128, DESTINATION + 16, DESTINATION + 32, DESTINATION + 1024};
    const uint32_t steps = q.operand.major == GM_K_MAJOR ? q.boxes * q.map.box[0] * q.operand.element_bytes / 32 : 4;
    struct gm_descriptor_question wrong;
    struct gm_matrix_descriptor right = {.size = sizeof right};
    suggest(&q);
    assert_ok(gm_matrix_descriptor_decode(q.descriptor, &right));
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        wrong = with_field(q, STRIDE, offsets[i]);
        ck_assert_int_eq(assert_found(&wrong, steps, "SBO ("), offsets[i] == right.stride_bytes);
        wrong = with_field(q, LEADING, offsets[i]);
        assert_found(&wrong, steps, "LBO (");
        wrong = q;
        wrong.k_step_bytes = offsets[i];
        ck_assert_int_eq(assert_found(&wrong, steps, "the K step is"), offsets[i] == q.k_step_bytes);
    }
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        wrong = with_field(q, START, starts[i]);
        ck_assert_int_eq(assert_found(&wrong, steps, "the start address is"), 0);
    }
    for (uint32_t i = 0; i < 8; i++) {
        wrong = with_field(q, BASE_OFFSET, i);
        ck_assert_int_eq(assert_found(&wrong, steps, "the base offset is"), (i & ((1u << q.map.swizzle) - 1)) == 0);
    }
    for (uint32_t mode = 0; mode < 4; mode++) {
        wrong = with_field(q, MODE, mode);
        ck_assert_int_eq(assert_found(&wrong, steps, "the descriptor has"), mode == (uint32_t)q.map.swizzle);
    }
}

START_TEST(every_wrong_field_of_the_descriptor_is_named) {
    for_every_operand(assert_descriptor_fields_are_named, 192);
}
END_TEST

START_TEST(two_wrong_fields_are_both_named) {
    struct gm_descriptor_question q = question_of(GM_SWIZZLE_128B, GM_K_MAJOR, 2, 128);
    suggest(&q);
    q = with_field(with_field(q, STRIDE, 512), START, 0);
    q.k_step_bytes = 64;
    const struct gm_descriptor_answer answer = answer_of(&q);
    ck_assert_ptr_nonnull(strstr(answer.sentence, "the start address is 0, should be 9216"));
    ck_assert_ptr_nonnull(strstr(answer.sentence, "SBO (8 rows on) is 512 bytes, should be 1024"));
    ck_assert_ptr_nonnull(strstr(answer.sentence, "the K step is 64 bytes, should be 32"));
    ck_assert_ptr_null(strstr(answer.sentence, "LBO"));
    ck_assert_uint_eq(answer.row, 0);
    ck_assert_uint_eq(answer.k, 0);
    ck_assert_uint_eq(answer.written, 0x2400);
    ck_assert_uint_eq(answer.read, 0);
}
END_TEST

/* ---- the other side wrong ---- */

static void assert_sentence(struct gm_descriptor_question q, const char *words) {
    const struct gm_descriptor_answer answer = answer_of(&q);
    ck_assert_int_eq(answer.agrees, 0);
    ck_assert_msg(strstr(answer.sentence, words) != NULL, "\"%s\" lacks \"%s\"", answer.sentence, words);
}

static void assert_map_fields_are_named(struct gm_descriptor_question q) {
    struct gm_descriptor_question wrong;
    const int mn = q.operand.major == GM_MN_MAJOR;
    suggest(&q);
    wrong = q;
    wrong.destination += 128;
    assert_sentence(wrong, "the start address is");
    wrong.destination = q.destination + 64;
    assert_sentence(wrong, "the destination 0x2440 is no multiple of the 128 bytes");
    wrong.destination = (1u << 18) - 128;
    assert_sentence(wrong, "beyond the 0x40000");
    wrong = q;
    wrong.map.box[1] = mn ? 8 : q.operand.rows - 8;
    assert_sentence(wrong, mn ? "it holds 0 K steps of 16" : "rows in all, and the operand has");
    wrong = q;
    wrong.k_steps = 1000;
    assert_sentence(wrong, "and 1000 are to be read");
    wrong = q;
    wrong.map.rank = 1;
    assert_sentence(wrong, "a map of rank 1");
    wrong = q;
    wrong.map.strides[0] += 8;
    assert_sentence(wrong, "the tensor map is illegal: the stride of dimension 1");
    wrong = q;
    wrong.map.type = 4;
    wrong.map.box[0] = 16u << q.map.swizzle >> 3;
    assert_sentence(wrong, "the map moves elements of 8 bytes, the operand has");
    wrong = q;
    wrong.map.box[0] *= 2;
    if (q.map.swizzle)
        assert_sentence(wrong, "more than the swizzle span of");
    else
        assert_sentence(wrong, "no descriptor reads these boxes: rows of the box lie 32 bytes apart");
    if (q.operand.element_bytes != 2)
        return;
    wrong = q;
    wrong.operand.major = mn ? GM_K_MAJOR : GM_MN_MAJOR;
    assert_sentence(wrong, "wrong major");
}

START_TEST(every_wrong_field_of_the_map_is_named) {
    for_every_operand(assert_map_fields_are_named, 64);
}
END_TEST

START_TEST(a_mode_that_only_the_map_has) {
    struct gm_descriptor_question q = question_of(GM_SWIZZLE_64B, GM_K_MAJOR, 2, 64);
    suggest(&q);
    q.map.swizzle = GM_SWIZZLE_128B; /* rows of 64 bytes, half the span, and a span apart */
    assert_sentence(q,
                    "the descriptor has the 64B mode, the map the 128B mode; SBO (8 rows on) is 512 bytes, should be "
                    "1024");
    q.map.swizzle = GM_SWIZZLE_32B;
    assert_sentence(q, "the tensor map is illegal");
    q.map.swizzle = GM_SWIZZLE_NONE;
    assert_sentence(q, "without a swizzle WGMMA reads rows 16 bytes apart: the box must be 8 elements wide");
}
END_TEST

START_TEST(one_k_step_does_not_walk_from_box_to_box) {
    struct gm_descriptor_question q = question_of(GM_SWIZZLE_128B, GM_K_MAJOR, 2, 128);
    suggest(&q);
    q.boxes = 2;
    assert_sentence(q, "no single K step walks 8 steps: a box holds 4, and the next box begins 16384 bytes after it");
    q.k_steps = 4;
    ck_assert_int_eq(answer_of(&q).agrees, 1);
    q.k_steps = 5;
    q.k_step_bytes = 64;
    assert_sentence(q, "box by box; the K step is 64 bytes, should be 32");
}
END_TEST

START_TEST(k_steps_that_straddle_narrow_boxes) {
    struct gm_descriptor_question q = question_of(GM_SWIZZLE_128B, GM_K_MAJOR, 2, 64);
    q.map.box[0] = 24; /* 48 bytes: one K step and a half */
    suggest(&q);
    ck_assert_int_eq(answer_of(&q).agrees, 1);
    ck_assert_uint_eq(answer_of(&q).elements, 64 * 16);
    q.boxes = 2;
    assert_sentence(q, "no single K step walks 3 steps: a box holds 1");
}
END_TEST

START_TEST(boxes_that_cannot_follow_each_other) {
    struct gm_descriptor_question q = question_of(GM_SWIZZLE_NONE, GM_K_MAJOR, 2, 64);
    q.map.box[1] = 68;
    assert_sentence(q, "a box has 1088 bytes, so the second would begin at 0x2840, no multiple of the 128");
    assert_fails(gm_descriptor_suggest(&q, &q.descriptor, &q.k_step_bytes), GM_ERROR_INVALID_ARGUMENT,
                 "no descriptor fits: a box has 1088 bytes");
    q.map.box[1] = 64;
    q.boxes = UINT32_MAX;
    assert_sentence(q, "beyond the 0x40000");
}
END_TEST

Suite *descriptor_compare_suite(void) {
    Suite *suite = suite_create("descriptor_compare");
    TCase *every = tcase_create("every wrong field"), *wrong = tcase_create("wrong fields");
    tcase_set_tags(every, "long"); /* minutes under valgrind */
    tcase_add_test(every, every_wrong_field_of_the_descriptor_is_named);
    tcase_add_test(wrong, two_wrong_fields_are_both_named);
    tcase_add_test(wrong, every_wrong_field_of_the_map_is_named);
    tcase_add_test(wrong, a_mode_that_only_the_map_has);
    tcase_add_test(wrong, one_k_step_does_not_walk_from_box_to_box);
    tcase_add_test(wrong, k_steps_that_straddle_narrow_boxes);
    tcase_add_test(wrong, boxes_that_cannot_follow_each_other);
    suite_add_tcase(suite, every);
    suite_add_tcase(suite, wrong);
    return suite;
}
