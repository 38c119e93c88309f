/* SPDX-License-Identifier: Apache-2.0 */
/* Results of the laboratory: judged, written, read again, made into a page. */
#include "bench_tests.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "program/commands.h"
#include "lab/lab_report.h"
#include "run_command.h"

#define FOLDER "bench-tests-out/results"
#define FILE_OF_ONE FOLDER "/h200/lab/strides.json"

static struct record *record, *again;

static struct record_point *add_point(const char *label, double predicted, double counted) {
    struct record_point *point = &record->points[record->point_count++];
    *point = (struct record_point){.result = LAB_CORRECT, .quantity_count = 1, .timed = true, .us = 12.5, .us_p10 = 12,
                                   .us_p90 = 13, .gbs = 4000.25, .tflops = NAN, .sm_mhz = 1980, .watts = 350,
                                   .cycles_predicted = 40, .cycles_tolerance = 0.1, .cycles = 41};
    snprintf(point->label, sizeof point->label, "%s", label);
    strcpy(point->change, "Every lane reads \"stride\" words further: <k> ways.");
    strcpy(point->source, "ptx/strides.ptx");
    strcpy(point->kernel, "lab_strides");
    point->quantities[0] = (struct record_quantity){.name = "conflicts", .metric = LAB_CONFLICTS_LD,
                                                    .predicted = predicted, .counted = counted,
                                                    .simulated = NAN};
    return point;
}

static void set_up(void) {
    record = calloc(1, sizeof *record);
    again = calloc(1, sizeof *again);
    record->meta = (struct record_meta){.gpu = "NVIDIA H200", .driver = "580 (CUDA 13.0)", .toolkit = "13.0.88",
                                        .revision = "abc", .date = "2026-01-31", .experiment = "strides",
                                        .title = "Strided reads", .question = "What does a stride cost?",
                                        .page = "banks", .counters = "Nsight Compute 2025.3.1.0", .counted = true,
                                        .rounds = 7, .round_ms = 10, .warmup_s = 0.3};
    add_point("stride 1", 0, 0);
    add_point("stride 32", 1234567890123, 1234567890123);
    record->claims[record->claim_count++] = (struct lab_claim){"Padding cures it.", true, false};
    record_judge(record);
    for (const char *const *at = (const char *const[]){"bench-tests-out", FOLDER, FOLDER "/h200", FOLDER "/h200/lab",
                                                       NULL};
         *at; at++)
        mkdir(*at, 0777);
    unlink(FOLDER "/h200/lab/other.json");
}

static void tear_down(void) {
    free(record);
    free(again);
}

START_TEST(verdicts) {
    ck_assert_str_eq(record->verdict, "agree (2 points, 4 numbers, 1 claim)");
    record->points[1].quantities[0].counted++;
    record_judge(record);
    ck_assert_str_eq(record->verdict, "DISAGREE: 1 counted number not as predicted; first at `stride 32`");
    record->points[1].quantities[0].tolerance = 1e-9;
    record->claims[0].holds = false;
    record->points[0].cycles = 45;
    record->points[0].result = LAB_WRONG;
    record_judge(record);
    ck_assert(record->wrong);
    ck_assert_str_eq(record->verdict, "DISAGREE: 1 wrong result, 1 number of cycles not as predicted, 1 claim broken; "
                                      "first at `stride 1`");
    ck_assert_int_eq(record->state, RECORD_DISAGREE);
}
END_TEST

START_TEST(what_is_missing_does_not_disagree) {
    record->points[0].quantities[0].counted = NAN;
    record_judge(record);
    ck_assert_str_eq(record->verdict, "agree (2 points, 3 numbers, 1 claim; 1 number not measured)");
    record->points[1].quantities[0].counted = record->points[0].cycles = record->points[1].cycles = NAN;
    record_judge(record);
    ck_assert_str_eq(record->verdict, "not measured (the counters are not there; time only)");
    record->point_count = 0;
    record_judge(record);
    ck_assert_str_eq(record->verdict, "agree (1 claim)");
}
END_TEST

