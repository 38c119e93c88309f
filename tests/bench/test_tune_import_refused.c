/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill tune --import: results, and rows of them, that make no entries. */
#include "bench_tests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "imported.h"
#include "run_command.h"

static const char *test_row(void) {
    for (size_t i = 0; i < gm_kernel_count(); i++)
        if (!gm_kernels[i].production)
            return gm_kernels[i].name;
    return NULL; /* a build of some of the rows only */
}

/* Texts of one length, which is in the file once. */
static void replace_in(const char *path, const char *from, const char *to) {
    char *text = read_all(path), *at = strstr(text, from);
    ck_assert_ptr_nonnull(at);
    memcpy(at, to, strlen(to));
    write_text(path, text);
    free(text);
}

START_TEST(rows_that_cannot_be_chosen_are_counted) {
    add_flat(0, 12);
    add_flat(1, 13);
    add("gone", 1, 1, 1);
    add("gone too", 1, 1, 1);
    struct gm_gemm_problem *fp8 = gemm_of(&add(name_of(0), 1, 1, 1)->problem);
    fp8->ab_type = GM_FP16; /* e5m2 in the file */
    struct gm_gemm_problem *nt = gemm_of(&add(name_of(2), 1, 1, 1)->problem);
    nt->a_major = nt->b_major = GM_MN_MAJOR;
    add_flat(0, 1);
    gemm_of(&results.rows[results.count - 1].problem)->m = 64;
    if (test_row())
        add(test_row(), 1, 1, 1);
    write_to(FIRST);
    replace_in(FIRST, "\"a\": \"fp16\", \"b\": \"fp16\"", "\"a\": \"e5m2\", \"b\": \"e5m2\"");
    expect_run(IMPORT, 0, "1 imported, 0 already there", "left out: 2 rows of kernels that the table does not have");
    expect_in(BOOK, "gone", false);
    expect_in(BOOK, " 1.000", false);
    expect_run(IMPORT " --again", 0, "", "left out: 1 rows of problems that no kernel takes");
    expect_run(IMPORT " --again", 0, "", "left out: 1 rows that the planner or the options do not allow");
    expect_run(IMPORT " --again", 0, "", test_row() ? "left out: 1 rows of kernels that are built for tests only" : "");
    expect_run(IMPORT " --again", 0, "", "left out: 2 problems of which fewer than two rows were timed");
}
END_TEST

START_TEST(without_the_models_pick_there_is_no_entry) {
    add_flat(1, 12);
    add_flat(2, 13);
    write_to(FIRST);
    expect_run(IMPORT, 1, "", "512 x 512 x 512 bf16 tn: no entry, since the model's pick was not timed");
    expect_run(IMPORT, 1, "", "there is nothing to import: " BOOK " was not written");
    ck_assert_int_ne(access(BOOK, F_OK), 0);
}
END_TEST

START_TEST(results_of_another_kind_are_refused) {
    add_flat(0, 12);
    results.meta.rotate_l2 = 0;
    write_to(FIRST);
    expect_run(IMPORT, 1, "", FIRST " was measured with operands in L2");
    strcpy(results.meta.command, "gristmill bench --sm-budget 64");
    write_to(FIRST);
    expect_run(IMPORT, 1, "", FIRST " was measured with --sm-budget");
    strcpy(results.meta.command, "gristmill bench --no-overlap");
    write_to(FIRST);
    expect_run(IMPORT, 1, "", FIRST " was measured with --no-overlap");
    strcpy(results.meta.command, "gristmill bench --batch-invariant");
    write_to(FIRST);
    expect_run(IMPORT, 1, "", FIRST " was measured with --batch-invariant");
    write_text(FIRST, "{}");
    expect_run(IMPORT, 1, "", FIRST " holds no results");
    expect_run("--import nowhere.json -o " BOOK, 1, "", "nowhere.json");
    ck_assert_int_ne(access(BOOK, F_OK), 0);
}
END_TEST

START_TEST(results_of_another_device_are_refused) {
    add_flat(0, 12);
    add_flat(1, 13);
    write_to(FIRST);
    strcpy(results.meta.gpu, "NVIDIA H100 80GB HBM3");
    write_to(SECOND);
    expect_run("--import " FIRST " " SECOND " -o " BOOK, 1, "",
               SECOND " was measured on another device: NVIDIA H100 80GB HBM3, 132 SMs; this is NVIDIA H200, 132 SMs");
    expect_run("--import " SECOND " -o " BOOK, 1, "", "`--device MODEL` says which device to predict for");
    expect_run("--import " SECOND " -o " BOOK " --device h100", 1, "", "there is nothing to import");
    expect_run(IMPORT " --device h100", 1, "", "another device: NVIDIA H200, 132 SMs; this is NVIDIA H100");
    expect_run(IMPORT " --device v100", 1, "", "neither a device number nor");
    write_text(BOOK, HEAD);
    expect_run(IMPORT, 1, "", BOOK " was measured on another device: NVIDIA FAKE 9, 9.0, 4 SMs; this is NVIDIA H200");
    expect_in(BOOK, "NVIDIA FAKE 9", true);
    results.meta.device.sm_count = 66; /* a part of one */
    write_to(FIRST);
    expect_run(IMPORT, 1, "", "another device: NVIDIA H200, 66 SMs");
}
END_TEST

START_TEST(a_file_that_cannot_be_written_is_a_failure) {
    add_flat(0, 12);
    add_flat(1, 13);
    write_to(FIRST);
    expect_run("--import " FIRST " -o no/such/folder", 1, "", "cannot write no/such/folder: No such file");
}
END_TEST

START_TEST(command_lines_that_make_no_sense) {
    static const char *const lines[][2] = {
        {"--import", "tune wants -o FILE"},
        {"--import x.json", "tune wants -o FILE"},
        {"--import -o x", "--import wants files of results"},
        {"--import x.json --shape 1x1x1 -o x", "--import wants files of results"},
        {"--import x.json --layout tn -o x", "--import takes types, layout and epilogue from the results"},
        {"--import x.json --epilogue general -o x", "--import takes types, layout and epilogue"},
        {"--import x.json --top 0 -o x", "--top is 1 to 63"},
        {"--import x.json --rounds 3 -o x", "--rounds says nothing with --import"},
        {"--import x.json --no-baseline -o x", "--no-baseline says nothing with --import"},
        {"--merge a b --device h200 -o x", "--device says nothing with --merge"},
        {"--merge a b -o x --top=3", "--top says nothing with --merge"},
        {"--check x --settle 0", "--settle says nothing with --check"},
        {"--import a b --merge -o x", "--merge wants two ledgers"},
        {"--check x --import", "--check FILE goes with"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        expect_refusal(command_tune, lines[i][0], lines[i][1]);
}
END_TEST

TCase *tune_import_refused_tests(void) {
    TCase *tests = tcase_create("tune import refused");
    tcase_add_checked_fixture(tests, import_set_up, import_tear_down);
    tcase_add_test(tests, rows_that_cannot_be_chosen_are_counted);
    tcase_add_test(tests, without_the_models_pick_there_is_no_entry);
    tcase_add_test(tests, results_of_another_kind_are_refused);
    tcase_add_test(tests, results_of_another_device_are_refused);
    tcase_add_test(tests, a_file_that_cannot_be_written_is_a_failure);
    tcase_add_test(tests, command_lines_that_make_no_sense);
    return tests;
}
