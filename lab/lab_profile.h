/* SPDX-License-Identifier: Apache-2.0 */
/* What a launch's time goes into: what Nsight Compute says of the timed launches of an experiment, how busy the GPU's
 * parts are and what warps wait for. Nothing of it is predicted. */
#ifndef LAB_PROFILE_H
#define LAB_PROFILE_H

#include "lab/lab_results.h"

/* Names of its quantities. */
#define PROFILE_DURATION "duration, ns"
#define PROFILE_MEMORY   "bytes of memory"
#define PROFILE_DRAM     "DRAM, %"
#define PROFILE_WAVES    "wavefronts of shared memory"
#define PROFILE_PIPE     "shared pipe, %"
#define PROFILE_LATENCY  "cycles an instruction" /* of a warp, from one to the next */
#define PROFILE_STALLED  "stalled: "             /* before the reason; cycles of PROFILE_LATENCY */

struct profile_request {
    int device;
    double timeout_s; /* of the profiler */
    const char *json; /* pattern of the results file; NULL: none */
};
/* Profiled, printed, written. 0, or -1 with a printed sentence. */
int profile_one(const struct lab_experiment *experiment, const struct profile_request *request);

/* In place of their own quantities timed launches have the profile's, and others none; how many are profiled. */
size_t profile_ask(struct lab *lab);
/* The share of its cycles that a warp spends with this quantity, a reason; NaN: it is none, or was not counted. */
double profile_share(const struct record_point *point, const struct record_quantity *quantity);
/* What was counted under this name; NaN: nothing. */
double profile_counted(const struct record_point *point, const char *name);

/* Pictures of the points that the experiment's figure of rates shows. 0, or -1 with a printed sentence. */
int profile_stalls_picture(FILE *out, const struct record *record);
/* What was reached over the work for each byte of memory, or for each wavefront of shared memory, under two roofs: what
 * memory or that pipe lets through, and what arithmetic or, for work that is counted in bytes, memory does. */
int profile_roofline_picture(FILE *out, const struct record *record, bool of_memory);
/* All of them that there are, inside a page. */
void profile_figures(FILE *out, const struct record *record);

#endif
