/* SPDX-License-Identifier: Apache-2.0 */
/* Timing: candidates on one problem, each a CUDA graph of many launches, interleaved round by round. */
#include "bench/measure/timing.h"

#include <math.h>
#include <stdlib.h>

#include "host/plan.h"

#define LAUNCHES_MAX   2048 /* nodes of a graph; rounds that need more repeat it */
#define GRAPH_MOST_MS  20.0 /* longer rounds repeat it: they overshoot by a fraction of it */
#define ROUGH_LAUNCHES 2
#define REPEATS_MAX    10000
#define ROUNDS_ALONE   4 /* queued before the host waits: the pause after them is a thousandth of their time */

int timing_open(struct timing *timing) {
    if (timing->workspace_bytes > 0 && gpu_alloc(timing->gpu, &timing->workspace, timing->workspace_bytes) != 0)
        return -1;
    GPU_TRY(timing->gpu, cuEventCreate, &timing->start, CU_EVENT_DEFAULT);
    GPU_TRY(timing->gpu, cuEventCreate, &timing->stop, CU_EVENT_DEFAULT);
    return 0;
}

void timing_close(struct timing *timing) {
    if (timing->workspace)
        gpu_free(timing->gpu, &timing->workspace);
    if (timing->start)
        timing->gpu->drv->cuEventDestroy(timing->start);
    if (timing->stop)
        timing->gpu->drv->cuEventDestroy(timing->stop);
    timing->start = timing->stop = NULL;
}

/* 0 = launched. Prints for our own kernels only: that a baseline refuses one of its ways is news of no interest. */
static int launch(const struct timing *timing, const struct candidate *candidate, int launch_index) {
    CUstream stream = timing->gpu->stream;
    struct bench_args args;
    operands_args(timing->operands, launch_index, timing->workspace, timing->workspace_bytes, &args);
    if (!candidate->plan)
        return rivals_run(timing->rivals, candidate->way, args.bytes, stream);
    enum gm_status status =
        gm_plan_execute(candidate->plan, timing->operands->operation->operation, args.bytes, stream);
    return status == GM_OK ? 0 : gpu_fail_library(status, "a kernel's launch");
}

static int launch_many(const struct timing *timing, const struct candidate *candidate, int count) {
    for (int i = 0; i < count; i++) {
        int status = launch(timing, candidate, i);
        if (status != 0)
            return status;
    }
    return 0;
}

static int time_between(const struct timing *timing, double *us) {
    float milliseconds = 0;
    GPU_TRY(timing->gpu, cuEventSynchronize, timing->stop);
    GPU_TRY(timing->gpu, cuEventElapsedTime, &milliseconds, timing->start, timing->stop);
    *us = milliseconds * 1e3;
    return 0;
}

int candidate_try_on(const struct timing *timing, struct candidate *candidate, int set) {
    if (launch(timing, candidate, set) != 0) {
        candidate->disqualified = true;
        return 0;
    }
    return gpu_finish(timing->gpu);
}

int candidate_try(const struct timing *timing, struct candidate *candidate) {
    return candidate_try_on(timing, candidate, 0);
}

static int rough_time(const struct timing *timing, struct candidate *candidate) {
    double us;
    GPU_TRY(timing->gpu, cuEventRecord, timing->start, timing->gpu->stream);
    if (launch_many(timing, candidate, ROUGH_LAUNCHES) != 0)
        return complain("a launch that had worked was refused the second time");
    GPU_TRY(timing->gpu, cuEventRecord, timing->stop, timing->gpu->stream);
    if (time_between(timing, &us) != 0)
        return -1;
    candidate->rough_us = fmax(us / ROUGH_LAUNCHES, 0.5);
    return 0;
}

static int capture(const struct timing *timing, struct candidate *candidate) {
    if (gpu_begin_capture(timing->gpu) != 0)
        return -1;
    const int status = launch_many(timing, candidate, candidate->launches);
    const int ended = gpu_end_capture(timing->gpu, status, &candidate->exec);
    return status == 0 ? ended : complain("a launch was refused under stream capture (status %d)", status);
}

static int run_graph(const struct timing *timing, const struct candidate *candidate, int repeats) {
    for (int i = 0; i < repeats; i++)
        GPU_TRY(timing->gpu, cuGraphLaunch, candidate->exec, timing->gpu->stream);
    return 0;
}

/* So that they take `ms`, with one run of the graph in `us`. */
static int repeats_for(double ms, double us) {
    return (int)fmin(ceil(ms * 1e3 / fmax(us, 1)), REPEATS_MAX);
}

int candidate_capture(const struct timing *timing, struct candidate *candidate, double round_ms) {
    double us;
    if (rough_time(timing, candidate) != 0)
        return -1;
    double wanted = fmax(ceil(fmin(round_ms, GRAPH_MOST_MS) * 1e3 / candidate->rough_us), timing->operands->sets);
    candidate->launches = (int)fmin(wanted, LAUNCHES_MAX);
    if (capture(timing, candidate) != 0 || run_graph(timing, candidate, 1) != 0)
        return -1;
    GPU_TRY(timing->gpu, cuEventRecord, timing->start, timing->gpu->stream);
    if (run_graph(timing, candidate, 1) != 0)
        return -1;
    GPU_TRY(timing->gpu, cuEventRecord, timing->stop, timing->gpu->stream);
    if (time_between(timing, &us) != 0)
        return -1;
    candidate->repeats = repeats_for(round_ms * 1.05, us);
    candidate->settle_repeats = repeats_for(timing->settle_ms, us);
    return 0;
}

