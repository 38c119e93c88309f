/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill tune, one problem: check every candidate, time all briefly, time the best of them alone. */
#include <stdlib.h>

#include "host/gemm/problem.h"
#include "host/family.h"
#include "bench/tune/tune.h"
#include "bench/measure/verify.h"

#define FIRST_ROUNDS   3
#define FIRST_ROUND_MS 2.0
#define FINALISTS_MAX  10 /* a settled round takes a sixth of a second; and the model's pick */
#define ROTATE_OVER_L2 3.0

struct heat {
    struct tune *tune;
    const struct bench_case *problem;
    struct gm_gemm_problem gemm;
    struct gm_ledger_key key;
    struct operands operands;
    struct lt_problem baseline;
    struct contest contest;
    struct tune_sample samples[TUNE_TOP_MAX + 1];
    struct contender contenders[TUNE_TOP_MAX + 1]; /* of the same numbers */
    size_t count;
};

static const char *name_of(const struct tune_sample *sample) {
    return gm_kernels[sample->kernel].name;
}

static size_t workspace_of(const struct heat *heat) {
    return (size_t)heat->tune->options->workspace_mib << 20;
}

/* A row that cannot be planned is out, and a failure of that row. */
static void make_plans(struct heat *heat) {
    for (size_t i = 0; i < heat->count; i++) {
        const bool divided = heat->samples[i].division != GM_DIVISION_NONE;
        char name[DIVIDED_NAME_BYTES];
        const struct gm_plan_options named = {.size = sizeof named,
                                              .kernel = tune_name(&heat->samples[i], name),
                                              .workspace_limit = divided ? workspace_of(heat) : 0};
        struct contender *contender = &heat->contenders[i];
        contender->kernel = heat->samples[i].kernel;
        const enum gm_status status =
            gm_gemm_plan_create(heat->tune->gpu.context, &heat->gemm, &named, &contender->plan);
        contender->out = status != GM_OK;
        if (contender->out) {
            gpu_fail_library(status, "gm_gemm_plan_create");
            heat->tune->failures++;
        }
    }
}

static int open_heat(struct heat *heat) {
    struct tune *tune = heat->tune;
    heat->contest = (struct contest){
        .gpu = &tune->gpu, .operands = &heat->operands, .workspace_bytes = workspace_of(heat), .meter = &tune->meter};
    make_plans(heat);
    if (noise_make(&tune->gpu, &tune->noise, heat->gemm.ab_type) != 0 ||
        operands_make(&tune->gpu, &heat->operands, &heat->gemm, &tune->noise, ROTATE_OVER_L2) != 0)
        return -1;
    return contest_open(&heat->contest);
}

static void close_heat(struct heat *heat) {
    for (size_t i = 0; i < heat->count; i++) {
        contender_drop(&heat->contest, &heat->contenders[i]);
        gm_plan_destroy(heat->contenders[i].plan);
    }
    contest_close(&heat->contest);
    if (heat->contest.lt)
        lt_forget(&heat->tune->lt, &heat->baseline);
    operands_free(&heat->tune->gpu, &heat->operands);
}

/* ---- results -------------------------------------------------------------------------------------- */

/* cuBLASLt's first heuristic that runs; no values: there is none, or its epilogue is another. */
static int take_baseline(struct heat *heat, struct verify_sample *sample) {
    struct tune *tune = heat->tune;
    *sample = (struct verify_sample){0};
    if (!tune->has_baseline || gm_has_general_epilogue(&heat->gemm) || lt_prepare(&tune->lt, &heat->baseline, &heat->gemm) != 0)
        return 0;
    heat->contest.lt = &tune->lt;
    heat->contest.baseline = &heat->baseline;
    int status = 0;
    for (int i = 0; i < heat->baseline.count && status == 0 && !sample->values; i++) {
        struct contender theirs = {.heuristic = i};
        status = verify_run(&heat->contest, &theirs, sample);
    }
    return status;
}

static bool agrees(const struct heat *heat, size_t i, const struct verify_sample *ours,
                   const struct verify_sample *reference, const char *whose) {
    const struct verify_verdict verdict = verify_compare(ours, reference, heat->problem->k, heat->gemm.d_type);
    if (!verdict.agrees)
        verify_complain(heat->problem, name_of(&heat->samples[i]), whose, &verdict);
    return verdict.agrees;
}

