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

/* Everything of one case. The contenders are ours, then the baselines' best, then their default. */
struct case_run {
    struct bench *bench;
    const struct bench_case *problem;
    struct operands operands;
    struct rivals rivals;
    struct contest contest;
    struct contender *contenders;
    double *differences; /* largest, of each of ours; NaN: not compared */
    size_t ours, count;
    int ways_ran;
};

static void kernel_name(const struct contender *contender, char *name, size_t bytes) {
    gm_divided_name(contender->plan->kernel, contender->plan->division, name, bytes);
}

static struct contender *fallback_of(const struct case_run *run) {
    return &run->contenders[run->ours + 1];
}

static int open_run(struct case_run *run) {
    struct bench *bench = run->bench;
    size_t capacity = gm_kernel_count() + 3;
    run->contenders = calloc(capacity, sizeof *run->contenders);
    run->differences = calloc(capacity, sizeof *run->differences);
    if (!run->contenders || !run->differences)
        return complain("out of host memory");
    int ours = bench_plans(bench, run->problem, run->contenders, capacity - 3);
    if (ours < 0)
        return -1;
    run->ours = run->count = (size_t)ours;
    if (ours == 0)
        return 0;
    if (operands_make(&bench->gpu, &run->operands, run->problem->operation, run->problem->problem.bytes, &bench->noise,
                      bench->results.meta.rotate_l2, 1) != 0)
        return -1;
    run->contest = (struct contest){.gpu = &bench->gpu,
                                      .operands = &run->operands,
                                      .workspace_bytes = (size_t)bench->options->workspace_mib << 20};
    return contest_open(&run->contest);
}

static void close_run(struct case_run *run) {
    for (size_t i = 0; run->contenders && i < run->ours + 2; i++) {
        if (run->contest.gpu)
            contender_drop(&run->contest, &run->contenders[i]);
        gm_plan_destroy(run->contenders[i].plan);
    }
    if (run->contest.gpu)
        contest_close(&run->contest);
    rivals_forget(&run->rivals);
    operands_free(&run->bench->gpu, &run->operands);
    free(run->contenders);
    free(run->differences);
}

static int find_fallback(struct case_run *run) {
    struct bench *bench = run->bench;
    struct contender *fallback = fallback_of(run);
    fallback[-1].out = fallback->out = true;
    if (rivals_prepare(&run->rivals, &bench->baselines, run->problem->operation, run->problem->problem.bytes) == 0)
        return 0;
    run->contest.rivals = &run->rivals;
    return bench_default(&run->contest, fallback);
}

static void judge(struct case_run *run, size_t i, const struct verify_sample *ours, const struct verify_sample *theirs) {
    char name[96], whose[64];
    const struct bench_case *problem = run->problem;
    if (theirs->count == 0)
        return;
    struct verify_verdict verdict = verify_compare(ours, theirs, problem);
    run->differences[i] = verdict.max_difference;
    if (verdict.agrees)
        return;
    kernel_name(&run->contenders[i], name, sizeof name);
    rivals_name(&run->rivals, fallback_of(run)->way, whose, sizeof whose);
    verify_complain(problem, name, whose, &verdict);
    run->contenders[i].out = true;
    run->bench->failures++;
}

static int verify_all(struct case_run *run) {
    struct verify_sample theirs = {0};
    int status = fallback_of(run)->out ? 0 : verify_run(&run->contest, fallback_of(run), &run->bench->noise, &theirs);
    for (size_t i = 0; i < run->ours && status == 0; i++) {
        struct verify_sample ours;
        char name[96];
        run->differences[i] = NAN;
        kernel_name(&run->contenders[i], name, sizeof name);
        status = verify_run(&run->contest, &run->contenders[i], &run->bench->noise, &ours);
        if (status != 0)
            complain("that was in kernel %s", name);
        else if (run->contenders[i].out)
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
        struct contender *contender = &run->contenders[i];
        if (!contender->out && !contender->exec && contender_capture(&run->contest, contender, round_ms) != 0)
            return -1;
    }
    return 0;
}

