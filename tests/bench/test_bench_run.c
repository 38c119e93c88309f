/* SPDX-License-Identifier: Apache-2.0 */
/* Whole runs of the bench on a GPU that is not there, with invented times. */
#include "bench_tests.h"

#include <stdlib.h>
#include <string.h>

#include "program/commands.h"
#include "cases.h"
#include "fake_bench.h"
#include "run_command.h"
#include "host/family.h"
#include "host/table.h"

static struct bench bench;
static struct bench_options options;
static struct bench_case problem;

static void set_up(void) {
    const struct fake_gpu gpu = {.m = 40,
                                 .n = 48,
                                 .k = 64,
                                 .ours_us = 10,
                                 .heuristic_count = 4,
                                 .refused_heuristic = -1,
                                 .heuristic_us = {12, 9, 11, 400}};
    problem = gemm_case(40, 48, 64);
    fake_bench_open(&bench, &options, gpu);
    bench.results.meta.rounds = 7;
    bench.results.meta.rotate_l2 = 3;
}

static void tear_down(void) {
    fake_bench_close(&bench);
}

START_TEST(a_case_gives_one_row_with_both_ratios) {
    ck_assert_int_eq(bench_case_run(&bench, &problem), 0);
    ck_assert_uint_eq(bench.results.count, 1);
    const struct bench_row *row = &bench.results.rows[0];
    ck_assert_double_eq_tol(row->us.median, 10, 1e-3);
    ck_assert_double_eq_tol(row->ratio_best.median, 0.9, 1e-3);
    ck_assert_double_eq_tol(row->ratio_default.median, 1.2, 1e-3);
    ck_assert_int_eq(row->best_way, 1);
    ck_assert_int_eq(row->ways, 3); /* the fourth is hopeless */
    ck_assert_double_eq_tol(row->max_difference, 0, 1e-9);
    ck_assert_uint_eq(row->ours.count, 7);
    ck_assert_int_eq(bench.failures, 0);
}
END_TEST

START_TEST(a_default_that_refuses_is_replaced) {
    fake.refused_heuristic = 0;
    ck_assert_int_eq(bench_case_run(&bench, &problem), 0);
    const struct bench_row *row = &bench.results.rows[0];
    ck_assert_double_eq_tol(row->ratio_default.median, 0.9, 1e-3);
    ck_assert_double_eq_tol(row->ratio_best.median, 0.9, 1e-3);
}
END_TEST

START_TEST(a_wrong_kernel_is_not_timed) {
    fake.wrong = true;
    ck_assert_int_eq(bench_case_run(&bench, &problem), 0);
    ck_assert_uint_eq(bench.results.count, 0);
    ck_assert_int_eq(bench.failures, 1);
}
END_TEST

START_TEST(without_baseline) {
    bench.baselines.count = 0;
    ck_assert_int_eq(bench_case_run(&bench, &problem), 0);
    ck_assert_uint_eq(bench.results.count, 1);
    ck_assert_int_eq(bench.results.rows[0].best_way, -1);
}
END_TEST

START_TEST(all_kernels_give_a_row_each) {
    options.all_kernels = true;
    ck_assert_int_eq(bench_case_run(&bench, &problem), 0);
    size_t legal = 0;
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        struct gm_gemm_kernel_info kernel = {.size = sizeof kernel};
        if (gm_gemm_kernel_get(i, &kernel) != GM_OK)
            continue;
        legal += gm_kernels[i].type == GM_BF16 && kernel.a_major == GM_K_MAJOR && kernel.b_major == GM_K_MAJOR &&
                 gm_kernels[i].family != &gm_family_gemv &&          /* the problem has too many rows of A for gemv, */
                 !kernel.split_k && !kernel.gate && !kernel.batch && /* no tile to cut, no gates, one matrix, */
                 !kernel.extended;                                   /* and nothing but alpha A B */
    }
    ck_assert_uint_eq(bench.results.count, legal);
    for (size_t i = 0; i < legal; i++)
        ck_assert_double_gt(bench.results.rows[i].predicted_us, 0);
}
END_TEST

START_TEST(a_type_of_no_kernel_is_skipped) {
    struct bench_case fp8;
    char error[256];
    ck_assert_int_eq(suite_parse_line("gemm e5m2 e5m2 bf16 tn 40 48 64", &fp8, error, sizeof error), 1);
    ck_assert_int_eq(bench_case_run(&bench, &fp8), 0);
    ck_assert_uint_eq(bench.results.count, 0);
    ck_assert_int_eq(bench.failures, 0);
}
END_TEST

