/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of tensor maps, matrix descriptors, and of both against each other. */
#include "bench_tests.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "drawings.h"
#include "program/smem/draw.h"

enum { RULES = 64 };

/* A box of one span of bf16 and 64 rows. */
static struct gm_tensor_map_request request_of(enum gm_swizzle_mode mode) {
    return (struct gm_tensor_map_request){.size = sizeof(struct gm_tensor_map_request),
                                          .type = 9,
                                          .rank = 2,
                                          .address = 0x10000,
                                          .dims = {4096, 4096},
                                          .strides = {8192},
                                          .box = {gm_swizzle_span_bytes(mode) / 2, 64},
                                          .swizzle = mode};
}

static char *map_drawn(enum draw_form form, const struct gm_tensor_map_request *request, int *legal) {
    struct gm_rule rules[RULES];
    struct drawing drawing;
    size_t count;
    for (int i = 0; i < RULES; i++)
        rules[i].size = sizeof *rules;
    ck_assert_int_eq(gm_tensor_map_explain(request, rules, RULES, &count, legal), GM_OK);
    drawing_begin(&drawing);
    ck_assert_int_eq(draw_tensor_map(drawing.out, form, request, rules, count, *legal), 0);
    return drawing_end(&drawing);
}

static void check_form(enum draw_form form, const char *text) {
    if (form == DRAW_TEXT)
        drawing_check_text(text, 110);
    else if (form != DRAW_COLOUR)
        drawing_check_xml(text);
}

START_TEST(a_legal_map_shows_its_box) {
    for (enum gm_swizzle_mode mode = GM_SWIZZLE_NONE; mode <= GM_SWIZZLE_128B; mode++)
        for (enum draw_form form = DRAW_TEXT; form <= DRAW_PART; form++) {
            const struct gm_tensor_map_request request = request_of(mode);
            int legal;
            char *text = map_drawn(form, &request, &legal);
            ck_assert_int_eq(legal, 1);
            check_form(form, text);
            ck_assert_ptr_nonnull(strstr(text, "The driver accepts this request."));
            ck_assert_ptr_nonnull(strstr(text, "One box in shared memory"));
            ck_assert_ptr_null(strstr(text, "BROKEN"));
            free(text);
        }
}
END_TEST

START_TEST(a_broken_map_shows_the_rule_and_no_box) {
    for (enum draw_form form = DRAW_TEXT; form <= DRAW_PART; form++) {
        struct gm_tensor_map_request request = request_of(GM_SWIZZLE_128B);
        int legal;
        request.box[0] = 128;
        char *text = map_drawn(form, &request, &legal);
        ck_assert_int_eq(legal, 0);
        check_form(form, text);
        ck_assert_ptr_nonnull(strstr(text, "The driver refuses this request"));
        ck_assert_ptr_nonnull(strstr(text, "BROKEN"));
        ck_assert_ptr_null(strstr(text, "One box in shared memory"));
        free(text);
        request = (struct gm_tensor_map_request){.size = sizeof request, .type = 99, .rank = 77, .swizzle = 9};
        text = map_drawn(form, &request, &legal); /* nothing about it makes sense */
        check_form(form, text);
        free(text);
    }
}
END_TEST

/* Element strides can make rows that are no whole chunks, other interleaves other images: legal, but not drawn. */
START_TEST(a_map_without_a_picture_still_has_its_rules) {
    struct gm_tensor_map_request request = request_of(GM_SWIZZLE_NONE);
    int legal;
    request.box[0] = 8;
    request.element_strides[0] = 3;
    char *text = map_drawn(DRAW_TEXT, &request, &legal);
    ck_assert_ptr_nonnull(strstr(text, "The driver's rules"));
    free(text);
}
END_TEST

/* ---- descriptors -------------------------------------------------------------------------------- */

static char *descriptor_drawn(enum draw_form form, const struct gm_matrix_descriptor *fields,
                              const struct gm_wgmma_operand *operand) {
    struct drawing drawing;
    uint64_t bits;
    drawing_begin(&drawing);
    ck_assert_int_eq(gm_matrix_descriptor_encode(fields, &bits), GM_OK);
    ck_assert_int_eq(draw_matrix_descriptor(drawing.out, form, bits, fields, operand), 0);
    return drawing_end(&drawing);
}

