/* SPDX-License-Identifier: Apache-2.0 */
/* Results files read again and compared. */
#include "bench_tests.h"
#include "cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/commands.h"
#include "invented.h"
#include "bench/report/results_read.h"
#include "run_command.h"
#include "program/base/messages.h"

#define OLD "bench-tests-out/old.json"
#define NEW "bench-tests-out/new.json"

static struct bench_results results;

static void set_up(void) {
    results = (struct bench_results){0};
    invent_results(&results, "gemm-quick");
    write_invented(&results, OLD);
}

static void tear_down(void) {
    results_free(&results);
}

/* ---- reading ---------------------------------------------------------------------------------------- */

START_TEST(what_is_read_is_what_was_written) {
    struct bench_results again;
    ck_assert_int_eq(results_read_json(&again, OLD), 0);
    ck_assert_uint_eq(again.count, results.count);
    write_invented(&again, NEW);
    char *first = read_all(OLD), *second = read_all(NEW);
    ck_assert_msg(strcmp(first, second) == 0, "%s and %s differ", OLD, NEW);
    free(first);
    free(second);
    results_free(&again);
}
END_TEST

/* The file with one text in place of another, and what the program says of it. */
static void spoil(const char *from, const char *to, const char *sentence) {
    char *text = read_all(OLD), *at = strstr(text, from);
    ck_assert_msg(at != NULL, "no %s in the file", from);
    FILE *out = fopen(NEW, "w");
    fprintf(out, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    fclose(out);
    free(text);
    struct outcome got = run_command(command_bench, "--compare " OLD " " NEW);
    ck_assert_msg(got.code == EXIT_CODE_FAILURE, "%s for %s: exit code %d", to, from, got.code);
    ck_assert_msg(strstr(got.err, sentence) != NULL, "%s for %s: %s", to, from, got.err);
    ck_assert_ptr_eq(strchr(got.err, '\n'), got.err + strlen(got.err) - 1);
    forget_outcome(&got);
}

START_TEST(broken_files_are_told) {
    spoil("{\n", "[\n", "new.json:");
    spoil("\"rows\"", "\"points\"", "holds no results of gristmill bench");
    spoil("\"gpu\": \"NVIDIA H200\"", "\"gpu\": null", "meta: `gpu` is not a text");
    spoil("\"suite\": \"gemm-quick\"", "\"experiment\": \"x\"", "meta: `suite` is not a text");
    spoil("\"ceilings\": {", "\"other\": {", "meta: `ceilings` is not an object");
    spoil("\"rounds\": 7", "\"rounds\": 0", "meta: `rounds` is not a whole number");
    spoil("\"l2\": \"cold\"", "\"l2\": \"warm\"", "meta: `l2` is not what");
    spoil("\"m\": 4096", "\"m\": \"many\"", "row 0: `m` is not a whole number");
    spoil("\"watts\": 690", "\"watts\": \"x\"", "row 0: `watts` is not a number");
    spoil("\"us\": ", "\"x\": ", "row 0: `us` is not a time");
    spoil("\"us_rounds\": [", "\"us_rounds\": [0, ", "row 0: `us_rounds` is not an array of times");
    spoil("\"best_us_rounds\": [", "\"best_us_rounds\": 1, \"x\": [", "row 0: `best_us_rounds` is not an array");
    spoil(
        "\"tflops\": ", "\"tflops\": 1e-308, \"x\": ", "row 0: `tflops` is not of a size that a measurement may have");
    spoil("\"tflops_per_watt\": ", "\"tflops_per_watt\": 1e308, \"x\": ", "row 0: `tflops_per_watt` is not of a size");
    spoil(
        "\"ratio_best_p10\": ", "\"ratio_best_p10\": -1e17, \"x\": ", "`ratio_best_p10` is not a number of 0 or more");
    spoil("\"us_rounds\": [", "\"us_rounds\": [1e-19, ", "row 0: `us_rounds` is not of a size");
    spoil("\"read_gbs\": ", "\"read_gbs\": 1e19, \"x\": ", "meta: `read_gbs` is not of a size");
    spoil("\"throttle\": \"power\"", "\"throttle\": \"123456789012345678901234567890\"", "`throttle` is not a text");
}
END_TEST

START_TEST(files_that_are_not_there) {
    struct outcome got = run_command(command_bench, "--compare " OLD " bench-tests-out/none.json");
    ck_assert_int_eq(got.code, EXIT_CODE_FAILURE);
    ck_assert_ptr_nonnull(strstr(got.err, "none.json"));
    forget_outcome(&got);
    got = run_command(command_bench, "--compare bench-tests-out/none.json " OLD);
    ck_assert_int_eq(got.code, EXIT_CODE_FAILURE);
    ck_assert_ptr_nonnull(strstr(got.err, "none.json"));
    forget_outcome(&got);
    results.count = 0;
    write_invented(&results, NEW);
    got = run_command(command_bench, "--compare " OLD " " NEW);
    ck_assert_int_eq(got.code, EXIT_CODE_FAILURE);
    ck_assert_ptr_nonnull(strstr(got.err, "new.json has no rows"));
    forget_outcome(&got);
}
END_TEST

START_TEST(older_files_were_cold_and_knew_neither_joules_nor_times_alone) {
    struct bench_results older;
    char *text = read_all(OLD);
    static const char *const keys[] = {"\"l2\": ",          "\"energy_s\": ",      "\"ours_joules\": ",
                                       "\"best_joules\": ", "\"ours_alone_us\": ", "\"best_alone_us\": ",
                                       "\"ratio_alone\": "};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        for (char *at; (at = strstr(text, keys[i])) != NULL;)
            at[1] = '_';
    }
    FILE *out = fopen(NEW, "w");
    fputs(text, out);
    fclose(out);
    free(text);
    ck_assert_int_eq(results_read_json(&older, NEW), 0);
    ck_assert_str_eq(results_l2(&older.meta), "cold");
    ck_assert(isnan(older.rows[0].ours_joules));
    ck_assert(isnan(older.rows[0].ours_alone_us) && isnan(older.rows[0].ratio_alone));
    ck_assert_double_eq(older.meta.energy_s, 0);
    results_free(&older);
}
END_TEST

