/* SPDX-License-Identifier: Apache-2.0 */
/* What the bench prints and draws: one line for each row as it comes, the means at the end, an SVG plot. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include <stdio.h>

#include "bench/report/results.h"

/* A caption and the columns; of what runs alone, time and energy, only where it is measured. */
void report_header(FILE *out, const struct bench_meta *meta);
void report_row(FILE *out, const struct bench_meta *meta, const struct bench_row *row);
/* The text, or "unknown" where a file has none. */
const char *report_known(const char *text);
/* "L2 cold: operands rotate over 3 x L2", for every table's caption. */
void report_l2(char *text, size_t bytes, const struct bench_meta *meta);
/* Geometric means against best and default, of each operation overall and by its regimes, and against the best each
 * alone, where measured; and the ceilings. */
void report_summary(FILE *out, const struct bench_results *results);

/* Ratio to the baseline's best, one line of the plot for each problem. 0, or -1 with a printed sentence. */
int report_svg(const struct bench_results *results, const char *path);

/* Whether a problem is of the operation and in its regime. */
bool report_is_in(const struct bench_case *problem, const struct bench_operation *operation,
                  const struct bench_regime *regime);
extern const struct bench_regime report_all;
/* How many operations the results have problems of. */
int report_operations(const struct bench_results *results);

#endif
