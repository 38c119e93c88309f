/* SPDX-License-Identifier: Apache-2.0 */
/* Two results files, problem by problem: what became faster, what slower, which kernels changed. */
#ifndef BENCH_COMPARE_H
#define BENCH_COMPARE_H

#include <stdio.h>

#include "bench/report/results.h"

/* 0, or -1 with a printed sentence: times of a cold and of a warm L2 are not comparable. */
int compare_check(const struct bench_meta *before, const struct bench_meta *now);

/* Prints the table of the problems of both (the fastest kernel of each), the means, and what only one of them has.
 * 0, or -1 with a printed sentence: they cannot be compared, or a speed-up is below `fail_below` (0: anything goes). */
int compare_print(FILE *out, const struct bench_results *before, const struct bench_results *now, double fail_below);

#endif