static const struct gm_matrix_descriptor usual = {
    .size = sizeof usual, .start = 0x400, .leading_bytes = 16, .stride_bytes = 1024, .swizzle = GM_SWIZZLE_128B};

START_TEST(a_descriptor_shows_its_bits) {
    const struct gm_wgmma_operand operand = {.size = sizeof operand, .element_bytes = 2, .rows = 64};
    char *text = descriptor_drawn(DRAW_TEXT, &usual, &operand);
    drawing_check_text(text, 110);
    ck_assert_ptr_nonnull(strstr(text, "Matrix descriptor 0x4000004000010040"));
    ck_assert_ptr_nonnull(strstr(text, "value   0  1  0  0  0"));
    ck_assert_ptr_nonnull(strstr(text, "stride offset, SBO   32-45     64   1024  to the next 8 rows"));
    ck_assert_ptr_nonnull(strstr(text, "swizzle              62-63      1         the 128B mode"));
    ck_assert_ptr_nonnull(strstr(text, "0x00480     r1 k8       r1 k0 "));
    free(text);
}
END_TEST

START_TEST(descriptors_of_all_operands_are_well_formed) {
    for (int mode = GM_SWIZZLE_NONE; mode <= GM_SWIZZLE_128B; mode++)
        for (uint32_t rows = 8; rows <= 256; rows *= 2)
            for (int major = GM_K_MAJOR; major <= GM_MN_MAJOR; major++) {
                const struct gm_wgmma_operand operand = {
                    .size = sizeof operand, .major = (enum gm_major)major, .element_bytes = 2, .rows = rows};
                struct gm_matrix_descriptor fields = usual;
                fields.swizzle = (enum gm_swizzle_mode)mode;
                fields.base_offset = (uint32_t)mode;
                char *text = descriptor_drawn(DRAW_TEXT, &fields, &operand);
                char *svg = descriptor_drawn(DRAW_SVG, &fields, &operand);
                drawing_check_text(text, 110);
                drawing_check_xml(svg);
                free(text);
                free(svg);
            }
}
END_TEST

START_TEST(a_descriptor_without_an_operand_or_with_other_bits) {
    char *text = descriptor_drawn(DRAW_HTML, &usual, NULL);
    drawing_check_xml(text);
    ck_assert_ptr_null(strstr(text, "What one instruction reads"));
    free(text);
    struct drawing drawing;
    drawing_begin(&drawing);
    ck_assert_int_eq(draw_matrix_descriptor(drawing.out, DRAW_TEXT, 12345, &usual, NULL), -1);
    text = drawing_end(&drawing);
    ck_assert_str_eq(text, "");
    free(text);
}
END_TEST

/* ---- both --------------------------------------------------------------------------------------- */

static void ask(struct gm_descriptor_question *question, enum gm_swizzle_mode mode, enum gm_major major) {
    *question = (struct gm_descriptor_question){
        .size = sizeof *question,
        .map = request_of(mode),
        .destination = 0x2000,
        .operand = {.size = sizeof question->operand, .major = major, .element_bytes = 2, .rows = 64}};
    const uint32_t span = gm_swizzle_span_bytes(mode);
    question->boxes = major == GM_MN_MAJOR ? 128 / span : span < 32 ? 2 : 1;
    ck_assert_int_eq(gm_descriptor_suggest(question, &question->descriptor, &question->k_step_bytes), GM_OK);
}

static char *comparison_drawn(enum draw_form form, const struct gm_descriptor_question *question,
                              struct gm_descriptor_answer *answer) {
    struct drawing drawing;
    *answer = (struct gm_descriptor_answer){.size = sizeof *answer};
    ck_assert_int_eq(gm_descriptor_compare(question, answer), GM_OK);
    drawing_begin(&drawing);
    ck_assert_int_eq(draw_comparison(drawing.out, form, question, answer), 0);
    return drawing_end(&drawing);
}

START_TEST(agreement_is_drawn_for_every_mode) {
    for (int mode = GM_SWIZZLE_NONE; mode <= GM_SWIZZLE_128B; mode++)
        for (int major = GM_K_MAJOR; major <= GM_MN_MAJOR; major++)
            for (enum draw_form form = DRAW_TEXT; form <= DRAW_PART; form++) {
                struct gm_descriptor_question question;
                struct gm_descriptor_answer answer;
                ask(&question, (enum gm_swizzle_mode)mode, (enum gm_major)major);
                char *text = comparison_drawn(form, &question, &answer);
                ck_assert_int_eq(answer.agrees, 1);
                check_form(form, text);
                ck_assert_ptr_nonnull(strstr(text, "They agree: "));
                ck_assert_ptr_null(strstr(text, "First wrong element"));
                free(text);
            }
}
END_TEST

