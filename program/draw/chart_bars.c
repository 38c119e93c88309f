/* SPDX-License-Identifier: Apache-2.0 */
/* Grouped horizontal bars.
 *
 *      group
 *           label  ######################|   812     one bar for each series, a tick where it was predicted
 *                  ############|             430  */
#include <math.h>
#include <string.h>

#include "program/draw/chart_axis.h"
#include "program/base/messages.h"

enum { BAR = 13, BAR_GAP = 2, ROW_GAP = 9, GROUP = 26, LEGEND = 24, AXIS = 30, FOOT = 30, VALUE_ROOM = 84 };
enum { LABEL_LEAST = 90, LABEL_MOST = 340, LABEL_GAP = 10 };
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
};

/* ---- sizes -------------------------------------------------------------------------------------- */

static bool begins_group(const struct bar_chart *c, size_t i) {
    if (!c->bars[i].group)
        return false;
    return i == 0 || !c->bars[i - 1].group || strcmp(c->bars[i].group, c->bars[i - 1].group) != 0;
}

static double row_height(const struct bar_chart *c) {
    return (double)c->series_count * (BAR + BAR_GAP) - BAR_GAP + ROW_GAP;
}

static double rows_height(const struct bar_chart *c) {
    double height = (double)c->count * row_height(c);
    for (size_t i = 0; i < c->count; i++)
        height += begins_group(c, i) ? GROUP : 0;
    return height;
}

static bool has_legend(const struct bar_chart *c) {
    return c->series_count > 1 || c->marker;
}

static bool measure(struct bar_chart *c) {
    struct chart_range range = CHART_RANGE_EMPTY;
    double label = LABEL_LEAST;
    for (size_t i = 0; i < c->count; i++) {
        label = fmax(label, svg_text_width(SVG_BODY, c->bars[i].label));
        for (size_t s = 0; s < c->series_count; s++) {
            chart_range_add(&range, c->bars[i].value[s]);
            chart_range_add(&range, c->marker ? c->bars[i].marker[s] : NAN);
        }
    }
    range.positive /= 2; /* on a logarithmic axis the shortest bar still has a length */
    c->left = CHART_MARGIN + fmin(label, LABEL_MOST) + LABEL_GAP;
    c->right = CHART_WIDTH - CHART_MARGIN - VALUE_ROOM;
    return chart_axis_fit(&c->axis, c->chart->log, c->chart->from, c->chart->to, &range);
}

static double x_of(const struct bar_chart *c, double value) {
    return c->left + chart_axis_place(&c->axis, value) * (c->right - c->left);
}

/* ---- drawing ------------------------------------------------------------------------------------ */

static double draw_legend(const struct bar_chart *c, double y) {
    double x = CHART_MARGIN;
    for (size_t s = 0; s < c->series_count && c->series_count > 1; s++) {
        svg_rect(c->out, x, y, 14, BAR, (struct svg_paint){.fill = chart_series_colour(s), .radius = 1.5}, NULL);
        svg_text(c->out, (struct svg_text){.x = x + 20, .y = y + 10.5, .role = SVG_SMALL}, "%s", c->series[s]);
        x += 20 + svg_text_width(SVG_SMALL, c->series[s]) + 22;
    }
    if (c->marker) {
        svg_line(c->out, x + 5, y - 2, x + 5, y + BAR + 2,
                 (struct svg_paint){.stroke = COLOUR_INK, .stroke_width = TICK_WIDTH});
        svg_text(c->out, (struct svg_text){.x = x + 14, .y = y + 10.5, .role = SVG_SMALL}, "%s", c->marker);
    }
    return y + LEGEND;
}

/* Grid lines over the whole height, numbers above and below, and what is measured. */
static void draw_axis(const struct bar_chart *c, double top, double bottom) {
    for (int i = 0; i < c->axis.tick_count; i++) {
        const double x = x_of(c, c->axis.ticks[i]);
        char text[32];
        chart_tick(text, sizeof text, c->axis.ticks[i]);
        const bool base = c->axis.ticks[i] == 0 && !c->axis.log;
        svg_line(c->out, x, top, x, bottom, (struct svg_paint){.stroke = base ? COLOUR_RULE : COLOUR_FAINT});
        const struct svg_text above = {
            .x = x, .y = top - 6, .role = SVG_SMALL, .anchor = SVG_MIDDLE, .ink = COLOUR_MUTED};
        svg_text(c->out, above, "%s", text);
    }
    if (c->chart->axis)
        svg_text(c->out, (struct svg_text){.x = c->left, .y = bottom + 18, .role = SVG_SMALL, .ink = COLOUR_MUTED},
                 "%s%s", c->chart->axis, c->axis.log ? " (logarithmic)" : "");
}

