/* SPDX-License-Identifier: Apache-2.0 */
/* Lines over a number; each line's name stands at its right end, or above the plot of a narrow chart. */
#include <math.h>
#include <string.h>

#include "program/draw/chart_axis.h"
#include "program/base/messages.h"

enum { PLOT_HEIGHT = 320, LEFT_ROOM = 56, ABOVE = 30, BELOW = 54, NAME_LEAST = 60, NAME_MOST = 260, NAME_LINE = 15 };
enum {
    NARROW_PLOT_HEIGHT = 200,
    NAMED_PLOT_HEIGHT = 300,
    NAMED_MOST = 80,
    NAME_BESIDE = 12,
    NARROW_LEFT_ROOM = 40,
    NARROW_RIGHT_ROOM = 12,
    NARROW_ABOVE = 8
};

struct line_chart {
    FILE *out;
    const struct chart *chart;
    const struct chart_line *lines;
    size_t count;
    struct chart_axis x, y;
    double left, right, top, bottom;
};

static double x_of(const struct line_chart *c, double value) {
    return c->left + chart_axis_place(&c->x, value) * (c->right - c->left);
}

static double y_of(const struct line_chart *c, double value) {
    return c->bottom - chart_axis_place(&c->y, value) * (c->bottom - c->top);
}

static bool shown(const struct line_chart *c, const struct chart_line *line, size_t i) {
    return isfinite(line->x[i]) && isfinite(line->y[i]) && !(c->x.log && line->x[i] <= 0) &&
           !(c->y.log && line->y[i] <= 0);
}

/* ---- axes --------------------------------------------------------------------------------------- */

/* Powers of two that cover the data, at most a dozen of them. */
static bool fit_powers(struct chart_axis *axis, const struct chart_range *range) {
    if (!isfinite(range->positive))
        return false;
    const int low = (int)floor(log2(range->positive) + 1e-9), high = (int)ceil(log2(range->highest) - 1e-9);
    const int last = high > low ? high : low + 1, stride = (last - low) / 12 + 1;
    *axis = (struct chart_axis){.log = true, .from = ldexp(1, low), .to = ldexp(1, last)};
    for (int power = low; power <= last && axis->tick_count < CHART_TICKS_MAX; power += stride)
        axis->ticks[axis->tick_count++] = ldexp(1, power);
    return true;
}

static bool measure(struct line_chart *c) {
    struct chart_range x = CHART_RANGE_EMPTY, y = CHART_RANGE_EMPTY;
    double name = NAME_LEAST;
    for (size_t i = 0; i < c->count; i++) {
        name = fmax(name, svg_text_width(SVG_SMALL, c->lines[i].name));
        for (size_t p = 0; p < c->lines[i].count; p++) {
            chart_range_add(&x, c->lines[i].x[p]);
            chart_range_add(&y, c->lines[i].y[p]);
        }
    }
    c->left = c->chart->narrow ? NARROW_LEFT_ROOM : CHART_MARGIN + LEFT_ROOM;
    c->right =
        c->chart->narrow ? CHART_NARROW - NARROW_RIGHT_ROOM : CHART_WIDTH - CHART_MARGIN - fmin(name, NAME_MOST) - 12;
    const bool fits = c->chart->x_log ? fit_powers(&c->x, &x) : chart_axis_fit(&c->x, false, 0, 0, &x);
    return fits && chart_axis_fit(&c->y, c->chart->log, c->chart->from, c->chart->to, &y);
}

static void draw_y_axis(const struct line_chart *c) {
    char text[32];
    for (int i = 0; i < c->y.tick_count; i++) {
        const double y = y_of(c, c->y.ticks[i]);
        chart_tick(text, sizeof text, c->y.ticks[i]);
        svg_line(c->out, c->left, y, c->right, y, (struct svg_paint){.stroke = i ? COLOUR_FAINT : COLOUR_RULE});
        const struct svg_text label = {
            .x = c->left - 8, .y = y + 4, .role = SVG_SMALL, .anchor = SVG_END, .ink = COLOUR_MUTED};
        svg_text(c->out, label, "%s", text);
    }
}

