/* SPDX-License-Identifier: Apache-2.0 */
/* C = A B of small integers, on the device and on the host: one size, with what is needed to check C exactly. */
#ifndef LAB_GEMM_MATRICES_H
#define LAB_GEMM_MATRICES_H

#include "lab/kernels/gemm_fp32.h"
#include "lab/lab.h"

struct gemm_matrices {
    struct gemm_fp32 problem; /* with addresses of the device */
    float *a, *b;             /* on the host; rows as far apart as on the device */
    double *weights;          /* n of them, and the m row sums of C that they give: NULL when the lab only launches */
    double *sums;
};

/* A and B of integers from -4 to 4, so that fp32 holds every sum up to K = 2^20 exactly in whatever order it is taken;
 * what lies between their rows, and one row more behind each, is NaN. 0, or -1 with a printed sentence. */
int gemm_matrices_make(struct lab *lab, struct gemm_matrices *made, int m, int n, int k);
void gemm_matrices_free(struct gemm_matrices *matrices); /* the host's part */

/* Fills C with NaN, with what lies between its rows and one row more. */
int gemm_matrices_poison(struct lab *lab, const struct gemm_matrices *matrices);
/* Says whether C is A B and everything around it still as poisoned. */
int gemm_matrices_check(struct lab *lab, struct lab_point *point, const struct gemm_matrices *matrices);

/* The same on the host: a sentence in `wrong`, or false. `c` has m + 1 rows. */
bool gemm_matrices_differ(const struct gemm_matrices *matrices, const float *c, char *wrong, size_t bytes);

#endif
