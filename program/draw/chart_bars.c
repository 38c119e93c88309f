/* SPDX-License-Identifier: Apache-2.0 */
/* Grouped horizontal bars, in a narrow chart. Long labels stand above their bars, short ones beside them.
 *
 *      group
 *      label  ######################|   812     one bar for each series, a tick where it was predicted
 *             ############|             430  */
#include <math.h>
#include <string.h>

#include "program/draw/chart_axis.h"
#include "program/base/messages.h"

enum { BAR = 11, BAR_GAP = 2, ROW_GAP = 8, GROUP = 22, AXIS = 20, FOOT = 4, VALUE_ROOM = 52 };
enum { LABEL_BESIDE_MOST = 112, LABEL_GAP = 7, LABEL_LINE = 14 };
enum { TICK_WIDTH = 2, HALO_WIDTH = 5 }; /* the halo sets a tick off from the bar that it crosses */

struct bar_chart {
    FILE *out;
    const struct chart *chart;
    const char *const *series;
    size_t series_count;
    const char *marker;
    const struct chart_bar *bars;
    size_t count;
    struct chart_axis axis;
    double left, right; /* of the plot */
    bool above;         /* labels stand above their bars */
};

/* ---- sizes -------------------------------------------------------------------------------------- */

static bool begins_group(const struct bar_chart *c, size_t i) {
    if (!c->bars[i].group)
        return false;
    return i == 0 || !c->bars[i - 1].group || strcmp(c->bars[i].group, c->bars[i - 1].group) != 0;
}

/* A series without a value and a tick takes no room. */
static bool has_bar(const struct bar_chart *c, const struct chart_bar *bar, size_t s) {
    return c->series_count == 1 || isfinite(bar->value[s]) || (c->marker && isfinite(bar->marker[s]));
}

static double bars_height(const struct bar_chart *c, const struct chart_bar *bar) {
    double height = 0;
    for (size_t s = 0; s < c->series_count; s++)
        height += has_bar(c, bar, s) ? BAR + BAR_GAP : 0;
    return fmax(height, BAR + BAR_GAP) - BAR_GAP;
}

static double row_height(const struct bar_chart *c, const struct chart_bar *bar) {
    return bars_height(c, bar) + ROW_GAP + (c->above ? LABEL_LINE : 0);
}

static double rows_height(const struct bar_chart *c) {
    double height = 0;
    for (size_t i = 0; i < c->count; i++)
        height += row_height(c, &c->bars[i]) + (begins_group(c, i) ? GROUP : 0);
    return height;
}

static bool measure(struct bar_chart *c) {
    struct chart_range range = CHART_RANGE_EMPTY;
    double label = 0;
    for (size_t i = 0; i < c->count; i++) {
        label = fmax(label, svg_text_width(SVG_BODY, c->bars[i].label));
        for (size_t s = 0; s < c->series_count; s++) {
            chart_range_add(&range, c->bars[i].value[s]);
            chart_range_add(&range, c->marker ? c->bars[i].marker[s] : NAN);
        }
    }
    range.positive /= 2; /* on a logarithmic axis the shortest bar still has a length */
    c->above = label > LABEL_BESIDE_MOST;
    c->left = CHART_NARROW_MARGIN + (c->above ? 1 : label + LABEL_GAP);
    c->right = CHART_NARROW - CHART_NARROW_MARGIN - VALUE_ROOM;
    return chart_axis_fit(&c->axis, c->chart->log, c->chart->from, c->chart->to, &range);
}

static double x_of(const struct bar_chart *c, double value) {
    return c->left + chart_axis_place(&c->axis, value) * (c->right - c->left);
}

/* ---- drawing ------------------------------------------------------------------------------------ */

