/* SPDX-License-Identifier: Apache-2.0 */
/* What one figure of the report shows: points, their values and predictions. */
#ifndef LAB_REPORT_PLOT_H
#define LAB_REPORT_PLOT_H

#include <stdio.h>

#include "lab/lab_figures.h"
#include "lab/lab_label.h"
#include "program/draw/chart_axis.h"

enum unit { UNIT_GBS, UNIT_TFLOPS, UNIT_US, UNITS };

/* A point that a figure shows. */
struct shown {
    const struct record_point *point;
    struct label label;
    double value, predicted; /* NaN: none */
    bool bad;                /* not as predicted */
};

/* One figure, and what it shows. */
struct plot {
    FILE *out;
    const char *gpu;
    const struct figure *figure;
    const struct lab_experiment *experiment; /* NULL: unknown */
    enum unit unit;                          /* of FIGURE_RATE */
    double whole;                            /* what is 100 percent; NaN: values are themselves */
    bool alone;                              /* no page is around it */
    struct shown shown[LAB_POINTS_MAX];
    size_t count;
    char title[160];
};

/* The points whose labels the figure's pattern matches, and that have what it shows. False: there are none. */
bool plot_make(struct plot *plot, FILE *out, const struct record *record, const struct figure *figure);
/* A chart with the plot's title. */
struct chart plot_chart(const struct plot *plot);
/* A logarithmic axis where the values span more than two decades. */
void plot_choose_axis(const struct plot *plot, struct chart *chart, const struct chart_range *range);

#endif
