/* SPDX-License-Identifier: Apache-2.0 */
/* The second witness: Nsight Compute's counters, read from the CSV of its command line. */
#ifndef LAB_PROFILER_H
#define LAB_PROFILER_H

#include "lab/lab.h"
#include "program/sim/launch_lines.h"

/* How the counting went. */
struct profiler_report {
    bool counted;
    char version[48]; /* "Nsight Compute 2025.3.0.0"; "" when it was not found */
    char why[320];    /* one clause: why there are no counters; "" when there are */
};

/* Runs `ncu` on this program's `lab launch` and fills quantity.counted of the points. What fails is told in the report
 * only: time then stands alone. Looks for $NCU, ncu in PATH, /usr/local/cuda/bin/ncu. */
void profiler_count(struct lab *lab, double seconds, struct profiler_report *report);

/* Where Nsight Compute lies, by the same search; NULL: the report says why. */
char *profiler_find(struct profiler_report *report);

/* Launches of this program that the profiler counts; both lists end with NULL. */
struct profiler_launches {
    char *const *selection; /* ncu's options that choose kernels */
    char *const *command;   /* the program's words */
};
/* profiler_count() of launches other than an experiment's: one for every point, in their order. */
void profiler_count_launches(struct lab *lab, const struct profiler_launches *launches, double seconds,
                             struct profiler_report *report);

/* The same of one launch, line by line of its source. */
void profiler_count_lines(struct launch_lines *lines, const struct profiler_launches *launches, double seconds,
                          struct profiler_report *report);

/* ncu's whole output: fills quantity.counted from the rows of its CSV. 0, or -1 with the clause in `why`; then no
 * quantity has been touched. */
int profiler_read(struct lab *lab, char *output, char *why, size_t why_bytes);

/* The same with its Source page. What has no line is left out. */
int profiler_read_lines(struct launch_lines *lines, char *output, char *why, size_t why_bytes);
/* What ncu complained of, as a clause: permission first, then its errors and warnings, then this program's own. */
void profiler_explain(const char *output, char *why, size_t bytes);

/* The metrics of all points, each once, separated by commas, as ncu wants them. The caller frees it; NULL: no memory. */
char *profiler_metrics(const struct lab *lab);

#endif
