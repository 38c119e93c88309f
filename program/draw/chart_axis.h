/* SPDX-License-Identifier: Apache-2.0 */
/* What charts share: an axis with round ticks, numbers as text, the head above the picture. */
#ifndef PROGRAM_DRAW_CHART_AXIS_H
#define PROGRAM_DRAW_CHART_AXIS_H

#include "program/draw/chart.h"
#include "program/draw/svg.h"

enum { CHART_WIDTH = 920, CHART_MARGIN = 24, CHART_TICKS_MAX = 24 };
enum { CHART_NARROW = 360, CHART_NARROW_MARGIN = 2 };

struct chart_axis {
    bool log;
    double from, to;
    double ticks[CHART_TICKS_MAX];
    int tick_count;
};

/* The least and the greatest of the finite values; `positive` is the least of those above 0. */
struct chart_range {
    double lowest, highest, positive;
};
#define CHART_RANGE_EMPTY {INFINITY, -INFINITY, INFINITY}
void chart_range_add(struct chart_range *range, double value);

/* Covers the range with round ends, unless `from` and `to` give the ends (both 0: they do not). A linear axis begins at
 * 0 unless values lie below; a logarithmic one shows the values above 0, and becomes linear when there are none. False
 * when there is nothing to cover. */
bool chart_axis_fit(struct chart_axis *axis, bool log, double from, double to, const struct chart_range *range);
/* 0 at the axis' lower end, 1 at its upper end; what lies outside is put on the end. */
double chart_axis_place(const struct chart_axis *axis, double value);

/* "1,048,576", "0.333", "12.5": see struct chart. Not finite: "-". */
void chart_number(char *text, size_t bytes, double value, int decimals);
/* Short, for a tick: "0.5", "200", "4M". */
void chart_tick(char *text, size_t bytes, double value);

uint32_t chart_series_colour(size_t index);

/* Title and subtitle; returns the y below them. */
double chart_head(FILE *out, const struct chart *chart);
/* The same in a narrow chart. */
double chart_narrow_head(FILE *out, const struct chart *chart);
double chart_narrow_head_height(const struct chart *chart);

/* Names beside their keys, in as many lines as they need. */
enum { CHART_LEGEND_LINE = 18 };
struct chart_legend {
    double x, y; /* where the next name stands, and its line's middle */
};
/* Where the next name stands: in the next line where this one has no room for it. Then its key's left end is at x. */
void chart_legend_place(struct chart_legend *legend, const char *name);
/* Writes the name where it was placed, and goes on behind it. */
void chart_legend_name(FILE *out, struct chart_legend *legend, const char *name);

/* As much of the text as `width` has room for, with an ellipsis where that is not all. */
void chart_cut(char *text, size_t bytes, const char *whole, enum svg_role role, double width);

#endif