void candidate_drop(const struct timing *timing, struct candidate *candidate) {
    if (candidate->exec)
        timing->gpu->drv->cuGraphExecDestroy(candidate->exec);
    candidate->exec = NULL;
}

/* One turn of everybody, not waited for. */
static int run_all(const struct timing *timing, const struct candidate *candidates, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (!candidates[i].disqualified && run_graph(timing, &candidates[i], candidates[i].repeats) != 0)
            return -1;
    }
    return 0;
}

int timing_warm(const struct timing *timing, struct candidate *candidates, size_t count, double seconds) {
    double until = gpu_seconds() + seconds;
    while (gpu_seconds() < until) {
        if (run_all(timing, candidates, count) != 0 || gpu_finish(timing->gpu) != 0)
            return -1;
    }
    return 0;
}

int timing_alone(const struct timing *timing, const struct candidate *candidate, double seconds, double *us) {
    const double until = gpu_seconds() + seconds;
    double launches = 0;
    GPU_TRY(timing->gpu, cuEventRecord, timing->start, timing->gpu->stream);
    do {
        if (run_graph(timing, candidate, candidate->repeats * ROUNDS_ALONE) != 0 || gpu_finish(timing->gpu) != 0)
            return -1;
        launches += (double)candidate->launches * candidate->repeats * ROUNDS_ALONE;
    } while (gpu_seconds() < until);
    GPU_TRY(timing->gpu, cuEventRecord, timing->stop, timing->gpu->stream);
    if (time_between(timing, us) != 0)
        return -1;
    *us /= launches;
    return 0;
}

static int stamp(const struct timing *timing, size_t index) {
    return timing->meter ? clock_meter_stamp(timing->gpu, timing->meter, index) : 0;
}

/* Events and stamps are of the same numbers, from `first` on. */
static int queue_round(const struct timing *timing, const struct candidate *candidates, size_t count, size_t first,
                       const CUevent *events) {
    for (size_t i = 0; i < count; i++) {
        const size_t begin = first + 2 * i, end = begin + 1;
        if (candidates[i].disqualified)
            continue;
        if (run_graph(timing, &candidates[i], candidates[i].settle_repeats) != 0 || stamp(timing, begin) != 0)
            return -1;
        GPU_TRY(timing->gpu, cuEventRecord, events[begin], timing->gpu->stream);
        if (run_graph(timing, &candidates[i], candidates[i].repeats) != 0)
            return -1;
        GPU_TRY(timing->gpu, cuEventRecord, events[end], timing->gpu->stream);
        if (stamp(timing, end) != 0)
            return -1;
    }
    return 0;
}

static int read_round(const struct timing *timing, struct candidate *candidates, size_t count, size_t first,
                      const CUevent *events, const uint64_t *stamps) {
    for (size_t i = 0; i < count; i++) {
        const size_t begin = first + 2 * i, end = begin + 1;
        struct candidate *candidate = &candidates[i];
        struct bench_samples *samples = &candidate->samples;
        float milliseconds = 0;
        if (candidate->disqualified)
            continue;
        GPU_TRY(timing->gpu, cuEventElapsedTime, &milliseconds, events[begin], events[end]);
        double launches = (double)candidate->launches * candidate->repeats;
        samples->clocks[samples->count] =
            clock_meter_between(stamps, timing->gpu->device.sm_count, begin, end) / launches;
        samples->us[samples->count++] = milliseconds * 1e3 / launches;
    }
    return 0;
}

static int time_rounds(const struct timing *timing, struct candidate *candidates, size_t count, int rounds,
                       CUevent *events) {
    const size_t events_of_round = 2 * count, all = events_of_round * (size_t)rounds;
    for (size_t i = 0; i < all; i++)
        GPU_TRY(timing->gpu, cuEventCreate, &events[i], CU_EVENT_DEFAULT);
    if (timing->meter && clock_meter_clear(timing->gpu, timing->meter, all) != 0)
        return -1;
    if (run_all(timing, candidates, count) != 0) /* the first round then begins on a busy GPU */
        return -1;
    for (int round = 0; round < rounds; round++) {
        if (queue_round(timing, candidates, count, events_of_round * (size_t)round, events) != 0)
            return -1;
    }
    if (gpu_finish(timing->gpu) != 0)
        return -1;
    uint64_t *stamps = NULL;
    int status = timing->meter ? clock_meter_read(timing->gpu, timing->meter, all, &stamps) : 0;
    for (int round = 0; round < rounds && status == 0; round++)
        status = read_round(timing, candidates, count, events_of_round * (size_t)round, events, stamps);
    free(stamps);
    return status;
}

int timing_rounds(const struct timing *timing, struct candidate *candidates, size_t count, int rounds) {
    size_t events_count = 2 * count * (size_t)rounds;
    CUevent *events = calloc(events_count, sizeof *events);
    for (size_t i = 0; i < count; i++)
        candidates[i].samples.count = 0;
    int status = events ? time_rounds(timing, candidates, count, rounds, events) : complain("out of host memory");
    for (size_t i = 0; events && i < events_count; i++) {
        if (events[i])
            timing->gpu->drv->cuEventDestroy(events[i]);
    }
    free(events);
    return status;
}
