/* SPDX-License-Identifier: Apache-2.0 */
/* Nsight Compute's CSV, and the program that prints it, played by a script. */
#include "bench_tests.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/profiler.h"
#include "lab/runner.h"
#include "toy_lab.h"

#define PREAMBLE                                                                                                       \
    "==PROF== Connected to process 4242 (/usr/bin/gristmill)\n"                                                        \
    "==PROF== Profiling \"lab_squares\" - 0: 0%....50%....100% - 2 passes\n"                                           \
    "==PROF== Profiling \"lab_squares\" - 1: 0%....50%....100% - 2 passes\n"                                           \
    "==PROF== Disconnected from process 4242\n"
#define NAMES                                                                                                          \
    "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\"Block Size\","      \
    "\"Grid Size\",\"Device\",\"CC\",\"" LAB_CONFLICTS_LD "\",\"" LAB_WAVEFRONTS_LD "\",\"" LAB_WAVEFRONTS_ST "\"\n"   \
    "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"block\",\"grid\",\"\",\"\",\"\",\"\",\"\"\n"
#define ROW(id, kernel, conflicts, loads, stores)                                                                      \
    "\"" id "\",\"4242\",\"gristmill\",\"127.0.0.1\",\"" kernel "\",\"1\",\"13\",\"(32, 1, 1)\",\"(1, 1, 1)\",\"0\","  \
    "\"9.0\",\"" conflicts "\",\"" loads "\",\"" stores "\"\n"
#define TABLE                                                                                                          \
    PREAMBLE NAMES ROW("0", "lab_squares", "31", "1,980,000", "0") ROW("1", "lab_squares", "62", "1,000,000", "980,000")

static struct runner runner;
static struct lab *lab;
static char why[320];

static void set_up(void) {
    toy_install();
    ck_assert_int_eq(runner_open(&runner, &toy_squares, 0, false), RUNNER_READY);
    lab = runner.lab;
    why[0] = 0;
}

static void tear_down(void) {
    runner_close(&runner);
    toy_remove();
}

static int read_text(const char *text) {
    char *copy = strdup(text);
    int status = profiler_read(lab, copy, why, sizeof why);
    free(copy);
    return status;
}

static double counted(size_t point, size_t quantity) {
    return lab->points[point].quantities[quantity].counted;
}

START_TEST(rows_are_matched_to_points_in_order) {
    ck_assert_int_eq(read_text(TABLE), 0);
    ck_assert(counted(0, 0) == 31 && counted(1, 0) == 62);
    ck_assert(counted(0, 1) == 1980000 && counted(1, 1) == 1980000); /* two metrics added up */
    ck_assert_str_eq(why, "");
}
END_TEST

START_TEST(a_table_with_carriage_returns_and_cpp_names) {
    ck_assert_int_eq(read_text("\"ID\",\"Kernel Name\",\"" LAB_CONFLICTS_LD "\"\r\n\"\",\"\",\"\"\r\n"
                               "\"0\",\"lab_squares(int *, \"\"x\"\")\",\"31\"\r\n0,lab_squares,5\r\n"
                               "\"1\",\"lab_squares\",\"62\"\r\n"),
                     0);
    ck_assert(counted(0, 0) == 31 && counted(1, 0) == 62);
}
END_TEST

START_TEST(a_metric_that_this_gpu_lacks_is_no_number) {
    ck_assert_int_eq(read_text(NAMES ROW("0", "lab_squares", "n/a", "7", "n/a") ROW("1", "lab_squares", "62", "", "")),
                     0);
    ck_assert(isnan(counted(0, 0)) && isnan(counted(0, 1)) && counted(1, 0) == 62 && isnan(counted(1, 1)));
    ck_assert_int_eq(read_text("\"ID\",\"Kernel Name\"\n\"\",\"\"\n\"0\",\"lab_squares\"\n\"1\",\"lab_squares\"\n"), 0);
    ck_assert(isnan(counted(0, 0)));
}
END_TEST

