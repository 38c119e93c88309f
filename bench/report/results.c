/* SPDX-License-Identifier: Apache-2.0 */
/* What a run of the bench found: rows filled from samples, floors, the fastest of each problem. */
#include "bench/report/results.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "program/base/stats.h"

/* Rows of at least this many operations for each of their least bytes count as compute-bound. */
#define COMPUTE_BOUND_FLOP_PER_BYTE 600.0
/* Where no such row was measured: what power leaves of the datasheet's rate (740 of 989 TFLOPS on an H200). */
#define SUSTAINED_SHARE 0.748

static const struct bench_spread no_spread = {NAN, NAN, NAN};

struct bench_row *results_add(struct bench_results *results) {
    if (results->count == results->capacity) {
        size_t capacity = results->capacity ? results->capacity * 2 : 64;
        struct bench_row *rows = realloc(results->rows, capacity * sizeof *rows);
        if (!rows)
            return NULL;
        results->rows = rows;
        results->capacity = capacity;
    }
    struct bench_row *row = &results->rows[results->count++];
    *row = (struct bench_row){.predicted_us = NAN, .best_way = -1, .max_difference = NAN};
    row->us = row->best_us = row->default_us = row->ratio_best = row->ratio_default = no_spread;
    row->tflops = row->gbs = row->floor_us = row->sm_mhz = row->watts = NAN;
    row->ours_joules = row->best_joules = row->tflops_per_watt = row->best_tflops_per_watt = NAN;
    row->ours_alone_us = row->best_alone_us = row->ratio_alone = NAN;
    return row;
}

void results_free(struct bench_results *results) {
    free(results->rows);
    results->rows = NULL;
    results->count = results->capacity = 0;
}

void results_fill_alone(struct bench_row *row, double ours_us, double best_us) {
    row->ours_alone_us = ours_us > 0 ? ours_us : NAN;
    row->best_alone_us = best_us > 0 ? best_us : NAN;
    row->ratio_alone = row->best_alone_us / row->ours_alone_us;
}

void results_fill_energy(struct bench_row *row, double ours_joules, double best_joules) {
    const double flops = case_work(&row->problem).flops;
    row->ours_joules = ours_joules > 0 ? ours_joules : NAN;
    row->best_joules = best_joules > 0 ? best_joules : NAN;
    row->tflops_per_watt = flops / row->ours_joules * 1e-12;
    row->best_tflops_per_watt = flops / row->best_joules * 1e-12;
}

const char *results_l2(const struct bench_meta *meta) {
    return meta->rotate_l2 > 0 ? "cold" : "warm";
}

static struct bench_spread spread(const double *values, size_t count) {
    return (struct bench_spread){stats_median(values, count), stats_percentile(values, count, 0.1),
                                 stats_percentile(values, count, 0.9)};
}

/* > 1: ours is faster. */
static struct bench_spread ratio(const struct bench_samples *theirs, const struct bench_samples *ours) {
    double ratios[MAX_ROUNDS];
    if (theirs->count == 0 || theirs->count != ours->count)
        return no_spread;
    for (size_t i = 0; i < ours->count; i++)
        ratios[i] = theirs->us[i] / ours->us[i];
    return spread(ratios, ours->count);
}

void results_fill(struct bench_row *row) {
    row->us = spread(row->ours.us, row->ours.count);
    row->tflops = case_work(&row->problem).flops / row->us.median * 1e-6;
    row->gbs = case_work(&row->problem).least_bytes / row->us.median * 1e-3;
    row->default_us = spread(row->baseline_default.us, row->baseline_default.count);
    row->best_us = spread(row->best.us, row->best.count);
    if (row->default_us.median < row->best_us.median || row->best.count == 0) {
        row->best = row->baseline_default;
        row->best_us = row->default_us;
        row->best_way = row->baseline_default.count ? 0 : -1;
    }
    row->ratio_best = ratio(&row->best, &row->ours);
    row->ratio_default = ratio(&row->baseline_default, &row->ours);
}

static void find_tensor_rate(struct bench_results *results) {
    struct bench_ceilings *ceilings = &results->meta.ceilings;
    ceilings->tensor_tflops = SUSTAINED_SHARE * results->meta.device.tensor_tflops;
    snprintf(ceilings->tensor_source, sizeof ceilings->tensor_source, "%s",
             "0.748 of the datasheet's dense rate: no compute-bound row in this run");
    double fastest = 0;
    for (size_t i = 0; i < results->count; i++) {
        const struct bench_row *row = &results->rows[i];
        double flops = case_work(&row->problem).flops;
        double us = fmin(row->best_us.median, row->us.median); /* fmin passes over a NaN */
        if (flops / case_work(&row->problem).least_bytes >= COMPUTE_BOUND_FLOP_PER_BYTE)
            fastest = fmax(fastest, flops / us * 1e-6);
    }
    if (fastest > 0.5 * ceilings->tensor_tflops) {
        ceilings->tensor_tflops = fastest;
        snprintf(ceilings->tensor_source, sizeof ceilings->tensor_source, "%s",
                 "the fastest compute-bound row of this run, ours or the baseline's");
    }
}

void results_floors(struct bench_results *results) {
    const struct bench_ceilings *ceilings = &results->meta.ceilings;
    find_tensor_rate(results);
    for (size_t i = 0; i < results->count; i++) {
        struct bench_row *row = &results->rows[i];
        double memory_us = case_work(&row->problem).least_bytes / ceilings->read_gbs * 1e-3;
        double tensor_us = case_work(&row->problem).flops / ceilings->tensor_tflops * 1e-6;
        row->floor_us = fmax(memory_us, tensor_us) + ceilings->launch_us;
    }
}

size_t results_fastest(const struct bench_results *results, size_t *index) {
    size_t count = 0;
    for (size_t i = 0; i < results->count; i++) {
        const struct bench_row *row = &results->rows[i];
        size_t at = 0;
        while (at < count && !case_equal(&results->rows[index[at]].problem, &row->problem))
            at++;
        if (at == count)
            index[count++] = i;
        else if (row->us.median < results->rows[index[at]].us.median)
            index[at] = i;
    }
    return count;
}
