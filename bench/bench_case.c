/* SPDX-License-Identifier: Apache-2.0 */
/* One case of the bench: check every kernel against the baseline, warm up, search, time, fill the rows. */
#include <inttypes.h>
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

/* Everything of one case. The contenders are ours, then the baseline's best, then its default. */
struct field {
    struct bench *bench;
    const struct bench_case *problem;
    struct gm_gemm_problem gemm;
    struct operands operands;
    struct lt_problem baseline;
    struct contest contest;
    struct contender *contenders;
    double *differences; /* largest, of each of ours; NaN: not compared */
    size_t ours, count;
    int heuristics_ran;
};

static void kernel_name(const struct contender *contender, char *name, size_t bytes) {
    gm_divided_name(contender->plan->kernel, contender->plan->division, name, bytes);
}

static struct contender *fallback_of(const struct field *field) {
    return &field->contenders[field->ours + 1];
}

static int open_field(struct field *field) {
    struct bench *bench = field->bench;
    size_t capacity = gm_kernel_count() + 3;
    field->contenders = calloc(capacity, sizeof *field->contenders);
    field->differences = calloc(capacity, sizeof *field->differences);
    if (!field->contenders || !field->differences)
        return complain("out of host memory");
    int ours = bench_plans(bench, &field->gemm, field->contenders, capacity - 3);
    if (ours < 0)
        return -1;
    field->ours = field->count = (size_t)ours;
    if (ours == 0)
        return 0;
    if (noise_make(&bench->gpu, &bench->noise, field->gemm.ab_type) != 0 ||
        operands_make(&bench->gpu, &field->operands, &field->gemm, &bench->noise, bench->results.meta.rotate_l2) != 0)
        return -1;
    field->contest = (struct contest){.gpu = &bench->gpu,
                                      .operands = &field->operands,
                                      .workspace_bytes = (size_t)bench->options->workspace_mib << 20};
    return contest_open(&field->contest);
}

static void close_field(struct field *field) {
    for (size_t i = 0; field->contenders && i < field->ours + 2; i++) {
        if (field->contest.gpu)
            contender_drop(&field->contest, &field->contenders[i]);
        gm_plan_destroy(field->contenders[i].plan);
    }
    if (field->contest.gpu)
        contest_close(&field->contest);
    if (field->bench->has_baseline)
        lt_forget(&field->bench->lt, &field->baseline);
    operands_free(&field->bench->gpu, &field->operands);
    free(field->contenders);
    free(field->differences);
}

static int find_fallback(struct field *field) {
    struct bench *bench = field->bench;
    struct contender *fallback = fallback_of(field);
    fallback[-1].out = fallback->out = true;
    if (!bench->has_baseline || lt_prepare(&bench->lt, &field->baseline, &field->gemm) != 0)
        return 0;
    field->contest.lt = &bench->lt;
    field->contest.baseline = &field->baseline;
    return bench_default(&field->contest, fallback);
}

static void judge(struct field *field, size_t i, const struct verify_sample *ours, const struct verify_sample *theirs) {
    char name[96];
    const struct bench_case *problem = field->problem;
    if (!theirs->values)
        return;
    struct verify_verdict verdict = verify_compare(ours, theirs, problem->k, field->gemm.d_type);
    field->differences[i] = verdict.max_difference;
    if (verdict.agrees)
        return;
    kernel_name(&field->contenders[i], name, sizeof name);
    verify_complain(problem, name, "cuBLASLt", &verdict);
    field->contenders[i].out = true;
    field->bench->failures++;
}

static int verify_all(struct field *field) {
    struct verify_sample theirs = {0};
    int status = fallback_of(field)->out ? 0 : verify_run(&field->contest, fallback_of(field), &theirs);
    for (size_t i = 0; i < field->ours && status == 0; i++) {
        struct verify_sample ours;
        char name[96];
        field->differences[i] = NAN;
        kernel_name(&field->contenders[i], name, sizeof name);
        status = verify_run(&field->contest, &field->contenders[i], &ours);
        if (status != 0)
            complain("that was in kernel %s", name);
        else if (field->contenders[i].out)
            field->bench->failures++;
        else
            judge(field, i, &ours, &theirs);
        verify_free(&ours);
    }
    verify_free(&theirs);
    return status;
}

static int capture_all(struct field *field, double round_ms) {
    for (size_t i = 0; i < field->count; i++) {
        struct contender *contender = &field->contenders[i];
        if (!contender->out && !contender->exec && contender_capture(&field->contest, contender, round_ms) != 0)
            return -1;
    }
    return 0;
}

/* Warm-up at the size, then the search, then the best of it joins. The search itself keeps the GPU at work. */
static int prepare_all(struct field *field) {
    const struct bench_meta *meta = &field->bench->results.meta;
    struct contender *fallback = fallback_of(field);
    field->count = field->ours + 2;
    if (capture_all(field, meta->round_ms) != 0 ||
        contest_warm(&field->contest, field->contenders, field->count, meta->warmup_s) != 0)
        return -1;
    if (fallback->out)
        return 0;
    if (bench_search(&field->contest, fallback - 1, fallback, &field->heuristics_ran) != 0)
        return -1;
    return capture_all(field, meta->round_ms);
}

