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

struct candidate {
    struct lab_point *point;
    CUgraphExec exec;
    int launches, repeats; /* in the graph; of the graph in a round */
    struct bench_samples samples;
};

struct timing {
    struct runner *runner;
    const struct gpu *gpu;
    const struct runner_method *method;
    struct candidate *candidates;
    size_t count;
    CUevent *events; /* start and stop of every candidate in every round */
    size_t event_count;
};

static int launch_many(const struct timing *timing, const struct candidate *candidate, int count) {
    for (int i = 0; i < count; i++) {
        if (runner_launch(timing->runner, candidate->point) != 0)
            return complain("point `%s`: a launch that had worked was refused", candidate->point->label);
    }
    return 0;
}

static int run_graph(const struct timing *timing, const struct candidate *candidate, int repeats) {
    for (int i = 0; i < repeats; i++)
        GPU_TRY(timing->gpu, cuGraphLaunch, candidate->exec, timing->gpu->stream);
    return 0;
}

static int time_between(const struct timing *timing, CUevent start, CUevent stop, double *us) {
    float milliseconds = 0;
    GPU_TRY(timing->gpu, cuEventSynchronize, stop);
    GPU_TRY(timing->gpu, cuEventElapsedTime, &milliseconds, start, stop);
    *us = milliseconds * 1e3;
    return 0;
}

/* ---- one candidate -------------------------------------------------------------------------------- */

static int rough_time(const struct timing *timing, const struct candidate *candidate, double *us) {
    GPU_TRY(timing->gpu, cuEventRecord, timing->events[0], timing->gpu->stream);
    if (launch_many(timing, candidate, ROUGH_LAUNCHES) != 0)
        return -1;
    GPU_TRY(timing->gpu, cuEventRecord, timing->events[1], timing->gpu->stream);
    if (time_between(timing, timing->events[0], timing->events[1], us) != 0)
        return -1;
    *us = fmax(*us / ROUGH_LAUNCHES, 0.5);
    return 0;
}

static int capture(const struct timing *timing, struct candidate *candidate) {
    if (gpu_begin_capture(timing->gpu) != 0)
        return -1;
    return gpu_end_capture(timing->gpu, launch_many(timing, candidate, candidate->launches), &candidate->exec);
}

/* The graph, and how often it fills a round: the second run of it tells. */
static int make_contender(const struct timing *timing, struct candidate *candidate) {
    const double round_us = timing->method->round_ms * 1e3;
    double us = 0;
    if (rough_time(timing, candidate, &us) != 0)
        return -1;
    candidate->launches = (int)fmin(fmax(ceil(round_us / us), 1), LAUNCHES_MAX);
    if (capture(timing, candidate) != 0 || run_graph(timing, candidate, 1) != 0)
        return -1;
    GPU_TRY(timing->gpu, cuEventRecord, timing->events[0], timing->gpu->stream);
    if (run_graph(timing, candidate, 1) != 0)
        return -1;
    GPU_TRY(timing->gpu, cuEventRecord, timing->events[1], timing->gpu->stream);
    if (time_between(timing, timing->events[0], timing->events[1], &us) != 0)
        return -1;
    candidate->repeats = (int)fmin(ceil(round_us * 1.05 / fmax(us, 1)), REPEATS_MAX);
    return 0;
}

/* ---- all of them ---------------------------------------------------------------------------------- */

static int run_all(const struct timing *timing) {
    for (size_t i = 0; i < timing->count; i++) {
        if (run_graph(timing, &timing->candidates[i], timing->candidates[i].repeats) != 0)
            return -1;
    }
    return 0;
}

static int warm_up(const struct timing *timing) {
    double until = gpu_seconds() + timing->method->warmup_s;
    do {
        if (run_all(timing) != 0 || gpu_finish(timing->gpu) != 0)
            return -1;
    } while (gpu_seconds() < until);
    return 0;
}

static int queue_round(const struct timing *timing, CUevent *events) {
    CUstream stream = timing->gpu->stream;
    for (size_t i = 0; i < timing->count; i++) {
        GPU_TRY(timing->gpu, cuEventRecord, events[2 * i], stream);
        if (run_graph(timing, &timing->candidates[i], timing->candidates[i].repeats) != 0)
            return -1;
        GPU_TRY(timing->gpu, cuEventRecord, events[2 * i + 1], stream);
    }
    return 0;
}

