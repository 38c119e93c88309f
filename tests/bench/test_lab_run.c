/* SPDX-License-Identifier: Apache-2.0 */
/* Toy experiments run on the GPU that is not there: right, wrong, failing, hanging. */
#include "bench_tests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "program/commands.h"
#include "lab/lab_simulator.h"
#include "run_command.h"
#include "lab/modules.h"
#include "toy_lab.h"

#define NAMES                                                                                                          \
    "\"ID\",\"Kernel Name\",\"" LAB_CONFLICTS_LD "\",\"" LAB_WAVEFRONTS_LD "\",\"" LAB_WAVEFRONTS_ST "\"\n"            \
    "\"\",\"\",\"\",\"\",\"\"\n"
#define ROW(conflicts) "\"0\",\"lab_squares\",\"" conflicts "\",\"1,970,000\",\"10,000\"\n"

static struct outcome got;

static void forget(void) {
    forget_outcome(&got);
    got = (struct outcome){0};
    toy_remove();
}

/* Runs `gristmill lab <line>` and compares its exit code. */
static void lab_command(const char *line, int code) {
    free(got.out);
    free(got.err);
    got = run_command(command_lab, line);
    ck_assert_msg(got.code == code, "exit code %d\n%s\n%s", got.code, got.out, got.err);
}

#define SAYS(stream, text) ck_assert_msg(strstr(got.stream, (text)), "no `%s` in\n%s\n%s", (text), got.out, got.err)

START_TEST(predicted_counted_and_timed_agree) {
    toy_profiler(NAMES ROW("31") ROW("62"));
    lab_command("run toy-squares --quick --verify --json bench-tests-out/{gpu}/{experiment}.json", 0);
    SAYS(out, "toy-squares: agree (4 points, 6 numbers, 3 claims)\n");
    SAYS(out, "Toy squares: Are squares <square> & good?\nNVIDIA FAKE 9, counters by Nsight Compute 2025.3.1.0\n");
    SAYS(out, "1980000");
    SAYS(out, "holds:  The kernel is faster than the call: 10.0 < 25.0 us.");
    char *text = read_all("bench-tests-out/fake-9/toy-squares.json");
    ck_assert_ptr_nonnull(strstr(text, "\"verdict\": \"agree (4 points, 6 numbers, 3 claims)\""));
    ck_assert_ptr_nonnull(strstr(text, "{\"us\": 10, \"us_p10\": 10, \"us_p90\": 10, \"gbs\": 100, "));
    free(text);
}
END_TEST

START_TEST(without_counters_time_stands_alone) {
    lab_command("run toy-squares --quick --verify", 0);
    SAYS(out, "NVIDIA FAKE 9, no counters: NCU=bench-tests-out/no-such-ncu does not run\n");
    SAYS(out, "toy-squares: agree (4 points, 2 numbers, 2 claims; 4 numbers not measured)\n");
    lab_command("run toy-squares --no-counters --no-time --verify", 0);
    SAYS(out, "no counters: switched off by --no-counters\n");
    SAYS(out, "toy-squares: not measured (no counters; no times)\n");
}
END_TEST

START_TEST(a_count_that_differs_disagrees) {
    toy_profiler(NAMES ROW("31") ROW("63"));
    lab_command("run toy-squares --quick", 0);
    SAYS(out, "toy-squares: DISAGREE: 1 counted number not as predicted; first at `b`\n");
    lab_command("run toy-squares --quick --verify", 1);
}
END_TEST

START_TEST(cycles_and_claims_that_differ_disagree) {
    toy.cycles = 50;
    toy.broken_claim = true;
    lab_command("run toy-squares --quick --verify --no-counters", 1);
    SAYS(out, "DISAGREE: 2 numbers of cycles not as predicted, 1 claim broken; first at `a`\n");
    SAYS(out, "BROKEN: Squares are squares.");
}
END_TEST

START_TEST(a_wrong_result_fails_whatever_was_asked) {
    toy.wrong = true;
    lab_command("run toy-squares --quick --no-counters", 1);
    SAYS(out, "WRONG RESULT");
    SAYS(out, "  wrong: `b`: number 7 is 99 instead of 98\n");
    SAYS(out, "toy-squares: DISAGREE: 1 wrong result");
}
END_TEST

START_TEST(a_setup_that_fails_ends_one_experiment) {
    toy.setup_fails = true;
    lab_command("run all --quick --no-counters", 1);
    SAYS(err, "gristmill: the toy was told to fail\ngristmill: toy-squares: its setup failed\n");
    SAYS(out, "toy-hopper: DISAGREE: it failed; the sentences above say how\n");
    SAYS(out, "2 experiments: 0 agree or lack a witness, 0 disagree, 2 failed, 0 need another GPU\n");
}
END_TEST

