/* SPDX-License-Identifier: Apache-2.0 */
/* Does our D agree with the baseline's? A look at a sample of rows, every column of them. */
#ifndef BENCH_VERIFY_H
#define BENCH_VERIFY_H

#include "bench/measure/contest.h"

#define VERIFY_ROWS_MAX 24

struct verify_sample {
    int rows;
    int64_t row_index[VERIFY_ROWS_MAX];
    int64_t columns;
    float *values; /* rows x columns */
};

struct verify_verdict {
    bool agrees;
    double max_difference;
    int64_t row, column; /* where it is largest beyond the tolerance, or largest */
    double ours, theirs; /* there */
};

/* Runs a contender on set 0, whose D was made NaN, and reads the sampled rows. No values: the contender is out. */
int verify_run(const struct contest *contest, struct contender *contender, struct verify_sample *sample);
void verify_free(struct verify_sample *sample);

/* Both results round a sum of K products of N(0,1) values, added in different orders and, where the baseline splits
 * K, perhaps rounded twice: they may differ by a few units in the last place of D's type, and near zero by a small
 * share of the sum's spread, sqrt(K). NaN never agrees. Pure. */
struct verify_verdict verify_compare(const struct verify_sample *ours, const struct verify_sample *theirs, int64_t k,
                                     enum gm_type d_type);

/* The sentence about a kernel that disagrees with `whose` D. */
void verify_complain(const struct bench_case *problem, const char *kernel, const char *whose,
                     const struct verify_verdict *verdict);

/* Evenly spread rows with the first and the last among them; returns how many. */
int verify_rows(int64_t m, int64_t rows[VERIFY_ROWS_MAX]);

#endif
