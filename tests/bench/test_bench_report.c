/* SPDX-License-Identifier: Apache-2.0 */
/* Rows from invented times; the results file, the terminal lines and the plot made of them. */
#include "bench_tests.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "invented.h"
#include "bench/report/report.h"

static const char folder[] = "bench_tests_out";

START_TEST(a_row_is_made_of_paired_rounds) {
    struct bench_results results = {0};
    struct bench_row *row = results_add(&results);
    row->problem = gemm_case(1000, 1000, 1000);
    row->ours = (struct bench_samples){.us = {10, 20, 40}, .count = 3};
    row->best = (struct bench_samples){.us = {9, 22, 40}, .count = 3};
    row->baseline_default = (struct bench_samples){.us = {20, 40, 80}, .count = 3};
    row->best_way = 5;
    results_fill(row);
    ck_assert_double_eq_tol(row->us.median, 20, 1e-9);
    ck_assert_double_eq_tol(row->ratio_best.median, 1.0, 1e-9);
    ck_assert_double_eq_tol(row->ratio_default.median, 2.0, 1e-9);
    ck_assert_double_eq_tol(row->tflops, 100, 1e-9);
    ck_assert_double_eq_tol(row->gbs, 300, 1e-9);
    ck_assert_int_eq(row->best_way, 5);
    row->baseline_default =
        (struct bench_samples){.us = {5, 5, 5}, .count = 3}; /* the default beats what the search had picked */
    results_fill(row);
    ck_assert_int_eq(row->best_way, 0);
    ck_assert_double_eq_tol(row->best_us.median, 5, 1e-9);
    results_free(&results);
}
END_TEST

START_TEST(without_a_baseline_there_is_no_ratio) {
    struct bench_results results = {0};
    struct bench_row *row = results_add(&results);
    row->problem = gemm_case(1, 1, 1);
    row->ours = (struct bench_samples){.us = {10}, .count = 1};
    results_fill(row);
    ck_assert(isnan(row->ratio_best.median));
    ck_assert(isnan(row->best_us.median));
    ck_assert_int_eq(row->best_way, -1);
    results_free(&results);
}
END_TEST

START_TEST(floors_and_files) {
    struct bench_results results = {0};
    char path[256];
    invent_results(&results, "gemm-quick");
    const struct bench_row *row = &results.rows[0];
    ck_assert_double_gt(results.meta.ceilings.tensor_tflops, 600);
    double floor = case_work(&row->problem).flops / results.meta.ceilings.tensor_tflops * 1e-6 + 1.4;
    ck_assert_double_eq_tol(row->floor_us, floor, 1e-6);
    ck_assert_int_eq(results_path(path, sizeof path, "bench_tests_out/{gpu}/{suite}.json", &results.meta), 0);
    ck_assert_str_eq(path, "bench_tests_out/h200/gemm-quick.json");
    ck_assert_int_eq(results_write_json(&results, path), 0);
    char *text = read_all(path);
    ck_assert_ptr_nonnull(strstr(text, "\"ratio_best\": "));
    ck_assert_ptr_nonnull(strstr(text, "\"ratio_alone\": "));
    ck_assert_ptr_null(strstr(text, "\"ratio_alone\": null"));
    ck_assert_ptr_nonnull(strstr(text, "\"baseline\": \"cuBLASLt 13.1.0\""));
    free(text);
    ck_assert_int_eq(results_path(path, sizeof path, "bench_tests_out/{gpu}/{suite}.svg", &results.meta), 0);
    ck_assert_int_eq(report_svg(&results, path), 0);
    text = read_all(path);
    ck_assert_ptr_nonnull(strstr(text, "16384 × 16384 × 16384"));
    ck_assert_ptr_nonnull(strstr(text, "</svg>"));
    free(text);
    results_free(&results);
}
END_TEST