static int read_round(const struct timing *timing, const CUevent *events) {
    for (size_t i = 0; i < timing->count; i++) {
        struct candidate *candidate = &timing->candidates[i];
        double us = 0;
        if (time_between(timing, events[2 * i], events[2 * i + 1], &us) != 0)
            return -1;
        candidate->samples.us[candidate->samples.count++] = us / ((double)candidate->launches * candidate->repeats);
    }
    return 0;
}

/* A B C A B C ..., queued ahead, so that the GPU never waits for the host and drifts touch all alike. */
static int run_rounds(const struct timing *timing) {
    for (int round = 0; round < timing->method->rounds; round++) {
        if (queue_round(timing, timing->events + 2 * timing->count * (size_t)round) != 0)
            return -1;
    }
    if (gpu_finish(timing->gpu) != 0)
        return -1;
    for (int round = 0; round < timing->method->rounds; round++) {
        if (read_round(timing, timing->events + 2 * timing->count * (size_t)round) != 0)
            return -1;
    }
    return 0;
}

static void keep_results(const struct timing *timing, struct nvml_reading reading) {
    for (size_t i = 0; i < timing->count; i++) {
        const struct bench_samples *samples = &timing->candidates[i].samples;
        struct lab_point *point = timing->candidates[i].point;
        point->us = stats_median(samples->us, samples->count);
        point->us_p10 = stats_percentile(samples->us, samples->count, 0.1);
        point->us_p90 = stats_percentile(samples->us, samples->count, 0.9);
        point->sm_mhz = reading.sm_mhz;
        point->watts = reading.watts;
    }
}

static int hold(struct timing *timing) {
    for (size_t i = 0; i < timing->event_count; i++)
        GPU_TRY(timing->gpu, cuEventCreate, &timing->events[i], CU_EVENT_DEFAULT);
    for (size_t i = 0; i < timing->count; i++) {
        progress_show(i, timing->count, "graphs");
        if (make_contender(timing, &timing->candidates[i]) != 0)
            return -1;
    }
    progress_show(timing->count, timing->count, "timing");
    if (warm_up(timing) != 0)
        return -1;
    struct nvml nvml;
    nvml_open(&nvml, timing->gpu);
    nvml_start(&nvml);
    int status = run_rounds(timing);
    struct nvml_reading reading = nvml_stop(&nvml);
    nvml_close(&nvml);
    progress_clear();
    if (status == 0)
        keep_results(timing, reading);
    return status;
}

static void release(struct timing *timing) {
    for (size_t i = 0; timing->candidates && i < timing->count; i++) {
        if (timing->candidates[i].exec)
            timing->gpu->drv->cuGraphExecDestroy(timing->candidates[i].exec);
    }
    for (size_t i = 0; timing->events && i < timing->event_count; i++) {
        if (timing->events[i])
            timing->gpu->drv->cuEventDestroy(timing->events[i]);
    }
    free(timing->candidates);
    free(timing->events);
}

static bool takes_part(const struct lab_point *point) {
    return point->timed && point->result != LAB_WRONG;
}

int runner_time(struct runner *runner, const struct runner_method *method) {
    struct lab *lab = runner->lab;
    struct timing timing = {.runner = runner, .gpu = &lab->gpu, .method = method};
    for (size_t i = 0; i < lab->point_count; i++)
        timing.count += takes_part(&lab->points[i]);
    if (timing.count == 0)
        return 0;
    timing.event_count = 2 * timing.count * (size_t)method->rounds;
    timing.candidates = calloc(timing.count, sizeof *timing.candidates);
    timing.events = calloc(timing.event_count, sizeof(CUevent));
    int status = timing.candidates && timing.events ? 0 : complain("out of host memory");
    size_t used = 0;
    for (size_t i = 0; status == 0 && i < lab->point_count; i++) {
        if (takes_part(&lab->points[i]))
            timing.candidates[used++].point = &lab->points[i];
    }
    if (status == 0)
        status = hold(&timing);
    release(&timing);
    return status;
}
