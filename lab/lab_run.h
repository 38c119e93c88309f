/* SPDX-License-Identifier: Apache-2.0 */
/* Running experiments, each in a process of its own, so that a poisoned context or a hang ends one and no more. */
#ifndef LAB_RUN_H
#define LAB_RUN_H

#include "lab/lab_results.h"
#include "lab/profiler.h"
#include "lab/runner.h"

struct lab_request {
    bool verify, no_counters, no_time, quick;
    int rounds; /* 0: the usual number */
    int device;
    double timeout_s;
    double simulate_s; /* what the simulation of one experiment may take; 0: none */
    const char *json;  /* pattern of the results file; NULL: none */
};

/* How one experiment ended. It is the exit code of its process, so the values are none that anybody else uses. */
enum lab_end { END_AGREED = 40, END_DISAGREED, END_WRONG, END_FAILED, END_NO_GPU, END_NOT_HERE };

/* One experiment in this process: measured, printed, written. */
enum lab_end lab_run_one(const struct lab_experiment *experiment, const struct lab_request *request);

/* All of them in turn, each in its own process. Returns the exit code of the program. */
int lab_run_all(const struct lab_experiment *const *experiments, size_t count, const struct lab_request *request);

/* The GPU, the build, the day, and who counted. */
void lab_describe(struct record_meta *meta, const struct lab *lab, const struct profiler_report *counters);

/* The child under the profiler, which launches what is counted, or `timed` what is timed; and the one on the simulated
 * GPU. They return the exit code of the program. */
int lab_launch(const struct lab_experiment *experiment, int device, bool timed);
int lab_simulate(const struct lab_experiment *experiment, double budget);

#endif
