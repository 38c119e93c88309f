/* SPDX-License-Identifier: Apache-2.0 */
/* Launches that the GPU may refuse, tried in other processes first: an error of that kind ends the process it happens
 * in, and here it is to be an answer. */
#ifndef LAB_CHILD_H
#define LAB_CHILD_H

#include "lab/lab.h"

/* What became of a point's launch in a process of its own. */
struct lab_trial {
    bool refused;
    char error[64]; /* "CUDA_ERROR_ILLEGAL_INSTRUCTION" */
};

/* Call it at the end of setup(), when all points are there. Every point is launched by a child (`lab launch`, so this
 * same setup() runs there too); one that the GPU refuses is marked in trials[its number], launches nothing from then
 * on, and another child goes on behind it. 0, or -1 with a printed sentence. Labels must differ. */
int lab_child_try(struct lab *lab, struct lab_trial trials[LAB_POINTS_MAX]);

/* On paper: the point, from number `first` on, whose launch failed according to what a child printed, and the driver's
 * error in `trial`. The number of points: none. */
size_t lab_child_failed(const struct lab *lab, size_t first, const char *output, struct lab_trial *trial);

#endif
