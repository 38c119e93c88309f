/* SPDX-License-Identifier: Apache-2.0 */
/* The page of bench --report, and the plots beside it. */
#include "bench_tests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program/commands.h"
#include "drawings.h"
#include "invented.h"
#include "bench/report/report.h"
#include "run_command.h"
#include "program/base/messages.h"

#define FILE_IN "bench-tests-out/page.json"
#define PAGE    "bench-tests-out/page.html"

static struct bench_results results;

static void tear_down(void) {
    results_free(&results);
    results = (struct bench_results){0};
}

/* The page of what `results` holds now; the caller frees it. */
static char *page_of(void) {
    write_invented(&results, FILE_IN);
    struct outcome got = run_command(command_bench, "--report " PAGE " " FILE_IN);
    ck_assert_msg(got.code == EXIT_CODE_OK, "%s", got.err);
    ck_assert_str_eq(got.err, "");
    ck_assert_str_eq(got.out, PAGE "\n");
    forget_outcome(&got);
    char *text = read_all(PAGE);
    drawing_check_xml(text);
    ck_assert_ptr_null(strstr(text, ">nan"));
    ck_assert_ptr_null(strstr(text, ">inf"));
    ck_assert_ptr_null(strstr(text, " nan"));
    ck_assert_ptr_null(strstr(text, "\"nan"));
    return text;
}

START_TEST(a_page_has_means_plots_and_every_problem) {
    static const char *const parts[] = {"gristmill bench: gemm-bf16 on NVIDIA H200",
                                        "squares, M = N = K (counted above too)",
                                        ">N 2112, K 7168</text>",
                                        ">Roofline</text>",
                                        ">TFLOPS per watt</text>",
                                        "cuBLASLt 13.1.0",
                                        "prefers-color-scheme:dark",
                                        "best TF/W",
                                        "best us alone",
                                        "× best alone: the best's time over gristmill's",
                                        "L2 cold: operands rotate over 3 x L2",
                                        "gristmill bench gemm-bf16</pre>"};
    invent_results(&results, "gemm-bf16");
    char *text = page_of();
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        ck_assert_msg(strstr(text, parts[i]) != NULL, "no %s", parts[i]);
    ck_assert_ptr_null(strstr(text, ">others<"));
    free(text);
}
END_TEST

START_TEST(few_problems_share_a_panel) {
    invent_results(&results, "gemm-quick");
    char *text = page_of();
    ck_assert_ptr_nonnull(strstr(text, ">others</text>"));
    ck_assert_ptr_nonnull(strstr(text, ">squares, M = N = K</text>"));
    ck_assert_ptr_nonnull(strstr(text, ">N 28672, K 4096</text>"));
    free(text);
    results.count = 1;
    text = page_of();
    ck_assert_ptr_nonnull(strstr(text, ">all problems</text>"));
    free(text);
}
END_TEST

START_TEST(without_baseline_or_joules_there_is_less) {
    invent_results(&results, "gemm-quick");
    results.meta.baseline[0] = results.meta.energy_source[0] = 0;
    for (size_t i = 0; i < results.count; i++) {
        struct bench_row *row = &results.rows[i];
        row->best.count = row->baseline_default.count = 0;
        row->best_way = -1;
        results_fill_alone(row, NAN, NAN);
        results_fill_energy(row, NAN, NAN);
        results_fill(row);
    }
    char *text = page_of();
    ck_assert_ptr_null(strstr(text, "TFLOPS per watt"));
    ck_assert_ptr_null(strstr(text, "us alone"));
    ck_assert_ptr_null(strstr(text, "× best alone: "));
    ck_assert_ptr_null(strstr(text, "by M</title>"));
    ck_assert_ptr_nonnull(strstr(text, ">Roofline</text>"));
    ck_assert_ptr_nonnull(strstr(text, "There was no baseline. Energy was not measured."));
    free(text);
}
END_TEST

