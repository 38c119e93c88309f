/* SPDX-License-Identifier: Apache-2.0 */
/* The ratio to the baseline's best over the operation's axis, such as tokens: a panel for each weight matrix, or whatever
 * else the other fields are, that was measured at several of them, one for special problems, one for what is left. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "program/draw/chart_axis.h"
#include "bench/report/report_page.h"
#include "program/base/messages.h"

enum { LEAST_POINTS = 3, COLUMNS = 3, PANEL_GAP = 22, PANEL_HEIGHT = 132, WIDE_HEIGHT = 250 };
enum { LABEL_ROOM = 34, TITLE_ROOM = 24, TICK_ROOM = 34 };

enum panel_kind { PANEL_MATRIX, PANEL_SPECIAL, PANEL_OTHERS };

struct panel {
    enum panel_kind kind;
    const struct bench_case *like; /* a problem of PANEL_MATRIX, or of PANEL_SPECIAL's operation */
    size_t count;
};

struct multiples {
    FILE *out;
    const struct report_view *view;
    struct panel *panels;
    size_t count;
    struct chart_axis x, y;
    double width, height; /* of a panel's plot */
};

static double ratio_of(const struct report_view *view, size_t i) {
    return report_view_row(view, i)->ratio_best.median;
}

bool report_ratio_has_data(const struct report_view *view) {
    for (size_t i = 0; i < view->count; i++) {
        if (isfinite(ratio_of(view, i)))
            return true;
    }
    return false;
}

/* ---- panels ----------------------------------------------------------------------------------------- */

static bool is_special(const struct bench_case *problem) {
    return problem->operation->is_special && problem->operation->is_special(problem->problem.bytes);
}

static bool in_panel(const struct multiples *c, const struct panel *panel, const struct bench_case *problem) {
    switch (panel->kind) {
    case PANEL_MATRIX:
        return case_equal_beside_axis(panel->like, problem);
    case PANEL_SPECIAL:
        return problem->operation == panel->like->operation && is_special(problem);
    case PANEL_OTHERS:
        break;
    }
    for (const struct panel *other = c->panels; other < panel; other++) {
        if (in_panel(c, other, problem))
            return false;
    }
    return true;
}

/* Keeps the panel when it has enough points. */
static void try_panel(struct multiples *c, struct panel panel, size_t least) {
    c->panels[c->count] = panel;
    for (size_t i = 0; i < c->view->count; i++) {
        if (isfinite(ratio_of(c->view, i)) && in_panel(c, &c->panels[c->count], &report_view_row(c->view, i)->problem))
            c->panels[c->count].count++;
    }
    c->count += c->panels[c->count].count >= least;
}

static bool has_panel(const struct multiples *c, enum panel_kind kind, const struct bench_case *problem) {
    for (size_t i = 0; i < c->count; i++) {
        if (c->panels[i].kind == kind && in_panel(c, &c->panels[i], problem))
            return true;
    }
    return false;
}

static bool make_panels(struct multiples *c) {
    c->panels = calloc(2 * c->view->count + 3, sizeof *c->panels);
    if (!c->panels) {
        complain("out of host memory");
        return false;
    }
    for (size_t i = 0; i < c->view->count; i++) {
        const struct bench_case *problem = &report_view_row(c->view, i)->problem;
        if (is_special(problem) && !has_panel(c, PANEL_SPECIAL, problem))
            try_panel(c, (struct panel){.kind = PANEL_SPECIAL, .like = problem}, LEAST_POINTS);
    }
    for (size_t i = 0; i < c->view->count; i++) {
        const struct bench_case *problem = &report_view_row(c->view, i)->problem;
        if (!has_panel(c, PANEL_MATRIX, problem))
            try_panel(c, (struct panel){.kind = PANEL_MATRIX, .like = problem}, LEAST_POINTS);
    }
    try_panel(c, (struct panel){.kind = PANEL_OTHERS}, 1);
    return true;
}

