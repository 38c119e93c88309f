/* SPDX-License-Identifier: Apache-2.0 */
/* One experiment at work on one GPU: set up, checked, its clocks read, its launches timed. */
#ifndef LAB_RUNNER_H
#define LAB_RUNNER_H

#include "lab/modules.h"

/* How long to measure. */
struct runner_method {
    int rounds; /* 0: take no times */
    double round_ms, warmup_s;
};

struct runner {
    struct lab *lab;
    const struct lab_module *modules[LAB_POINTS_MAX]; /* loaded so far, beside their libraries */
    CUlibrary libraries[LAB_POINTS_MAX];
    size_t module_count;
    CUfunction functions[LAB_POINTS_MAX]; /* of the point; NULL: not asked for yet, or a baseline */
    bool opened;                          /* setup() has begun, so teardown() is due */
};

enum runner_outcome { RUNNER_READY, RUNNER_FAILED, RUNNER_NO_GPU, RUNNER_NOT_HERE };

/* Opens the GPU and runs setup(). Prints why not; RUNNER_NOT_HERE: this GPU is not of the generation it needs.
 * runner_close() is due whatever the outcome. */
enum runner_outcome runner_open(struct runner *runner, const struct lab_experiment *experiment, int device,
                                bool launching_only);
void runner_close(struct runner *runner);

/* All of these: 0, or -1 with a printed sentence that names the point. */

/* Prepares, launches once and checks every point; on the simulated GPU reads its counters as well. A wrong result is no
 * failure of the runner: the point says so. */
int runner_check(struct runner *runner);
/* The median of five readings of the kernel's own clock, for the points that have one and are not wrong. */
int runner_read_clocks(struct runner *runner);
/* Times the points that want it and are not wrong: graphs of launches, taking turns, round by round. */
int runner_time(struct runner *runner, const struct runner_method *method);
/* What the profiler watches: runner_is_profiled() points, each launched once, in order. */
int runner_launch_all(struct runner *runner);
bool runner_is_profiled(const struct lab_point *point);

/* Prepares the point and launches it once, and waits. */
int runner_launch_alone(struct runner *runner, struct lab_point *point);
/* The launch's kernel, ready: its module loaded, its shared memory and cluster allowed, its parameters compared. */
int runner_load(struct runner *runner, const struct lab_launch *launch, CUfunction *function);
/* One launch of the point, or its baseline, on the runner's stream; not waited for. */
int runner_launch(struct runner *runner, struct lab_point *point);

#endif