/* A file that lacks what its rows do without: dashes and words stand where there is no number and no text. */
START_TEST(without_ceilings_there_is_no_floor) {
    const struct bench_ceilings none = {NAN, NAN, NAN, NAN, NAN, 0, "", "", ""};
    invent_results(&results, "gemm-quick");
    results.meta.ceilings = none;
    results.meta.driver[0] = results.meta.toolkit[0] = results.meta.date[0] = 0;
    for (size_t i = 0; i < results.count; i++) {
        results.rows[i].floor_us = results.rows[i].gbs = results.rows[i].watts = NAN;
        results.rows[i].baseline_default.count = 0;
        results_fill(&results.rows[i]);
    }
    char *text = page_of();
    ck_assert_ptr_nonnull(strstr(text, "There is no floor: the results have no ceilings of the machine."));
    ck_assert_ptr_nonnull(strstr(text, "driver unknown, toolkit unknown"));
    ck_assert_ptr_nonnull(strstr(text, "NVIDIA H200; read – GB/s, tensor – TFLOPS; L2 cold"));
    ck_assert_ptr_null(strstr(text, "measured ceilings"));
    free(text);
    results.meta.ceilings.read_gbs = 4640;
    text = page_of();
    ck_assert_ptr_nonnull(strstr(text, "over 4640 GB/s of reading and operations over – TFLOPS, and – us of a launch. "
                                       "Read: unknown. Tensor: unknown."));
    free(text);
    struct outcome got = run_command(command_bench, "--svg bench-tests-out/none.svg " FILE_IN);
    ck_assert_int_eq(got.code, EXIT_CODE_OK);
    forget_outcome(&got);
    text = read_all("bench-tests-out/none.svg");
    ck_assert_ptr_null(strstr(text, "nan"));
    free(text);
    FILE *out = tmpfile();
    report_summary(out, &results);
    fseek(out, 0, SEEK_SET);
    char lines[4096] = "";
    ck_assert_uint_gt(fread(lines, 1, sizeof lines - 1, out), 0);
    fclose(out);
    ck_assert_ptr_null(strstr(lines, "nan"));
    ck_assert_ptr_nonnull(
        strstr(lines, "read 4640 GB/s (unknown), write –, copy –\n  tensor – TFLOPS (unknown), launch – us"));
}
END_TEST

START_TEST(many_files_make_one_page_and_a_plot_each) {
    static const char *const plots[] = {"ratio", "roofline", "efficiency", "ratio-2", "roofline-2", "efficiency-2"};
    invent_results(&results, "gemm-quick");
    write_invented(&results, FILE_IN);
    struct outcome got = run_command(command_bench, "--report bench-tests-out/{suite}.html --svg "
                                                    "bench-tests-out/plots-of-{gpu}/{chart}.svg " FILE_IN " " FILE_IN);
    ck_assert_msg(got.code == EXIT_CODE_OK, "%s", got.err);
    ck_assert_ptr_nonnull(strstr(got.out, "bench-tests-out/gemm-quick.html\n"));
    forget_outcome(&got);
    for (size_t i = 0; i < sizeof plots / sizeof *plots; i++) {
        char path[128];
        snprintf(path, sizeof path, "bench-tests-out/plots-of-h200/%s.svg", plots[i]);
        char *text = read_all(path);
        drawing_check_xml(text);
        ck_assert_ptr_nonnull(strstr(text, "<style>"));
        free(text);
        unlink(path);
    }
}
END_TEST

START_TEST(a_page_that_cannot_be_written) {
    invent_results(&results, "gemm-quick");
    write_invented(&results, FILE_IN);
    struct outcome got = run_command(command_bench, "--report " FILE_IN "/page.html " FILE_IN);
    ck_assert_int_eq(got.code, EXIT_CODE_FAILURE);
    ck_assert_ptr_nonnull(strstr(got.err, FILE_IN));
    forget_outcome(&got);
    got = run_command(command_bench, "--report bench-tests-out " FILE_IN);
    ck_assert_int_eq(got.code, EXIT_CODE_FAILURE);
    ck_assert_ptr_nonnull(strstr(got.err, "cannot write bench-tests-out: "));
    forget_outcome(&got);
}
END_TEST

TCase *report_page_tests(void) {
    TCase *tests = tcase_create("report_page");
    tcase_add_checked_fixture(tests, NULL, tear_down);
    tcase_add_test(tests, a_page_has_means_plots_and_every_problem);
    tcase_add_test(tests, few_problems_share_a_panel);
    tcase_add_test(tests, without_baseline_or_joules_there_is_less);
    tcase_add_test(tests, without_ceilings_there_is_no_floor);
    tcase_add_test(tests, many_files_make_one_page_and_a_plot_each);
    tcase_add_test(tests, a_page_that_cannot_be_written);
    return tests;
}
