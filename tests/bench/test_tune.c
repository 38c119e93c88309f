/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill tune: the choice from times, and the whole command on a GPU that is not there. */
#include "bench_tests.h"
#include "cases.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run_command.h"
#include "tuned.h"

/* ---- the choice ----------------------------------------------------------------------------------- */

static struct tune_sample sample_of(int kernel, double predicted_us, double a, double b, double c) {
    return (struct tune_sample){
        .kernel = kernel, .predicted_us = predicted_us, .is_final = true, .samples = {.us = {a, b, c}, .count = 3}};
}

START_TEST(the_fastest_is_chosen) {
    const struct tune_sample samples[] = {sample_of(0, 1, 12, 12, 12), sample_of(1, 2, 11, 11, 11),
                                          sample_of(2, 3, 10, 10, 10)};
    ck_assert_uint_eq(tune_choose(samples, 3), 2);
}
END_TEST

START_TEST(within_the_noise_the_model_decides_and_then_the_table) {
    /* Second is slower by 0.5 % in two rounds and faster in one. */
    struct tune_sample samples[] = {sample_of(5, 3, 10, 10, 10), sample_of(2, 1, 10.05, 10.05, 9.9)};
    ck_assert_uint_eq(tune_choose(samples, 2), 1);
    samples[0].predicted_us = 1;
    samples[1].predicted_us = 3;
    ck_assert_uint_eq(tune_choose(samples, 2), 0);
    samples[1].predicted_us = 1;
    ck_assert_uint_eq(tune_choose(samples, 2), 1);
    const struct tune_sample slower[] = {sample_of(5, 3, 10, 10, 10), sample_of(2, 1, 10.05, 10.05, 10.05)};
    ck_assert_uint_eq(tune_choose(slower, 2), 0); /* in every round */
    const struct tune_sample wild[] = {sample_of(5, 3, 10, 10, 10), sample_of(2, 1, 10.3, 10.3, 5)};
    ck_assert_uint_eq(tune_choose(wild, 2), 0); /* by more than 1 % */
}
END_TEST

START_TEST(alone_and_at_one_clock_count_alike) {
    struct tune_sample samples[] = {sample_of(5, 1, 10, 10, 10), sample_of(2, 2, 10.2, 10.2, 10.2)};
    samples[0].first_us = 9.4;
    samples[1].first_us = 9.1; /* 3 % less for 2 % more */
    ck_assert_uint_eq(tune_choose(samples, 2), 1);
    samples[1].first_us = 9.3;
    ck_assert_uint_eq(tune_choose(samples, 2), 0);
    samples[0].first_us = 0; /* without it, time alone */
    samples[1].first_us = 0;
    ck_assert_uint_eq(tune_choose(samples, 2), 0);
}
END_TEST

START_TEST(within_the_noise_of_both_the_model_decides) {
    struct tune_sample samples[] = {sample_of(5, 1, 10.1, 9.95, 10.1), sample_of(2, 2, 10, 10, 10)};
    samples[0].first_us = samples[1].first_us = 9.2;
    ck_assert_uint_eq(tune_choose(samples, 2), 0);
    samples[0].first_us = 9.3; /* slower in every round then */
    ck_assert_uint_eq(tune_choose(samples, 2), 1);
}
END_TEST

START_TEST(who_was_left_behind_is_not_chosen) {
    struct tune_sample samples[] = {sample_of(0, 1, 10.7, 10.7, 10.7),
                                    sample_of(1, 2, 10, 10, 10),
                                    sample_of(2, 3, 10.4, 10.4, 10.4),
                                    {.kernel = 3}};
    tune_select(samples, 4, 4);
    ck_assert(!samples[0].is_final && samples[1].is_final && samples[2].is_final && !samples[3].is_final);
    samples[3].is_model = samples[0].is_model = true; /* compared with, if it runs at all */
    tune_select(samples, 4, 4);
    ck_assert(samples[0].is_final && !samples[3].is_final);
    ck_assert_uint_eq(tune_choose(samples, 4), 1);
    samples[0].is_model = false;
    tune_select(samples, 4, 4);
    samples[0].samples.us[0] = samples[0].samples.us[1] = samples[0].samples.us[2] = 1; /* another day's times */
    ck_assert_uint_eq(tune_choose(samples, 4), 1);
}
END_TEST

