/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill tune, one problem: check every candidate, time all briefly, time the best of them alone. */
#include <stdlib.h>

#include "host/plan.h"
#include "bench/tune/tune.h"
#include "bench/measure/verify.h"

#define FIRST_ROUNDS   3
#define FIRST_ROUND_MS 2.0
#define FINALISTS_MAX  10 /* a settled round takes a sixth of a second; and the model's pick */
#define ROTATE_OVER_L2 3.0

/* Everything of one problem. */
struct tune_run {
    struct tune *tune;
    struct bench_case problem; /* of the class that is tuned */
    struct gm_ledger_key key;
    struct operands operands;
    struct rivals rivals;
    struct timing timing;
    struct tune_sample samples[TUNE_TOP_MAX + 1];
    struct candidate candidates[TUNE_TOP_MAX + 1]; /* of the same numbers */
    size_t count;
};

static const char *name_of(const struct tune_sample *sample) {
    return gm_kernels[sample->kernel].name;
}

static size_t workspace_of(const struct tune_run *run) {
    return (size_t)run->tune->options->workspace_mib << 20;
}

/* A row that cannot be planned is out, and a failure of that row. */
static void make_plans(struct tune_run *run) {
    for (size_t i = 0; i < run->count; i++) {
        const bool divided = run->samples[i].division != GM_DIVISION_NONE;
        char name[DIVIDED_NAME_BYTES];
        const struct gm_plan_options named = {.size = sizeof named,
                                              .kernel = tune_name(&run->samples[i], name),
                                              .workspace_limit = divided ? workspace_of(run) : 0};
        struct candidate *candidate = &run->candidates[i];
        candidate->kernel = run->samples[i].kernel;
        const enum gm_status status = gm_plan_create(run->problem.operation->operation, run->tune->gpu.context,
                                                     run->problem.problem.bytes, &named, &candidate->plan);
        candidate->disqualified = status != GM_OK;
        if (candidate->disqualified) {
            gpu_fail_library(status, "a plan");
            run->tune->failures++;
        }
    }
}

static int open_run(struct tune_run *run) {
    struct tune *tune = run->tune;
    run->timing = (struct timing){
        .gpu = &tune->gpu, .operands = &run->operands, .workspace_bytes = workspace_of(run), .meter = &tune->meter};
    make_plans(run);
    if (operands_make(&tune->gpu, &run->operands, run->problem.operation, run->problem.problem.bytes, &tune->noise,
                      ROTATE_OVER_L2, 1) != 0)
        return -1;
    return timing_open(&run->timing);
}

static void close_run(struct tune_run *run) {
    for (size_t i = 0; i < run->count; i++) {
        candidate_drop(&run->timing, &run->candidates[i]);
        gm_plan_destroy(run->candidates[i].plan);
    }
    timing_close(&run->timing);
    rivals_forget(&run->rivals);
    operands_free(&run->tune->gpu, &run->operands);
}

/* ---- results -------------------------------------------------------------------------------------- */

/* The baselines' first way that runs; empty: there is none, or the class is one that baselines do not compute. */
static int take_baseline(struct tune_run *run, struct verify_sample *sample, char *whose, size_t bytes) {
    struct tune *tune = run->tune;
    *sample = (struct verify_sample){0};
    if (tune->options->general ||
        rivals_prepare(&run->rivals, &tune->baselines, run->problem.operation, run->problem.problem.bytes) == 0)
        return 0;
    run->timing.rivals = &run->rivals;
    int status = 0;
    for (int way = 0; way < run->rivals.ways && status == 0 && sample->count == 0; way++) {
        struct candidate theirs = {.way = way};
        status = verify_run(&run->timing, &theirs, &tune->noise, sample);
        rivals_name(&run->rivals, way, whose, bytes);
    }
    return status;
}

static bool agrees(const struct tune_run *run, size_t i, const struct verify_sample *ours,
                   const struct verify_sample *reference, const char *whose) {
    const struct verify_verdict verdict = verify_compare(ours, reference, &run->problem);
    if (!verdict.agrees)
        verify_complain(&run->problem, name_of(&run->samples[i]), whose, &verdict);
    return verdict.agrees;
}