/* The faster of the two, as results_fill will have it; NULL: there is no baseline. */
static struct contender *best_of(const struct field *field) {
    struct contender *fallback = fallback_of(field), *best = fallback - 1;
    const double best_us = stats_median(best->samples.us, best->samples.count);
    const double default_us = stats_median(fallback->samples.us, fallback->samples.count);
    struct contender *faster = !best->out && best_us <= default_us ? best : fallback;
    return faster->out ? NULL : faster;
}

static double mean_with(double before, int turns, double now) {
    return turns == 0 ? now : (turns * before + now) / (turns + 1);
}

/* One turn; times and joules are the means of the turns so far. */
static int measure_alone(struct field *field, struct contender *contender, int turn) {
    struct bench_meta *meta = &field->bench->results.meta;
    const double us = contender->alone_us, joules = contender->joules;
    enum energy_source source;
    int status = energy_measure(&field->contest, &field->bench->nvml, contender, meta->energy_s / ALONE_TURNS, &source);
    contender->alone_us = mean_with(us, turn, contender->alone_us);
    contender->joules = mean_with(joules, turn, contender->joules);
    if (source == ENERGY_POWER || (source == ENERGY_COUNTER && !meta->energy_source[0])) /* the worse of the run's */
        snprintf(meta->energy_source, sizeof meta->energy_source, "%s", energy_source_name(source));
    return status;
}

/* Ours and the best, then the best and ours: who comes first finds a cooler GPU, or one whose power is still settling.
 */
static int measure_all_alone(struct field *field) {
    struct contender *best = best_of(field);
    const size_t count = field->ours + (best != NULL);
    int status = 0;
    for (int turn = 0; turn < ALONE_TURNS; turn++)
        for (size_t i = 0; i < count && status == 0; i++) {
            const size_t next = turn % 2 == 0 ? i : count - 1 - i;
            struct contender *contender = next < field->ours ? &field->contenders[next] : best;
            if (!contender->out)
                status = measure_alone(field, contender, turn);
        }
    return status;
}

static int add_row(struct field *field, size_t i, const struct nvml_reading *reading) {
    const struct contender *ours = &field->contenders[i], *fallback = fallback_of(field), *best = fallback - 1;
    struct bench_row *row = results_add(&field->bench->results);
    if (!row)
        return complain("out of host memory");
    row->problem = *field->problem;
    kernel_name(ours, row->kernel, sizeof row->kernel);
    row->predicted_us = gm_plan_predicted_us(ours->plan);
    row->ours = ours->samples;
    row->best = best->samples;
    row->fallback = fallback->samples;
    row->best_heuristic = best->heuristic;
    row->heuristics = field->heuristics_ran;
    row->sm_mhz = reading->sm_mhz;
    row->watts = reading->watts;
    snprintf(row->throttle, sizeof row->throttle, "%s", reading->throttle);
    row->max_difference = field->differences[i];
    const struct contender *measured = best_of(field);
    results_fill_alone(row, ours->alone_us, measured ? measured->alone_us : NAN);
    results_fill_energy(row, ours->joules, measured ? measured->joules : NAN);
    results_fill(row);
    return 0;
}

static int time_all(struct field *field) {
    const struct bench_meta *meta = &field->bench->results.meta;
    nvml_start(&field->bench->nvml);
    int status = contest_rounds(&field->contest, field->contenders, field->count, meta->rounds);
    struct nvml_reading reading = nvml_stop(&field->bench->nvml);
    if (status == 0 && meta->energy_s > 0)
        status = measure_all_alone(field);
    for (size_t i = 0; i < field->ours && status == 0; i++) {
        if (!field->contenders[i].out)
            status = add_row(field, i, &reading);
    }
    return status;
}

static bool anyone_left(const struct field *field) {
    for (size_t i = 0; i < field->ours; i++) {
        if (!field->contenders[i].out)
            return true;
    }
    return false;
}

int bench_case_run(struct bench *bench, const struct bench_case *problem) {
    struct field field = {.bench = bench, .problem = problem};
    if (!suite_problem(problem, &field.gemm)) {
        note("skipped: no kernel takes %s %s %s -> %s %s", problem->op, problem->a, problem->b, problem->d,
             problem->layout);
        return 0;
    }
    int status = open_field(&field);
    if (status == 0 && field.ours > 0) {
        status = find_fallback(&field);
        if (status == 0)
            status = verify_all(&field);
        if (status == 0 && anyone_left(&field))
            status = prepare_all(&field) == 0 ? time_all(&field) : -1;
    }
    if (status == 0 && field.ours == 0 && (bench->options->kernel || bench->options->all_kernels))
        note("skipped: no kernel that was asked for takes %" PRId64 " x %" PRId64 " x %" PRId64 " %s %s", problem->m,
             problem->n, problem->k, problem->a, problem->layout);
    close_field(&field);
    return status;
}