/* Of 10.5 10.3 10 10.3 and 12: by time, then by the model's liking. */
START_TEST(only_the_fastest_go_on_and_the_models_pick) {
    static const bool finals[][5] = {
        {0, 0, 1, 0, 0}, {0, 0, 1, 1, 0}, {0, 1, 1, 1, 0}, {1, 1, 1, 1, 0}, {1, 1, 1, 1, 0}};
    struct tune_sample samples[] = {sample_of(0, 1, 10.5, 10.5, 10.5), sample_of(1, 3, 10.3, 10.3, 10.3),
                                    sample_of(2, 4, 10, 10, 10), sample_of(3, 2, 10.3, 10.3, 10.3),
                                    sample_of(4, 5, 12, 12, 12)};
    for (size_t most = 1; most <= 5; most++) {
        tune_select(samples, 5, most);
        for (int i = 0; i < 5; i++)
            ck_assert_msg(samples[i].is_final == finals[most - 1][i], "%d of %zu", i, most);
    }
    samples[4].is_model = true;
    tune_select(samples, 5, 1);
    ck_assert(samples[2].is_final && samples[4].is_final && !samples[3].is_final);
}
END_TEST

/* The last rounds ran at a lower clock; a time of the first must not look fast beside theirs. */
START_TEST(who_was_left_behind_stays_there) {
    struct tune_sample samples[] = {sample_of(0, 1, 10, 10, 10),
                                    sample_of(1, 2, 10.5, 10.5, 10.5),
                                    sample_of(2, 3, 10.2, 10.2, 10.2),
                                    sample_of(3, 4, 10.7, 10.8, 10.9),
                                    {.kernel = 4}};
    tune_select(samples, 5, 5);
    ck_assert(samples[2].is_final && !samples[3].is_final);
    ck_assert_double_eq_tol(samples[3].first_us, 10.8, 1e-9);
    samples[0].samples = (struct bench_samples){.us = {12, 12, 12}, .count = 3};
    samples[1].samples = (struct bench_samples){.us = {11.55, 11.55, 11.55}, .count = 3};
    samples[2].samples = (struct bench_samples){.us = {10.2, 10.2, 10.2}, .count = 3};
    tune_carry_over(samples, 5); /* 1.2, 1.1 and 1 times what they were */
    ck_assert_double_eq_tol(tune_median(&samples[0]), 12, 1e-9);
    ck_assert_double_eq_tol(samples[3].samples.us[0], 10.7 * 1.1, 1e-9);
    ck_assert_double_eq_tol(samples[3].samples.us[2], 10.9 * 1.1, 1e-9);
    ck_assert_uint_eq(samples[4].samples.count, 0);
    tune_carry_over(samples + 3, 2); /* nobody went on */
    ck_assert_double_eq_tol(samples[3].samples.us[0], 10.7 * 1.1, 1e-9);
}
END_TEST

/* Whoever is timed while the clock is low is not slower for it. */
START_TEST(times_are_compared_at_one_clock) {
    struct tune_sample samples[] = {sample_of(0, 1, 10, 11, 10), sample_of(1, 2, 9.5, 10, 9), sample_of(2, 3, 7, 8, 9)};
    const double clocks[2][3] = {{14000, 14300, 14000}, {14250, 15000, 13500}}; /* 1400, 1300, 1400; 1500 MHz */
    memcpy(samples[0].samples.clocks, clocks[0], sizeof clocks[0]);
    memcpy(samples[1].samples.clocks, clocks[1], sizeof clocks[1]);
    tune_at_one_clock(samples, 3); /* 1300 1400 1400 1500 1500 1500: the upper of the middle two */
    for (int round = 0; round < 3; round++) {
        ck_assert_double_eq_tol(samples[0].samples.us[round], clocks[0][round] / 1500, 1e-9);
        ck_assert_double_eq_tol(samples[1].samples.us[round], clocks[1][round] / 1500, 1e-9);
        ck_assert_double_eq_tol(samples[2].samples.us[round], 7 + round, 1e-9); /* its clocks were not read */
    }
    samples[0].samples.clocks[0] = 1e15; /* no clock at all */
    samples[0].samples.us[0] = 10;
    tune_at_one_clock(samples, 1);
    ck_assert(samples[0].samples.us[0] == 10);
    tune_at_one_clock(samples, 0);
}
END_TEST