/* All panels have the same axes, so that they can be compared; that of ratios always has 1 inside. */
static void fit_axes(struct multiples *c) {
    double least = INFINITY, most = 0, low = 0.95, high = 1.05;
    for (size_t i = 0; i < c->view->count; i++) {
        const struct bench_row *row = report_view_row(c->view, i);
        if (!isfinite(row->ratio_best.median))
            continue;
        least = fmin(least, (double)case_axis(&row->problem));
        most = fmax(most, (double)case_axis(&row->problem));
        low = fmin(low, row->ratio_best.p10);
        high = fmax(high, row->ratio_best.p90);
    }
    const int first = (int)floor(log2(least)), last = (int)fmax(ceil(log2(most)), first + 1);
    const int stride = (last - first) / (c->count > 1 ? 4 : 8) + 1;
    const double steps = high - low > 1.2 ? 2 : high - low > 0.5 ? 5 : high - low > 0.25 ? 10 : 20; /* of 1 */
    c->y = (struct chart_axis){.from = floor(low * steps + 1e-9) / steps, .to = ceil(high * steps - 1e-9) / steps};
    for (int i = 0; c->y.from + i / steps < c->y.to + 1e-6 && i < CHART_TICKS_MAX; i++)
        c->y.ticks[c->y.tick_count++] = c->y.from + i / steps;
    c->x = (struct chart_axis){.log = true, .from = ldexp(1, first) / 1.2, .to = ldexp(1, last) * 1.2};
    for (int power = first; power <= last && c->x.tick_count < CHART_TICKS_MAX; power += stride)
        c->x.ticks[c->x.tick_count++] = ldexp(1, power);
}

/* ---- drawing ---------------------------------------------------------------------------------------- */

/* "N 4096, K 4096 fp16 tn": what the panel's problems have in common. */
static void matrix_title(const struct bench_case *like, char *title, size_t bytes) {
    const struct gm_operation *operation = like->operation->operation;
    char name[GM_FIELD_TEXT_BYTES], words[CASE_TEXT_BYTES];
    size_t used = 0;
    for (int i = 0; i < operation->field_count && used < bytes; i++) {
        const struct gm_field *field = &operation->fields[i];
        if (field->uses & GM_IN_SUITES && field->kind == GM_FIELD_SIZE && i != operation->axis)
            used += (size_t)snprintf(title + used, bytes - used, "%s%s %" PRId64, used ? ", " : "",
                                     field_title(field, name), gm_field_get(field, like->problem.bytes));
    }
    if (!case_is_usual(like) && used < bytes)
        snprintf(title + used, bytes - used, " %s", case_words(like, words));
}

static void panel_title(const struct multiples *c, const struct panel *panel, char *title, size_t bytes) {
    if (panel->kind == PANEL_SPECIAL)
        snprintf(title, bytes, "%s", panel->like->operation->special);
    else if (panel->kind == PANEL_OTHERS)
        snprintf(title, bytes, c->count > 1 ? "others" : "all problems");
    else
        matrix_title(panel->like, title, bytes);
}

static double x_of(const struct multiples *c, double left, double m) {
    return left + chart_axis_place(&c->x, m) * c->width;
}

static double y_of(const struct multiples *c, double top, double ratio) {
    return top + (1 - chart_axis_place(&c->y, ratio)) * c->height;
}

static void draw_axes(const struct multiples *c, double left, double top) {
    char text[32];
    for (int i = 0; i < c->y.tick_count; i++) {
        const double y = y_of(c, top, c->y.ticks[i]);
        const bool one = fabs(c->y.ticks[i] - 1) < 1e-6;
        snprintf(text, sizeof text, "%.2f", c->y.ticks[i]);
        if (!one)
            svg_line(c->out, left, y, left + c->width, y, (struct svg_paint){.stroke = COLOUR_FAINT});
        const struct svg_text label = {
            .x = left - 6, .y = y + 4, .role = SVG_SMALL, .anchor = SVG_END, .ink = COLOUR_MUTED};
        svg_text(c->out, label, "%s", text);
    }
    const double one = y_of(c, top, 1);
    svg_line(c->out, left, one, left + c->width, one, (struct svg_paint){.stroke = COLOUR_MUTED, .stroke_width = 1.2});
    for (int i = 0; i < c->x.tick_count; i++) {
        const double x = x_of(c, left, c->x.ticks[i]), bottom = top + c->height;
        chart_tick(text, sizeof text, c->x.ticks[i]);
        svg_line(c->out, x, bottom, x, bottom + 4, (struct svg_paint){.stroke = COLOUR_RULE});
        const struct svg_text label = {
            .x = x, .y = bottom + 17, .role = SVG_SMALL, .anchor = SVG_MIDDLE, .ink = COLOUR_MUTED};
        svg_text(c->out, label, "%s", text);
    }
}

