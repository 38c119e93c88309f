/* SPDX-License-Identifier: Apache-2.0 */
/* Do our results agree with the baseline's? A look at a sample of rows of everything that is written, all columns. */
#ifndef BENCH_VERIFY_H
#define BENCH_VERIFY_H

#include "bench/measure/timing.h"
#include "bench/suite.h"

#define VERIFY_ROWS_MAX 24

/* Sampled rows of one operand. */
struct verify_rows {
    const struct bench_operand *operand;
    int rows;
    int64_t index[VERIFY_ROWS_MAX]; /* of each */
    float *values;                  /* rows x columns */
};

struct verify_sample {
    struct verify_rows of[BENCH_OPERANDS_MAX];
    int count; /* operands that are written; 0: the candidate is out */
};

struct verify_verdict {
    bool agrees;
    double max_difference;
    const struct bench_operand *operand; /* where the difference is largest, as shares of the tolerance */
    int64_t row, column;
    double ours, theirs; /* there */
};

/* Runs a candidate on set 0, which is made as before any call, and reads the sampled rows. */
int verify_run(const struct timing *timing, struct candidate *candidate, struct noise *noise,
               struct verify_sample *sample);
void verify_free(struct verify_sample *sample);

/* Compares two samples of one problem, by the tolerance of its operation. NaN never agrees. Pure. */
struct verify_verdict verify_compare(const struct verify_sample *ours, const struct verify_sample *theirs,
                                     const struct bench_case *problem);

/* The sentence about a kernel that disagrees with `whose` results. */
void verify_complain(const struct bench_case *problem, const char *kernel, const char *whose,
                     const struct verify_verdict *verdict);

/* Evenly spread rows with the first and the last among them; returns how many. */
int verify_choose_rows(int64_t count, int64_t rows[VERIFY_ROWS_MAX]);

#endif
