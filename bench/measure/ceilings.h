/* SPDX-License-Identifier: Apache-2.0 */
/* What this machine can do at best, measured in the same run: memory, launch, and the host cost of a call. */
#ifndef BENCH_CEILINGS_H
#define BENCH_CEILINGS_H

#include "bench/measure/timing.h"

/* Copy and write by the driver's own copy engine kernels; read and launch by two small kernels of ceilings.c, which
 * the driver compiles from PTX. What cannot be measured is estimated, and the source strings say so. */
extern const char ceilings_ptx[];
int ceilings_measure(const struct gpu *gpu, struct bench_ceilings *ceilings);

/* A call whose host time is asked for: it returns 0 or a refusal. */
struct host_call {
    int (*call)(const void *);
    const void *what;
    double *ns;
};

/* Host times of one call each, of four at most: medians of bursts that never fill the queue, by turns. */
int time_host_calls(const struct gpu *gpu, const struct host_call *calls, int count);

/* The same for a tiny problem of an operation: its execute, with GM_PLAN_PLAIN_LAUNCH and without, and the first of the
 * baselines' ways: the *execute*_ns of `meta`. */
int host_cost(const struct gpu *gpu, const struct baselines *baselines, const struct bench_operation *operation,
              struct noise *noise, struct bench_meta *meta);

#endif