static void draw_x_axis(const struct line_chart *c) {
    char text[32];
    for (int i = 0; i < c->x.tick_count; i++) {
        const double x = x_of(c, c->x.ticks[i]);
        chart_tick(text, sizeof text, c->x.ticks[i]);
        svg_line(c->out, x, c->bottom, x, c->bottom + 4, (struct svg_paint){.stroke = COLOUR_RULE});
        const double last = (c->chart->narrow ? CHART_NARROW : CHART_WIDTH) - svg_text_width(SVG_SMALL, text) / 2;
        const struct svg_text label = {
            .x = fmin(x, last), .y = c->bottom + 18, .role = SVG_SMALL, .anchor = SVG_MIDDLE, .ink = COLOUR_MUTED};
        svg_text(c->out, label, "%s", text);
    }
}

static void draw_axis_names(const struct line_chart *c) {
    if (c->chart->axis && !c->chart->narrow)
        svg_text(c->out, (struct svg_text){.x = CHART_MARGIN, .y = c->top - 12, .role = SVG_SMALL, .ink = COLOUR_MUTED},
                 "%s%s", c->chart->axis, c->y.log ? " (logarithmic)" : "");
    if (c->chart->x_axis)
        svg_text(c->out,
                 (struct svg_text){.x = (c->left + c->right) / 2,
                                   .y = c->bottom + 40,
                                   .role = SVG_SMALL,
                                   .anchor = SVG_MIDDLE,
                                   .ink = COLOUR_MUTED},
                 "%s", c->chart->x_axis);
}

/* ---- lines -------------------------------------------------------------------------------------- */

/* Circle, square, diamond, triangle: the lines differ without colour as well. */
static void draw_point(FILE *out, double x, double y, size_t index, const char *hover) {
    const struct svg_paint paint = {
        .fill = chart_series_colour(index), .stroke = COLOUR_PAPER, .stroke_width = 1.2, .radius = 0};
    char path[128];
    switch (index % 4) {
    case 0:
        svg_circle(out, x, y, 4, paint, hover);
        return;
    case 1:
        svg_rect(out, x - 3.5, y - 3.5, 7, 7, paint, hover);
        return;
    case 2:
        snprintf(path, sizeof path, "M%.2f %.2fl5 5l-5 5l-5 -5z", x, y - 5);
        break;
    default:
        snprintf(path, sizeof path, "M%.2f %.2fl5 9h-10z", x, y - 5.5);
    }
    svg_path(out, path, paint);
    svg_rect(out, x - 4, y - 4, 8, 8, (struct svg_paint){.fill = COLOUR_PAPER, .opacity = 0.001}, hover);
}

static void draw_stroke(const struct line_chart *c, const struct chart_line *line, size_t index) {
    for (size_t i = 1; i < line->count && !line->scattered; i++)
        if (shown(c, line, i - 1) && shown(c, line, i))
            svg_line(
                c->out, x_of(c, line->x[i - 1]), y_of(c, line->y[i - 1]), x_of(c, line->x[i]), y_of(c, line->y[i]),
                (struct svg_paint){.stroke = chart_series_colour(index), .stroke_width = 2, .dashed = line->dashed});
}

static void draw_points(const struct line_chart *c, const struct chart_line *line, size_t index) {
    for (size_t i = 0; i < line->count; i++) {
        char x[32], y[48], hover[256];
        if (!shown(c, line, i))
            continue;
        chart_number(x, sizeof x, line->x[i], -1);
        chart_number(y, sizeof y, line->y[i], c->chart->decimals);
        snprintf(hover, sizeof hover, "%.80s: %s at %s%s%.100s", line->name, y, x, line->notes ? ", " : "",
                 line->notes ? line->notes[i] : "");
        draw_point(c->out, x_of(c, line->x[i]), y_of(c, line->y[i]), index, hover);
    }
}

/* Beside its name a dashed line shows its dashes, the others their points. */
static void draw_key(FILE *out, double x, double y, const struct chart_line *line, size_t index) {
    const struct svg_paint dashes = {.stroke = chart_series_colour(index), .stroke_width = 2, .dashed = true};
    if (line->dashed)
        svg_line(out, x - 5, y, x + 6, y, dashes);
    else
        draw_point(out, x, y, index, NULL);
}

/* Where the line ends, or the bottom when it has no point. */
static double end_of(const struct line_chart *c, const struct chart_line *line) {
    for (size_t i = line->count; i-- > 0;)
        if (shown(c, line, i))
            return y_of(c, line->y[i]);
    return c->bottom;
}