START_TEST(what_does_not_fit_counts_nothing) {
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"", "printed no table"},
        {PREAMBLE "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance\n",
         "may not read the GPU's counters (ERR_NVGPUCTRPERM)"},
        {"==ERROR== Failed to find metric l1tex__nonsense.sum\n", "failed: Failed to find metric l1tex__nonsense.sum"},
        {"==WARNING== No kernels were profiled.\ngristmill: cuInit failed\n", "failed: cuInit failed"},
        {"==WARNING== No kernels were profiled.\n", "failed: No kernels were profiled."},
        {NAMES ROW("0", "lab_squares", "31", "1", "1"), "saw only 1 launches; the next would be `b` (lab_squares)"},
        {NAMES ROW("0", "lab_squares", "31", "1", "1") ROW("1", "lab_cubes", "31", "1", "1"),
         "launch 2 is lab_cubes, not lab_squares of `b`"},
        {NAMES ROW("0", "lab_squares", "31", "1", "1") ROW("1", "lab_squares", "1", "1", "1")
             ROW("2", "lab_squares", "31", "1", "1"),
         "more than the 2 launches"},
        {"\"ID\",\"Name\"\n\"\",\"\"\n\"0\",\"lab_squares\"\n", "no column \"Kernel Name\""},
        {"\"ID\",\"Kernel Name\"", "saw only 0 launches"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert_int_eq(read_text(cases[i].text), -1);
        ck_assert_msg(strstr(why, cases[i].why), "`%s` instead of `%s`", why, cases[i].why);
        ck_assert(isnan(counted(0, 0)));
    }
}
END_TEST

START_TEST(every_metric_is_asked_for_once) {
    char *metrics = profiler_metrics(lab);
    ck_assert_str_eq(metrics, LAB_CONFLICTS_LD "," LAB_WAVEFRONTS_LD "," LAB_WAVEFRONTS_ST);
    free(metrics);
}
END_TEST

START_TEST(the_profiler_is_run_on_this_program) {
    struct profiler_report report;
    toy_profiler(TABLE);
    profiler_count(lab, 20, &report);
    ck_assert_msg(report.counted, "%s", report.why);
    ck_assert_str_eq(report.version, "Nsight Compute 2025.3.1.0");
    ck_assert(counted(1, 0) == 62);
    char *arguments = read_all("bench-tests-out/ncu.arguments");
    ck_assert_ptr_nonnull(strstr(arguments, "--csv --print-units base --clock-control none --page raw "
                                            "--kernel-name regex:^lab_ --metrics " LAB_CONFLICTS_LD ","));
    ck_assert_ptr_nonnull(strstr(arguments, "bench_tests lab launch toy-squares --device 0\n"));
    free(arguments);
}
END_TEST

START_TEST(without_a_profiler_the_report_says_why) {
    struct profiler_report report;
    profiler_count(lab, 20, &report);
    ck_assert(!report.counted);
    ck_assert_str_eq(report.why, "NCU=bench-tests-out/no-such-ncu does not run");
    char *path = strdup(getenv("PATH"));
    setenv("NCU", "", 1);
    setenv("PATH", "/nowhere", 1);
    profiler_count(lab, 20, &report);
    ck_assert(!report.counted);
    setenv("PATH", path, 1);
    free(path);
    toy_profiler("==ERROR== Something broke\n");
    profiler_count(lab, 20, &report);
    ck_assert(!report.counted);
    toy_profiler("");
    for (size_t i = 0; i < lab->point_count; i++)
        lab->points[i].quantity_count = 0;
    profiler_count(lab, 20, &report);
    ck_assert(!report.counted);
    ck_assert_str_eq(report.why, "no point asks for any");
}
END_TEST

START_TEST(a_profiler_that_hangs_is_stopped) {
    struct profiler_report report;
    toy_profiler("");
    FILE *file = fopen("bench-tests-out/ncu", "w");
    fputs("#!/bin/sh\n[ \"$1\" = --version ] && { echo Version 1; exit; }\nsleep 60 & sleep 60\n", file);
    fclose(file);
    double start = gpu_seconds();
    profiler_count(lab, 0.3, &report);
    ck_assert_double_lt(gpu_seconds() - start, 20);
    ck_assert_str_eq(report.why, "Nsight Compute took more than 0.3 s and was stopped");
}
END_TEST

TCase *lab_profiler_tests(void) {
    TCase *tests = tcase_create("lab profiler");
    tcase_set_tags(tests, "lab");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, rows_are_matched_to_points_in_order);
    tcase_add_test(tests, a_table_with_carriage_returns_and_cpp_names);
    tcase_add_test(tests, a_metric_that_this_gpu_lacks_is_no_number);
    tcase_add_test(tests, what_does_not_fit_counts_nothing);
    tcase_add_test(tests, every_metric_is_asked_for_once);
    tcase_add_test(tests, the_profiler_is_run_on_this_program);
    tcase_add_test(tests, without_a_profiler_the_report_says_why);
    tcase_add_test(tests, a_profiler_that_hangs_is_stopped);
    return tests;
}
