/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill lab profile of a toy, with Nsight Compute played by a script; what is saved, and its pictures. */
#include "bench_tests.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/lab_profile.h"
#include "program/commands.h"
#include "run_command.h"
#include "toy_lab.h"

#define STALLED(reason) "smsp__average_warps_issue_stalled_" reason "_per_issue_active.ratio"

static struct outcome got; /* of the last command */

/* 10 us in which 24 MB are half of what memory moves, and 2.5e6 wavefronts all that the pipe has room for; ten cycles an
 * instruction, of which one is selected. */
static const char *counts[][2] = {
    {"gpu__time_duration.sum", "10,000"},
    {"dram__bytes_read.sum", "16,000,000"},
    {"dram__bytes_write.sum", "8,000,000"},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", "2,500,000"},
    {"sm__warps_active.avg.pct_of_peak_sustained_active", "75.4"},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_elapsed", "100"},
    {"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", "50"},
    {"smsp__average_warp_latency_per_inst_issued.ratio", "10"},
    {STALLED("long_scoreboard"), "1.5"},
    {STALLED("short_scoreboard"), "5"},
    {STALLED("mio_throttle"), "2.5"},
    {STALLED("selected"), "1"},
};
enum { PIPE_BUSY = 5 };

static void set_up(void) {
    got = (struct outcome){0};
    counts[PIPE_BUSY][1] = "100";
    toy_install();
}

static void tear_down(void) {
    forget_outcome(&got);
    toy_remove();
}

static void lab_command(const char *line, int code) {
    forget_outcome(&got);
    got = run_command(command_lab, line);
    ck_assert_msg(got.code == code, "exit code %d\n%s\n%s", got.code, got.out, got.err);
}

#define SAYS(stream, text) ck_assert_msg(strstr(got.stream, (text)), "no `%s` in\n%s\n%s", (text), got.out, got.err)

/* ncu's table of one launch of this kernel. */
static void play(const char *kernel) {
    char text[4096] = "\"ID\",\"Kernel Name\"";
    const size_t count = sizeof counts / sizeof *counts;
    for (size_t i = 0; i < count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), ",\"%s\"", counts[i][0]);
    strcat(text, "\n\"\",\"\"");
    for (size_t i = 0; i < count; i++)
        strcat(text, ",\"%\"");
    snprintf(text + strlen(text), sizeof text - strlen(text), "\n\"0\",\"%s\"", kernel);
    for (size_t i = 0; i < count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), ",\"%s\"", counts[i][1]);
    strcat(text, "\n");
    toy_profiler(text);
}

START_TEST(timed_kernels_are_profiled) {
    play("lab_squares");
    lab_command("profile toy-squares", 0);
    SAYS(out, "timed  10.0     75      –     100   –   –    50    10.0  short scoreboard 50 %, MIO throttle 25 %, long "
              "scoreboard 15 %\n");
    SAYS(out, "toy-squares: warps, issue slots,");
    char *arguments = read_all("bench-tests-out/ncu.arguments");
    ck_assert_ptr_nonnull(
        strstr(arguments, "--kernel-name regex:^lab_ --metrics gpu__time_duration.sum,dram__bytes_read.sum,"));
    ck_assert_ptr_nonnull(strstr(arguments, "bench_tests lab launch toy-squares --device 0 --timed\n"));
    free(arguments);
    ck_assert_int_eq(fake.launches, 0); /* the child launches */
    lab_command("launch toy-squares --timed", 0);
    ck_assert_int_eq(fake.launches, 1);
}
END_TEST

START_TEST(what_is_saved_is_read_again) {
    struct record *record = calloc(1, sizeof *record);
    play("lab_squares");
    lab_command("profile toy-squares --json bench-tests-out/profile/{experiment}.json", 0);
    ck_assert_int_eq(record_read(record, "bench-tests-out/profile/toy-squares.json"), 0);
    ck_assert_uint_eq(record->point_count, 1);
    const struct record_point *point = &record->points[0];
    ck_assert_str_eq(point->label, "timed");
    ck_assert(point->us == 10 && point->gbs == 100);
    ck_assert(profile_counted(point, PROFILE_MEMORY) == 24e6 && profile_counted(point, PROFILE_LATENCY) == 10);
    ck_assert(isnan(profile_counted(point, "L1, %")) && isnan(profile_counted(point, "nothing")));
    for (size_t i = 0; i < point->quantity_count; i++) {
        const struct record_quantity *quantity = &point->quantities[i];
        const double share = profile_share(point, quantity);
        ck_assert(strcmp(quantity->name, PROFILE_STALLED "short scoreboard") != 0 || share == 0.5);
        ck_assert(strcmp(quantity->name, PROFILE_PIPE) != 0 || isnan(share));
    }
    free(record);
}
END_TEST