/* Returns the y below it. To no file it is only measured. */
static double draw_legend(FILE *out, const struct bar_chart *c, double y) {
    struct chart_legend legend = {CHART_NARROW_MARGIN, y + 7};
    for (size_t s = 0; s < c->series_count && c->series_count > 1; s++) {
        chart_legend_place(&legend, c->series[s]);
        if (out)
            svg_rect(out, legend.x, legend.y - 5, 11, 10, (struct svg_paint){.fill = chart_series_colour(s)}, NULL);
        chart_legend_name(out, &legend, c->series[s]);
    }
    if (c->marker) {
        chart_legend_place(&legend, c->marker);
        if (out)
            svg_line(out, legend.x + 6, legend.y - 7, legend.x + 6, legend.y + 7,
                     (struct svg_paint){.stroke = COLOUR_INK, .stroke_width = TICK_WIDTH});
        chart_legend_name(out, &legend, c->marker);
    }
    return legend.x > CHART_NARROW_MARGIN ? legend.y + 11 : y;
}

/* Whether the labels of every `stride`th tick stand apart. */
static bool has_room(const struct bar_chart *c, int stride) {
    double taken = 0;
    for (int i = 0; i < c->axis.tick_count; i += stride) {
        char text[32];
        chart_tick(text, sizeof text, c->axis.ticks[i]);
        const double half = svg_text_width(SVG_SMALL, text) / 2, x = x_of(c, c->axis.ticks[i]);
        if (i && x - half < taken + 4)
            return false;
        taken = x + half;
    }
    return true;
}

/* Grid lines over the whole height and their numbers above: as many as have room. */
static void draw_axis(const struct bar_chart *c, double top, double bottom) {
    int stride = 1;
    while (stride < c->axis.tick_count && !has_room(c, stride))
        stride++;
    for (int i = 0; i < c->axis.tick_count; i += stride) {
        const double x = x_of(c, c->axis.ticks[i]);
        char text[32];
        chart_tick(text, sizeof text, c->axis.ticks[i]);
        const bool base = c->axis.ticks[i] == 0 && !c->axis.log;
        svg_line(c->out, x, top, x, bottom, (struct svg_paint){.stroke = base ? COLOUR_RULE : COLOUR_FAINT});
        const struct svg_text label = {.x = fmax(x, svg_text_width(SVG_SMALL, text) / 2),
                                       .y = top - 5,
                                       .role = SVG_SMALL,
                                       .anchor = SVG_MIDDLE,
                                       .ink = COLOUR_MUTED};
        svg_text(c->out, label, "%s", text);
    }
}

/* There is no halo over the end of a bar, which would then look short of its tick. */
static void draw_tick(const struct bar_chart *c, double x, double y, double zero, double end) {
    const double top = y - 2.5, bottom = y + BAR + 2.5;
    const bool crosses = (end - zero) * (x - zero) > 0 && fabs(end - zero) - fabs(x - zero) > HALO_WIDTH / 2.0;
    if (crosses)
        svg_line(c->out, x, top, x, bottom, (struct svg_paint){.stroke = COLOUR_PAPER, .stroke_width = HALO_WIDTH});
    svg_line(c->out, x, top, x, bottom, (struct svg_paint){.stroke = COLOUR_INK, .stroke_width = TICK_WIDTH});
}

static void describe(const struct bar_chart *c, const struct chart_bar *bar, size_t s, char *text, size_t bytes) {
    const double marker = c->marker ? bar->marker[s] : NAN;
    char number[48];
    chart_number(number, sizeof number, bar->value[s], c->chart->decimals);
    int used = snprintf(text, bytes, "%.120s, %.80s: %s", bar->label, c->series[s], number);
    if (isfinite(marker)) {
        chart_number(number, sizeof number, marker, c->chart->decimals);
        used += snprintf(text + used, bytes - (size_t)used, "; %.80s: %s", c->marker, number);
    }
    if (bar->note)
        snprintf(text + used, bytes - (size_t)used, ". %.150s", bar->note);
}