START_TEST(a_count_without_a_prediction_is_for_the_claims) {
    record->points[0].quantities[0].predicted = NAN;
    record_judge(record);
    ck_assert_str_eq(record->verdict, "agree (2 points, 3 numbers, 1 claim)");
    ck_assert_int_eq(record->points[0].quantities[0].agrees, NOT_PREDICTED);
    ck_assert_int_eq(record_write(record, FILE_OF_ONE), 0);
    ck_assert_int_eq(record_read(again, FILE_OF_ONE), 0);
    ck_assert_int_eq(again->points[0].quantities[0].agrees, NOT_PREDICTED);
    ck_assert_double_eq(again->points[0].quantities[0].counted, record->points[0].quantities[0].counted);
}
END_TEST

START_TEST(what_was_simulated_must_be_what_was_counted) {
    record->meta.simulated = true;
    strcpy(record->meta.simulator, "the simulated h200");
    struct record_quantity *far = &record->points[1].quantities[0];
    far->simulated = far->counted;
    record_judge(record);
    ck_assert_str_eq(record->verdict, "agree (2 points, 4 numbers, 1 of them simulated, 1 claim)");
    far->tolerance = 0.1; /* of the prediction, not of the simulation */
    far->simulated++;
    record_judge(record);
    ck_assert_str_eq(record->verdict,
                     "DISAGREE: 1 simulated number not as counted or predicted; first at `stride 32`");
    record->points[0].too_large = true;
    ck_assert_int_eq(record_write(record, FILE_OF_ONE), 0);
    ck_assert_int_eq(record_read(again, FILE_OF_ONE), 0);
    ck_assert_str_eq(again->verdict, record->verdict);
    ck_assert_str_eq(again->meta.simulator, "the simulated h200");
    ck_assert(again->meta.simulated && !again->meta.simulated_gpu && again->points[0].too_large);
    ck_assert(isnan(again->points[0].quantities[0].simulated));
    ck_assert_double_eq(again->points[1].quantities[0].simulated, far->simulated);
}
END_TEST

START_TEST(a_simulated_gpu_has_its_own_verdict) {
    record->meta.simulated = record->meta.simulated_gpu = true;
    for (size_t i = 0; i < 2; i++) {
        struct record_quantity *quantity = &record->points[i].quantities[0];
        quantity->simulated = quantity->counted;
        quantity->counted = record->points[i].cycles = NAN;
    }
    record_judge(record);
    ck_assert_str_eq(record->verdict,
                     "agree on the simulator (2 points, 2 numbers, 1 claim; 2 numbers not measured)");
    record->points[0].too_large = true;
    record->points[0].quantities[0].simulated = NAN;
    record_judge(record);
    ck_assert_str_eq(record->verdict, "agree on the simulator (1 point, 1 number, 1 claim; 3 numbers not measured)");
    record->points[1].quantities[0].simulated++;
    record_judge(record);
    ck_assert_int_eq(record->state, RECORD_DISAGREE);
}
END_TEST

