/* SPDX-License-Identifier: Apache-2.0 */
/* The page of gristmill bench --report, and its plots. */
#ifndef BENCH_REPORT_PAGE_H
#define BENCH_REPORT_PAGE_H

#include <stdio.h>

#include "bench/report/results.h"

/* Writes the page of one or more results. `path` may hold {gpu} and {suite}, of the first; `svg` (NULL: none) also
 * {chart}: each plot is then kept as a file of its own. 0, or -1 with a printed sentence. */
int report_html(const char *path, const char *svg, const struct bench_results *results, size_t count);

/* One results file as the page sees it: the fastest kernel of each problem, in the file's order. */
struct report_view {
    const struct bench_results *results;
    const size_t *index;
    size_t count;
};
const struct bench_row *report_view_row(const struct report_view *view, size_t i);
double report_intensity(const struct bench_case *problem); /* operations for each of the least bytes */

/* A plot of the page, which is also a file of its own. */
struct report_plot {
    const char *name, *caption;
    bool (*has_data)(const struct report_view *view);
    int (*draw)(FILE *out, const struct report_view *view, bool inside_page);
};
enum { REPORT_PLOTS = 3 };
extern const struct report_plot report_plots[REPORT_PLOTS];

/* report_ratio.c: the ratio to the baseline's best over M, a panel for each weight matrix. */
bool report_ratio_has_data(const struct report_view *view);
int report_ratio_draw(FILE *out, const struct report_view *view, bool inside_page);
/* report_points.c: rates over intensity, below the ceilings; TFLOPS per watt over intensity. */
bool report_roofline_has_data(const struct report_view *view);
int report_roofline_draw(FILE *out, const struct report_view *view, bool inside_page);
bool report_efficiency_has_data(const struct report_view *view);
int report_efficiency_draw(FILE *out, const struct report_view *view, bool inside_page);

#endif
