/* SPDX-License-Identifier: Apache-2.0 */
/* Runs in parts: --m, --append; cold and warm; and command lines of the bench that make no sense. */
#include "bench_tests.h"
#include "cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/bench.h"
#include "program/commands.h"
#include "fake_gpu.h"
#include "bench/report/results_read.h"
#include "run_command.h"

#define PATH  "bench-tests-out/parts.json"
#define PARTS "--shape 40x48x64 --shape 80x48x64 --shape 8x48x64 --no-baseline --quick --json " PATH " "

static void set_up(void) {
    fake_gpu_install((struct fake_gpu){.m = 40, .n = 48, .k = 64, .ours_us = 10, .refused_heuristic = -1});
    unlink(PATH);
}

static void tear_down(void) {
    fake_gpu_remove();
}

static void expect_rows(const char *order) {
    struct bench_results results;
    char got[64] = "";
    ck_assert_int_eq(results_read_json(&results, PATH), 0);
    for (size_t i = 0; i < results.count; i++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%d", i ? " " : "",
                 (int)case_axis(&results.rows[i].problem));
    ck_assert_str_eq(got, order);
    results_free(&results);
}

static void run(const char *line, int code, const char *words) {
    struct outcome got = run_command(command_bench, line);
    ck_assert_msg(got.code == code, "%s: exit code %d: %s", line, got.code, got.err);
    ck_assert_msg(strstr(got.err, words) != NULL, "%s: %s", line, got.err);
    forget_outcome(&got);
}

START_TEST(parts_of_a_suite_stand_in_its_order) {
    run(PARTS "--append --m 80:", 0, "");
    expect_rows("80");
    run(PARTS "--append --m :39", 0, "");
    expect_rows("80 8");
    run(PARTS "--append", 0, "2 problems were in the file already and were not measured again.");
    expect_rows("40 80 8");
    char *text = read_all(PATH);
    ck_assert_ptr_nonnull(strstr(text, " --m 80:; gristmill bench "));
    free(text);
    run(PARTS "--append", 0, "3 problems were in the file already");
    run(PARTS "--m 40", 0, ""); /* without --append the file is a new one */
    expect_rows("40");
}
END_TEST

START_TEST(parts_of_another_kind_are_refused) {
    run(PARTS "--m 40", 0, "");
    run(PARTS "--append --l2 warm", 1, "cannot be appended to; it differs in the L2: cold, now warm");
    run(PARTS "--append --rounds 4", 1, "differs in the rounds: 3, now 4");
    run(PARTS "--append --energy 0.01", 1, "differs in the seconds of energy: 0, now 0.01");
    run(PARTS "--append --workspace 1", 1, "differs in the bytes of workspace: 6.71089e+07, now 1.04858e+06");
    run("gemm-quick --no-baseline --quick --append --json " PATH, 1, "differs in the suite: custom, now gemm-quick");
    FILE *out = fopen(PATH, "w");
    fputs("{}\n", out);
    fclose(out);
    run(PARTS "--append", 1, "holds no results of gristmill bench");
}
END_TEST

START_TEST(a_run_is_compared_with_an_older_one) {
    run(PARTS, 0, "");
    struct outcome got = run_command(command_bench, "--shape 40x48x64 --no-baseline --quick --compare " PATH
                                                    " --report bench-tests-out/run.html");
    ck_assert_int_eq(got.code, 0);
    ck_assert_ptr_nonnull(strstr(got.out, "only in the old results:\n  80 × 48 × 64 bf16 tn\n"));
    ck_assert_ptr_nonnull(strstr(got.out, "bench-tests-out/run.html\n"));
    forget_outcome(&got);
    fake.ours_us = 20;
    run("--shape 40x48x64 --no-baseline --quick --fail-below 0.9 --compare " PATH, 1, "1 of 1 problems fell below 0.9");
    run("--shape 40x48x64 --no-baseline --quick --l2 warm --compare " PATH, 1, "cannot be compared");
    run("--shape 40x48x64 --no-baseline --quick --compare bench-tests-out/none.json", 1, "none.json");
}
END_TEST

START_TEST(warm_is_one_set_and_said) {
    struct outcome got = run_command(command_bench, PARTS "--m 40 --l2 warm");
    ck_assert_int_eq(got.code, 0);
    ck_assert_ptr_nonnull(strstr(got.out, "L2 warm: one set of operands"));
    forget_outcome(&got);
    char *text = read_all(PATH);
    ck_assert_ptr_nonnull(strstr(text, "\"l2\": \"warm\""));
    ck_assert_ptr_nonnull(strstr(text, "\"rotated_over_l2\": 0,"));
    free(text);
    struct gpu gpu;
    struct noise noise = {0};
    struct operands operands;
    const struct bench_case problem = gemm_case(40, 48, 64);
    ck_assert_int_eq(gpu_open(&gpu, 0), 0);
    ck_assert_int_eq(operands_make(&gpu, &operands, &gemm_bench, problem.problem.bytes, &noise, 0, 1), 0);
    ck_assert_int_eq(operands.sets, 1);
    operands_free(&gpu, &operands);
    noise_free(&gpu, &noise);
    gpu_close(&gpu);
}
END_TEST

