/* SPDX-License-Identifier: Apache-2.0 */
/* Experiments on the GPU that is not there: their one kernel writes squares, and a number of cycles. */
#ifndef TOY_LAB_H
#define TOY_LAB_H

#include "fake_gpu.h"
#include "lab/lab_run.h"

enum { TOY_NUMBERS = 8, TOY_CYCLES = 40 };

/* What goes wrong. */
extern struct toy {
    bool wrong; /* the last number of point "b" */
    bool setup_fails, hangs, dies, broken_claim;
    CUresult launch_result;
    double cycles;       /* what the kernel's clock says */
    int scale;           /* of the last launch */
    bool leaves_out;     /* the timed point is too large for a simulated GPU */
    bool simulator_errs; /* its conflicts are one too many */
} toy;

/* "toy-squares": points "a" and "b" with quantities, a timed one without, a baseline. "toy-hopper" needs 9.0. */
void toy_install(void);
void toy_remove(void);
extern const struct lab_experiment toy_squares;

/* From now on the GPU that is not there is a simulated one, with the counters that the toys predict. */
void toy_simulate(void);
/* Writes a script that stands for ncu and prints the file's text; sets NCU to it. NULL: a program that is not there. */
void toy_profiler(const char *output);

#endif
