/* SPDX-License-Identifier: Apache-2.0 */
/* One case of the bench: check every kernel against the baseline, warm up, search, time, fill the rows. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/bench.h"
#include "program/commands.h"
#include "bench/measure/energy.h"
#include "host/plan.h"
#include "program/base/stats.h"
#include "bench/measure/verify.h"

#define ALONE_TURNS 2 /* of each, for half of the time */

/* Everything of one case. The candidates are ours, then the baselines' best, then their default. */
struct case_run {
    struct bench *bench;
    const struct bench_case *problem;
    struct operands operands;
    struct rivals rivals;
    struct timing timing;
    struct candidate *candidates;
    double *differences; /* largest, of each of ours; NaN: not compared */
    size_t ours, count;
    int ways_ran;
};

static void kernel_name(const struct candidate *candidate, char *name, size_t bytes) {
    gm_divided_name(candidate->plan->kernel, candidate->plan->division, name, bytes);
}

static struct candidate *baseline_default_of(const struct case_run *run) {
    return &run->candidates[run->ours + 1];
}

static int open_run(struct case_run *run) {
    struct bench *bench = run->bench;
    size_t capacity = gm_kernel_count() + 3;
    run->candidates = calloc(capacity, sizeof *run->candidates);
    run->differences = calloc(capacity, sizeof *run->differences);
    if (!run->candidates || !run->differences)
        return complain("out of host memory");
    int ours = bench_plans(bench, run->problem, run->candidates, capacity - 3);
    if (ours < 0)
        return -1;
    run->ours = run->count = (size_t)ours;
    if (ours == 0)
        return 0;
    if (operands_make(&bench->gpu, &run->operands, run->problem->operation, run->problem->problem.bytes, &bench->noise,
                      bench->results.meta.rotate_l2, 1) != 0)
        return -1;
    run->timing = (struct timing){
        .gpu = &bench->gpu, .operands = &run->operands, .workspace_bytes = (size_t)bench->options->workspace_mib << 20};
    return timing_open(&run->timing);
}

static void close_run(struct case_run *run) {
    for (size_t i = 0; run->candidates && i < run->ours + 2; i++) {
        if (run->timing.gpu)
            candidate_drop(&run->timing, &run->candidates[i]);
        gm_plan_destroy(run->candidates[i].plan);
    }
    if (run->timing.gpu)
        timing_close(&run->timing);
    rivals_forget(&run->rivals);
    operands_free(&run->bench->gpu, &run->operands);
    free(run->candidates);
    free(run->differences);
}

static int find_fallback(struct case_run *run) {
    struct bench *bench = run->bench;
    struct candidate *baseline_default = baseline_default_of(run);
    baseline_default[-1].disqualified = baseline_default->disqualified = true;
    if (rivals_prepare(&run->rivals, &bench->baselines, run->problem->operation, run->problem->problem.bytes) == 0)
        return 0;
    run->timing.rivals = &run->rivals;
    return bench_default(&run->timing, baseline_default);
}

static void judge(struct case_run *run, size_t i, const struct verify_sample *ours,
                  const struct verify_sample *theirs) {
    char name[96], whose[64];
    const struct bench_case *problem = run->problem;
    if (theirs->count == 0)
        return;
    struct verify_verdict verdict = verify_compare(ours, theirs, problem);
    run->differences[i] = verdict.max_difference;
    if (verdict.agrees)
        return;
    kernel_name(&run->candidates[i], name, sizeof name);
    rivals_name(&run->rivals, baseline_default_of(run)->way, whose, sizeof whose);
    verify_complain(problem, name, whose, &verdict);
    run->candidates[i].disqualified = true;
    run->bench->failures++;
}

static int verify_all(struct case_run *run) {
    struct verify_sample theirs = {0};
    int status = baseline_default_of(run)->disqualified
                     ? 0
                     : verify_run(&run->timing, baseline_default_of(run), &run->bench->noise, &theirs);
    for (size_t i = 0; i < run->ours && status == 0; i++) {
        struct verify_sample ours;
        char name[96];
        run->differences[i] = NAN;
        kernel_name(&run->candidates[i], name, sizeof name);
        status = verify_run(&run->timing, &run->candidates[i], &run->bench->noise, &ours);
        if (status != 0)
            complain("that was in kernel %s", name);
        else if (run->candidates[i].disqualified)
            run->bench->failures++;
        else
            judge(run, i, &ours, &theirs);
        verify_free(&ours);
    }
    verify_free(&theirs);
    return status;
}

static int capture_all(struct case_run *run, double round_ms) {
    for (size_t i = 0; i < run->count; i++) {
        struct candidate *candidate = &run->candidates[i];
        if (!candidate->disqualified && !candidate->exec && candidate_capture(&run->timing, candidate, round_ms) != 0)
            return -1;
    }
    return 0;
}

/* Warm-up at the size, then the search, then the best of it joins. The search itself keeps the GPU at work. */
static int prepare_all(struct case_run *run) {
    const struct bench_meta *meta = &run->bench->results.meta;
    struct candidate *baseline_default = baseline_default_of(run);
    run->count = run->ours + 2;
    if (capture_all(run, meta->round_ms) != 0 ||
        timing_warm(&run->timing, run->candidates, run->count, meta->warmup_s) != 0)
        return -1;
    if (baseline_default->disqualified)
        return 0;
    if (bench_search(&run->timing, baseline_default - 1, baseline_default, &run->ways_ran) != 0)
        return -1;
    return capture_all(run, meta->round_ms);
}