/* Names at the ends of their lines, pushed apart where they would overlap. */
static void draw_names(const struct line_chart *c) {
    size_t order[CHART_LINES_MAX];
    double at[CHART_LINES_MAX], end[CHART_LINES_MAX];
    for (size_t i = 0; i < c->count; i++) {
        size_t place = i;
        end[i] = end_of(c, &c->lines[i]);
        for (; place > 0 && end[order[place - 1]] > end[i]; place--)
            order[place] = order[place - 1];
        order[place] = i;
    }
    for (size_t i = 0; i < c->count; i++)
        at[i] = i ? fmax(end[order[i]], at[i - 1] + NAME_LINE) : end[order[i]];
    const double over = fmax(at[c->count - 1] - c->bottom, 0);
    for (size_t i = 0; i < c->count; i++) { /* what was pushed below the plot comes back up, from the lowest on */
        const size_t from_below = c->count - 1 - i;
        at[from_below] = fmin(at[from_below], c->bottom - (double)i * NAME_LINE);
        if (over == 0)
            break;
    }
    for (size_t i = 0; i < c->count; i++) {
        const size_t line = order[i];
        draw_key(c->out, c->right + 10, at[i], &c->lines[line], line);
        svg_text(c->out, (struct svg_text){.x = c->right + 19, .y = at[i] + 4, .role = SVG_SMALL}, "%s",
                 c->lines[line].name);
    }
}

/* Names above a narrow plot; returns the y below them. To no file they are only measured. */
static double draw_legend(FILE *out, const struct line_chart *c, double y) {
    struct chart_legend legend = {CHART_NARROW_MARGIN, y + 7};
    for (size_t i = 0; i < c->count; i++) {
        chart_legend_place(&legend, c->lines[i].name);
        if (out)
            draw_key(out, legend.x + 6, legend.y, &c->lines[i], i);
        chart_legend_name(out, &legend, c->lines[i].name);
    }
    return legend.y + 11;
}

/* ---- names beside points ------------------------------------------------------------------------ */

static bool has_named(const struct line_chart *c) {
    bool any = false;
    for (size_t i = 0; i < c->count; i++)
        any |= c->lines[i].named;
    return any;
}

/* Where a point's name stands: right of it or left, on its line or some way up or down. */
struct beside {
    double x, y, from, to; /* the anchor, the base line, and what it covers */
    enum svg_anchor anchor;
    const char *name;
};

static struct beside place_beside(const struct line_chart *c, const struct chart_line *line, size_t i, bool left,
                                  double up) {
    const double x = x_of(c, line->x[i]), width = svg_text_width(SVG_SMALL, line->notes[i]);
    const double from = left ? x - 8 - width : x + 8;
    return (struct beside){left ? x - 8 : x + 8, y_of(c, line->y[i]) + 4 - up, from,
                           from + width,         left ? SVG_END : SVG_START,   line->notes[i]};
}

static bool covers(const struct beside *name, double x, double y, double around) {
    return x > name->from - around && x < name->to + around && y > name->y - 8 - around && y < name->y + 1 + around;
}

/* How much a dashed line is hidden. */
static double hides(const struct line_chart *c, const struct beside *name, const struct chart_line *line) {
    enum { STEPS = 100 };
    double hidden = 0;
    for (size_t i = 1; i < line->count && line->dashed; i++) {
        for (int step = 0; step <= STEPS && shown(c, line, i - 1) && shown(c, line, i); step++) {
            const double share = (double)step / STEPS;
            hidden += covers(name, x_of(c, line->x[i - 1]) * (1 - share) + x_of(c, line->x[i]) * share,
                             y_of(c, line->y[i - 1]) * (1 - share) + y_of(c, line->y[i]) * share, 1);
        }
    }
    return hidden / STEPS;
}

/* The names of a line's points. */
struct besides {
    const struct chart_line *line;
    struct beside names[NAMED_MOST];
    size_t points[NAMED_MOST], count;
};