START_TEST(what_dram_bounds_does_not_follow_the_clock) {
    struct gm_device device = {.size = sizeof device};
    struct bench_case p = gemm_case(64, 4096, 4096);
    ck_assert_int_eq(gm_device_model("h200", &device), GM_OK);
    ck_assert(!tune_follows_clock(&device, &p));
    gemm_of(&p)->m = 128;
    ck_assert(tune_follows_clock(&device, &p));
    device.dram_gbs = device.tensor_tflops = 0; /* nobody knows */
    gemm_of(&p)->m = 1;
    ck_assert(tune_follows_clock(&device, &p));
}
END_TEST

START_TEST(clocks_are_those_of_an_sm_that_made_both_stamps) {
    const uint64_t stamps[3][4] = {{0, 500, 90, 0}, {70, 0, 390, 10}, {170, 0, 0, 0}}; /* three stamps, four SMs */
    ck_assert(clock_meter_between(stamps[0], 4, 0, 1) == 300);
    ck_assert(clock_meter_between(stamps[0], 4, 1, 2) == 100);
    ck_assert(clock_meter_between(stamps[0], 4, 0, 2) == 0);
    ck_assert(clock_meter_between(stamps[0], 4, 2, 1) == 0);
    ck_assert(clock_meter_between(NULL, 4, 0, 1) == 0);
}
END_TEST

START_TEST(a_line_tells_all_and_the_same_twice) {
    struct tune_sample samples[] = {sample_of(0, 1, 12, 13, 14), {.kernel = 1}, sample_of(1, 2, 9, 11, 10)};
    samples[0].is_model = true;
    samples[0].is_final = false;
    const struct gm_gemm_problem problem = {.size = sizeof problem,
                                            .m = 1,
                                            .n = 2,
                                            .k = 3,
                                            .d_type = GM_FP32,
                                            .b_major = GM_MN_MAJOR,
                                            .activation = GM_ACT_SILU};
    const struct gm_ledger_key key = gm_ledger_key_of(&gm_operation_gemm, &problem);
    char expected[512];
    snprintf(expected, sizeof expected,
             "gemm bf16 bf16 fp32 tt general 1 2 3 %s 10.000 9.200 10.800 3 *%s 13.000 12.200 13.800 3",
             gm_kernels[1].name, gm_kernels[0].name);
    for (int i = 0; i < 2; i++) {
        char *line = tune_line(&key, samples, 3);
        ck_assert_str_eq(line, expected);
        free(line);
    }
}
END_TEST

START_TEST(candidates_are_the_best_predicted_and_the_models_pick) {
    struct gm_device h200 = {.size = sizeof h200};
    ck_assert_int_eq(gm_device_model("h200", &h200), GM_OK);
    const struct bench_case problem = gemm_case(512, 512, 512);
    struct tune_sample samples[TUNE_TOP_MAX + 1];
    struct tune_options options = {.top = 2};
    ck_assert_int_eq(tune_candidates(&options, &h200, &problem, samples), 2);
    ck_assert(samples[0].is_model && !samples[1].is_model);
    ck_assert_double_le(samples[0].predicted_us, samples[1].predicted_us);
    const int pick = samples[0].kernel;
    options.arch_mask = GM_ARCH_SM80;
    options.top = 1;
    ck_assert_int_eq(tune_candidates(&options, &h200, &problem, samples), 2); /* the pick is an sm90 row */
    ck_assert(samples[0].is_model && samples[0].kernel == pick);
    ck_assert_int_eq(gm_kernels[samples[1].kernel].arch, GM_ARCH_SM80);
    options = (struct tune_options){.top = 9, .kernel = gm_kernels[pick].name};
    ck_assert_int_eq(tune_candidates(&options, &h200, &problem, samples), 1);
}
END_TEST

START_TEST(candidates_are_divided_as_kernel_says) {
    struct gm_device h200 = {.size = sizeof h200};
    ck_assert_int_eq(gm_device_model("h200", &h200), GM_OK);
    const struct bench_case problem = gemm_case(256, 2112, 7168);
    struct tune_sample samples[TUNE_TOP_MAX + 1];
    struct tune_options options = {.top = 9, .workspace_mib = 64, .kernel = "*r_sw128/k3"};
    const int count = tune_candidates(&options, &h200, &problem, samples);
    int asked = 0;
    for (int i = 0; i < count; i++) {
        ck_assert(samples[i].division == 3 || samples[i].is_model);
        asked += samples[i].division == 3 && !samples[i].is_model;
    }
    ck_assert_int_ge(asked, 2);
    options.workspace_mib = 0; /* so nothing can be */
    ck_assert_int_eq(tune_candidates(&options, &h200, &problem, samples), 1);
    ck_assert(samples[0].is_model);
}
END_TEST

