/* SPDX-License-Identifier: Apache-2.0 */
/* Time and joules of a launch that runs alone, from invented counters. */
#include "bench_tests.h"

#include <math.h>
#include <string.h>

#include "bench/measure/energy.h"
#include "cases.h"
#include "fake_bench.h"

/* ---- the mean --------------------------------------------------------------------------------------- */

/* 400 W for the first tenth of a second, then 600 W; the counter changes every 50 ms. */
static void invent_counter(struct energy_trace *joules, double until) {
    double sum = 1000;
    joules->count = 0;
    for (int i = 0; i * 0.05 <= until + 1e-9; i++) {
        joules->seconds[joules->count] = i * 0.05;
        joules->value[joules->count++] = sum;
        sum += 0.05 * (i < 2 ? 400 : 600);
    }
}

static struct energy_trace joules, watts;

START_TEST(the_counter_counts_from_whole_samples_after_the_lead_in) {
    invent_counter(&joules, 0.4);
    watts = (struct energy_trace){.seconds = {0, 0.2}, .value = {123, 123}, .count = 2};
    struct energy_reading reading = energy_mean(&joules, &watts, 0.1, 0.1);
    ck_assert_int_eq(reading.source, ENERGY_COUNTER);
    ck_assert_double_eq_tol(reading.watts, 600, 1e-6);
    reading = energy_mean(&joules, &watts, 0.07, 0.1); /* 0.1 s is the first edge behind it */
    ck_assert_double_eq_tol(reading.watts, 600, 1e-6);
    reading = energy_mean(&joules, &watts, 0, 0.1); /* the first value was not seen to change */
    ck_assert_double_eq_tol(reading.watts, (20 + 6 * 30) / 0.35, 1e-6);
}
END_TEST

START_TEST(power_samples_stand_in) {
    watts = (struct energy_trace){.seconds = {0, 0.2, 0.3}, .value = {100, 500, 600}, .count = 3};
    invent_counter(&joules, 0.2); /* too short */
    struct energy_reading reading = energy_mean(&joules, &watts, 0.1, 0.12);
    ck_assert_int_eq(reading.source, ENERGY_POWER);
    ck_assert_double_eq_tol(reading.watts, 550, 1e-9);
    joules.count = 0;
    reading = energy_mean(&joules, &watts, 0.1, 0.1);
    ck_assert_int_eq(reading.source, ENERGY_POWER);
    watts.count = 1; /* of the lead-in only */
    reading = energy_mean(&joules, &watts, 0.1, 0.1);
    ck_assert_int_eq(reading.source, ENERGY_NONE);
    ck_assert(isnan(reading.watts));
    ck_assert_ptr_null(energy_source_name(ENERGY_NONE));
}
END_TEST

/* ---- a case ----------------------------------------------------------------------------------------- */

static struct bench_case problem;

/* 500 W, counted every 10 ms. */
static int count_energy(nvmlDevice_t device, unsigned long long *millijoules) {
    (void)device;
    *millijoules = (unsigned long long)(floor(gpu_seconds() * 100) * 10 * 500);
    return 0;
}

static int refuse_energy(nvmlDevice_t device, unsigned long long *millijoules) {
    (void)device;
    (void)millijoules;
    return 3;
}

static int say_power(nvmlDevice_t device, unsigned *milliwatts) {
    (void)device;
    *milliwatts = 400000;
    return 0;
}

static int say_clock(nvmlDevice_t device, int clock, unsigned *mhz) {
    (void)device;
    (void)clock;
    *mhz = 1500;
    return 0;
}

static int say_reasons(nvmlDevice_t device, unsigned long long *reasons) {
    (void)device;
    *reasons = 0;
    return 0;
}

static struct bench bench;
static struct bench_options options;

static void set_up(void) {
    const struct fake_gpu gpu = {.m = 40,
                                 .n = 48,
                                 .k = 64,
                                 .ours_us = 10,
                                 .heuristic_count = 2,
                                 .refused_heuristic = -1,
                                 .heuristic_us = {12, 8}};
    problem = gemm_case(40, 48, 64);
    fake_bench_open(&bench, &options, gpu);
    bench.results.meta.rounds = 3;
    bench.results.meta.energy_s = 0.2;
    bench.nvml.library = &bench; /* there is one; nobody closes it */
    bench.nvml.fn.nvmlDeviceGetTotalEnergyConsumption = count_energy;
    bench.nvml.fn.nvmlDeviceGetPowerUsage = say_power;
    bench.nvml.fn.nvmlDeviceGetClockInfo = say_clock;
    bench.nvml.fn.nvmlDeviceGetCurrentClocksThrottleReasons = say_reasons;
}

