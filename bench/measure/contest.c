/* SPDX-License-Identifier: Apache-2.0 */
/* Timing: contenders on one problem, each a CUDA graph of many launches, interleaved round by round. */
#include "bench/measure/contest.h"

#include <math.h>
#include <stdlib.h>

#include "host/plan.h"

#define LAUNCHES_MAX   2048 /* nodes of a graph; rounds that need more repeat it */
#define GRAPH_MOST_MS  20.0 /* longer rounds repeat it: they overshoot by a fraction of it */
#define ROUGH_LAUNCHES 2
#define REPEATS_MAX    10000
#define ROUNDS_ALONE   4 /* queued before the host waits: the pause after them is a thousandth of their time */

int contest_open(struct contest *contest) {
    if (contest->workspace_bytes > 0 && gpu_alloc(contest->gpu, &contest->workspace, contest->workspace_bytes) != 0)
        return -1;
    GPU_TRY(contest->gpu, cuEventCreate, &contest->start, CU_EVENT_DEFAULT);
    GPU_TRY(contest->gpu, cuEventCreate, &contest->stop, CU_EVENT_DEFAULT);
    return 0;
}

void contest_close(struct contest *contest) {
    if (contest->workspace)
        gpu_free(contest->gpu, &contest->workspace);
    if (contest->start)
        contest->gpu->drv->cuEventDestroy(contest->start);
    if (contest->stop)
        contest->gpu->drv->cuEventDestroy(contest->stop);
    contest->start = contest->stop = NULL;
}

/* 0 = launched. Prints for our own kernels only: that a baseline refuses one of its ways is news of no interest. */
static int launch(const struct contest *contest, const struct contender *contender, int launch_index) {
    CUstream stream = contest->gpu->stream;
    struct bench_args args;
    operands_args(contest->operands, launch_index, contest->workspace, contest->workspace_bytes, &args);
    if (!contender->plan)
        return rivals_run(contest->rivals, contender->way, args.bytes, stream);
    enum gm_status status =
        gm_plan_execute(contender->plan, contest->operands->operation->operation, args.bytes, stream);
    return status == GM_OK ? 0 : gpu_fail_library(status, "a kernel's launch");
}

static int launch_many(const struct contest *contest, const struct contender *contender, int count) {
    for (int i = 0; i < count; i++) {
        int status = launch(contest, contender, i);
        if (status != 0)
            return status;
    }
    return 0;
}

static int time_between(const struct contest *contest, double *us) {
    float milliseconds = 0;
    GPU_TRY(contest->gpu, cuEventSynchronize, contest->stop);
    GPU_TRY(contest->gpu, cuEventElapsedTime, &milliseconds, contest->start, contest->stop);
    *us = milliseconds * 1e3;
    return 0;
}

int contender_try_on(const struct contest *contest, struct contender *contender, int set) {
    if (launch(contest, contender, set) != 0) {
        contender->out = true;
        return 0;
    }
    return gpu_finish(contest->gpu);
}

int contender_try(const struct contest *contest, struct contender *contender) {
    return contender_try_on(contest, contender, 0);
}

static int rough_time(const struct contest *contest, struct contender *contender) {
    double us;
    GPU_TRY(contest->gpu, cuEventRecord, contest->start, contest->gpu->stream);
    if (launch_many(contest, contender, ROUGH_LAUNCHES) != 0)
        return complain("a launch that had worked was refused the second time");
    GPU_TRY(contest->gpu, cuEventRecord, contest->stop, contest->gpu->stream);
    if (time_between(contest, &us) != 0)
        return -1;
    contender->rough_us = fmax(us / ROUGH_LAUNCHES, 0.5);
    return 0;
}

static int capture(const struct contest *contest, struct contender *contender) {
    if (gpu_begin_capture(contest->gpu) != 0)
        return -1;
    const int status = launch_many(contest, contender, contender->launches);
    const int ended = gpu_end_capture(contest->gpu, status, &contender->exec);
    return status == 0 ? ended : complain("a launch was refused under stream capture (status %d)", status);
}

static int run_graph(const struct contest *contest, const struct contender *contender, int repeats) {
    for (int i = 0; i < repeats; i++)
        GPU_TRY(contest->gpu, cuGraphLaunch, contender->exec, contest->gpu->stream);
    return 0;
}

/* So that they take `ms`, with one run of the graph in `us`. */
static int repeats_for(double ms, double us) {
    return (int)fmin(ceil(ms * 1e3 / fmax(us, 1)), REPEATS_MAX);
}

int contender_capture(const struct contest *contest, struct contender *contender, double round_ms) {
    double us;
    if (rough_time(contest, contender) != 0)
        return -1;
    double wanted = fmax(ceil(fmin(round_ms, GRAPH_MOST_MS) * 1e3 / contender->rough_us), contest->operands->sets);
    contender->launches = (int)fmin(wanted, LAUNCHES_MAX);
    if (capture(contest, contender) != 0 || run_graph(contest, contender, 1) != 0)
        return -1;
    GPU_TRY(contest->gpu, cuEventRecord, contest->start, contest->gpu->stream);
    if (run_graph(contest, contender, 1) != 0)
        return -1;
    GPU_TRY(contest->gpu, cuEventRecord, contest->stop, contest->gpu->stream);
    if (time_between(contest, &us) != 0)
        return -1;
    contender->repeats = repeats_for(round_ms * 1.05, us);
    contender->settle_repeats = repeats_for(contest->settle_ms, us);
    return 0;
}

