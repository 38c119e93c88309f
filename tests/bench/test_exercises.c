/* SPDX-License-Identifier: Apache-2.0 */
/* The exercises of the course: what is right, as numbers that were worked out by hand, what is not, and the command. */
#include "bench_tests.h"

#include <stdio.h>
#include <string.h>

#include "help_examples.h"
#include "lab/command_exercise.h"
#include "lab/exercises.h"
#include "program/base/messages.h"
#include "run_command.h"

/* An address of each lane is asked for. */
enum { OF_LANES = INT32_MIN };
static const int64_t right[] = {
    26,        4,     1,        2,   32,       /* banks */
    16,        1,     2,        256, OF_LANES, /* padding */
    4,         8,     32,       16,  32,       /* vectors */
    6,         0x1c0, OF_LANES, 1,   1024,     /* swizzle */
    1,         100,   216064,   0,   4,        /* capacity */
    21,        3,     19,       80,  4,        /* occupancy */
    2,         98304, 5,        32,  32,       /* cp-async */
    104,       64,    16384,    256, 49152,    /* tma */
    1024,      32,    0x840,    1,   2198,     /* wgmma-descriptors */
    2048,      8192,  10,       8,   12,       /* clusters */
    64,        75,    4,        3,   2,        /* worth-fixing */
    131072,    6,     0,        6,   30,       /* profiler */
    268435456, 128,   17408,    -2,  2,        /* attention */
    32,        2,     1,        19,  384,      /* fft */
    2,         64,    101376,   6,   32,       /* gallery */
};

START_TEST(every_number_is_what_was_worked_out_by_hand) {
    ck_assert_uint_eq(exercise_count, sizeof right / sizeof *right);
    for (size_t i = 0; i < exercise_count; i++) {
        const struct exercise *e = &exercises[i];
        char answer[32];
        ck_assert_int_eq(e->accepts != NULL, right[i] == OF_LANES);
        if (e->accepts)
            continue;
        ck_assert_msg(e->right() == right[i], "exercise %zu: %lld is right, not %lld", i + 1, (long long)e->right(),
                      (long long)right[i]);
        snprintf(answer, sizeof answer, "%lld", (long long)right[i]);
        ck_assert_int_eq(exercise_judge(e, answer), 1);
        snprintf(answer, sizeof answer, "%lld + 1", (long long)right[i]);
        ck_assert_int_eq(exercise_judge(e, answer), 0);
        ck_assert_int_eq(exercise_judge(e, "lane"), 0);
    }
}
END_TEST

static const struct {
    int number;
    const char *answer;
    int verdict;
} addresses[] = {
    {10, "(lane * 33 + 5) * 4", 1},
    {10, "lane * 132 + 20", 1},
    {10, "(lane * 32 + 5) * 4", 0},
    {10, "lane * 33 + 5", 0},
    {18, "(lane * 32 + (5 ^ lane)) * 4", 1},
    {18, "lane * 128 + (5 + lane) % 32 * 4", 1}, /* a rotation: no XOR, but free of conflicts too */
    {18, "(lane * 32 + 5) * 4", 0},
    {18, "(lane * 33 + 5) * 4", 0}, /* another row */
    {18, "lane * 4 - 4", 0},
    {18, "lane * 128 + 1", 0},
};

START_TEST(addresses_are_judged) {
    const struct exercise *e = &exercises[addresses[_i].number - 1];
    ck_assert_msg(exercise_judge(e, addresses[_i].answer) == addresses[_i].verdict, "%d: %s", addresses[_i].number,
                  addresses[_i].answer);
}
END_TEST

START_TEST(a_page_has_five) {
    for (size_t i = 0; i < exercise_count; i++)
        ck_assert_str_eq(exercises[i].page, exercises[i / 5 * 5].page);
    for (size_t i = 5; i < exercise_count; i += 5)
        ck_assert_str_ne(exercises[i].page, exercises[i - 1].page);
}
END_TEST

START_TEST(the_command_lists_asks_and_judges) {
    struct outcome got = run_command(lab_exercise, "");
    ck_assert_int_eq(got.code, EXIT_CODE_OK);
    ck_assert_ptr_nonnull(strstr(got.out, "In which bank is the byte at address 1000 of shared memory?"));
    forget_outcome(&got);
    got = run_command(lab_exercise, "10");
    ck_assert_int_eq(got.code, EXIT_CODE_OK);
    ck_assert_ptr_nonnull(strstr(got.out, "10, of docs/course/padding.md"));
    ck_assert_ptr_nonnull(strstr(got.out, "gristmill lab exercise 10 'EXPRESSION'"));
    forget_outcome(&got);
    got = run_command(lab_exercise, "1 26");
    ck_assert_int_eq(got.code, EXIT_CODE_OK);
    ck_assert_str_eq(got.out, "right: 1000 / 4 is word 250, and 250 mod 32 is 26.\n");
    forget_outcome(&got);
    got = run_command(lab_exercise, "1 8");
    ck_assert_int_eq(got.code, EXIT_CODE_FAILURE);
    ck_assert_str_eq(got.out, "no. Banks are 4 bytes wide, and there are 32.\n");
    forget_outcome(&got);
}
END_TEST

static const struct {
    const char *line, *words;
} refused[] = {
    {"0", "there is no exercise `0`; they are 1 to "},
    {"76", "there is no exercise `76`"},
    {"two", "there is no exercise `two`"},
    {"1x", "there is no exercise `1x`"},
    {"1 2 3", "an answer is one word: put it into quotes"},
    {"--all", "--all"},
};

START_TEST(other_lines_are_refused) {
    expect_refusal(lab_exercise, refused[_i].line, refused[_i].words);
}
END_TEST

START_TEST(what_is_no_expression_is_shown) {
    struct outcome got = run_command(lab_exercise, "1 2+");
    ck_assert_int_eq(got.code, EXIT_CODE_USAGE);
    ck_assert_ptr_nonnull(strstr(got.err, "the answer, column 3: an operand is missing at the end"));
    ck_assert_str_eq(got.out, "");
    forget_outcome(&got);
}
END_TEST

START_TEST(examples_of_the_help_run) {
    ck_assert_int_eq(run_help_examples(lab_exercise, "--help", "gristmill lab exercise"), 3);
}
END_TEST

TCase *exercises_tests(void) {
    TCase *all = tcase_create("exercises");
    tcase_add_test(all, every_number_is_what_was_worked_out_by_hand);
    tcase_add_loop_test(all, addresses_are_judged, 0, sizeof addresses / sizeof *addresses);
    tcase_add_test(all, a_page_has_five);
    tcase_add_test(all, the_command_lists_asks_and_judges);
    tcase_add_loop_test(all, other_lines_are_refused, 0, sizeof refused / sizeof *refused);
    tcase_add_test(all, what_is_no_expression_is_shown);
    tcase_add_test(all, examples_of_the_help_run);
    return all;
}