static void tear_down(void) {
    fake_bench_close(&bench);
}

static const struct bench_row *row_of_run(void) {
    ck_assert_int_eq(bench_case_run(&bench, &problem), 0);
    ck_assert_uint_eq(bench.results.count, 1);
    return &bench.results.rows[0];
}

START_TEST(a_row_has_the_joules_of_both) {
    const struct bench_row *row = row_of_run();
    ck_assert_double_eq_tol(row->ours_joules, 500 * 10e-6, 0.1 * 500 * 10e-6);
    ck_assert_double_eq_tol(row->best_joules, 500 * 8e-6, 0.1 * 500 * 8e-6);
    const double flops = 2.0 * 40 * 48 * 64;
    ck_assert_double_eq_tol(row->tflops_per_watt, flops * 1e-12 / row->ours_joules, 1e-12);
    ck_assert_str_eq(bench.results.meta.energy_source, "NVML's total energy counter");
}
END_TEST

/* The invented sm90 rows lose a tenth of their clock when they run alone: the rounds, which are short, do not show it.
 */
START_TEST(a_row_has_the_times_of_both_alone) {
    fake.throttle_us = 30000;
    bench.nvml.library = _i ? bench.nvml.library : NULL;
    const struct bench_row *row = row_of_run();
    ck_assert_double_eq_tol(row->us.median, 10, 1e-3);
    ck_assert_double_eq_tol(row->ratio_best.median, 0.8, 1e-4);
    ck_assert_double_eq_tol(row->ours_alone_us, 11, 1e-2);
    ck_assert_double_eq_tol(row->best_alone_us, 8, 1e-2);
    ck_assert_double_eq_tol(row->ratio_alone, 8.0 / 11, 1e-3);
    ck_assert(_i ? row->ours_joules > 0 : isnan(row->ours_joules));
}
END_TEST

/* Who comes first has the cooler GPU, if nobody sees to it that both do. */
START_TEST(turns_alone_are_fair) {
    fake.warming = 0.01;
    const struct bench_row *row = row_of_run();
    ck_assert_double_gt(row->ours_alone_us, 10.2);
    ck_assert_double_eq_tol(row->ratio_alone, 0.8, 1e-4);
}
END_TEST

START_TEST(a_gpu_without_counter_has_power_samples) {
    bench.nvml.fn.nvmlDeviceGetTotalEnergyConsumption = _i ? refuse_energy : NULL;
    const struct bench_row *row = row_of_run();
    ck_assert_double_eq_tol(row->ours_joules, 400 * 10e-6, 1e-6);
    ck_assert_str_eq(bench.results.meta.energy_source, "mean of NVML's power samples");
}
END_TEST

START_TEST(without_nvml_there_are_no_joules) {
    bench.nvml.library = NULL;
    const struct bench_row *row = row_of_run();
    ck_assert(isnan(row->ours_joules) && isnan(row->best_joules));
    ck_assert_str_eq(bench.results.meta.energy_source, "");
}
END_TEST

START_TEST(without_a_baseline_only_ours) {
    bench.baselines.count = 0;
    const struct bench_row *row = row_of_run();
    ck_assert_double_gt(row->ours_joules, 0);
    ck_assert(isnan(row->best_joules));
    ck_assert_double_eq_tol(row->ours_alone_us, 10, 1e-2);
    ck_assert(isnan(row->best_alone_us) && isnan(row->ratio_alone));
}
END_TEST

START_TEST(energy_can_be_off) {
    bench.results.meta.energy_s = 0;
    const struct bench_row *row = row_of_run();
    ck_assert(isnan(row->ours_joules) && isnan(row->best_joules));
    ck_assert(isnan(row->ours_alone_us) && isnan(row->best_alone_us) && isnan(row->ratio_alone));
}
END_TEST

TCase *energy_tests(void) {
    TCase *tests = tcase_create("energy");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, the_counter_counts_from_whole_samples_after_the_lead_in);
    tcase_add_test(tests, power_samples_stand_in);
    tcase_add_test(tests, a_row_has_the_joules_of_both);
    tcase_add_loop_test(tests, a_row_has_the_times_of_both_alone, 0, 2);
    tcase_add_test(tests, turns_alone_are_fair);
    tcase_add_loop_test(tests, a_gpu_without_counter_has_power_samples, 0, 2);
    tcase_add_test(tests, without_nvml_there_are_no_joules);
    tcase_add_test(tests, without_a_baseline_only_ours);
    tcase_add_test(tests, energy_can_be_off);
    return tests;
}
