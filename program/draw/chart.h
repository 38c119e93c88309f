/* SPDX-License-Identifier: Apache-2.0 */
/* Charts: grouped horizontal bars, lines over a number, cells in rows and columns. The same data give the same bytes.
 * Bars and cells, and lines that ask for it, are narrow: letters keep 11 pixels on a telephone 390 pixels wide. */
#ifndef PROGRAM_DRAW_CHART_H
#define PROGRAM_DRAW_CHART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { CHART_SERIES_MAX = 4, CHART_LINES_MAX = 8 };

/* What all kinds have. Text may be NULL where it says so. */
struct chart {
    const char *title;
    const char *subtitle; /* NULL: none */
    const char *axis;     /* wide lines only, elsewhere the title says it: what is measured, with its unit: "GB/s" */
    const char *x_axis;   /* lines only: the number along the bottom */
    bool log;             /* the axis of values */
    bool x_log;           /* lines only: by powers of two */
    double from, to;      /* of the axis of values; both 0: fitted to the data (from 0, unless log) */
    int decimals;     /* of the numbers beside the bars; negative: whole numbers in full, others with three digits */
    bool inside_page; /* as in svg_begin */
    bool narrow;      /* lines only: with their names above the plot */
};

/* One label with up to four bars. A value that is not finite is absent: where there is neither a tick nor
 * another bar it is shown as "-". */
struct chart_bar {
    const char *group; /* a heading when it differs from the bar before; NULL: no groups */
    const char *label;
    double value[CHART_SERIES_MAX];
    double marker[CHART_SERIES_MAX]; /* a tick across the bar, e.g. what was predicted; NAN: none */
    const char *note;                /* shown when the pointer rests on it; NULL: none */
};

/* `series`: names of the bars of a label, in order (1 .. CHART_SERIES_MAX); `marker`: what the tick means, NULL: no
 * markers. Returns 0, or -1 with a printed sentence (no bars, too many series, no value that can be drawn). */
int svg_bars(FILE *out, const struct chart *chart, const char *const *series, size_t series_count, const char *marker,
             const struct chart_bar *bars, size_t count);

struct chart_line {
    const char *name;
    const double *x, *y; /* not finite: a gap */
    size_t count;
    bool dashed;              /* a prediction, a ceiling */
    bool scattered;           /* points that no stroke joins */
    const char *const *notes; /* of each point, shown when the pointer rests on it; NULL: none */
    bool named;               /* scattered points have their notes beside them, too */
};
int svg_lines(FILE *out, const struct chart *chart, const struct chart_line *lines, size_t count);

enum chart_mark { CHART_NUMBER, CHART_HOLDS, CHART_REFUSED, CHART_BROKEN };

/* What came out in one row and column: a number, shaded by its size, or a mark. */
struct chart_cell {
    const char *row, *column;
    const char *note; /* shown when the pointer rests on it */
    enum chart_mark mark;
    double value; /* of a number; not finite: "-" */
    bool bad;     /* a number that is not as predicted */
};
/* Rows and columns stand in the order in which they first occur. Of several cells in one place the first is shown, or the
 * worst mark. `refused`: what that mark means; NULL: there is none. Returns as svg_bars does. */
int svg_cells(FILE *out, const struct chart *chart, const char *refused, const struct chart_cell *cells, size_t count);

#endif