/* ---- the command ---------------------------------------------------------------------------------- */

#define QUICK " --no-baseline --rounds 3 --round-ms 1 --warmup 0 "

#define WIDE QUICK " --top 63 " /* sm80 rows are not among the first twelve */

START_TEST(ties_go_to_the_model_and_the_file_is_extended) {
    expect_run("--shape 40x48x64 -o " BOOK QUICK, 0, "1 measured, 0 already there", "checked against each other");
    expect_in(BOOK, HEAD "measured table ", true);
    expect_in(BOOK, " driver CUDA 13.0\n", true);
    expect_in(BOOK, "\ngemm bf16 bf16 bf16 tn plain 40 48 64 *gemm_sm", true);
    char *before = read_all(BOOK);
    const long launches = fake.launches;
    expect_run("--shape 40x48x64 -o " BOOK QUICK, 0, "0 measured, 1 already there", "");
    ck_assert_int_eq(fake.launches, launches);
    expect_run("--shape 40x48x64 --again -o " BOOK QUICK, 0, "1 measured, 0 already there", "");
    char *after = read_all(BOOK);
    ck_assert_str_eq(before, after);
    free(before);
    free(after);
    expect_run("--shape 40x48x64 --epilogue general -o " BOOK QUICK, 0, BOOK " has 2 entries", "");
    expect_in(BOOK, "\ngemm bf16 bf16 bf16 tn general 40 48 64 *gemm_sm", true);
    expect_run("--check " BOOK, 0, "2 entries", "");
}
END_TEST

START_TEST(a_faster_row_than_the_models_pick_is_chosen) {
    fake.sm80_us = 8;
    expect_run("--shape 40x48x64 -o " BOOK WIDE, 0, "us; the model's pick gemm_sm90_", "");
    expect_in(BOOK, "plain 40 48 64 gemm_sm80_", true);
    expect_in(BOOK, " 8.000 8.000 8.000 3", true);
    expect_in(BOOK, " *gemm_sm90_", true);
    gm_ledger *ledger = NULL;
    struct gm_device device = {.size = sizeof device};
    size_t rows = gm_kernel_count(), chosen = 0;
    struct gm_candidate *candidates = calloc(rows, sizeof *candidates);
    ck_assert_int_eq(gm_ledger_read(BOOK, &ledger), GM_OK);
    ck_assert_int_eq(gm_device_query(0, &device), GM_OK);
    const struct gm_plan_options options = {.size = sizeof options, .ledger = ledger};
    const struct gm_gemm_problem problem = {.size = sizeof problem, .m = 40, .n = 48, .k = 64};
    ck_assert_int_eq(gm_gemm_explain(&device, &problem, &options, candidates, rows, &rows), GM_OK);
    for (size_t i = 0; i < rows; i++)
        chosen += candidates[i].source == GM_SOURCE_LEDGER && candidates[i].measured_us == 8;
    ck_assert_uint_eq(chosen, 1);
    free(candidates);
    gm_ledger_destroy(ledger);
}
END_TEST

/* The model's pick is the faster while they take turns, and draws more power than the others. */
#define HUNGRY "--shape 40x48x64 -o " BOOK QUICK " --arch sm80 "

START_TEST(the_choice_is_by_time_alone_and_at_one_clock) {
    fake.sm80_us = 10.3;
    fake.throttle_us = 40000;
    expect_run(HUNGRY, 0, "; the model's pick gemm_sm90_", "");
    expect_in(BOOK, "plain 40 48 64 gemm_sm80_", true);
    expect_in(BOOK, " 10.300 10.300 10.300 3", true);
    expect_in(BOOK, " 11.000 11.000 11.000 3", true);
    expect_run(HUNGRY "--again --settle 30", 0, "", ""); /* too short to tell */
    expect_in(BOOK, "plain 40 48 64 *gemm_sm90_", true);
    expect_run(HUNGRY "--again --settle 0", 0, "", "");
    expect_in(BOOK, "plain 40 48 64 *gemm_sm90_", true);
    expect_in(BOOK, " 10.000 10.000 10.000 3", true);
    expect_run(HUNGRY "--again --settle 0 --round-ms 200", 0, "", ""); /* long rounds settle in their course */
    expect_in(BOOK, "plain 40 48 64 gemm_sm80_", true);
    fake.sm80_us = 10.6; /* 3.6 % less alone, 6 % more by turns */
    expect_run(HUNGRY "--again", 0, "", "");
    expect_in(BOOK, "plain 40 48 64 *gemm_sm90_", true);
}
END_TEST