/* The only point: at 0.04 bytes a wavefront under a pipe of 2.5e11 wavefronts and a memory of 4.8e12 bytes a second. */
START_TEST(pictures_of_a_profile) {
    play("lab_squares");
    lab_command("profile toy-squares --json bench-tests-out/pictures/toy/profile/{experiment}.json", 0);
    lab_command(
        "figure toy-squares --stalls --results bench-tests-out/pictures --gpu toy --svg bench-tests-out/stalls.svg", 0);
    char *stalls = read_all("bench-tests-out/stalls.svg");
    ck_assert_ptr_nonnull(strstr(stalls, ">MIO</text>"));
    ck_assert_ptr_nonnull(strstr(stalls, ">other</text>"));
    ck_assert_ptr_null(strstr(stalls, ">barrier</text>"));
    free(stalls);
    static const struct {
        const char *of, *point, *roof;
    } cases[] = {{"memory", "reached: 100 at 0.042, timed", "bytes of work for a byte of memory"},
                 {"shared", "reached: 100 at 0.400, timed", "bytes of work for a wavefront of shared memory"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[256];
        snprintf(line, sizeof line,
                 "figure toy-squares --roofline %s --results bench-tests-out/pictures --gpu toy --svg "
                 "bench-tests-out/roof.svg",
                 cases[i].of);
        lab_command(line, 0);
        char *roof = read_all("bench-tests-out/roof.svg");
        ck_assert_msg(strstr(roof, cases[i].point), "no `%s`", cases[i].point);
        ck_assert_ptr_nonnull(strstr(roof, cases[i].roof));
        ck_assert_ptr_nonnull(strstr(roof, ">timed</text>"));
        free(roof);
    }
}
END_TEST

START_TEST(who_leaves_the_pipe_idle_is_not_under_its_roof) {
    counts[PIPE_BUSY][1] = "2.9";
    play("lab_squares");
    lab_command("profile toy-squares --json bench-tests-out/idle/toy/profile/{experiment}.json", 0);
    lab_command("figure toy-squares --roofline shared --results bench-tests-out/idle --gpu toy --svg x.svg", 1);
    SAYS(err, "toy-squares has no roofline");
    lab_command("figure toy-squares --roofline memory --results bench-tests-out/idle --gpu toy --svg "
                "bench-tests-out/idle.svg",
                0);
}
END_TEST

START_TEST(the_report_has_them_with_the_experiment) {
    play("lab_squares");
    lab_command("run toy-squares --no-counters --no-time --json bench-tests-out/page/toy/lab/{experiment}.json", 0);
    lab_command("profile toy-squares --json bench-tests-out/page/toy/profile/{experiment}.json", 0);
    lab_command("report --results bench-tests-out/page --gpu toy --out bench-tests-out/page.html", 0);
    char *page = read_all("bench-tests-out/page.html");
    const char *article = strstr(page, "<article id=\"toy-squares\">");
    ck_assert_ptr_nonnull(article);
    const char *stalls = strstr(article, ">What warps wait for, percent of their cycles</text>");
    const char *memory = strstr(article, ">Under memory&#39;s roof</text>");
    memory = memory ? memory : strstr(article, ">Under memory's roof</text>");
    ck_assert(stalls && memory && stalls < memory && strstr(memory, "roof of shared memory"));
    ck_assert_ptr_null(strstr(page, "id=\"pairs\"")); /* none of its experiments is there */
    free(page);
}
END_TEST

START_TEST(what_cannot_be_profiled) {
    lab_command("profile toy-squares", 1);
    SAYS(err, "toy-squares: nothing was counted: NCU=bench-tests-out/no-such-ncu does not run");
    play("lab_cubes");
    lab_command("profile toy-squares", 1);
    SAYS(err, "launch 1 is lab_cubes, not lab_squares of `timed`");
    lab_command("profile toy-hopper", 1);
    play("lab_squares");
    lab_command("profile toy-squares --json /proc/nowhere/x.json", 1);
    lab_command("profile", 2);
    SAYS(err, "which experiment?");
    lab_command("profile toy-square", 2);
    lab_command("profile toy-squares --json x --save", 2);
    SAYS(err, "give one of them");
    lab_command("profile all --json x", 2);
    SAYS(err, "put {experiment} into it");
    lab_command("profile --help", 0);
    lab_command("figure toy-squares --roofline walls --svg x.svg", 2);
    SAYS(err, "--roofline is of memory or of shared");
    lab_command("figure toy-squares --roofline memory --stalls --svg x.svg", 2);
    lab_command("figure toy-squares --stalls --results bench-tests-out/none --gpu toy --svg bench-tests-out/x.svg", 1);
}
END_TEST

TCase *lab_profile_tests(void) {
    TCase *tests = tcase_create("lab profile");
    tcase_set_tags(tests, "lab");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, timed_kernels_are_profiled);
    tcase_add_test(tests, what_is_saved_is_read_again);
    tcase_add_test(tests, pictures_of_a_profile);
    tcase_add_test(tests, who_leaves_the_pipe_idle_is_not_under_its_roof);
    tcase_add_test(tests, the_report_has_them_with_the_experiment);
    tcase_add_test(tests, what_cannot_be_profiled);
    return tests;
}