static void write_text(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

/* Results from before there was a simulator. */
START_TEST(files_without_simulated_numbers_are_read) {
    static const char *const newer[] = {"\"simulator\"", "\"simulated_gpu\"", "\"simulated\"", "\"too_large\""};
    ck_assert_int_eq(record_write(record, FILE_OF_ONE), 0);
    char *text = read_all(FILE_OF_ONE);
    for (size_t i = 0; i < sizeof newer / sizeof *newer; i++) {
        for (char *at = text; (at = strstr(at, newer[i])); at++)
            at[1] = '?';
    }
    write_text(FOLDER "/older.json", text);
    free(text);
    ck_assert_int_eq(record_read(again, FOLDER "/older.json"), 0);
    ck_assert_str_eq(again->verdict, record->verdict);
    ck_assert(isnan(again->points[0].quantities[0].simulated) && !again->meta.simulated);
}
END_TEST

START_TEST(a_file_read_again_is_the_same) {
    record->points[0].result = LAB_NOT_CHECKED;
    record->points[1].timed = false;
    record->points[1].us = record->points[1].us_p10 = record->points[1].us_p90 = NAN;
    record->points[1].gbs = record->points[1].sm_mhz = record->points[1].watts = NAN;
    ck_assert_int_eq(record_write(record, FILE_OF_ONE), 0);
    ck_assert_int_eq(record_read(again, FILE_OF_ONE), 0);
    ck_assert_str_eq(again->verdict, record->verdict);
    ck_assert_uint_eq(again->point_count, 2);
    ck_assert_str_eq(again->points[1].change, record->points[1].change);
    ck_assert_double_eq(again->points[1].quantities[0].counted, 1234567890123);
    ck_assert_int_eq(again->points[0].result, LAB_NOT_CHECKED);
    ck_assert(again->points[0].timed && !again->points[1].timed && isnan(again->points[1].us));
    ck_assert(again->claims[0].holds && !again->claims[0].of_time);
    ck_assert_int_eq(record_write(again, FOLDER "/again.json"), 0);
    char *first = read_all(FILE_OF_ONE), *second = read_all(FOLDER "/again.json");
    ck_assert_str_eq(first, second);
    free(first);
    free(second);
}
END_TEST

START_TEST(files_that_are_no_results) {
    char *text, *at;
    write_text(FOLDER "/broken.json", "{\"meta\": ");
    ck_assert_int_eq(record_read(again, FOLDER "/broken.json"), -1);
    write_text(FOLDER "/broken.json", "{}");
    ck_assert_int_eq(record_read(again, FOLDER "/broken.json"), -1);
    write_text(FOLDER "/broken.json", "[1, 2]");
    ck_assert_int_eq(record_read(again, FOLDER "/broken.json"), -1);
    ck_assert_int_eq(record_read(again, FOLDER "/nowhere.json"), -1);
    static const char *const spoiled[] = {"\"label\"", "\"predicted\"", "\"holds\"", "\"correct\"", "\"us\"", "\"claims\"",
                                          "\"title\"", "\"quantities\"", "\"measured\"", "\"counted\": true"};
    ck_assert_int_eq(record_write(record, FILE_OF_ONE), 0);
    for (size_t i = 0; i < sizeof spoiled / sizeof *spoiled; i++) {
        text = read_all(FILE_OF_ONE);
        at = strstr(text, spoiled[i]);
        ck_assert_ptr_nonnull(at);
        at[1] = '?';
        write_text(FOLDER "/broken.json", text);
        ck_assert_msg(record_read(again, FOLDER "/broken.json") == -1, "without %s", spoiled[i]);
        free(text);
    }
    ck_assert_int_eq(record_write(record, FOLDER "/no/such/folder.json"), -1);
}
END_TEST

START_TEST(the_page) {
    struct outcome got;
    add_point("stride 33", 0, NAN)->result = LAB_WRONG;
    record->points[2].too_large = true;
    record->points[0].quantities[0].simulated = 0;
    record->points[1].quantities[0].simulated = 1234567890124;
    strcpy(record->meta.simulator, "the simulated h200");
    record->meta.simulated = true;
    strcpy(record->points[2].wrong, "lane 3 read 7");
    record_judge(record);
    ck_assert_int_eq(record_write(record, FILE_OF_ONE), 0);
    strcpy(record->meta.experiment, "other");
    strcpy(record->meta.counters, "switched off");
    record->meta.counted = false;
    record->meta.rounds = 0;
    for (size_t i = 0; i < 3; i++) {
        record->points[i].quantities[0].counted = record->points[i].cycles = record->points[i].us = NAN;
        record->points[i].gbs = NAN;
    }
    ck_assert_int_eq(record_write(record, FOLDER "/h200/lab/other.json"), 0);
    got = run_command(command_lab, "report --results " FOLDER);
    ck_assert_int_eq(got.code, 0);
    ck_assert_str_eq(got.out, FOLDER "/h200/lab.html: 2 experiments on NVIDIA H200\n");
    forget_outcome(&got);
    char *page = read_all(FOLDER "/h200/lab.html");
    static const char *const parts[] = {"<title>The laboratory on NVIDIA H200</title>",
                                        "<dt>0 of 2</dt>\n<dd>experiments agree</dd>",
                                        "<section id=\"topic-other\">\n<h2>Other experiments</h2>",
                                        "href=\"#strides\"",
                                        "Strided reads: DISAGREE",
                                        "<h3>What does a stride cost?</h3>",
                                        "prefers-color-scheme:dark",
                                        "<a href=\"../../../docs/course/banks.md\">the course on banks</a>",
                                        "<a href=\"../../../ptx/strides.ptx\">ptx/strides.ptx</a>",
                                        "<details>\n<summary>3 points, every number</summary>",
                                        "wrong: lane 3 read 7",
                                        "stride 1 … stride 33",
                                        "&lt;k&gt; ways",
                                        "<li class=\"ok\"><b>✓</b>Padding cures it.</li>",
                                        "<svg",
                                        "at 1980 MHz and 350 W",
                                        "No counters: switched off;",
                                        "simulated by the simulated h200;",
                                        ">1234567890124</td>",
                                        "the simulator disagrees",
                                        "too large",
                                        "gristmill lab run strides --verify",
                                        "</html>"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        ck_assert_msg(strstr(page, parts[i]), "the page has no `%s`", parts[i]);
    free(page);
}
END_TEST

START_TEST(reports_that_cannot_be_made) {
    static const struct {
        const char *line, *sentence;
        int code;
    } cases[] = {{"report more", "takes no `more`", 2},
                 {"report --results bench-tests-out/nowhere", "there are no results in bench-tests-out/nowhere/*/lab", 1},
                 {"report --results " FOLDER " --gpu b300", "there is no file " FOLDER "/b300/lab/*.json", 1},
                 {"report --results " FOLDER " --out /proc/nowhere", "cannot write /proc/nowhere", 1},
                 {"report --results " FOLDER " --out no/such/folder.html", "cannot write no/such/folder.html", 1}};
    ck_assert_int_eq(record_write(record, FILE_OF_ONE), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct outcome got = run_command(command_lab, cases[i].line);
        ck_assert_msg(got.code == cases[i].code && strstr(got.err, cases[i].sentence), "%s: %d: %s", cases[i].line,
                      got.code, got.err);
        forget_outcome(&got);
    }
    mkdir(FOLDER "/a100", 0777);
    mkdir(FOLDER "/a100/lab", 0777);
    struct outcome got = run_command(command_lab, "report --results " FOLDER);
    ck_assert_ptr_nonnull(strstr(got.err, "has results of a100, h200: say which with --gpu"));
    rmdir(FOLDER "/a100/lab");
    forget_outcome(&got);
    write_text(FOLDER "/h200/lab/other.json", "{}");
    got = run_command(command_lab, "report --results " FOLDER);
    ck_assert_int_eq(got.code, 1);
    forget_outcome(&got);
}
END_TEST

TCase *lab_results_tests(void) {
    TCase *tests = tcase_create("lab results");
    tcase_set_tags(tests, "lab");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, verdicts);
    tcase_add_test(tests, what_is_missing_does_not_disagree);
    tcase_add_test(tests, a_count_without_a_prediction_is_for_the_claims);
    tcase_add_test(tests, what_was_simulated_must_be_what_was_counted);
    tcase_add_test(tests, a_simulated_gpu_has_its_own_verdict);
    tcase_add_test(tests, files_without_simulated_numbers_are_read);
    tcase_add_test(tests, a_file_read_again_is_the_same);
    tcase_add_test(tests, files_that_are_no_results);
    tcase_add_test(tests, the_page);
    tcase_add_test(tests, reports_that_cannot_be_made);
    return tests;
}
