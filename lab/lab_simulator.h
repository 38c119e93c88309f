/* SPDX-License-Identifier: Apache-2.0 */
/* Another witness: the counters of the simulated GPU (libgristmill-sim), which counts what it executes. */
#ifndef LAB_SIMULATOR_H
#define LAB_SIMULATOR_H

#include <stdio.h>

#include "lab/runner.h"

/* How the simulation went. */
struct simulator_report {
    bool simulated;
    char device[48]; /* "the simulated h200" */
    char why[320];   /* one clause: why there are no simulated numbers, or not all of them; "" otherwise */
};

/* The simulated GPU's gm_sim_metric(); NULL: the driver is no simulator. */
typedef int simulator_metric(const char *name, double *value);
simulator_metric *simulator_opened(void);
/* Switches its counters on, and its reports off for an experiment that is meant to make them. */
void simulator_start(const struct lab_experiment *experiment);
/* Fills quantity.simulated from the launch that has just ended. */
void simulator_read(struct lab_point *point);

/* On a real GPU: runs this program's `lab simulate` on the simulated one and fills quantity.simulated of the points.
 * What fails is told in the report only. `budget` is in seconds. */
void simulator_run(struct lab *lab, double budget, struct simulator_report *report);
/* That child: launches the points that have something to count, the smallest first, as long as the budget lasts, and
 * prints what simulator_parse() reads. 0, or -1 with a printed sentence. */
int simulator_launch_all(struct runner *runner, double budget, FILE *out);
/* Fills quantity.simulated from the child's output; points that it left out for their size become too_large. true: the
 * output is whole. */
bool simulator_parse(struct lab *lab, const char *output);

/* "h200", the name by which the simulated GPU knows one like this; NULL: it has none. */
const char *simulator_device_like(const struct gm_device *device);

/* Tests: this function instead of the driver's (NULL: the driver's again). */
void simulator_install(simulator_metric *metric);

#endif