/* The point that follows `row` on the panel's line: the next greater M. */
static const struct bench_row *next_of(const struct multiples *c, const struct panel *panel,
                                       const struct bench_row *row) {
    const struct bench_row *next = NULL;
    for (size_t i = 0; i < c->view->count; i++) {
        const struct bench_row *other = report_view_row(c->view, i);
        if (isfinite(other->ratio_best.median) && case_axis(&other->problem) > case_axis(&row->problem) &&
            in_panel(c, panel, &other->problem) && (!next || case_axis(&other->problem) < case_axis(&next->problem)))
            next = other;
    }
    return next;
}

static void draw_point(const struct multiples *c, const struct panel *panel, const struct bench_row *row, double left,
                       double top) {
    const struct bench_row *next = panel->kind == PANEL_OTHERS ? NULL : next_of(c, panel, row);
    const double x = x_of(c, left, (double)case_axis(&row->problem)), y = y_of(c, top, row->ratio_best.median);
    char hover[256], sizes[CASE_TEXT_BYTES];
    if (next)
        svg_line(c->out, x, y, x_of(c, left, (double)case_axis(&next->problem)), y_of(c, top, next->ratio_best.median),
                 (struct svg_paint){.stroke = COLOUR_SERIES_0, .stroke_width = 1.6});
    svg_line(c->out, x, y_of(c, top, row->ratio_best.p10), x, y_of(c, top, row->ratio_best.p90),
             (struct svg_paint){.stroke = COLOUR_SERIES_0, .stroke_width = 3, .opacity = 0.4});
    snprintf(hover, sizeof hover, "%s: %.3f (%.3f to %.3f), %s", case_sizes(&row->problem, " x ", sizes),
             row->ratio_best.median, row->ratio_best.p10, row->ratio_best.p90, row->kernel);
    svg_circle(c->out, x, y, 3.6, (struct svg_paint){.fill = COLOUR_SERIES_0, .stroke = COLOUR_PAPER}, hover);
}

static void draw_panel(const struct multiples *c, const struct panel *panel, double left, double top) {
    char title[96];
    panel_title(c, panel, title, sizeof title);
    svg_text(c->out, (struct svg_text){.x = left, .y = top - 9, .role = SVG_BOLD}, "%s", title);
    draw_axes(c, left, top);
    for (size_t i = 0; i < c->view->count; i++) {
        const struct bench_row *row = report_view_row(c->view, i);
        if (isfinite(row->ratio_best.median) && in_panel(c, panel, &row->problem))
            draw_point(c, panel, row, left, top);
    }
}

static void draw(struct multiples *c, bool inside_page) {
    const struct bench_meta *meta = &c->view->results->meta;
    const size_t columns = c->count < COLUMNS ? c->count : COLUMNS, rows = (c->count + columns - 1) / columns;
    const double room = (double)(CHART_WIDTH - 2 * CHART_MARGIN) - (double)(columns - 1) * PANEL_GAP;
    const double first = CHART_MARGIN + 10 + 20 + 18 + TITLE_ROOM;
    char title[160], subtitle[192], axis[GM_FIELD_TEXT_BYTES];
    c->width = room / (double)columns - LABEL_ROOM;
    c->height = c->count == 1 ? WIDE_HEIGHT : PANEL_HEIGHT;
    const double step = TITLE_ROOM + c->height + TICK_ROOM;
    snprintf(title, sizeof title, "Time of %s's best over gristmill's, by %s", meta->baseline,
             field_title(case_axis_field(&c->view->results->rows[0].problem), axis));
    snprintf(subtitle, sizeof subtitle, "%s; above 1: gristmill is faster; bars: p10 to p90 of %d rounds; L2 %s",
             meta->gpu, meta->rounds, results_l2(meta));
    const struct chart head = {.title = title, .subtitle = subtitle};
    svg_begin(c->out, CHART_WIDTH, first + (double)rows * step, inside_page, title);
    chart_head(c->out, &head);
    for (size_t i = 0; i < c->count; i++) {
        const double left = CHART_MARGIN + (double)(i % columns) * (c->width + LABEL_ROOM + PANEL_GAP) + LABEL_ROOM;
        draw_panel(c, &c->panels[i], left, first + (double)(i / columns) * step);
    }
    svg_end(c->out);
}

int report_ratio_draw(FILE *out, const struct report_view *view, bool inside_page) {
    struct multiples c = {.out = out, .view = view};
    if (!make_panels(&c))
        return -1;
    fit_axes(&c);
    draw(&c, inside_page);
    free(c.panels);
    return 0;
}
