/* SPDX-License-Identifier: Apache-2.0 */
/* The timing of an experiment's points: each a CUDA graph of many launches, interleaved round by round. */
#include <math.h>
#include <stdlib.h>

#include "bench/measure/nvml.h"
#include "bench/report/results.h"
#include "lab/runner.h"
#include "program/base/stats.h"

#define LAUNCHES_MAX   2048 /* nodes of a graph; rounds that need more repeat it */
#define ROUGH_LAUNCHES 2
#define REPEATS_MAX    10000

struct contender {
    struct lab_point *point;
    CUgraphExec exec;
    int launches, repeats; /* in the graph; of the graph in a round */
    struct bench_samples samples;
};

struct contest {
    struct runner *runner;
    const struct gpu *gpu;
    const struct runner_method *method;
    struct contender *contenders;
    size_t count;
    CUevent *events; /* start and stop of every contender in every round */
    size_t event_count;
};

static int launch_many(const struct contest *contest, const struct contender *contender, int count) {
    for (int i = 0; i < count; i++) {
        if (runner_launch(contest->runner, contender->point) != 0)
            return complain("point `%s`: a launch that had worked was refused", contender->point->label);
    }
    return 0;
}

static int run_graph(const struct contest *contest, const struct contender *contender, int repeats) {
    for (int i = 0; i < repeats; i++)
        GPU_TRY(contest->gpu, cuGraphLaunch, contender->exec, contest->gpu->stream);
    return 0;
}

static int time_between(const struct contest *contest, CUevent start, CUevent stop, double *us) {
    float milliseconds = 0;
    GPU_TRY(contest->gpu, cuEventSynchronize, stop);
    GPU_TRY(contest->gpu, cuEventElapsedTime, &milliseconds, start, stop);
    *us = milliseconds * 1e3;
    return 0;
}

/* ---- one contender -------------------------------------------------------------------------------- */

static int rough_time(const struct contest *contest, const struct contender *contender, double *us) {
    GPU_TRY(contest->gpu, cuEventRecord, contest->events[0], contest->gpu->stream);
    if (launch_many(contest, contender, ROUGH_LAUNCHES) != 0)
        return -1;
    GPU_TRY(contest->gpu, cuEventRecord, contest->events[1], contest->gpu->stream);
    if (time_between(contest, contest->events[0], contest->events[1], us) != 0)
        return -1;
    *us = fmax(*us / ROUGH_LAUNCHES, 0.5);
    return 0;
}

static int capture(const struct contest *contest, struct contender *contender) {
    if (gpu_begin_capture(contest->gpu) != 0)
        return -1;
    return gpu_end_capture(contest->gpu, launch_many(contest, contender, contender->launches), &contender->exec);
}

/* The graph, and how often it fills a round: the second run of it tells. */
static int make_contender(const struct contest *contest, struct contender *contender) {
    const double round_us = contest->method->round_ms * 1e3;
    double us = 0;
    if (rough_time(contest, contender, &us) != 0)
        return -1;
    contender->launches = (int)fmin(fmax(ceil(round_us / us), 1), LAUNCHES_MAX);
    if (capture(contest, contender) != 0 || run_graph(contest, contender, 1) != 0)
        return -1;
    GPU_TRY(contest->gpu, cuEventRecord, contest->events[0], contest->gpu->stream);
    if (run_graph(contest, contender, 1) != 0)
        return -1;
    GPU_TRY(contest->gpu, cuEventRecord, contest->events[1], contest->gpu->stream);
    if (time_between(contest, contest->events[0], contest->events[1], &us) != 0)
        return -1;
    contender->repeats = (int)fmin(ceil(round_us * 1.05 / fmax(us, 1)), REPEATS_MAX);
    return 0;
}

/* ---- all of them ---------------------------------------------------------------------------------- */

static int run_all(const struct contest *contest) {
    for (size_t i = 0; i < contest->count; i++) {
        if (run_graph(contest, &contest->contenders[i], contest->contenders[i].repeats) != 0)
            return -1;
    }
    return 0;
}

static int warm_up(const struct contest *contest) {
    double until = gpu_seconds() + contest->method->warmup_s;
    do {
        if (run_all(contest) != 0 || gpu_finish(contest->gpu) != 0)
            return -1;
    } while (gpu_seconds() < until);
    return 0;
}