START_TEST(ten_of_those_that_are_as_fast_go_on) {
    fake.sm80_us = 9;
    expect_run("--shape 40x48x64 -o " BOOK " --no-baseline --round-ms 1 --warmup 0 --rounds 5 --top 63 --arch sm80", 0,
               "1 measured", "");
    char *text = read_all(BOOK);
    size_t finals = 0, others = 0;
    for (const char *at = text; (at = strstr(at, " 9.000 9.000 9.000 ")) != NULL; at += 19) {
        finals += at[19] == '5';
        others += at[19] == '3';
    }
    ck_assert_uint_eq(finals, 10);
    ck_assert_uint_gt(others, 0);
    ck_assert_ptr_nonnull(strstr(text, " 10.000 10.000 10.000 5")); /* the model's pick */
    free(text);
}
END_TEST

START_TEST(wrong_rows_are_not_timed) {
    fake.sm80_wrong = true;
    fake.sm80_us = 8;
    expect_run("--shape 40x48x64 -o " BOOK WIDE, 1, "1 measured", "MISMATCH: gemm_sm80_");
    expect_in(BOOK, "gemm_sm80_", false);
    expect_run("--shape 40x48x64 --again -o " BOOK WIDE, 1, "", "says");
    fake.wrong = true; /* all alike: only a baseline tells, and there is none */
    expect_run("--shape 40x48x64 --again -o " BOOK WIDE, 1, "", "MISMATCH");
}
END_TEST

/* Everything of a case with the baseline that is not there. */
START_TEST(the_baseline_is_the_judge) {
    struct tune_options options = {.top = 12, .rounds = 3, .round_ms = 1, .quiet = true};
    struct tune tune = {.options = &options};
    const struct bench_case problem = gemm_case(40, 48, 64);
    fake.heuristic_count = 2;
    fake.refused_heuristic = 0;
    fake.heuristic_us[1] = 9;
    ck_assert_int_eq(gpu_open(&tune.gpu, 0), 0);
    fake_cublaslt(&tune.baselines);
    ledger_writer_start(&tune.writer, &tune.gpu.device);
    ck_assert_int_eq(tune_case_run(&tune, &problem), 0);
    ck_assert_int_eq(tune.measured, 1);
    ck_assert_int_eq(tune.failures, 0);
    fake.wrong = true;
    ck_assert_int_eq(tune_case_run(&tune, &problem), 0);
    ck_assert_int_eq(tune.measured, 1);
    ck_assert_int_gt(tune.failures, 1);
    ck_assert_uint_eq(ledger_writer_entries(&tune.writer), 1);
    ledger_writer_free(&tune.writer);
    noise_free(&tune.gpu, &tune.noise);
    gpu_close(&tune.gpu);
}
END_TEST

START_TEST(images_that_do_not_load_are_failures) {
    fake.load_result = CUDA_ERROR_INVALID_VALUE;
    expect_run("--shape 40x48x64 -o " BOOK QUICK, 1, "0 measured", "failed to load");
    ck_assert_int_ne(access(BOOK, F_OK), 0);
}
END_TEST

START_TEST(problems_of_no_kernel_are_skipped) {
    write_text(OTHER, "gemm e5m2 e5m2 bf16 tn 40 48 64\n");
    expect_run(OTHER " -o " BOOK QUICK, 0, "0 measured, 0 already there", "skipped: no kernel takes gemm e5m2");
}
END_TEST

START_TEST(a_ledger_of_another_device_is_not_extended) {
    write_text(BOOK, "gristmill-ledger 1\ndevice NVIDIA FAKE 9\ncc 9.0\nsms 8\nl2_bytes 65536\ndram_gbs 250000\n");
    expect_run("--shape 40x48x64 -o " BOOK QUICK, 1, "",
               "another device: NVIDIA FAKE 9, 9.0, 8 SMs; this is NVIDIA FAKE 9");
    write_text(BOOK, "no ledger\n");
    expect_run("--shape 40x48x64 -o " BOOK QUICK, 1, "", BOOK ":1: `no` begins no line");
    expect_in(BOOK, "no ledger\n", true);
}
END_TEST