/* Each against the baseline; without one, against the first that runs, which is the best liked by the model. */
static int verify_all(struct heat *heat) {
    struct verify_sample reference;
    int status = take_baseline(heat, &reference);
    const char *whose = reference.values ? "cuBLASLt" : NULL;
    for (size_t i = 0; i < heat->count && status == 0; i++) {
        struct verify_sample ours = {0};
        struct contender *contender = &heat->contenders[i];
        if (contender->out)
            continue;
        status = verify_run(&heat->contest, contender, &ours);
        if (status == 0 && ours.values && whose)
            contender->out = !agrees(heat, i, &ours, &reference, whose);
        heat->tune->failures += contender->out;
        if (status == 0 && ours.values && !whose) {
            whose = name_of(&heat->samples[i]);
            reference = ours;
        } else {
            verify_free(&ours);
        }
    }
    verify_free(&reference);
    return status;
}

/* ---- times ---------------------------------------------------------------------------------------- */

static int capture_all(struct heat *heat, double round_ms) {
    for (size_t i = 0; i < heat->count; i++) {
        contender_drop(&heat->contest, &heat->contenders[i]);
        if (!heat->contenders[i].out && contender_capture(&heat->contest, &heat->contenders[i], round_ms) != 0)
            return -1;
    }
    return 0;
}

static int time_all(struct heat *heat, int rounds) {
    if (contest_rounds(&heat->contest, heat->contenders, heat->count, rounds) != 0)
        return -1;
    for (size_t i = 0; i < heat->count; i++)
        if (!heat->contenders[i].out)
            heat->samples[i].samples = heat->contenders[i].samples;
    return 0;
}

static bool follows_clock(const struct heat *heat) {
    return tune_follows_clock(&heat->tune->gpu.device, &heat->gemm);
}

/* What rounds too short for the power limit say: they compare clocks. */
static void bring_to_one_clock(struct heat *heat) {
    if (follows_clock(heat))
        tune_at_one_clock(heat->samples, heat->count);
}

/* Behind a stretch of itself that lets the clock settle, each is timed as it runs alone. */
static int time_finalists(struct heat *heat) {
    const struct tune_options *options = heat->tune->options;
    heat->contest.settle_ms = options->settle_ms;
    if (capture_all(heat, options->round_ms) != 0 || time_all(heat, options->rounds) != 0)
        return -1;
    if (options->settle_ms > 0)
        tune_carry_over(heat->samples, heat->count);
    else
        bring_to_one_clock(heat);
    for (size_t i = 0; i < heat->count && !follows_clock(heat); i++)
        heat->samples[i].first_us = 0;
    return 0;
}

/* The warm-up is at the size and by all. */
static int time_twice(struct heat *heat) {
    const struct tune_options *options = heat->tune->options;
    if (capture_all(heat, FIRST_ROUND_MS) != 0 ||
        contest_warm(&heat->contest, heat->contenders, heat->count, options->warmup_s) != 0 ||
        time_all(heat, FIRST_ROUNDS) != 0)
        return -1;
    bring_to_one_clock(heat);
    tune_select(heat->samples, heat->count, FINALISTS_MAX);
    for (size_t i = 0; i < heat->count; i++)
        heat->contenders[i].out |= !heat->samples[i].is_final;
    return time_finalists(heat);
}

static bool anyone_left(const struct heat *heat) {
    bool left = false;
    for (size_t i = 0; i < heat->count; i++)
        left |= !heat->contenders[i].out;
    return left;
}

static int run(struct heat *heat) {
    if (open_heat(heat) != 0 || verify_all(heat) != 0)
        return -1;
    if (!anyone_left(heat))
        return 0;
    if (time_twice(heat) != 0)
        return -1;
    return tune_put_entry(heat->tune, heat->problem, &heat->key, heat->samples, heat->count);
}

int tune_case_run(struct tune *tune, const struct bench_case *problem) {
    struct heat *heat = calloc(1, sizeof *heat);
    if (!heat)
        return complain("out of host memory");
    heat->tune = tune;
    heat->problem = problem;
    int count = 0;
    if (tune_key(problem, tune->options->general, &heat->gemm, &heat->key))
        count = tune_candidates(tune->options, &tune->gpu.device, &heat->gemm, heat->samples);
    if (count == 0)
        note("skipped: no kernel takes %s %s %s -> %s %s", problem->op, problem->a, problem->b, problem->d,
             problem->layout);
    heat->count = count > 0 ? (size_t)count : 0;
    const int status = count > 0 ? run(heat) : count;
    if (count > 0)
        close_heat(heat);
    free(heat);
    return status;
}
