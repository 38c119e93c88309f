/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill bench: its options, and the run they describe. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include "program/base/args.h"
#include "bench/measure/timing.h"
#include "bench/measure/nvml.h"
#include "program/base/shared_file.h"

struct bench_options {
    struct args_list words, files, shapes, sets;
    struct args_list suites, results; /* the words: what to measure, and files to look at instead */
    const char *operation, *dtype, *out, *layout, *kernel, *arch, *device, *json, *svg, *cublaslt, *l2, *m, *compare,
        *report;
    uint32_t arch_mask;
    int sm_budget;
    uint32_t flags; /* of enum gm_plan_flags */
    bool no_overlap, constant_b, batch_invariant, model_only;
    int64_t m_from, m_to; /* of --m, the axis of the operation */
    bool all_kernels, quick, no_baseline, quiet, profile, append;
    int rounds;                          /* 0, which nobody can give: by the mode */
    int workspace_mib;                   /* that our plans may ask for */
    double warmup_s, round_ms, energy_s; /* below 0: by the mode */
    double fail_below;                   /* below 0: nothing is asked */
};

/* Checks everything but the cases, and tells the words apart. -1 with a printed sentence. */
int bench_options_check(struct bench_options *options);
/* The cases of the suites and shapes, with --dtype, --out and --layout. The caller frees them, also after a -1, which
 * comes with a printed sentence. */
int bench_options_cases(const struct bench_options *options, struct bench_suite *suite);
bool bench_is_chosen(const struct bench_options *options, const struct bench_case *problem); /* by --m */
void bench_options_method(const struct bench_options *options, struct bench_meta *meta);

struct bench {
    const struct bench_options *options;
    struct gpu gpu;
    struct baselines baselines;
    struct nvml nvml;
    struct noise noise;
    struct bench_results results;
    int failures;          /* problems or kernels that gave no row */
    int launches;          /* of --profile */
    bool resumed;          /* the results began with those of an earlier run */
    struct file_lock lock; /* of the results file, with --append: nobody else adds to it until this run has ended */
};

/* Measures one case and adds its rows. -1: the GPU or the driver is in error and the run must end. */
int bench_case_run(struct bench *bench, const struct bench_case *problem);
/* --profile: launches the same kernels and all heuristics once each, and prints which launch was which. */
int bench_case_profile(struct bench *bench, const struct bench_case *problem);

/* Whether no kernel takes the case's line; a note says so. */
bool bench_is_untaken(const struct bench_case *problem);

/* The kernels to time on a case: the planner's choice, or every legal row that the options name. Plans are the
 * caller's to destroy. Returns how many, -1 with a printed sentence on an error. */
int bench_plans(struct bench *bench, const struct bench_case *problem, struct candidate *candidates, size_t capacity);

/* The baselines' default: the first way that runs, nearly always number 0; out: there is none. */
int bench_default(const struct timing *timing, struct candidate *baseline_default);
/* The way that times best: fills `best` (out = true: it is the default, or there is none); `ran` counts the ways that
 * worked. `baseline_default`, the default, is already captured by the caller. */
int bench_search(const struct timing *timing, struct candidate *best, const struct candidate *baseline_default,
                 int *ran);

/* --append: the rows of the results file that is there already, if this run may add to them. 0, or -1 with a printed
 * sentence. */
int bench_resume(struct bench *bench);
bool bench_is_done(const struct bench *bench, const struct bench_case *problem); /* has rows */
int bench_write_json(struct bench *bench, const struct bench_suite *suite);
/* Where nothing was measured: -1 with a sentence for each output that was asked for, 0 when none was. */
int bench_refuse_outputs(const struct bench_options *options, const char *because);
/* Plot, page, and the comparison with `before` (NULL: none). */
int bench_write_outputs(const struct bench *bench, const struct bench_results *before);
/* --compare and --report of results files. */
int bench_look_at_files(const struct bench_options *options);

/* What the planner would do on `device`: no measurement. */
int bench_predict(const struct bench_options *options, const struct bench_suite *suite, const struct gm_device *device);

#endif
