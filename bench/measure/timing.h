/* SPDX-License-Identifier: Apache-2.0 */
/* Timing: candidates on one problem, each a CUDA graph of many launches, interleaved round by round. */
#ifndef BENCH_TIMING_H
#define BENCH_TIMING_H

#include "bench/baseline/baseline.h"
#include "bench/measure/clock_meter.h"
#include "bench/measure/operands.h"
#include "bench/report/results.h"

/* What a candidate runs on. */
struct timing {
    const struct gpu *gpu;
    const struct operands *operands;
    const struct rivals *rivals; /* the baselines' ways; NULL: none */
    size_t workspace_bytes;      /* that each of our plans may use, one at a time */
    CUdeviceptr workspace;
    struct clock_meter *meter; /* NULL: clocks are not read */
    double settle_ms;          /* each runs this long, untimed, before its stretch of a round; 0: all share one clock */
    CUevent start, stop;
};

struct candidate {
    int kernel;    /* index of the table, for ours */
    gm_plan *plan; /* ours; NULL: the baselines' `way` */
    int way;
    double rough_us;       /* of one launch, first look */
    CUgraphExec exec;      /* NULL: not captured */
    int launches, repeats; /* in the graph; of the graph in a round */
    int settle_repeats;    /* of the graph, untimed, before them */
    bool disqualified;     /* refused, or far too slow to be the best */
    struct bench_samples samples;
    double alone_us, joules; /* of one launch, alone, at its own clock; 0 or NaN: not measured */
};

int timing_open(struct timing *timing);
void timing_close(struct timing *timing);

/* One launch on set 0, waited for. A candidate that refuses is disqualified; -1: the GPU itself is in error. */
int candidate_try(const struct timing *timing, struct candidate *candidate);
/* The same on set `set`, counted from 0 and over again after the last. */
int candidate_try_on(const struct timing *timing, struct candidate *candidate, int set);
/* Captures the graph, and counts how often it runs so that a round takes at least `round_ms`, behind `settle_ms`. */
int candidate_capture(const struct timing *timing, struct candidate *candidate, double round_ms);
void candidate_drop(const struct timing *timing, struct candidate *candidate); /* the graph; the plan is not its own */

/* Runs all that are not disqualified, in turn, for `seconds`. */
int timing_warm(const struct timing *timing, struct candidate *candidates, size_t count, double seconds);
/* One candidate alone, for at least `seconds`; microseconds of a launch. */
int timing_alone(const struct timing *timing, const struct candidate *candidate, double seconds, double *us);
/* A B C A B C ...: fills the samples. Everything is queued ahead, so the GPU never waits for the host. */
int timing_rounds(const struct timing *timing, struct candidate *candidates, size_t count, int rounds);

#endif