/* The cell that is drawn as wrong is the element that the answer names. */
START_TEST(the_first_wrong_element_is_drawn) {
    struct gm_descriptor_question question;
    struct gm_descriptor_answer answer;
    char addresses[64];
    ask(&question, GM_SWIZZLE_128B, GM_K_MAJOR);
    question.descriptor ^= (UINT64_C(1) ^ 2) << 62; /* 64B */
    for (enum draw_form form = DRAW_TEXT; form <= DRAW_PART; form++) {
        char *text = comparison_drawn(form, &question, &answer);
        check_form(form, text);
        ck_assert_ptr_nonnull(strstr(text, "They do not agree: 3584 of 4096 elements"));
        snprintf(addresses, sizeof addresses, "TMA writes it to 0x%" PRIx32, answer.written);
        ck_assert_ptr_nonnull(strstr(text, "First wrong element: row 1, k 0."));
        ck_assert_ptr_nonnull(strstr(text, addresses));
        if (form == DRAW_TEXT) {
            ck_assert_ptr_nonnull(strstr(text, "row  0    0   1   2   3   4   5   6   7\nrow  1  1/4 0/5 3/6"));
            ck_assert_ptr_nonnull(strstr(text, "[W]"));
            ck_assert_ptr_nonnull(strstr(text, "[R]"));
        }
        free(text);
    }
}
END_TEST

START_TEST(wrong_rows_further_down_are_drawn_too) {
    struct gm_descriptor_question question;
    struct gm_descriptor_answer answer = {.size = sizeof answer};
    struct drawing drawing;
    ask(&question, GM_SWIZZLE_128B, GM_K_MAJOR);
    ck_assert_int_eq(gm_descriptor_compare(&question, &answer), GM_OK);
    answer.agrees = 0; /* as if only row 50 were wrong */
    answer.wrong = 1;
    answer.row = 50;
    answer.written = answer.read = question.destination;
    drawing_begin(&drawing);
    ck_assert_int_eq(draw_comparison(drawing.out, DRAW_TEXT, &question, &answer), 0);
    char *text = drawing_end(&drawing);
    ck_assert_ptr_nonnull(strstr(text, "\nrow 32 "));
    ck_assert_ptr_nonnull(strstr(text, "\nrow 63 "));
    ck_assert_ptr_null(strstr(text, "\nrow 31 "));
    free(text);
}
END_TEST

START_TEST(what_cannot_be_compared_is_only_said) {
    struct gm_descriptor_question question;
    struct gm_descriptor_answer answer;
    ask(&question, GM_SWIZZLE_128B, GM_K_MAJOR);
    question.map.box[0] = 100;
    for (enum draw_form form = DRAW_TEXT; form <= DRAW_PART; form++) {
        char *text = comparison_drawn(form, &question, &answer);
        check_form(form, text);
        ck_assert_ptr_nonnull(strstr(text, "They cannot be compared: "));
        ck_assert_ptr_null(strstr(text, "Each piece"));
        free(text);
    }
}
END_TEST

TCase *draw_descriptor_tests(void) {
    TCase *tests = tcase_create("draw descriptors");
    tcase_add_test(tests, a_legal_map_shows_its_box);
    tcase_add_test(tests, a_broken_map_shows_the_rule_and_no_box);
    tcase_add_test(tests, a_map_without_a_picture_still_has_its_rules);
    tcase_add_test(tests, a_descriptor_shows_its_bits);
    tcase_add_test(tests, descriptors_of_all_operands_are_well_formed);
    tcase_add_test(tests, a_descriptor_without_an_operand_or_with_other_bits);
    tcase_add_test(tests, agreement_is_drawn_for_every_mode);
    tcase_add_test(tests, the_first_wrong_element_is_drawn);
    tcase_add_test(tests, wrong_rows_further_down_are_drawn_too);
    tcase_add_test(tests, what_cannot_be_compared_is_only_said);
    return tests;
}
