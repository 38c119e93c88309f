/* SPDX-License-Identifier: Apache-2.0 */
/* Chains of layers on a GPU that is not there, with invented times. */
#include "bench_tests.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/chain.h"
#include "program/commands.h"
#include "fake_bench.h"
#include "run_command.h"
#include "program/base/stats.h"

#define RESULTS "bench-tests-out/chain.json"

static struct bench bench;
static struct bench_options bench_options;
static struct chain_result result;
static const struct chain_options options = {
    .type = GM_BF16, .m = 40, .sizes = {48}, .size_count = 1, .layers = 3, .rounds = 5, .round_ms = 1};

static void set_up(void) {
    const struct fake_gpu gpu = {.m = 40,
                                 .n = 48,
                                 .k = 48,
                                 .ours_us = 10,
                                 .heuristic_count = 3,
                                 .refused_heuristic = -1,
                                 .heuristic_us = {12, 9, 11}};
    fake_bench_open(&bench, &bench_options, gpu);
}

static void tear_down(void) {
    fake_bench_close(&bench);
}

static double median_of(enum chain_way way) {
    return stats_median(result.samples[way].us, result.samples[way].count);
}

START_TEST(every_way_is_timed_over_the_whole_chain) {
    ck_assert_int_eq(chain_run(&bench.gpu, &bench.baselines, &bench.noise, &options, &result), 0);
    ck_assert_double_eq_tol(median_of(CHAIN_NO_OVERLAP), 30, 1e-3);
    ck_assert_double_eq_tol(median_of(CHAIN_OVERLAP), 30, 1e-3);
    ck_assert_double_eq_tol(median_of(CHAIN_CONSTANT_B), 30, 1e-3);
    ck_assert_double_eq_tol(median_of(CHAIN_BEST), 27, 1e-3);
    ck_assert_double_eq_tol(median_of(CHAIN_DEFAULT), 36, 1e-3);
    ck_assert_double_eq_tol(result.difference, 0, 1e-9);
    ck_assert_uint_eq(result.samples[CHAIN_BEST].count, 5);
}
END_TEST

START_TEST(a_wrong_layer_is_no_result) {
    fake.wrong = true;
    ck_assert_int_eq(chain_run(&bench.gpu, &bench.baselines, &bench.noise, &options, &result), -1);
}
END_TEST

START_TEST(without_a_baseline_ours_are_timed) {
    ck_assert_int_eq(chain_run(&bench.gpu, &(struct baselines){0}, &bench.noise, &options, &result), 0);
    ck_assert_uint_eq(result.samples[CHAIN_BEST].count, 0);
    ck_assert_uint_eq(result.samples[CHAIN_DEFAULT].count, 0);
    ck_assert_double_eq_tol(median_of(CHAIN_CONSTANT_B), 30, 1e-3);
    ck_assert(isnan(result.difference));
}
END_TEST

START_TEST(a_baseline_that_refuses_is_none) {
    fake.refused_heuristic = 0;
    fake.heuristic_count = 1;
    ck_assert_int_eq(chain_run(&bench.gpu, &bench.baselines, &bench.noise, &options, &result), 0);
    ck_assert_uint_eq(result.samples[CHAIN_BEST].count, 0);
    ck_assert_uint_eq(result.samples[CHAIN_OVERLAP].count, 5);
}
END_TEST

START_TEST(the_command_prints_and_writes_what_it_measured) {
    struct outcome got = run_command(
        command_chain, "--sizes 48 --m 40 --layers 2 --rounds 3 --round-ms 1 --warmup 0 --no-baseline --json " RESULTS);
    ck_assert_int_eq(got.code, 0);
    ck_assert_ptr_nonnull(strstr(got.out, "2 layers of 48"));
    ck_assert_ptr_null(strstr(got.out, "nan"));
    forget_outcome(&got);
    char text[4096] = "";
    FILE *file = fopen(RESULTS, "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_gt(fread(text, 1, sizeof text - 1, file), 0);
    fclose(file);
    ck_assert_ptr_nonnull(strstr(text, "\"layers\": 2, \"sizes\": [48], \"m\": 40"));
    ck_assert_ptr_nonnull(strstr(text, "\"constant_b_us\": 20,"));
    ck_assert_ptr_nonnull(strstr(text, "\"cublaslt_best_us\": null"));
    remove(RESULTS);
}
END_TEST

START_TEST(what_makes_no_sense_is_refused) {
    expect_refusal(command_chain, "--m x", "--m wants numbers");
    expect_refusal(command_chain, "--m 1,", "--m wants numbers");
    expect_refusal(command_chain, "--sizes 0", "--sizes wants 1 to 8 sizes");
    expect_refusal(command_chain, "--sizes 4096;4096", "--sizes wants 1 to 8 sizes");
    expect_refusal(command_chain, "--layers 0", "--layers is 1 to 64");
    expect_refusal(command_chain, "--rounds 0", "--rounds is 1 to");
    expect_refusal(command_chain, "--dtype fp32", "--dtype is bf16 or fp16, not fp32");
    expect_refusal(command_chain, "gemm-quick", "takes options only");
}
END_TEST

TCase *chain_tests(void) {
    TCase *tests = tcase_create("chain");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, every_way_is_timed_over_the_whole_chain);
    tcase_add_test(tests, a_wrong_layer_is_no_result);
    tcase_add_test(tests, without_a_baseline_ours_are_timed);
    tcase_add_test(tests, a_baseline_that_refuses_is_none);
    tcase_add_test(tests, the_command_prints_and_writes_what_it_measured);
    tcase_add_test(tests, what_makes_no_sense_is_refused);
    return tests;
}
