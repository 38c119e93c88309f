/* SPDX-License-Identifier: Apache-2.0 */
/* Rows from invented times; the results file, the terminal lines and the plot made of them. */
#include "bench_tests.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report.h"
#include "say.h"

static const char folder[] = "bench_tests_out";

/* A little more than the planner would say, and a baseline that is now faster, now slower. */
static void invent(struct bench_row *row, int seed) {
    double flops = results_flops(&row->problem), bytes = results_least_bytes(&row->problem);
    double base = fmax(flops / 720e6, bytes / 4.4e6) + 2;
    snprintf(row->kernel, sizeof row->kernel, "gemm_sm90_bf16_tn_128x256x64_s4_c2x1_w2_sw128");
    for (int i = 0; i < 7; i++) {
        double wobble = 1 + 0.004 * ((i * 5 + seed * 3) % 7 - 3);
        row->ours.us[i] = base * wobble;
        row->best.us[i] = base * (0.82 + 0.04 * (seed * 5 % 8)) * (2 - wobble);
        row->fallback.us[i] = row->best.us[i] * 1.05;
    }
    row->ours.count = row->best.count = row->fallback.count = 7;
    row->best_heuristic = 3;
    row->heuristics = 8;
    row->sm_mhz = 1560;
    row->watts = 690;
    snprintf(row->throttle, sizeof row->throttle, "%s", seed % 3 ? "" : "power");
    results_fill(row);
}

static void invent_results(struct bench_results *results, const char *suite_name) {
    struct bench_suite suite = {0};
    struct bench_meta *meta = &results->meta;
    ck_assert_int_eq(suite_load(&suite, suite_name), 0);
    meta->device.size = sizeof meta->device;
    ck_assert_int_eq(gm_device_model("h200", &meta->device), GM_OK);
    snprintf(meta->gpu, sizeof meta->gpu, "NVIDIA H200");
    results_fill_name(meta->slug, sizeof meta->slug, meta->gpu);
    snprintf(meta->suite, sizeof meta->suite, "%s", suite.name);
    snprintf(meta->baseline, sizeof meta->baseline, "cuBLASLt 13.1.0");
    snprintf(meta->driver, sizeof meta->driver, "580.00 (CUDA 13.0)");
    snprintf(meta->date, sizeof meta->date, "2000-01-01");
    meta->rounds = 7;
    meta->heuristics_asked = 32;
    meta->ceilings = (struct bench_ceilings){.copy_gbs = 4270,
                                             .write_gbs = 4340,
                                             .read_gbs = 4640,
                                             .launch_us = 1.4,
                                             .read_source = "invented",
                                             .launch_source = "invented"};
    for (size_t i = 0; i < suite.count; i++) {
        struct bench_row *row = results_add(results);
        ck_assert_ptr_nonnull(row);
        row->problem = suite.cases[i];
        invent(row, (int)i);
    }
    results_floors(results);
    suite_free(&suite);
}

START_TEST(a_row_is_made_of_paired_rounds) {
    struct bench_results results = {0};
    struct bench_row *row = results_add(&results);
    row->problem = (struct bench_case){
        .op = "gemm", .a = "bf16", .b = "bf16", .d = "bf16", .layout = "tn", .m = 1000, .n = 1000, .k = 1000};
    row->ours = (struct bench_samples){{10, 20, 40}, 3};
    row->best = (struct bench_samples){{9, 22, 40}, 3};
    row->fallback = (struct bench_samples){{20, 40, 80}, 3};
    row->best_heuristic = 5;
    results_fill(row);
    ck_assert_double_eq_tol(row->us.median, 20, 1e-9);
    ck_assert_double_eq_tol(row->ratio_best.median, 1.0, 1e-9);
    ck_assert_double_eq_tol(row->ratio_default.median, 2.0, 1e-9);
    ck_assert_double_eq_tol(row->tflops, 100, 1e-9);
    ck_assert_double_eq_tol(row->gbs, 300, 1e-9);
    ck_assert_int_eq(row->best_heuristic, 5);
    row->fallback = (struct bench_samples){{5, 5, 5}, 3}; /* the default beats what the search had picked */
    results_fill(row);
    ck_assert_int_eq(row->best_heuristic, 0);
    ck_assert_double_eq_tol(row->best_us.median, 5, 1e-9);
    results_free(&results);
}
END_TEST

START_TEST(without_a_baseline_there_is_no_ratio) {
    struct bench_results results = {0};
    struct bench_row *row = results_add(&results);
    row->problem = (struct bench_case){.a = "bf16", .b = "bf16", .d = "bf16", .m = 1, .n = 1, .k = 1};
    row->ours = (struct bench_samples){{10}, 1};
    results_fill(row);
    ck_assert(isnan(row->ratio_best.median));
    ck_assert(isnan(row->best_us.median));
    ck_assert_int_eq(row->best_heuristic, -1);
    results_free(&results);
}
END_TEST

START_TEST(floors_and_files) {
    struct bench_results results = {0};
    char path[256];
    invent_results(&results, "gemm-quick");
    const struct bench_row *row = &results.rows[0];
    ck_assert_double_gt(results.meta.ceilings.tensor_tflops, 600);
    double floor = results_flops(&row->problem) / results.meta.ceilings.tensor_tflops * 1e-6 + 1.4;
    ck_assert_double_eq_tol(row->floor_us, floor, 1e-6);
    ck_assert_int_eq(results_path(path, sizeof path, "bench_tests_out/{gpu}/{suite}.json", &results.meta), 0);
    ck_assert_str_eq(path, "bench_tests_out/h200/gemm-quick.json");
    ck_assert_int_eq(results_write_json(&results, path), 0);
    char *text = read_all(path);
    ck_assert_ptr_nonnull(strstr(text, "\"ratio_best\": "));
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
    report_header(out);
    for (size_t i = 0; i < results.count; i++)
        report_row(out, &results.rows[i]);
    report_summary(out, &results);
    fclose(out);
    char *text = read_all(path);
    ck_assert_ptr_nonnull(strstr(text, "geometric means"));
    ck_assert_ptr_nonnull(strstr(text, "64 < M ≤ 512"));
    free(text);
    results_free(&results);
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
        row->problem = (struct bench_case){.op = "gemm", .m = i < 2 ? 7 : 8, .n = 1, .k = 1};
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
    tcase_add_test(tests, names_of_gpus);
    tcase_add_test(tests, only_the_fastest_kernel_of_a_problem_counts);
    return tests;
}