static void draw_bar(const struct bar_chart *c, const struct chart_bar *bar, size_t s, double y) {
    const double value = bar->value[s], marker = c->marker ? bar->marker[s] : NAN;
    const double zero = x_of(c, c->axis.log ? c->axis.from : 0);
    const double end = isfinite(value) ? x_of(c, value) : zero;
    char number[48], hover[512];
    chart_number(number, sizeof number, value, c->chart->decimals);
    describe(c, bar, s, hover, sizeof hover);
    const double least = isfinite(marker) ? 0 : 1; /* a tick shows where there is next to nothing */
    svg_rect(c->out, fmin(zero, end), y, fmax(fabs(end - zero), least), BAR,
             (struct svg_paint){.fill = isfinite(value) ? chart_series_colour(s) : (uint32_t)COLOUR_FAINT}, hover);
    double text_at = fmax(zero, end);
    if (isfinite(marker)) {
        draw_tick(c, x_of(c, marker), y, zero, end);
        text_at = fmax(text_at, x_of(c, marker));
    }
    svg_text(c->out, (struct svg_text){.x = text_at + 6, .y = y + 9.5, .role = SVG_SMALL}, "%s", number);
}

static void draw_label(const struct bar_chart *c, const struct chart_bar *bar, double y) {
    char text[256];
    const double room = c->above ? CHART_NARROW - 2 * CHART_NARROW_MARGIN : LABEL_BESIDE_MOST + 1;
    chart_cut(text, sizeof text, bar->label, SVG_BODY, room);
    if (c->above)
        svg_text(c->out, (struct svg_text){.x = c->left + 3, .y = y + 11, .role = SVG_BODY}, "%s", text);
    else
        svg_text(c->out,
                 (struct svg_text){.x = c->left - LABEL_GAP,
                                   .y = y + (ROW_GAP + bars_height(c, bar)) / 2 + 4,
                                   .role = SVG_BODY,
                                   .anchor = SVG_END},
                 "%s", text);
}

static void draw_row(const struct bar_chart *c, const struct chart_bar *bar, double y) {
    double at = y + (c->above ? LABEL_LINE + 2 : ROW_GAP / 2.0);
    draw_label(c, bar, y);
    for (size_t s = 0; s < c->series_count; s++) {
        if (!has_bar(c, bar, s))
            continue;
        draw_bar(c, bar, s, at);
        at += BAR + BAR_GAP;
    }
}

/* Where it is wider than the labels no grid line goes through it. */
static void draw_heading(const struct bar_chart *c, const char *group, double y) {
    const double width = svg_text_width(SVG_BOLD, group) + 2;
    if (CHART_NARROW_MARGIN + width > c->left)
        svg_rect(c->out, c->left - 1, y + 2, CHART_NARROW_MARGIN + width - c->left + 1, GROUP - 4,
                 (struct svg_paint){.fill = COLOUR_PAPER}, NULL);
    svg_text(c->out, (struct svg_text){.x = CHART_NARROW_MARGIN, .y = y + 15, .role = SVG_BOLD}, "%s", group);
}

static void draw_rows(const struct bar_chart *c, double y) {
    for (size_t i = 0; i < c->count; i++) {
        if (begins_group(c, i)) {
            draw_heading(c, c->bars[i].group, y);
            y += GROUP;
        }
        draw_row(c, &c->bars[i], y);
        y += row_height(c, &c->bars[i]);
    }
}

int svg_bars(FILE *out, const struct chart *chart, const char *const *series, size_t series_count, const char *marker,
             const struct chart_bar *bars, size_t count) {
    struct bar_chart c = {.out = out,
                          .chart = chart,
                          .series = series,
                          .series_count = series_count,
                          .marker = marker,
                          .bars = bars,
                          .count = count};
    const char *title = chart->title ? chart->title : "a chart";
    if (count == 0 || series_count == 0 || series_count > CHART_SERIES_MAX)
        return complain("%s: %zu bars of %zu series; a chart has at least one of each, and %d series at most", title,
                        count, series_count, CHART_SERIES_MAX);
    if (!measure(&c))
        return complain("%s: no value that its axis can show", title);
    const double top = draw_legend(NULL, &c, chart_narrow_head_height(chart)) + AXIS, bottom = top + rows_height(&c);
    svg_begin(out, CHART_NARROW, bottom + FOOT, chart->inside_page, chart->title);
    draw_legend(out, &c, chart_narrow_head(out, chart));
    draw_axis(&c, top, bottom);
    draw_rows(&c, top);
    svg_end(out);
    return 0;
}