/* ---- comparing -------------------------------------------------------------------------------------- */

static void slow_down(struct bench_row *row, double factor) {
    for (size_t i = 0; i < row->ours.count; i++)
        row->ours.us[i] *= factor;
    results_fill(row);
}

static struct outcome compare(const char *more) {
    char line[256];
    write_invented(&results, NEW);
    snprintf(line, sizeof line, "--compare " OLD " " NEW "%s", more);
    return run_command(command_bench, line);
}

START_TEST(the_same_results_are_the_same) {
    struct outcome got = compare(" --fail-below 0.999");
    ck_assert_int_eq(got.code, EXIT_CODE_OK);
    ck_assert_str_eq(got.err, "");
    ck_assert_ptr_nonnull(strstr(got.out, "14 problems   old / new 1.000"));
    ck_assert_ptr_nonnull(strstr(got.out, "; 0 of 14 kernels changed"));
    ck_assert_ptr_null(strstr(got.out, "only in"));
    forget_outcome(&got);
}
END_TEST

START_TEST(what_fell_is_told_when_asked) {
    slow_down(&results.rows[3], 1.25);
    snprintf(results.rows[3].kernel, sizeof results.rows[3].kernel, "gemm_other");
    struct outcome got = compare("");
    ck_assert_int_eq(got.code, EXIT_CODE_OK);
    ck_assert_ptr_nonnull(strstr(got.out, " 0.800     +25.0     "));
    ck_assert_ptr_nonnull(strstr(got.out, "_w2_sw128 → gemm_other"));
    ck_assert_ptr_nonnull(strstr(got.out, "; 1 of 14 kernels changed"));
    ck_assert_ptr_nonnull(strstr(got.out, "lowest 0.800"));
    forget_outcome(&got);
    got = compare(" --fail-below 0.97");
    ck_assert_int_eq(got.code, EXIT_CODE_FAILURE);
    ck_assert_ptr_nonnull(strstr(got.err, "1 of 14 problems fell below 0.97 of their old speed; the worst is 1 x 28672 "
                                          "x 4096 with 0.800"));
    forget_outcome(&got);
}
END_TEST

START_TEST(the_fastest_kernel_of_each_counts) {
    struct bench_row *row = results_add(&results);
    *row = results.rows[0];
    slow_down(row, 2);
    struct outcome got = compare(" --fail-below 0.9");
    ck_assert_int_eq(got.code, EXIT_CODE_OK);
    forget_outcome(&got);
}
END_TEST

START_TEST(rows_of_one_file_only_are_listed) {
    gemm_of(&results.rows[1].problem)->k = 8193;
    struct outcome got = compare("");
    ck_assert_int_eq(got.code, EXIT_CODE_OK);
    ck_assert_ptr_nonnull(strstr(got.out, "only in the old results:\n  8192 × 8192 × 8192 bf16 tn\n"));
    ck_assert_ptr_nonnull(strstr(got.out, "only in the new results:\n  8192 × 8192 × 8193 bf16 tn\n"));
    forget_outcome(&got);
    for (size_t i = 0; i < results.count; i++)
        gemm_of(&results.rows[i].problem)->a_major = gemm_of(&results.rows[i].problem)->b_major = GM_MN_MAJOR;
    got = compare("");
    ck_assert_int_eq(got.code, EXIT_CODE_FAILURE);
    ck_assert_ptr_nonnull(strstr(got.err, "no problem in common"));
    forget_outcome(&got);
}
END_TEST

START_TEST(cold_and_warm_are_not_compared) {
    results.meta.rotate_l2 = 0;
    struct outcome got = compare("");
    ck_assert_int_eq(got.code, EXIT_CODE_FAILURE);
    ck_assert_str_eq(got.out, "");
    ck_assert_ptr_nonnull(strstr(got.err, "L2 cold and of L2 warm cannot be compared"));
    forget_outcome(&got);
}
END_TEST

TCase *compare_tests(void) {
    TCase *tests = tcase_create("compare");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, what_is_read_is_what_was_written);
    tcase_add_test(tests, broken_files_are_told);
    tcase_add_test(tests, files_that_are_not_there);
    tcase_add_test(tests, older_files_were_cold_and_knew_neither_joules_nor_times_alone);
    tcase_add_test(tests, the_same_results_are_the_same);
    tcase_add_test(tests, what_fell_is_told_when_asked);
    tcase_add_test(tests, the_fastest_kernel_of_each_counts);
    tcase_add_test(tests, rows_of_one_file_only_are_listed);
    tcase_add_test(tests, cold_and_warm_are_not_compared);
    return tests;
}