/* Each against the baseline; without one, against the first that runs, which is the best liked by the model. */
static int verify_all(struct tune_run *run) {
    struct verify_sample reference;
    char theirs[64];
    int status = take_baseline(run, &reference, theirs, sizeof theirs);
    const char *whose = reference.count ? theirs : NULL;
    for (size_t i = 0; i < run->count && status == 0; i++) {
        struct verify_sample ours = {0};
        struct candidate *candidate = &run->candidates[i];
        if (candidate->disqualified)
            continue;
        status = verify_run(&run->timing, candidate, &run->tune->noise, &ours);
        if (status == 0 && ours.count && whose)
            candidate->disqualified = !agrees(run, i, &ours, &reference, whose);
        run->tune->failures += candidate->disqualified;
        if (status == 0 && ours.count && !whose) {
            whose = name_of(&run->samples[i]);
            reference = ours;
        } else {
            verify_free(&ours);
        }
    }
    verify_free(&reference);
    return status;
}

/* ---- times ---------------------------------------------------------------------------------------- */

static int capture_all(struct tune_run *run, double round_ms) {
    for (size_t i = 0; i < run->count; i++) {
        candidate_drop(&run->timing, &run->candidates[i]);
        if (!run->candidates[i].disqualified && candidate_capture(&run->timing, &run->candidates[i], round_ms) != 0)
            return -1;
    }
    return 0;
}

static int time_all(struct tune_run *run, int rounds) {
    if (timing_rounds(&run->timing, run->candidates, run->count, rounds) != 0)
        return -1;
    for (size_t i = 0; i < run->count; i++)
        if (!run->candidates[i].disqualified)
            run->samples[i].samples = run->candidates[i].samples;
    return 0;
}

static bool follows_clock(const struct tune_run *run) {
    return tune_follows_clock(&run->tune->gpu.device, &run->problem);
}

/* What rounds too short for the power limit say: they compare clocks. */
static void bring_to_one_clock(struct tune_run *run) {
    if (follows_clock(run))
        tune_at_one_clock(run->samples, run->count);
}

/* Behind a stretch of itself that lets the clock settle, each is timed as it runs alone. */
static int time_finalists(struct tune_run *run) {
    const struct tune_options *options = run->tune->options;
    run->timing.settle_ms = options->settle_ms;
    if (capture_all(run, options->round_ms) != 0 || time_all(run, options->rounds) != 0)
        return -1;
    if (options->settle_ms > 0)
        tune_carry_over(run->samples, run->count);
    else
        bring_to_one_clock(run);
    for (size_t i = 0; i < run->count && !follows_clock(run); i++)
        run->samples[i].first_us = 0;
    return 0;
}

/* The warm-up is at the size and by all. */
static int time_twice(struct tune_run *run) {
    const struct tune_options *options = run->tune->options;
    if (capture_all(run, FIRST_ROUND_MS) != 0 ||
        timing_warm(&run->timing, run->candidates, run->count, options->warmup_s) != 0 ||
        time_all(run, FIRST_ROUNDS) != 0)
        return -1;
    bring_to_one_clock(run);
    tune_select(run->samples, run->count, FINALISTS_MAX);
    for (size_t i = 0; i < run->count; i++)
        run->candidates[i].disqualified |= !run->samples[i].is_final;
    return time_finalists(run);
}

static bool anyone_left(const struct tune_run *run) {
    bool left = false;
    for (size_t i = 0; i < run->count; i++)
        left |= !run->candidates[i].disqualified;
    return left;
}

static int measure(struct tune_run *run) {
    if (open_run(run) != 0 || verify_all(run) != 0)
        return -1;
    if (!anyone_left(run))
        return 0;
    if (time_twice(run) != 0)
        return -1;
    return tune_put_entry(run->tune, &run->problem, &run->key, run->samples, run->count);
}

int tune_case_run(struct tune *tune, const struct bench_case *problem) {
    struct tune_run *run = calloc(1, sizeof *run);
    char label[CASE_TEXT_BYTES];
    if (!run)
        return complain("out of host memory");
    run->tune = tune;
    run->problem = *problem;
    int count = 0;
    if (tune_key(&run->problem, tune->options->general, &run->key))
        count = tune_candidates(tune->options, &tune->gpu.device, &run->problem, run->samples);
    if (count == 0)
        note("skipped: no kernel takes %s", case_label(problem, label));
    run->count = count > 0 ? (size_t)count : 0;
    const int status = count > 0 ? measure(run) : count;
    if (count > 0)
        close_run(run);
    free(run);
    return status;
}