START_TEST(a_launch_that_fails_names_its_point) {
    toy.launch_result = CUDA_ERROR_INVALID_VALUE;
    lab_command("run toy-squares --quick", 1);
    SAYS(err, "cuLaunchKernelEx failed");
    SAYS(err, "toy-squares: point `a`: the launch failed\n");
    fake.load_result = CUDA_ERROR_NO_BINARY_FOR_GPU;
    lab_command("run toy-squares --quick", 1);
    SAYS(err, "module toy does not load: cuLibraryLoadData: CUresult 209\n");
    lab_registry_install((const struct lab_experiment *const[]){&toy_squares, NULL}, NULL);
    lab_command("run toy-squares --quick", 1);
    SAYS(err, "this build has no module toy");
}
END_TEST

START_TEST(arguments_are_compared_with_the_kernels_own) {
    static const struct {
        size_t sizes[5];
        const char *sentence;
    } cases[] = {{{8, 8}, "kernel lab_squares takes 2 parameters, not 3\n"},
                 {{8, 8, 8}, "parameter 3 of kernel lab_squares has 8 bytes, not 4\n"},
                 {{8, 8, 4, 4}, "kernel lab_squares takes more than 3 parameters\n"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fake.lab_parameters = cases[i].sizes;
        lab_command("run toy-squares --quick", 1);
        SAYS(err, cases[i].sentence);
    }
    fake.lab_parameters = (const size_t[]){8, 8, 4, 0};
    lab_command("launch toy-squares", 0);
}
END_TEST

START_TEST(a_hang_is_stopped_and_the_next_one_runs) {
    toy.hangs = true;
    lab_command("run toy-squares toy-squares --timeout 0.3", 1);
    SAYS(out, "toy-squares: DISAGREE: it did not end within 0.3 s and was stopped\n");
    SAYS(out, "2 experiments: 0 agree or lack a witness, 0 disagree, 2 failed");
    toy.hangs = false;
    toy.dies = true;
    lab_command("run toy-squares", 1);
    SAYS(out, "toy-squares: DISAGREE: it was ended by signal 9");
}
END_TEST

START_TEST(an_experiment_of_another_gpu_is_passed_over) {
    fake.ampere = true;
    lab_command("run all --quick --no-counters", 0);
    SAYS(err, "toy-hopper: needs compute capability 9.0; NVIDIA FAKE 9 has 8.0\n");
    SAYS(out, "2 experiments: 1 agree or lack a witness, 0 disagree, 0 failed, 1 need another GPU\n");
    lab_command("run toy-hopper", 1);
}
END_TEST

START_TEST(the_child_under_the_profiler_launches_what_is_counted) {
    lab_command("launch toy-squares", 0);
    ck_assert_int_eq(fake.launches, 2);
    toy.launch_result = CUDA_ERROR_INVALID_VALUE;
    lab_command("launch toy-squares", 1);
}
END_TEST

START_TEST(a_simulated_gpu_counts_itself) {
    toy_simulate();
    lab_command("run toy-squares --verify --json bench-tests-out/{experiment}.json", 0);
    SAYS(out, "NVIDIA FAKE 9, no counters: the GPU is simulated\nsimulated by the GPU itself, which takes no time\n");
    SAYS(out, "toy-squares: agree on the simulator (4 points, 2 numbers, 1 claim; 4 numbers not measured)\n");
    char *text = read_all("bench-tests-out/toy-squares.json");
    ck_assert_ptr_nonnull(strstr(text, "\"counted\": null, \"agrees\": null, \"simulated\": 62, "));
    free(text);
    toy.simulator_errs = true;
    lab_command("run toy-squares --verify", 1);
    SAYS(out, "DISAGREE: 2 simulated numbers not as counted or predicted; first at `a`\n");
}
END_TEST

START_TEST(what_is_too_large_for_the_simulator_is_not_launched) {
    toy_simulate();
    toy.leaves_out = true;
    lab_command("run toy-squares --verify", 0);
    SAYS(out, "too large for the simulator");
    SAYS(out, "toy-squares: agree on the simulator (3 points, 2 numbers, 1 claim; 4 numbers not measured)\n");
}
END_TEST

START_TEST(the_simulating_child_says_what_it_counts) {
    lab_command("simulate toy-squares", 1);
    SAYS(err, "this GPU is not simulated");
    toy_simulate();
    lab_command("simulate toy-squares", 0);
    ck_assert_str_eq(got.out,
                     "simulated 0 31 " LAB_CONFLICTS_LD "\nsimulated 1 62 " LAB_CONFLICTS_LD "\nsimulated all\n");
    lab_command("simulate toy-squares --budget 0", 0);
    ck_assert_str_eq(got.out, "too-large 0\ntoo-large 1\nsimulated all\n");
    toy.launch_result = CUDA_ERROR_INVALID_VALUE;
    lab_command("simulate toy-squares", 1);
}
END_TEST

START_TEST(what_the_child_says_is_read) {
    struct lab *lab = aligned_alloc(_Alignof(struct lab), sizeof *lab);
    ck_assert_ptr_nonnull(lab);
    memset(lab, 0, sizeof *lab);
    for (int i = 0; i < 2; i++) {
        struct lab_point *point = lab_add(lab, "a", "");
        lab_quantity(point, "conflicts", LAB_CONFLICTS_LD, 0, 0);
        lab_quantity(point, "more", LAB_CONFLICTS_LD "+" LAB_CONFLICTS_ST, 0, 0);
    }
    const struct lab_quantity *first = lab->points[0].quantities;
    ck_assert(!simulator_parse(lab, "hello\nsimulated 0 3 " LAB_CONFLICTS_LD "\nsimulated 99 3 x\ntoo-large 99\nsimu"));
    ck_assert(first[0].simulated == 3 && isnan(first[1].simulated));
    ck_assert(simulator_parse(lab, "simulated 0 1e15 " LAB_CONFLICTS_LD "+" LAB_CONFLICTS_ST
                                   "\ntoo-large 1\nsimulated all\n"));
    ck_assert(first[1].simulated == 1e15 && !lab->points[0].too_large && lab->points[1].too_large);
    free(lab);
    ck_assert_str_eq(simulator_device_like(&(struct gm_device){.name = "NVIDIA H100 80GB HBM3"}), "h100");
    ck_assert_ptr_null(simulator_device_like(&(struct gm_device){.name = "NVIDIA FAKE 9"}));
}
END_TEST

START_TEST(the_list) {
    lab_command("list", 0);
    SAYS(out, "toy-squares  Toy squares         8.0+   Are squares <square> & good?\n");
    SAYS(out, "toy-hopper   Toy of another GPU  9.0    Is it there?\n");
    lab_command("--help", 0);
    lab_command("list --help", 0);
    lab_command("run --help", 0);
    lab_command("launch --help", 0);
    lab_command("simulate --help", 0);
}
END_TEST

START_TEST(command_lines_that_make_no_sense) {
    static const struct {
        const char *line, *sentence;
    } cases[] = {
        {"", "usage: gristmill lab"},
        {"walk",
         "there is no `gristmill lab walk`; there are list, run, profile, count, report, figure, play and exercise\n"},
        {"list more", "takes no `more`"},
        {"run", "which experiment? `gristmill lab list` lists them"},
        {"run toy-square", "there is no experiment toy-square; perhaps toy-squares\n"},
        {"run squares", "there is no experiment squares; perhaps toy-squares\n"},
        {"run nothing-like-it", "there is no experiment nothing-like-it; `gristmill lab list` lists them\n"},
        {"run all --rounds 65", "--rounds is at most 64, not 65"},
        {"run all --timeout 0", "--timeout wants more than 0 seconds"},
        {"run all --json x --save", "--json and --save"},
        {"run all --json x.json", "put {experiment} into it"},
        {"run all --frobnicate", "there is no option --frobnicate"},
        {"launch", "takes one experiment"},
        {"simulate", "takes one experiment"},
        {"launch toy-square", "there is no experiment toy-square; perhaps"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lab_command(cases[i].line, 2);
        SAYS(err, cases[i].sentence);
    }
}
END_TEST

START_TEST(results_that_cannot_be_written) {
    lab_command("run toy-squares --no-counters --no-time --json /proc/nowhere/x.json", 1);
    SAYS(err, "cannot make the folder /proc/nowhere");
}
END_TEST

TCase *lab_run_tests(void) {
    TCase *tests = tcase_create("lab run");
    tcase_set_tags(tests, "lab");
    tcase_add_checked_fixture(tests, toy_install, forget);
    tcase_add_test(tests, predicted_counted_and_timed_agree);
    tcase_add_test(tests, without_counters_time_stands_alone);
    tcase_add_test(tests, a_count_that_differs_disagrees);
    tcase_add_test(tests, cycles_and_claims_that_differ_disagree);
    tcase_add_test(tests, a_wrong_result_fails_whatever_was_asked);
    tcase_add_test(tests, a_setup_that_fails_ends_one_experiment);
    tcase_add_test(tests, a_launch_that_fails_names_its_point);
    tcase_add_test(tests, arguments_are_compared_with_the_kernels_own);
    tcase_add_test(tests, a_hang_is_stopped_and_the_next_one_runs);
    tcase_add_test(tests, an_experiment_of_another_gpu_is_passed_over);
    tcase_add_test(tests, the_child_under_the_profiler_launches_what_is_counted);
    tcase_add_test(tests, a_simulated_gpu_counts_itself);
    tcase_add_test(tests, what_is_too_large_for_the_simulator_is_not_launched);
    tcase_add_test(tests, the_simulating_child_says_what_it_counts);
    tcase_add_test(tests, what_the_child_says_is_read);
    tcase_add_test(tests, the_list);
    tcase_add_test(tests, command_lines_that_make_no_sense);
    tcase_add_test(tests, results_that_cannot_be_written);
    return tests;
}
