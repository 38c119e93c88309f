/* SPDX-License-Identifier: Apache-2.0 */
/* Results that nobody measured. */
#include "invented.h"

#include <check.h>
#include <math.h>
#include <stdio.h>

/* A little more than the planner would say, and a baseline that is now faster, now slower. */
static void invent(struct bench_row *row, int seed) {
    const struct gm_work work = case_work(&row->problem);
    double base = fmax(work.flops / 720e6, work.least_bytes / 4.4e6) + 2;
    snprintf(row->kernel, sizeof row->kernel, "gemm_sm90_bf16_tn_128x256x64_s4_c2x1_w2_sw128");
    for (int i = 0; i < 7; i++) {
        double wobble = 1 + 0.004 * ((i * 5 + seed * 3) % 7 - 3);
        row->ours.us[i] = base * wobble;
        row->best.us[i] = base * (0.82 + 0.04 * (seed * 5 % 8)) * (2 - wobble);
        row->baseline_default.us[i] = row->best.us[i] * 1.05;
    }
    row->ours.count = row->best.count = row->baseline_default.count = 7;
    row->best_way = 3;
    row->ways = 8;
    row->sm_mhz = 1560;
    row->watts = 690;
    results_fill_alone(row, base * 1.02, row->best.us[0]);
    results_fill_energy(row, 690e-6 * base, 680e-6 * base);
    snprintf(row->throttle, sizeof row->throttle, "%s", seed % 3 ? "" : "power");
    results_fill(row);
}

void invent_results(struct bench_results *results, const char *suite_name) {
    struct bench_suite suite = {0};
    struct bench_meta *meta = &results->meta;
    ck_assert_int_eq(suite_load(&suite, suite_name), 0);
    meta->device.size = sizeof meta->device;
    ck_assert_int_eq(gm_device_model("h200", &meta->device), GM_OK);
    snprintf(meta->gpu, sizeof meta->gpu, "NVIDIA H200");
    results_fill_name(meta->slug, sizeof meta->slug, meta->gpu);
    snprintf(meta->suite, sizeof meta->suite, "%s", suite.name);
    snprintf(meta->baseline, sizeof meta->baseline, "cuBLASLt 13.1.0");
    snprintf(meta->driver, sizeof meta->driver, "580.00 (CUDA 13.0)");
    snprintf(meta->date, sizeof meta->date, "2000-01-01");
    snprintf(meta->revision, sizeof meta->revision, "0123456789ab");
    snprintf(meta->command, sizeof meta->command, "gristmill bench %s", suite.name);
    snprintf(meta->energy_source, sizeof meta->energy_source, "invented");
    meta->execute_ns = 1350;
    meta->execute_plain_ns = 2600;
    meta->rounds = 7;
    meta->round_ms = 10;
    meta->warmup_s = 1;
    meta->rotate_l2 = 3;
    meta->energy_s = 0.4;
    meta->ways_asked = 32;
    meta->ceilings = (struct bench_ceilings){.copy_gbs = 4270,
                                             .write_gbs = 4340,
                                             .read_gbs = 4640,
                                             .launch_us = 1.4,
                                             .read_source = "invented",
                                             .launch_source = "invented"};
    for (size_t i = 0; i < suite.count; i++) {
        struct bench_row *row = results_add(results);
        ck_assert_ptr_nonnull(row);
        row->problem = suite.cases[i];
        invent(row, (int)i);
    }
    results_floors(results);
    suite_free(&suite);
}

void write_invented(const struct bench_results *results, const char *path) {
    char made[256];
    ck_assert_int_eq(results_path(made, sizeof made, path, &results->meta), 0);
    ck_assert_int_eq(results_write_json(results, made), 0);
}
