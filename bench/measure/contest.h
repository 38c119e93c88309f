/* SPDX-License-Identifier: Apache-2.0 */
/* Timing: contenders on one problem, each a CUDA graph of many launches, interleaved round by round. */
#ifndef BENCH_CONTEST_H
#define BENCH_CONTEST_H

#include "bench/baseline/baseline.h"
#include "bench/measure/clock_meter.h"
#include "bench/measure/operands.h"
#include "bench/report/results.h"

/* What a contender runs on. */
struct contest {
    const struct gpu *gpu;
    const struct operands *operands;
    const struct rivals *rivals; /* the baselines' ways; NULL: none */
    size_t workspace_bytes; /* that each of our plans may use, one at a time */
    CUdeviceptr workspace;
    struct clock_meter *meter; /* NULL: clocks are not read */
    double settle_ms;          /* each runs this long, untimed, before its stretch of a round; 0: all share one clock */
    CUevent start, stop;
};

struct contender {
    int kernel;    /* index of the table, for ours */
    gm_plan *plan; /* ours; NULL: the baselines' `way` */
    int way;
    double rough_us;       /* of one launch, first look */
    CUgraphExec exec;      /* NULL: not captured */
    int launches, repeats; /* in the graph; of the graph in a round */
    int settle_repeats;    /* of the graph, untimed, before them */
    bool out;              /* refused, or far too slow to be the best */
    struct bench_samples samples;
    double alone_us, joules; /* of one launch, alone, at its own clock; 0 or NaN: not measured */
};

int contest_open(struct contest *contest);
void contest_close(struct contest *contest);

/* One launch on set 0, waited for. A contender that refuses is marked out; -1: the GPU itself is in error. */
int contender_try(const struct contest *contest, struct contender *contender);
/* The same on set `set`, counted from 0 and over again after the last. */
int contender_try_on(const struct contest *contest, struct contender *contender, int set);
/* Captures the graph, and counts how often it runs so that a round takes at least `round_ms`, behind `settle_ms`. */
int contender_capture(const struct contest *contest, struct contender *contender, double round_ms);
void contender_drop(const struct contest *contest,
                    struct contender *contender); /* the graph; the plan is not its own */

/* Runs all that are not out, in turn, for `seconds`. */
int contest_warm(const struct contest *contest, struct contender *contenders, size_t count, double seconds);
/* One contender alone, for at least `seconds`; microseconds of a launch. */
int contest_alone(const struct contest *contest, const struct contender *contender, double seconds, double *us);
/* A B C A B C ...: fills the samples. Everything is queued ahead, so the GPU never waits for the host. */
int contest_rounds(const struct contest *contest, struct contender *contenders, size_t count, int rounds);

#endif