/* Warm-up at the size, then the search, then the best of it joins. The search itself keeps the GPU at work. */
static int prepare_all(struct case_run *run) {
    const struct bench_meta *meta = &run->bench->results.meta;
    struct contender *fallback = fallback_of(run);
    run->count = run->ours + 2;
    if (capture_all(run, meta->round_ms) != 0 ||
        contest_warm(&run->contest, run->contenders, run->count, meta->warmup_s) != 0)
        return -1;
    if (fallback->out)
        return 0;
    if (bench_search(&run->contest, fallback - 1, fallback, &run->ways_ran) != 0)
        return -1;
    return capture_all(run, meta->round_ms);
}

/* The faster of the two, as results_fill will have it; NULL: there is no baseline. */
static struct contender *best_of(const struct case_run *run) {
    struct contender *fallback = fallback_of(run), *best = fallback - 1;
    const double best_us = stats_median(best->samples.us, best->samples.count);
    const double default_us = stats_median(fallback->samples.us, fallback->samples.count);
    struct contender *faster = !best->out && best_us <= default_us ? best : fallback;
    return faster->out ? NULL : faster;
}

static double mean_with(double before, int turns, double now) {
    return turns == 0 ? now : (turns * before + now) / (turns + 1);
}

/* One turn; times and joules are the means of the turns so far. */
static int measure_alone(struct case_run *run, struct contender *contender, int turn) {
    struct bench_meta *meta = &run->bench->results.meta;
    const double us = contender->alone_us, joules = contender->joules;
    enum energy_source source;
    int status = energy_measure(&run->contest, &run->bench->nvml, contender, meta->energy_s / ALONE_TURNS, &source);
    contender->alone_us = mean_with(us, turn, contender->alone_us);
    contender->joules = mean_with(joules, turn, contender->joules);
    if (source == ENERGY_POWER || (source == ENERGY_COUNTER && !meta->energy_source[0])) /* the worse of the run's */
        snprintf(meta->energy_source, sizeof meta->energy_source, "%s", energy_source_name(source));
    return status;
}

/* Ours and the best, then the best and ours: who comes first finds a cooler GPU, or one whose power is still settling.
 */
static int measure_all_alone(struct case_run *run) {
    struct contender *best = best_of(run);
    const size_t count = run->ours + (best != NULL);
    int status = 0;
    for (int turn = 0; turn < ALONE_TURNS; turn++)
        for (size_t i = 0; i < count && status == 0; i++) {
            const size_t next = turn % 2 == 0 ? i : count - 1 - i;
            struct contender *contender = next < run->ours ? &run->contenders[next] : best;
            if (!contender->out)
                status = measure_alone(run, contender, turn);
        }
    return status;
}

static int add_row(struct case_run *run, size_t i, const struct nvml_reading *reading) {
    const struct contender *ours = &run->contenders[i], *fallback = fallback_of(run), *best = fallback - 1;
    struct bench_row *row = results_add(&run->bench->results);
    if (!row)
        return complain("out of host memory");
    row->problem = *run->problem;
    kernel_name(ours, row->kernel, sizeof row->kernel);
    row->predicted_us = gm_plan_predicted_us(ours->plan);
    row->ours = ours->samples;
    row->best = best->samples;
    row->fallback = fallback->samples;
    row->best_way = best->way;
    row->ways = run->ways_ran;
    row->sm_mhz = reading->sm_mhz;
    row->watts = reading->watts;
    snprintf(row->throttle, sizeof row->throttle, "%s", reading->throttle);
    row->max_difference = run->differences[i];
    const struct contender *measured = best_of(run);
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
    int status = contest_rounds(&run->contest, run->contenders, run->count, meta->rounds);
    struct nvml_reading reading = nvml_stop(&run->bench->nvml);
    if (status == 0 && meta->energy_s > 0)
        status = measure_all_alone(run);
    for (size_t i = 0; i < run->ours && status == 0; i++) {
        if (!run->contenders[i].out)
            status = add_row(run, i, &reading);
    }
    return status;
}

static bool anyone_left(const struct case_run *run) {
    for (size_t i = 0; i < run->ours; i++) {
        if (!run->contenders[i].out)
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