static int queue_round(const struct contest *contest, CUevent *events) {
    CUstream stream = contest->gpu->stream;
    for (size_t i = 0; i < contest->count; i++) {
        GPU_TRY(contest->gpu, cuEventRecord, events[2 * i], stream);
        if (run_graph(contest, &contest->contenders[i], contest->contenders[i].repeats) != 0)
            return -1;
        GPU_TRY(contest->gpu, cuEventRecord, events[2 * i + 1], stream);
    }
    return 0;
}

static int read_round(const struct contest *contest, const CUevent *events) {
    for (size_t i = 0; i < contest->count; i++) {
        struct contender *contender = &contest->contenders[i];
        double us = 0;
        if (time_between(contest, events[2 * i], events[2 * i + 1], &us) != 0)
            return -1;
        contender->samples.us[contender->samples.count++] = us / ((double)contender->launches * contender->repeats);
    }
    return 0;
}

/* A B C A B C ..., queued ahead, so that the GPU never waits for the host and drifts touch all alike. */
static int run_rounds(const struct contest *contest) {
    for (int round = 0; round < contest->method->rounds; round++) {
        if (queue_round(contest, contest->events + 2 * contest->count * (size_t)round) != 0)
            return -1;
    }
    if (gpu_finish(contest->gpu) != 0)
        return -1;
    for (int round = 0; round < contest->method->rounds; round++) {
        if (read_round(contest, contest->events + 2 * contest->count * (size_t)round) != 0)
            return -1;
    }
    return 0;
}

static void keep_results(const struct contest *contest, struct nvml_reading reading) {
    for (size_t i = 0; i < contest->count; i++) {
        const struct bench_samples *samples = &contest->contenders[i].samples;
        struct lab_point *point = contest->contenders[i].point;
        point->us = stats_median(samples->us, samples->count);
        point->us_p10 = stats_percentile(samples->us, samples->count, 0.1);
        point->us_p90 = stats_percentile(samples->us, samples->count, 0.9);
        point->sm_mhz = reading.sm_mhz;
        point->watts = reading.watts;
    }
}

static int hold(struct contest *contest) {
    for (size_t i = 0; i < contest->event_count; i++)
        GPU_TRY(contest->gpu, cuEventCreate, &contest->events[i], CU_EVENT_DEFAULT);
    for (size_t i = 0; i < contest->count; i++) {
        progress_show(i, contest->count, "graphs");
        if (make_contender(contest, &contest->contenders[i]) != 0)
            return -1;
    }
    progress_show(contest->count, contest->count, "timing");
    if (warm_up(contest) != 0)
        return -1;
    struct nvml nvml;
    nvml_open(&nvml, contest->gpu);
    nvml_start(&nvml);
    int status = run_rounds(contest);
    struct nvml_reading reading = nvml_stop(&nvml);
    nvml_close(&nvml);
    progress_clear();
    if (status == 0)
        keep_results(contest, reading);
    return status;
}

static void release(struct contest *contest) {
    for (size_t i = 0; contest->contenders && i < contest->count; i++) {
        if (contest->contenders[i].exec)
            contest->gpu->drv->cuGraphExecDestroy(contest->contenders[i].exec);
    }
    for (size_t i = 0; contest->events && i < contest->event_count; i++) {
        if (contest->events[i])
            contest->gpu->drv->cuEventDestroy(contest->events[i]);
    }
    free(contest->contenders);
    free(contest->events);
}

static bool takes_part(const struct lab_point *point) {
    return point->timed && point->result != LAB_WRONG;
}

int runner_time(struct runner *runner, const struct runner_method *method) {
    struct lab *lab = runner->lab;
    struct contest contest = {.runner = runner, .gpu = &lab->gpu, .method = method};
    for (size_t i = 0; i < lab->point_count; i++)
        contest.count += takes_part(&lab->points[i]);
    if (contest.count == 0)
        return 0;
    contest.event_count = 2 * contest.count * (size_t)method->rounds;
    contest.contenders = calloc(contest.count, sizeof *contest.contenders);
    contest.events = calloc(contest.event_count, sizeof(CUevent));
    int status = contest.contenders && contest.events ? 0 : complain("out of host memory");
    size_t used = 0;
    for (size_t i = 0; status == 0 && i < lab->point_count; i++) {
        if (takes_part(&lab->points[i]))
            contest.contenders[used++].point = &lab->points[i];
    }
    if (status == 0)
        status = hold(&contest);
    release(&contest);
    return status;
}
