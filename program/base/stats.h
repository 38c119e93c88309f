/* SPDX-License-Identifier: Apache-2.0 */
/* Order statistics and means of small samples. NaN is "no value" throughout the bench. */
#ifndef PROGRAM_BASE_STATS_H
#define PROGRAM_BASE_STATS_H

#include <stddef.h>

void stats_sort(double *values, size_t count); /* ascending */

/* Percentile p in [0, 1] with linear interpolation between order statistics. NaN when count is 0. Leaves
 * `values` as they were. */
double stats_percentile(const double *values, size_t count, double p);
double stats_median(const double *values, size_t count);

/* Geometric mean of the values that are finite and above 0; NaN when there is none. */
double stats_geomean(const double *values, size_t count);

#endif
