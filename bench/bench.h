/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill bench: its options, and the run they describe. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include "args.h"
#include "contest.h"
#include "nvml.h"

struct bench_options {
    struct args_list suites, files, shapes;
    const char *dtype, *out, *layout, *kernel, *arch, *device, *json, *svg, *cublaslt;
    uint32_t arch_mask;
    bool all_kernels, quick, no_baseline, quiet;
    int rounds;                /* 0: by the mode */
    int workspace_mib;         /* that our plans may ask for */
    double warmup_s, round_ms; /* below 0: by the mode */
};

struct bench {
    const struct bench_options *options;
    struct gpu gpu;
    struct lt lt;
    bool has_baseline;
    struct nvml nvml;
    struct noise noise;
    struct bench_results results;
    int failures; /* problems or kernels that gave no row */
};

/* Measures one case and adds its rows. -1: the GPU or the driver is in error and the run must end. */
int bench_case_run(struct bench *bench, const struct bench_case *problem);

/* The kernels to time on a case: the planner's choice, or every legal row that the options name. Plans are the
 * caller's to destroy. Returns how many, -1 with a printed sentence on an error. */
int bench_plans(struct bench *bench, const struct gm_gemm_problem *problem, struct contender *contenders,
                size_t capacity);

/* Adds the heuristics that time best and the default: fills `best` and `fallback` (out = true: there is none); `ran`
 * counts the heuristics that worked. `fallback` is already captured by the caller. */
int bench_search(const struct contest *contest, struct contender *best, const struct contender *fallback, int *ran);

/* What the planner would do on `device`: no measurement. */
int bench_predict(const struct bench_options *options, const struct bench_suite *suite, const struct gm_device *device);

#endif