/* The less the better; other names and points are worse than any way up or down, and outside is worst. */
static double cost_of(const struct line_chart *c, const struct beside *name, const struct besides *all, size_t self) {
    double cost = 0;
    for (size_t i = 0; i < all->count; i++) {
        const struct beside *other = &all->names[i];
        cost += 1000 * (i != self && name->from < other->to + 4 && other->from < name->to + 4 &&
                        fabs(name->y - other->y) < NAME_BESIDE);
    }
    for (size_t i = 0; i < c->count; i++) {
        cost += 100 * hides(c, name, &c->lines[i]);
        for (size_t p = 0; p < c->lines[i].count; p++)
            cost += 1000 * (!c->lines[i].dashed && shown(c, &c->lines[i], p) &&
                            covers(name, x_of(c, c->lines[i].x[p]), y_of(c, c->lines[i].y[p]), 3));
    }
    return cost + 1e6 * (name->from < c->left || name->to > c->right || name->y < c->top || name->y > c->bottom - 2);
}

/* On its line, or by steps of 5 up to 40 above and below. */
static void move_beside(const struct line_chart *c, struct besides *all, size_t self) {
    enum { LEVELS = 17 };
    double least = INFINITY;
    for (int way = 0; way < 2 * LEVELS; way++) {
        const int level = way / 2;
        const double up = (level + 1) / 2 * (level % 2 ? 5 : -5);
        const struct beside one = place_beside(c, all->line, all->points[self], way % 2, up);
        const double cost = cost_of(c, &one, all, self) + 2 * fabs(up) + way % 2;
        if (cost < least) {
            least = cost;
            all->names[self] = one;
        }
    }
}

static void draw_beside(const struct line_chart *c, const struct chart_line *line) {
    enum { ROUNDS = 4 }; /* a name makes room for one that came later */
    struct besides all = {.line = line};
    for (size_t i = 0; i < line->count && line->named && line->notes && all.count < NAMED_MOST; i++) {
        if (!shown(c, line, i))
            continue;
        all.points[all.count] = i;
        move_beside(c, &all, all.count);
        all.count++;
    }
    for (size_t i = 0; i < ROUNDS * all.count; i++)
        move_beside(c, &all, i % all.count);
    for (size_t i = 0; i < all.count; i++) {
        const struct beside *one = &all.names[i];
        svg_text(c->out, (struct svg_text){.x = one->x, .y = one->y, .role = SVG_SMALL, .anchor = one->anchor}, "%s",
                 one->name);
    }
}

/* ---- the chart ---------------------------------------------------------------------------------- */

/* The head, and where the plot begins and ends. */
static void begin(struct line_chart *c) {
    const struct chart *chart = c->chart;
    if (chart->narrow)
        c->top = draw_legend(NULL, c, chart_narrow_head_height(chart)) + NARROW_ABOVE;
    else
        c->top = CHART_MARGIN + 10 + (chart->title ? 20 : 0) + (chart->subtitle ? 18 : 0) + ABOVE;
    c->bottom = c->top + (!chart->narrow ? PLOT_HEIGHT : has_named(c) ? NAMED_PLOT_HEIGHT : NARROW_PLOT_HEIGHT);
    svg_begin(c->out, chart->narrow ? CHART_NARROW : CHART_WIDTH, c->bottom + BELOW, chart->inside_page, chart->title);
    if (chart->narrow)
        draw_legend(c->out, c, chart_narrow_head(c->out, chart));
    else
        chart_head(c->out, chart);
}

int svg_lines(FILE *out, const struct chart *chart, const struct chart_line *lines, size_t count) {
    struct line_chart c = {.out = out, .chart = chart, .lines = lines, .count = count};
    const char *title = chart->title ? chart->title : "a chart";
    if (count == 0 || count > CHART_LINES_MAX)
        return complain("%s: %zu lines; a chart has 1 to %d", title, count, CHART_LINES_MAX);
    if (!measure(&c))
        return complain("%s: no value that its axes can show", title);
    begin(&c);
    draw_y_axis(&c);
    draw_x_axis(&c);
    draw_axis_names(&c);
    for (size_t i = 0; i < count; i++)
        draw_stroke(&c, &lines[i], i);
    for (size_t i = count; i-- > 0;) /* the first lies on top */
        if (!lines[i].dashed)
            draw_points(&c, &lines[i], i);
    for (size_t i = 0; i < count; i++)
        draw_beside(&c, &lines[i]);
    if (!chart->narrow)
        draw_names(&c);
    svg_end(out);
    return 0;
}
