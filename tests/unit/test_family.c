/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels by name, with and without a division, and sentences that somebody may want. */
#include "host/plan.h"

#include "kernels.h"

#include <stdio.h>
#include <string.h>

/* The second one's name begins with the first one's. gemv divides nothing. */
static const struct gm_kernel rows[] = {
    SM90_ROW("row", 1, bf16, tn, 64, 64, 64, 8, 1, 1, w1, 128),
    SM90_ROW("row_r", 1, bf16, tn, 64, 64, 64, 8, 1, 1, w1r, 128),
    GEMV_ROW("vector", SM90, 1, 16, 1, 8),
};
#define ROWS (sizeof rows / sizeof *rows)

START_TEST(names_say_their_division) {
    static const struct {
        const char *name;
        int row, division; /* row -1: nobody's name */
    } names[] = {
        {"row", 0, GM_DIVISION_BEST},
        {"row/k", 0, GM_DIVISION_STREAM_K},
        {"row/k2", 0, 2},
        {"row/k8", 0, 8},
        {"row_r", 1, GM_DIVISION_BEST},
        {"row_r/k3", 1, 3},
        {"vector", 2, GM_DIVISION_BEST},
        {"vector/k", -1, 0},
        {"vector/k2", -1, 0},
        {"row/k9", -1, 0},
        {"row/k1", -1, 0},
        {"row/", -1, 0},
        {"row/k/k", -1, 0},
        {"row_", -1, 0},
        {"ro", -1, 0},
        {"rowk3", -1, 0},
        {" row", -1, 0},
        {"/k3", -1, 0},
        {"", -1, 0},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int division = 77;
        ck_assert_msg(gm_find_kernel(rows, ROWS, names[i].name) == names[i].row, "%s", names[i].name);
        if (names[i].row < 0)
            continue;
        ck_assert(gm_is_named(&rows[names[i].row], names[i].name, strlen(names[i].name), &division));
        ck_assert_msg(division == names[i].division, "%s: %d", names[i].name, division);
    }
}
END_TEST

/* A name within a line has no end. */
START_TEST(names_have_just_these_bytes) {
    int division;
    ck_assert(gm_is_named(&rows[0], "row/k3 1.5", 6, &division) && division == 3);
    ck_assert(gm_is_named(&rows[0], "row/k3 1.5", 5, &division) && division == GM_DIVISION_STREAM_K);
    ck_assert(gm_is_named(&rows[0], "row/k3 1.5", 3, &division) && division == GM_DIVISION_BEST);
    ck_assert(!gm_is_named(&rows[0], "row/k3 1.5", 4, &division));
    ck_assert(!gm_is_named(&rows[0], "row/k3 1.5", 2, &division));
    ck_assert(!gm_is_named(&rows[0], "row/k3 1.5", 10, &division));
}
END_TEST

START_TEST(divided_names_are_found_again) {
    for (size_t i = 0; i < ROWS; i++)
        for (int division = GM_DIVISION_NONE; division < GM_DIVISIONS; division++) {
            char text[32];
            int found = 77;
            gm_divided_name(&rows[i], division, text, sizeof text);
            if (division == GM_DIVISION_NONE || !rows[i].family->division_suffix)
                ck_assert_str_eq(text, rows[i].name);
            ck_assert_int_eq(gm_find_kernel(rows, ROWS, text), (int)i);
            ck_assert(gm_is_named(&rows[i], text, strlen(text), &found));
            ck_assert_int_eq(found, strchr(text, '/') ? division : GM_DIVISION_BEST);
        }
    char small[6];
    gm_divided_name(&rows[0], 3, small, sizeof small);
    ck_assert_str_eq(small, "row/k");
}
END_TEST

START_TEST(a_sentence_is_written_where_it_is_wanted) {
    char text[8] = "before";
    const struct gm_sentence nobody = {NULL, 0}, wanted = {text, sizeof text};
    ck_assert_int_eq(gm_say(NULL, GM_REASON_TYPE, "%d", 1), GM_REASON_TYPE);
    ck_assert_int_eq(gm_say(&nobody, GM_REASON_SMS, "%d", 1), GM_REASON_SMS);
    ck_assert_str_eq(text, "before");
    ck_assert_int_eq(gm_say(&wanted, GM_REASON_SIZE, "M = %d and more", 12), GM_REASON_SIZE);
    ck_assert_str_eq(text, "M = 12 ");
}
END_TEST

/* What the core keeps of a family's parameters, and what it may call. */
START_TEST(families_fit_what_the_core_keeps_of_them) {
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct gm_family *family = gm_kernels[i].family;
        ck_assert_uint_le(family->params_bytes, GM_PARAMS_MAX);
        ck_assert(family->judge && family->prepare && family->bind && family->operation);
        ck_assert_int_eq(family->division_suffix == NULL, family->division_of == NULL);
        ck_assert_ptr_null(strchr(gm_kernels[i].name, '/'));
    }
}
END_TEST

Suite *family_suite(void) {
    Suite *suite = suite_create("family");
    TCase *cases = tcase_create("names");
    tcase_add_test(cases, names_say_their_division);
    tcase_add_test(cases, names_have_just_these_bytes);
    tcase_add_test(cases, divided_names_are_found_again);
    tcase_add_test(cases, a_sentence_is_written_where_it_is_wanted);
    tcase_add_test(cases, families_fit_what_the_core_keeps_of_them);
    suite_add_tcase(suite, cases);
    return suite;
}