START_TEST(a_model_is_not_measured) {
    expect_run("--shape 40x48x64 -o " BOOK " --device h200", 1, "", "--device h200 is a model");
    expect_run("--shape 40x48x64 -o " BOOK " --device 7", 1, "", "no device 7");
}
END_TEST

START_TEST(command_lines_that_make_no_sense) {
    static const char *const lines[][2] = {
        {"--shape 1x1x1", "tune wants -o FILE"},
        {"-o x", "tune wants problems"},
        {"-o", "-o wants a value"},
        {"-x", "there is no option -x"},
        {"-o x --shape 1x2", "--shape wants MxNxK"},
        {"-o x --shape 1x1x1 --rounds 0", "--rounds is 1 to"},
        {"-o x --shape 1x1x1 --rounds 65", "--rounds is 1 to"},
        {"-o x --shape 1x1x1 --no-baseline --cublaslt y", "--no-baseline leaves out"},
        {"-o x --shape 1x1x1 --settle", "--settle wants a value"},
        {"-o x --shape 1x1x1 --settle -1", "--settle"},
        {"-o x --shape 1x1x1 --top 0", "--top is 1 to 63"},
        {"-o x --shape 1x1x1 --top 64", "--top is 1 to 63"},
        {"-o x --shape 1x1x1 --dtype uint8", "--dtype is"},
        {"-o x --shape 1x1x1 --out int64", "--out is"},
        {"-o x --shape 1x1x1 --layout xy", "--layout is"},
        {"-o x --shape 1x1x1 --epilogue fancy", "--epilogue is plain or general"},
        {"-o x --shape 1x1x1 --arch sm70", "--arch is"},
        {"-o x --shape 1x1x1 --kernel nothing*", "no kernel of the table is called"},
        {"-o x no-such-suite", "no-such-suite"},
        {"--merge a -o x", "--merge wants two ledgers"},
        {"--merge a b --shape 1x1x1 -o x", "--merge wants two ledgers"},
        {"--merge a b", "tune wants -o FILE"},
        {"--check x -o y", "--check FILE goes with"},
        {"--check x suite", "--check FILE goes with"},
        {"--check x --merge", "--check FILE goes with"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        expect_refusal(command_tune, lines[i][0], lines[i][1]);
}
END_TEST

TCase *tune_tests(void) {
    TCase *tests = tcase_create("tune");
    tcase_add_checked_fixture(tests, tuned_set_up, tuned_tear_down);
    tcase_add_test(tests, the_fastest_is_chosen);
    tcase_add_test(tests, within_the_noise_the_model_decides_and_then_the_table);
    tcase_add_test(tests, alone_and_at_one_clock_count_alike);
    tcase_add_test(tests, within_the_noise_of_both_the_model_decides);
    tcase_add_test(tests, who_was_left_behind_is_not_chosen);
    tcase_add_test(tests, only_the_fastest_go_on_and_the_models_pick);
    tcase_add_test(tests, who_was_left_behind_stays_there);
    tcase_add_test(tests, times_are_compared_at_one_clock);
    tcase_add_test(tests, what_dram_bounds_does_not_follow_the_clock);
    tcase_add_test(tests, clocks_are_those_of_an_sm_that_made_both_stamps);
    tcase_add_test(tests, a_line_tells_all_and_the_same_twice);
    tcase_add_test(tests, candidates_are_the_best_predicted_and_the_models_pick);
    tcase_add_test(tests, candidates_are_divided_as_kernel_says);
    tcase_add_test(tests, ties_go_to_the_model_and_the_file_is_extended);
    tcase_add_test(tests, a_faster_row_than_the_models_pick_is_chosen);
    tcase_add_test(tests, the_choice_is_by_time_alone_and_at_one_clock);
    tcase_add_test(tests, ten_of_those_that_are_as_fast_go_on);
    tcase_add_test(tests, wrong_rows_are_not_timed);
    tcase_add_test(tests, the_baseline_is_the_judge);
    tcase_add_test(tests, images_that_do_not_load_are_failures);
    tcase_add_test(tests, problems_of_no_kernel_are_skipped);
    tcase_add_test(tests, a_ledger_of_another_device_is_not_extended);
    tcase_add_test(tests, a_model_is_not_measured);
    tcase_add_test(tests, command_lines_that_make_no_sense);
    return tests;
}