void contender_drop(const struct contest *contest, struct contender *contender) {
    if (contender->exec)
        contest->gpu->drv->cuGraphExecDestroy(contender->exec);
    contender->exec = NULL;
}

/* One turn of everybody, not waited for. */
static int run_all(const struct contest *contest, const struct contender *contenders, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (!contenders[i].out && run_graph(contest, &contenders[i], contenders[i].repeats) != 0)
            return -1;
    }
    return 0;
}

int contest_warm(const struct contest *contest, struct contender *contenders, size_t count, double seconds) {
    double until = gpu_seconds() + seconds;
    while (gpu_seconds() < until) {
        if (run_all(contest, contenders, count) != 0 || gpu_finish(contest->gpu) != 0)
            return -1;
    }
    return 0;
}

int contest_alone(const struct contest *contest, const struct contender *contender, double seconds, double *us) {
    const double until = gpu_seconds() + seconds;
    double launches = 0;
    GPU_TRY(contest->gpu, cuEventRecord, contest->start, contest->gpu->stream);
    do {
        if (run_graph(contest, contender, contender->repeats * ROUNDS_ALONE) != 0 || gpu_finish(contest->gpu) != 0)
            return -1;
        launches += (double)contender->launches * contender->repeats * ROUNDS_ALONE;
    } while (gpu_seconds() < until);
    GPU_TRY(contest->gpu, cuEventRecord, contest->stop, contest->gpu->stream);
    if (time_between(contest, us) != 0)
        return -1;
    *us /= launches;
    return 0;
}

static int stamp(const struct contest *contest, size_t index) {
    return contest->meter ? clock_meter_stamp(contest->gpu, contest->meter, index) : 0;
}

/* Events and stamps are of the same numbers, from `first` on. */
static int queue_round(const struct contest *contest, const struct contender *contenders, size_t count, size_t first,
                       const CUevent *events) {
    for (size_t i = 0; i < count; i++) {
        const size_t begin = first + 2 * i, end = begin + 1;
        if (contenders[i].out)
            continue;
        if (run_graph(contest, &contenders[i], contenders[i].settle_repeats) != 0 || stamp(contest, begin) != 0)
            return -1;
        GPU_TRY(contest->gpu, cuEventRecord, events[begin], contest->gpu->stream);
        if (run_graph(contest, &contenders[i], contenders[i].repeats) != 0)
            return -1;
        GPU_TRY(contest->gpu, cuEventRecord, events[end], contest->gpu->stream);
        if (stamp(contest, end) != 0)
            return -1;
    }
    return 0;
}

static int read_round(const struct contest *contest, struct contender *contenders, size_t count, size_t first,
                      const CUevent *events, const uint64_t *stamps) {
    for (size_t i = 0; i < count; i++) {
        const size_t begin = first + 2 * i, end = begin + 1;
        struct contender *contender = &contenders[i];
        struct bench_samples *samples = &contender->samples;
        float milliseconds = 0;
        if (contender->out)
            continue;
        GPU_TRY(contest->gpu, cuEventElapsedTime, &milliseconds, events[begin], events[end]);
        double launches = (double)contender->launches * contender->repeats;
        samples->clocks[samples->count] =
            clock_meter_between(stamps, contest->gpu->device.sm_count, begin, end) / launches;
        samples->us[samples->count++] = milliseconds * 1e3 / launches;
    }
    return 0;
}

static int time_rounds(const struct contest *contest, struct contender *contenders, size_t count, int rounds,
                       CUevent *events) {
    const size_t events_of_round = 2 * count, all = events_of_round * (size_t)rounds;
    for (size_t i = 0; i < all; i++)
        GPU_TRY(contest->gpu, cuEventCreate, &events[i], CU_EVENT_DEFAULT);
    if (contest->meter && clock_meter_clear(contest->gpu, contest->meter, all) != 0)
        return -1;
    if (run_all(contest, contenders, count) != 0) /* the first round then begins on a busy GPU */
        return -1;
    for (int round = 0; round < rounds; round++) {
        if (queue_round(contest, contenders, count, events_of_round * (size_t)round, events) != 0)
            return -1;
    }
    if (gpu_finish(contest->gpu) != 0)
        return -1;
    uint64_t *stamps = NULL;
    int status = contest->meter ? clock_meter_read(contest->gpu, contest->meter, all, &stamps) : 0;
    for (int round = 0; round < rounds && status == 0; round++)
        status = read_round(contest, contenders, count, events_of_round * (size_t)round, events, stamps);
    free(stamps);
    return status;
}

int contest_rounds(const struct contest *contest, struct contender *contenders, size_t count, int rounds) {
    size_t events_count = 2 * count * (size_t)rounds;
    CUevent *events = calloc(events_count, sizeof *events);
    for (size_t i = 0; i < count; i++)
        contenders[i].samples.count = 0;
    int status = events ? time_rounds(contest, contenders, count, rounds, events) : complain("out of host memory");
    for (size_t i = 0; events && i < events_count; i++) {
        if (events[i])
            contest->gpu->drv->cuEventDestroy(events[i]);
    }
    free(events);
    return status;
}