/* There is no halo over the end of a bar, which would then look short of its tick. */
static void draw_tick(const struct bar_chart *c, double x, double y, double zero, double end) {
    const double top = y - 2.5, bottom = y + BAR + 2.5;
    const bool crosses = (end - zero) * (x - zero) > 0 && fabs(end - zero) - fabs(x - zero) > HALO_WIDTH / 2.0;
    if (crosses)
        svg_line(c->out, x, top, x, bottom, (struct svg_paint){.stroke = COLOUR_PAPER, .stroke_width = HALO_WIDTH});
    svg_line(c->out, x, top, x, bottom, (struct svg_paint){.stroke = COLOUR_INK, .stroke_width = TICK_WIDTH});
}

static void draw_bar(const struct bar_chart *c, const struct chart_bar *bar, size_t s, double y) {
    const double value = bar->value[s], marker = c->marker ? bar->marker[s] : NAN;
    char number[48], hover[512];
    chart_number(number, sizeof number, value, c->chart->decimals);
    const double zero = x_of(c, c->axis.log ? c->axis.from : 0);
    const double end = isfinite(value) ? x_of(c, value) : zero;
    int used = snprintf(hover, sizeof hover, "%.120s, %.80s: %s", bar->label, c->series[s], number);
    if (isfinite(marker)) {
        char other[48];
        chart_number(other, sizeof other, marker, c->chart->decimals);
        used += snprintf(hover + used, sizeof hover - (size_t)used, "; %.80s: %s", c->marker, other);
    }
    if (bar->note)
        snprintf(hover + used, sizeof hover - (size_t)used, ". %.150s", bar->note);
    svg_rect(c->out, fmin(zero, end), y, fmax(fabs(end - zero), 1), BAR,
             (struct svg_paint){.fill = isfinite(value) ? chart_series_colour(s) : (uint32_t)COLOUR_FAINT}, hover);
    double text_at = fmax(zero, end);
    if (isfinite(marker)) {
        const double x = x_of(c, marker);
        draw_tick(c, x, y, zero, end);
        text_at = fmax(text_at, x);
    }
    svg_text(c->out, (struct svg_text){.x = text_at + 7, .y = y + 10.5, .role = SVG_SMALL}, "%s", number);
}

/* The label cut to the room it has. */
static void draw_label(const struct bar_chart *c, const char *label, double y) {
    char text[256];
    const size_t letters = (size_t)(LABEL_MOST / svg_text_width(SVG_BODY, "x"));
    size_t used = 0, count = 0;
    for (; label[used] && used + 5 < sizeof text; used++) {
        const bool starts = ((unsigned char)label[used] & 0xc0) != 0x80;
        if (starts && count == letters)
            break;
        count += starts;
    }
    snprintf(text, sizeof text, "%.*s%s", (int)used, label, label[used] ? "…" : "");
    svg_text(c->out, (struct svg_text){.x = c->left - LABEL_GAP, .y = y, .role = SVG_BODY, .anchor = SVG_END}, "%s",
             text);
}

static void draw_rows(const struct bar_chart *c, double y) {
    for (size_t i = 0; i < c->count; i++) {
        if (begins_group(c, i)) {
            svg_text(c->out, (struct svg_text){.x = CHART_MARGIN, .y = y + 17, .role = SVG_BOLD}, "%s",
                     c->bars[i].group);
            y += GROUP;
        }
        const double bars = row_height(c) - ROW_GAP;
        draw_label(c, c->bars[i].label, y + ROW_GAP / 2.0 + bars / 2 + 4);
        for (size_t s = 0; s < c->series_count; s++)
            draw_bar(c, &c->bars[i], s, y + ROW_GAP / 2.0 + (double)s * (BAR + BAR_GAP));
        y += row_height(c);
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
    const double head = CHART_MARGIN + 10 + (chart->title ? 20 : 0) + (chart->subtitle ? 18 : 0);
    const double top = head + (has_legend(&c) ? LEGEND : 0) + AXIS, bottom = top + rows_height(&c);
    svg_begin(out, CHART_WIDTH, bottom + (chart->axis ? FOOT : 14), chart->inside_page, chart->title);
    double y = chart_head(out, chart);
    if (has_legend(&c))
        y = draw_legend(&c, y);
    draw_axis(&c, top, bottom);
    draw_rows(&c, top);
    svg_end(out);
    return 0;
}