START_TEST(lines_that_make_no_sense) {
    static const struct {
        const char *line, *words;
    } lines[] = {
        {"--l2 hot", "--l2 is cold or warm"},
        {"--m 0:4", "--m wants MIN:MAX"},
        {"--m 5:4", "--m wants MIN:MAX"},
        {"--m :", "--m wants MIN:MAX"},
        {"--m 4:x", "--m wants MIN:MAX"},
        {"--m -1:3", "--m wants MIN:MAX"},
        {"--m 1:2:3", "--m wants MIN:MAX"},
        {"--shape 40x48x64 --m 41:", "no problem of custom has its M in 41:"},
        {"--append", "--append adds to the file of --json"},
        {"--fail-below 0.9", "--fail-below is about --compare"},
        {"--profile --json x", "--profile measures nothing"},
        {"--profile --quick", "--profile takes no times"},
        {"--profile --energy 0", "--profile takes no times"},
        {"--no-baseline --svg x.svg", "--no-baseline leaves it out"},
        {"--no-baseline --cublaslt x.so", "--no-baseline leaves out the baseline that --cublaslt names"},
        {"--report x.html y.json --json z.json", "--json says nothing with results files"},
        {"--report x.html y.json --kernel=*", "--kernel says nothing with results files"},
        {"--compare x.json y.json --rounds 3", "--rounds says nothing with results files"},
        {"x.json", "x.json is a results file: it needs --report, --compare or --svg"},
        {"gemm-quick x.json --report y", "not both"},
        {"--compare x.json y.json z.json", "takes one file to compare it with, not 2"},
        {"--report x.html --svg y.svg z.json", "{chart}"},
        {"--compare x.json --svg {chart}.svg z.json",
         "--svg draws what is measured, one RESULT, or what --report shows"},
        {"--svg y.svg x.json z.json", "--svg draws one results file, not 2"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        expect_refusal(command_bench, lines[i].line, lines[i].words);
}
END_TEST

/* Options that ask for what a prediction does not have: each is named, nothing is printed, no file is written. */
START_TEST(what_was_not_measured_is_refused) {
    static const char *const lines[][2] = {
        {"--json x.json", "nothing was measured, so there is no x.json: NVIDIA H200 is a model"},
        {"--json x.json --append", "so there is no x.json"},
        {"--svg x.svg --report x.html", "so there is no x.svg"},
        {"--svg x.svg --report x.html", "so there is no x.html"},
        {"--compare " PATH " --fail-below 0.9", "so there is no comparison with " PATH},
        {"--profile", "so there is no launch for --profile"},
        {"--all-kernels", "so there is no row for --all-kernels"},
        {"--cublaslt x.so", "so there is no baseline of x.so"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char line[200];
        snprintf(line, sizeof line, "--device h200 --shape 40x48x64 %s", lines[i][0]);
        struct outcome got = run_command(command_bench, line);
        ck_assert_int_eq(got.code, 1);
        ck_assert_str_eq(got.out, "");
        ck_assert_msg(strstr(got.err, lines[i][1]) != NULL, "%s: %s", line, got.err);
        forget_outcome(&got);
    }
    ck_assert_int_ne(access("x.json", F_OK), 0);
}
END_TEST

START_TEST(a_run_without_a_row_writes_nothing) {
    run("--shape 40x48x64 --dtype fp16 --kernel *bf16* --no-baseline --quick --json " PATH " --report x.html", 1,
        "nothing was measured, so there is no " PATH ": no problem gave a row");
    ck_assert_int_ne(access(PATH, F_OK), 0);
    ck_assert_int_ne(access("x.html", F_OK), 0);
}
END_TEST

TCase *resume_tests(void) {
    TCase *tests = tcase_create("resume");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, parts_of_a_suite_stand_in_its_order);
    tcase_add_test(tests, parts_of_another_kind_are_refused);
    tcase_add_test(tests, a_run_is_compared_with_an_older_one);
    tcase_add_test(tests, warm_is_one_set_and_said);
    tcase_add_test(tests, lines_that_make_no_sense);
    tcase_add_test(tests, what_was_not_measured_is_refused);
    tcase_add_test(tests, a_run_without_a_row_writes_nothing);
    return tests;
}
