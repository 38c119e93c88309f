/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill tune --import: results of the bench become entries. */
#include "bench_tests.h"

#include <stdio.h>
#include <string.h>

#include "imported.h"

#define H200 "gristmill-ledger 1\ndevice NVIDIA H200\ncc 9.0\nsms 132\nl2_bytes 62914560\ndram_gbs 4800\n"

START_TEST(the_fastest_row_of_the_results_is_chosen) {
    char expected[1024];
    add_flat(0, 12);
    add(name_of(2), 10, 11, 10.5);
    add_flat(1, 13);
    write_to(FIRST);
    expect_run(IMPORT, 0, "1 imported, 0 already there; " BOOK " has 1 entries", "");
    expect_in(BOOK, H200 "measured table 0000000000000000 library 0123456789ab driver 580\n", true);
    snprintf(expected, sizeof expected,
             "%s 10.500 10.100 10.900 3 *%s 12.000 12.000 12.000 3 %s 13.000 13.000 13.000 3\n", name_of(2), name_of(0),
             name_of(1));
    expect_entry(expected);
    expect_run("--check " BOOK " --device h200", 0, "the model's pick is the choice in 0 of them", "");
}
END_TEST

START_TEST(within_the_noise_the_model_decides) {
    char expected[256];
    add(name_of(3), 10, 10, 10);
    add(name_of(1), 10.05, 10.05, 9.9);
    add_flat(0, 11);
    write_to(FIRST);
    expect_run(IMPORT, 0, "; the model's pick", "");
    snprintf(expected, sizeof expected, "%s 10.050 9.930 10.050 3 %s 10.000 10.000 10.000 3 *", name_of(1), name_of(3));
    expect_entry(expected);
    expect_run(IMPORT " --again --top 1 --quiet", 0, "1 imported", ""); /* the choice stays the choice */
    expect_entry(expected);
}
END_TEST

START_TEST(the_ledger_is_extended_and_what_it_says_is_kept) {
    char before[256], after[256];
    add_flat(0, 10);
    add_flat(1, 11);
    write_to(FIRST);
    add_flat(0, 20);
    add_flat(1, 21);
    for (int i = 0; i < likes; i++) {
        add_flat(i, 30 + i);
        gemm_of(&results.rows[2 + i].problem)->m = 256;
    }
    strcpy(results.meta.revision, "");
    write_to(SECOND);
    snprintf(before, sizeof before, "*%s 10.000", name_of(0));
    snprintf(after, sizeof after, "*%s 20.000", name_of(0));
    expect_run(IMPORT, 0, "1 imported, 0 already there", "");
    expect_run(IMPORT, 0, "0 imported, 1 already there", "");
    expect_entry(before);
    expect_run("--import " SECOND " -o " BOOK, 0, BOOK " has 2 entries", "");
    expect_entry(before);
    expect_run("--import " SECOND " --again -o " BOOK, 0, "2 imported, 0 already there", "");
    expect_entry(after);
    expect_in(BOOK, "library 0123456789ab driver", true);
    expect_in(BOOK, "library unknown driver", true);
}
END_TEST

START_TEST(of_several_files_the_later_wins_by_kernel) {
    char expected[512];
    add_flat(0, 12);
    add_flat(1, 10);
    add_flat(2, 14);
    write_to(FIRST);
    add_flat(1, 15);
    add_flat(1, 16);
    write_to(SECOND);
    expect_run("--import " FIRST " " SECOND " -o " BOOK, 0, "1 imported", "");
    snprintf(expected, sizeof expected, "*%s 12.000 12.000 12.000 3 %s 14.000 14.000 14.000 3 %s 16.000", name_of(0),
             name_of(2), name_of(1));
    expect_entry(expected);
    expect_run("--import " SECOND " " FIRST " --again -o " BOOK, 0, "1 imported", "");
    snprintf(expected, sizeof expected, "%s 10.000", name_of(1));
    expect_entry(expected);
}
END_TEST

START_TEST(top_keeps_the_fastest_and_the_models_pick) {
    char expected[512];
    for (int i = 0; i < 4; i++)
        add_flat(i, 20 - i);
    write_to(FIRST);
    expect_run(IMPORT " --top 2", 0, "1 imported", "");
    snprintf(expected, sizeof expected,
             "%s 17.000 17.000 17.000 3 %s 18.000 18.000 18.000 3 *%s 20.000 20.000 20.000 3\n", name_of(3), name_of(2),
             name_of(0));
    expect_entry(expected);
}
END_TEST

START_TEST(keeping_few_does_not_change_the_choice) {
    struct tune_sample samples[6];
    for (int i = 0; i < 6; i++)
        samples[i] =
            (struct tune_sample){.kernel = i,
                                 .predicted_us = 6 - i,
                                 .is_model = i == 5,
                                 .is_final = true,
                                 .samples = {.us = {10 + i * 0.01, 10 + i * 0.01, 9.9 - i * 0.01}, .count = 3}};
    samples[5].samples.us[2] = 11; /* ties no more */
    ck_assert_uint_eq(tune_choose(samples, 6), 4);
    ck_assert_uint_eq(tune_keep(samples, 6, 3), 4);
    ck_assert(samples[0].kernel == 0 && samples[1].kernel == 1 && samples[2].kernel == 4 && samples[3].is_model);
    ck_assert_uint_eq(tune_choose(samples, 4), 2);
    ck_assert_uint_eq(tune_keep(samples, 4, 1), 3);
    ck_assert_int_eq(samples[tune_choose(samples, 3)].kernel, 4);
    ck_assert_uint_eq(tune_keep(samples, 0, 1), 0);
}
END_TEST

START_TEST(options_choose_among_the_rows) {
    for (int i = 0; i < likes; i++)
        add_flat(i, i == 0 ? 20 : gm_kernels[liked[i].kernel].arch == GM_ARCH_SM80 ? 15 : 10);
    write_to(FIRST);
    expect_run(IMPORT " --top 63", 0, "1 imported", "");
    expect_entry("gemm_sm90");
    expect_run(IMPORT " --arch sm80 --again", 0, "1 imported", "rows that the planner or the options do not allow");
    expect_entry("gemm_sm80");
    expect_in(BOOK, " gemm_sm90", false);
    expect_in(BOOK, " *gemm_sm90", true);
}
END_TEST

/* On the machine where they were measured, the device is what the driver says of it. */
START_TEST(a_gpu_that_is_there_is_predicted_for) {
    for (int i = 0; i < likes; i++)
        add_flat(i, 10 + i);
    strcpy(results.meta.gpu, "NVIDIA FAKE 9");
    results.meta.device.sm_count = 4;
    write_to(FIRST);
    expect_run(IMPORT " --device 0", 0, "1 imported", "");
    expect_in(BOOK, HEAD, true);
}
END_TEST

TCase *tune_import_tests(void) {
    TCase *tests = tcase_create("tune import");
    tcase_add_checked_fixture(tests, import_set_up, import_tear_down);
    tcase_add_test(tests, the_fastest_row_of_the_results_is_chosen);
    tcase_add_test(tests, within_the_noise_the_model_decides);
    tcase_add_test(tests, the_ledger_is_extended_and_what_it_says_is_kept);
    tcase_add_test(tests, of_several_files_the_later_wins_by_kernel);
    tcase_add_test(tests, top_keeps_the_fastest_and_the_models_pick);
    tcase_add_test(tests, keeping_few_does_not_change_the_choice);
    tcase_add_test(tests, options_choose_among_the_rows);
    tcase_add_test(tests, a_gpu_that_is_there_is_predicted_for);
    return tests;
}
