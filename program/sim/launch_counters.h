/* SPDX-License-Identifier: Apache-2.0 */
/* What a launch is counted by: Nsight Compute's counters of memory, of which docs/counters.md says what they mean. */
#ifndef PROGRAM_SIM_LAUNCH_COUNTERS_H
#define PROGRAM_SIM_LAUNCH_COUNTERS_H

#include <stdbool.h>
#include <stdio.h>

#include "program/sim/simulator.h"

struct launch_counter {
    const char *name;   /* "wavefronts of loads" */
    const char *metric; /* Nsight Compute's, with its rollup */
    bool hopper;        /* only compute capability 9.0 has it */
};

enum { LAUNCH_COUNTERS = 22 };
extern const struct launch_counter launch_counters[LAUNCH_COUNTERS];

/* Prints what the last simulated launch counted of each: the kernel's mangled name, then a line for each counter. What
 * the simulator does not claim is a dash. */
void launch_print_counters(const struct simulator *simulator, const char *kernel, FILE *out);
/* The same text read again, wherever it stands in `text`: the kernel's name, and values, NaN for a dash. False: it is
 * not there, or not whole. */
bool launch_read_counters(const char *text, char *kernel, size_t bytes, double values[LAUNCH_COUNTERS]);

#endif
