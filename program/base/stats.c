/* SPDX-License-Identifier: Apache-2.0 */
/* Order statistics and means of small samples. */
#include "program/base/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare_doubles(const void *left, const void *right) {
    double a = *(const double *)left;
    double b = *(const double *)right;
    return (a > b) - (a < b);
}

void stats_sort(double *values, size_t count) {
    qsort(values, count, sizeof *values, compare_doubles);
}

double stats_percentile(const double *values, size_t count, double p) {
    if (count == 0)
        return NAN;
    double *sorted = malloc(count * sizeof *sorted);
    if (!sorted)
        return NAN;
    memcpy(sorted, values, count * sizeof *sorted);
    stats_sort(sorted, count);
    double position = p * (double)(count - 1);
    size_t below = (size_t)position;
    size_t above = below + 1 < count ? below + 1 : below;
    double result = sorted[below] + (position - (double)below) * (sorted[above] - sorted[below]);
    free(sorted);
    return result;
}

double stats_median(const double *values, size_t count) {
    return stats_percentile(values, count, 0.5);
}

double stats_geomean(const double *values, size_t count) {
    double sum = 0;
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        if (isfinite(values[i]) && values[i] > 0) {
            sum += log(values[i]);
            used++;
        }
    }
    return used ? exp(sum / (double)used) : NAN;
}