START_TEST(lines_of_the_terminal_have_one_width) {
    struct bench_results results = {0};
    invent_results(&results, "gemm-bf16");
    char path[256];
    snprintf(path, sizeof path, "%s.txt", folder);
    FILE *out = fopen(path, "w");
    report_header(out, &results.meta);
    for (size_t i = 0; i < results.count; i++)
        report_row(out, &results.meta, &results.rows[i]);
    report_summary(out, &results);
    fclose(out);
    char *text = read_all(path);
    ck_assert_ptr_nonnull(strstr(text, "geometric means"));
    ck_assert_ptr_nonnull(strstr(text, "64 < M ≤ 512"));
    ck_assert_ptr_nonnull(strstr(text, "× alone is to the best too, each by itself"));
    free(text);
    results_free(&results);
}
END_TEST

START_TEST(a_ratio_alone_needs_both_times) {
    struct bench_results results = {0};
    struct bench_row *row = results_add(&results);
    row->problem = gemm_case(1, 1, 1);
    ck_assert(isnan(row->ours_alone_us) && isnan(row->ratio_alone));
    results_fill_alone(row, 10, 9);
    ck_assert_double_eq_tol(row->ratio_alone, 0.9, 1e-9);
    results_fill_alone(row, 10, 0);
    ck_assert(row->ours_alone_us == 10 && isnan(row->best_alone_us) && isnan(row->ratio_alone));
    results_free(&results);
}
END_TEST

/* The summary of one problem, in which both had the same times by turns. */
static char *summary_of(double best_alone_us) {
    struct bench_results results = {.meta = {.baseline = "cuBLASLt 13.1.0", .energy_s = 0.4}};
    char path[256];
    struct bench_row *row = results_add(&results);
    row->problem = gemm_case(1, 1, 1);
    row->ours = row->best = row->baseline_default = (struct bench_samples){.us = {10}, .count = 1};
    results_fill(row);
    results_fill_alone(row, 10, best_alone_us);
    snprintf(path, sizeof path, "%s.txt", folder);
    FILE *out = fopen(path, "w");
    report_summary(out, &results);
    fclose(out);
    results_free(&results);
    return read_all(path);
}

START_TEST(a_summary_has_the_mean_alone_where_there_is_one) {
    char *text = summary_of(9);
    ck_assert_ptr_nonnull(strstr(text, "× best 1.000   × alone 0.900\n"));
    ck_assert_ptr_nonnull(strstr(text, "each by itself\n  for 0.4 s"));
    free(text);
    text = summary_of(NAN);
    ck_assert_ptr_nonnull(strstr(text, "lowest × best 1.000\n"));
    ck_assert_ptr_null(strstr(text, "alone"));
    free(text);
}
END_TEST

START_TEST(names_of_gpus) {
    char slug[32];
    results_fill_name(slug, sizeof slug, "NVIDIA H100 80GB HBM3");
    ck_assert_str_eq(slug, "h100-80gb-hbm3");
    results_fill_name(slug, sizeof slug, "NVIDIA A100-SXM4-80GB");
    ck_assert_str_eq(slug, "a100-sxm4-80gb");
}
END_TEST

START_TEST(only_the_fastest_kernel_of_a_problem_counts) {
    struct bench_results results = {0};
    size_t index[3];
    const double times[] = {3, 2, 9};
    for (int i = 0; i < 3; i++) {
        struct bench_row *row = results_add(&results);
        row->problem = gemm_case(i < 2 ? 7 : 8, 1, 1);
        row->us.median = times[i];
    }
    ck_assert_uint_eq(results_fastest(&results, index), 2);
    ck_assert_uint_eq(index[0], 1);
    ck_assert_uint_eq(index[1], 2);
    results_free(&results);
}
END_TEST

TCase *report_tests(void) {
    TCase *tests = tcase_create("report");
    tcase_add_test(tests, a_row_is_made_of_paired_rounds);
    tcase_add_test(tests, without_a_baseline_there_is_no_ratio);
    tcase_add_test(tests, floors_and_files);
    tcase_add_test(tests, lines_of_the_terminal_have_one_width);
    tcase_add_test(tests, a_ratio_alone_needs_both_times);
    tcase_add_test(tests, a_summary_has_the_mean_alone_where_there_is_one);
    tcase_add_test(tests, names_of_gpus);
    tcase_add_test(tests, only_the_fastest_kernel_of_a_problem_counts);
    return tests;
}
