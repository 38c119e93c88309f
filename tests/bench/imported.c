/* SPDX-License-Identifier: Apache-2.0 */
/* Made-up results of the bench for gristmill tune --import. */
#include "imported.h"

#include <check.h>
#include <stdio.h>
#include <unistd.h>

#define KEY "gemm bf16 bf16 bf16 tn plain 512 512 512 "

struct bench_results results;
struct tune_sample liked[ROWS_MAX];
int likes;

static void start_results(void) {
    results_free(&results);
    results = (struct bench_results){.meta = {.gpu = "NVIDIA H200",
                                              .suite = "made up",
                                              .driver = "580",
                                              .revision = "0123456789ab",
                                              .command = "gristmill bench --all-kernels",
                                              .rounds = 3,
                                              .rotate_l2 = 3,
                                              .device = {.sm_count = 132, .l2_bytes = 62914560}}};
}

void import_set_up(void) {
    tuned_set_up();
    struct gm_device h200 = {.size = sizeof h200};
    const struct tune_options all = {.top = ROWS_MAX};
    const struct bench_case problem = gemm_case(512, 512, 512);
    ck_assert_int_eq(gm_device_model("h200", &h200), GM_OK);
    ck_assert_uint_lt(gm_kernel_count(), ROWS_MAX);
    likes = tune_candidates(&all, &h200, &problem, liked);
    ck_assert_int_ge(likes, 4);
    ck_assert(liked[0].is_model);
    start_results();
}

void import_tear_down(void) {
    results_free(&results);
    unlink(FIRST);
    unlink(SECOND);
    tuned_tear_down();
}

const char *name_of(int place) {
    return gm_kernels[liked[place].kernel].name;
}

struct bench_row *add(const char *kernel, double a, double b, double c) {
    struct bench_row *row = results_add(&results);
    ck_assert_ptr_nonnull(row);
    row->problem = gemm_case(512, 512, 512);
    snprintf(row->kernel, sizeof row->kernel, "%s", kernel);
    row->ours = (struct bench_samples){.us = {a, b, c}, .count = 3};
    results_fill(row);
    return row;
}

void add_flat(int place, double us) {
    add(name_of(place), us, us, us);
}

void write_to(const char *path) {
    ck_assert_int_eq(results_write_json(&results, path), 0);
    start_results();
}

void expect_entry(const char *words) {
    char line[1200];
    snprintf(line, sizeof line, "\n" KEY "%s", words);
    expect_in(BOOK, line, true);
}