/* The faster of the two, as results_fill will have it; NULL: there is no baseline. */
static struct candidate *best_of(const struct case_run *run) {
    struct candidate *baseline_default = baseline_default_of(run), *best = baseline_default - 1;
    const double best_us = stats_median(best->samples.us, best->samples.count);
    const double default_us = stats_median(baseline_default->samples.us, baseline_default->samples.count);
    struct candidate *faster = !best->disqualified && best_us <= default_us ? best : baseline_default;
    return faster->disqualified ? NULL : faster;
}

static double mean_with(double before, int turns, double now) {
    return turns == 0 ? now : (turns * before + now) / (turns + 1);
}

/* One turn; times and joules are the means of the turns so far. */
static int measure_alone(struct case_run *run, struct candidate *candidate, int turn) {
    struct bench_meta *meta = &run->bench->results.meta;
    const double us = candidate->alone_us, joules = candidate->joules;
    enum energy_source source;
    int status = energy_measure(&run->timing, &run->bench->nvml, candidate, meta->energy_s / ALONE_TURNS, &source);
    candidate->alone_us = mean_with(us, turn, candidate->alone_us);
    candidate->joules = mean_with(joules, turn, candidate->joules);
    if (source == ENERGY_POWER || (source == ENERGY_COUNTER && !meta->energy_source[0])) /* the worse of the run's */
        snprintf(meta->energy_source, sizeof meta->energy_source, "%s", energy_source_name(source));
    return status;
}

/* Ours and the best, then the best and ours: who comes first finds a cooler GPU, or one whose power is still settling.
 */
static int measure_all_alone(struct case_run *run) {
    struct candidate *best = best_of(run);
    const size_t count = run->ours + (best != NULL);
    int status = 0;
    for (int turn = 0; turn < ALONE_TURNS; turn++)
        for (size_t i = 0; i < count && status == 0; i++) {
            const size_t next = turn % 2 == 0 ? i : count - 1 - i;
            struct candidate *candidate = next < run->ours ? &run->candidates[next] : best;
            if (!candidate->disqualified)
                status = measure_alone(run, candidate, turn);
        }
    return status;
}

static int add_row(struct case_run *run, size_t i, const struct nvml_reading *reading) {
    const struct candidate *ours = &run->candidates[i], *baseline_default = baseline_default_of(run),
                           *best = baseline_default - 1;
    struct bench_row *row = results_add(&run->bench->results);
    if (!row)
        return complain("out of host memory");
    row->problem = *run->problem;
    kernel_name(ours, row->kernel, sizeof row->kernel);
    row->predicted_us = gm_plan_predicted_us(ours->plan);
    row->ours = ours->samples;
    row->best = best->samples;
    row->baseline_default = baseline_default->samples;
    row->best_way = best->way;
    row->ways = run->ways_ran;
    row->sm_mhz = reading->sm_mhz;
    row->watts = reading->watts;
    snprintf(row->throttle, sizeof row->throttle, "%s", reading->throttle);
    row->max_difference = run->differences[i];
    const struct candidate *measured = best_of(run);
    if (measured)
        rivals_name(&run->rivals, measured->way, row->best_name, sizeof row->best_name);
    results_fill_alone(row, ours->alone_us, measured ? measured->alone_us : NAN);
    results_fill_energy(row, ours->joules, measured ? measured->joules : NAN);
    results_fill(row);
    return 0;
}

static int time_all(struct case_run *run) {
    const struct bench_meta *meta = &run->bench->results.meta;
    nvml_start(&run->bench->nvml);
    int status = timing_rounds(&run->timing, run->candidates, run->count, meta->rounds);
    struct nvml_reading reading = nvml_stop(&run->bench->nvml);
    if (status == 0 && meta->energy_s > 0)
        status = measure_all_alone(run);
    for (size_t i = 0; i < run->ours && status == 0; i++) {
        if (!run->candidates[i].disqualified)
            status = add_row(run, i, &reading);
    }
    return status;
}

static bool anyone_left(const struct case_run *run) {
    for (size_t i = 0; i < run->ours; i++) {
        if (!run->candidates[i].disqualified)
            return true;
    }
    return false;
}

bool bench_is_untaken(const struct bench_case *problem) {
    if (problem->untaken[0])
        note("skipped: no kernel takes %s", problem->untaken);
    return problem->untaken[0] != 0;
}

int bench_case_run(struct bench *bench, const struct bench_case *problem) {
    struct case_run run = {.bench = bench, .problem = problem};
    char label[CASE_TEXT_BYTES];
    if (bench_is_untaken(problem))
        return 0;
    int status = open_run(&run);
    if (status == 0 && run.ours > 0) {
        status = find_fallback(&run);
        if (status == 0)
            status = verify_all(&run);
        if (status == 0 && anyone_left(&run))
            status = prepare_all(&run) == 0 ? time_all(&run) : -1;
    }
    if (status == 0 && run.ours == 0 && (bench->options->kernel || bench->options->all_kernels))
        note("skipped: no kernel that was asked for takes %s", case_label(problem, label));
    close_run(&run);
    return status;
}