START_TEST(the_command_writes_its_file) {
    char *arguments[] = {"--shape", "40x48x64", "--no-baseline",
                         "--quick", "--quiet",  "--warmup",
                         "0",       "--json",   "bench_tests_out/{gpu}-{suite}.json"};
    ck_assert_int_eq(command_bench(9, arguments), 0);
    char *text = read_all("bench_tests_out/fake-9-custom.json");
    ck_assert_ptr_nonnull(strstr(text, "\"kernel\": \"gemm_sm"));
    ck_assert_ptr_nonnull(strstr(text, "\"command\": \"gristmill bench --shape 40x48x64 --no-baseline --quick --quiet "
                                       "--warmup 0\""));
    ck_assert_ptr_nonnull(strstr(text, "\"ratio_best\": null"));
    free(text);
}
END_TEST

START_TEST(a_profile_launches_everything_once) {
    ck_assert_int_eq(bench_case_profile(&bench, &problem), 0);
    ck_assert_int_eq(bench.launches, 5); /* the hopeless heuristic too */
    ck_assert_int_eq(fake.launches, 1);
    fake.refused_heuristic = 0;
    ck_assert_int_eq(bench_case_profile(&bench, &problem), 0);
    ck_assert_int_eq(bench.launches, 5 + 4);
    ck_assert_int_eq(bench.failures, 0);
    ck_assert_uint_eq(bench.results.count, 0);
}
END_TEST

/* A division behind --kernel is part of the name, in predictions as in results; one that cannot be is no kernel. */
START_TEST(a_kernel_may_be_asked_for_with_its_division) {
    static const char *const asked[][2] = {
        {"*128x96x64?s8?c2x1?w2r?sw128/k3", "  gemm_sm90_bf16_tn_128x96x64_s8_c2x1_w2r_sw128/k3\n"},
        {"*?p2?sw128/k", "_p2_sw128/k\n"},
        {"*?w2k2?sw128/k", "  no kernel\n"},
    };
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        char line[200];
        snprintf(line, sizeof line, "--device h200 --shape 256x2112x7168 --kernel %s", asked[i][0]);
        struct outcome got = run_command(command_bench, line);
        ck_assert_int_eq(got.code, 0);
        ck_assert_msg(strstr(got.out, asked[i][1]), "%s", got.out);
        forget_outcome(&got);
    }
    struct outcome got = run_command(command_bench, "--device h200 --shape 8x8x8 --kernel *?w2r?sw128/k99");
    ck_assert_int_eq(got.code, 2);
    ck_assert_ptr_nonnull(strstr(got.err, "no kernel of the table is called `*?w2r?sw128/k99`"));
    forget_outcome(&got);
}
END_TEST

START_TEST(a_profile_names_its_launches) {
    struct outcome got = run_command(command_bench, "--profile --no-baseline --shape 40x48x64 --kernel *sm90?bf16?tn*");
    ck_assert_int_eq(got.code, 0);
    ck_assert_ptr_nonnull(strstr(got.out, "      1  40 x 48 x 64 bf16 tn "));
    ck_assert_ptr_nonnull(strstr(got.out, "  gemm_sm90_bf16_tn_"));
    ck_assert_ptr_null(strstr(got.out, "cuBLASLt"));
    forget_outcome(&got);
    /* with the workspace that a plan needs */
    got = run_command(command_bench, "--profile --no-baseline --operation attention --shape 1x1x256x8x2x64x256x256 "
                                     "--kernel attention?decode?sm90?bf16?d64?*");
    ck_assert_int_eq(got.code, 0);
    ck_assert_ptr_nonnull(strstr(got.out, "  attention_decode_sm90_bf16_d64_"));
    forget_outcome(&got);
}
END_TEST

START_TEST(command_lines_that_make_no_sense) {
    char *lines[][2] = {{"--shape", "1x2"}, {"--arch", "sm70"}, {"--dtype", "fp8"},  {"--kernel", "nothing*"},
                        {"--rounds", "65"}, {"--layout", "xy"}, {"--nonsense", "1"}, {"no-such-suite", "--quiet"}};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        ck_assert_int_eq(command_bench(2, lines[i]), 2);
    char *info[] = {"word"}, *sizes[] = {"1", "2"}, *act[] = {"1", "2", "3", "--act=tanh"};
    ck_assert_int_eq(command_info(1, info), 2);
    ck_assert_int_eq(command_explain(2, sizes), 2);
    ck_assert_int_eq(command_explain(4, act), 2);
}
END_TEST

TCase *run_tests(void) {
    TCase *tests = tcase_create("run");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, a_case_gives_one_row_with_both_ratios);
    tcase_add_test(tests, a_default_that_refuses_is_replaced);
    tcase_add_test(tests, a_wrong_kernel_is_not_timed);
    tcase_add_test(tests, without_baseline);
    tcase_add_test(tests, all_kernels_give_a_row_each);
    tcase_add_test(tests, a_type_of_no_kernel_is_skipped);
    tcase_add_test(tests, the_command_writes_its_file);
    tcase_add_test(tests, a_profile_launches_everything_once);
    tcase_add_test(tests, a_kernel_may_be_asked_for_with_its_division);
    tcase_add_test(tests, a_profile_names_its_launches);
    tcase_add_test(tests, command_lines_that_make_no_sense);
    return tests;
}
