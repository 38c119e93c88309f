/* SPDX-License-Identifier: Apache-2.0 */
/* The figures of one experiment: its points, as lab_figures.c says, made into bars, lines, dots or cells. */
#include <math.h>
#include <string.h>

#include "lab/lab_report.h"
#include "lab/lab_report_plot.h"
#include "program/base/messages.h"
#include "program/draw/page.h"

static size_t index_of(const char *name, const char **names, size_t *count, size_t most) {
    size_t i = 0;
    while (i < *count && strcmp(names[i], name) != 0)
        i++;
    if (i == *count && *count < most)
        names[(*count)++] = name;
    return i;
}

/* ---- bars ----------------------------------------------------------------------------------------- */

struct bars {
    struct chart_bar bars[LAB_POINTS_MAX];
    size_t count;
    const char *series[CHART_SERIES_MAX];
    size_t series_count;
    bool has_markers;
};

/* The bar of the point's row, which those of other columns may have begun. */
static struct chart_bar *bar_of(struct bars *bars, const struct shown *shown) {
    const char *group = shown->label.part[LABEL_GROUP][0] ? shown->label.part[LABEL_GROUP] : NULL;
    for (size_t i = 0; i < bars->count && shown->label.part[LABEL_COLUMN][0]; i++) {
        if (strcmp(bars->bars[i].label, shown->label.part[LABEL_ROW]) == 0)
            return &bars->bars[i];
    }
    struct chart_bar *bar = &bars->bars[bars->count++];
    *bar = (struct chart_bar){.group = group,
                              .label = shown->label.part[LABEL_ROW],
                              .note = shown->point->change[0] ? shown->point->change : NULL};
    for (size_t s = 0; s < CHART_SERIES_MAX; s++)
        bar->value[s] = bar->marker[s] = NAN;
    return bar;
}

static void add_bar(struct bars *bars, const struct shown *shown) {
    const char *column = shown->label.part[LABEL_COLUMN];
    const size_t s = column[0] ? index_of(column, bars->series, &bars->series_count, CHART_SERIES_MAX) : 0;
    if (s == CHART_SERIES_MAX)
        return;
    struct chart_bar *bar = bar_of(bars, shown);
    bar->value[s] = shown->value;
    bar->marker[s] = shown->predicted;
    bars->has_markers |= isfinite(shown->predicted);
}

/* Beside each of our bars the article's. */
static void add_article(struct bars *bars, const struct plot *plot) {
    const char *name = plot->figure->article;
    if (!name || !plot->experiment || !plot->experiment->article || bars->series_count > 1)
        return;
    bars->series[bars->series_count++] = name;
    for (size_t i = 0; i < bars->count; i++)
        bars->bars[i].value[1] = plot->experiment->article(bars->bars[i].label);
}

static struct chart_range range_of_bars(const struct bars *bars) {
    struct chart_range range = CHART_RANGE_EMPTY;
    for (size_t i = 0; i < bars->count; i++) {
        for (size_t s = 0; s < bars->series_count; s++)
            chart_range_add(&range, bars->bars[i].value[s]);
    }
    return range;
}

static int draw_bars(const struct plot *plot) {
    struct bars bars = {0};
    struct chart chart = plot_chart(plot);
    for (size_t i = 0; i < plot->count; i++)
        add_bar(&bars, &plot->shown[i]);
    if (bars.series_count == 0)
        bars.series[bars.series_count++] = plot->gpu;
    add_article(&bars, plot);
    const struct chart_range range = range_of_bars(&bars);
    plot_choose_axis(plot, &chart, &range);
    return svg_bars(plot->out, &chart, bars.series, bars.series_count, bars.has_markers ? "predicted" : NULL, bars.bars,
                    bars.count);
}

static struct chart_range range_of_values(const struct plot *plot) {
    struct chart_range range = CHART_RANGE_EMPTY;
    for (size_t i = 0; i < plot->count; i++)
        chart_range_add(&range, plot->shown[i].value);
    return range;
}

/* ---- lines ---------------------------------------------------------------------------------------- */

struct lines {
    struct chart_line lines[CHART_LINES_MAX];
    const char *names[CHART_LINES_MAX];
    size_t count;
    double x[CHART_LINES_MAX][LAB_POINTS_MAX], y[CHART_LINES_MAX][LAB_POINTS_MAX];
    const char *notes[CHART_LINES_MAX][LAB_POINTS_MAX];
};

/* A line goes on as long as its x grows: what follows after that is no part of the sweep. */
static void add_to_line(struct lines *lines, const char *name, double x, double y, const char *note) {
    const size_t at = index_of(name, lines->names, &lines->count, CHART_LINES_MAX);
    if (at == CHART_LINES_MAX)
        return;
    struct chart_line *line = &lines->lines[at];
    if (line->count && x <= lines->x[at][line->count - 1])
        return;
    line->name = name;
    line->x = lines->x[at];
    line->y = lines->y[at];
    line->notes = lines->notes[at];
    lines->x[at][line->count] = x;
    lines->y[at][line->count] = y;
    lines->notes[at][line->count++] = note;
}

static int draw_lines(const struct plot *plot) {
    struct lines lines = {0};
    struct chart chart = plot_chart(plot);
    const struct chart_range range = range_of_values(plot);
    plot_choose_axis(plot, &chart, &range);
    for (size_t i = 0; i < plot->count; i++) {
        const struct shown *shown = &plot->shown[i];
        const char *row = shown->label.part[LABEL_ROW], *note = shown->point->label;
        const double x = label_number(&shown->label, LABEL_X);
        add_to_line(&lines, row[0] ? row : "counted", x, shown->value, note);
        if (!row[0] && isfinite(shown->predicted))
            add_to_line(&lines, "predicted", x, shown->predicted, note);
    }
    for (size_t i = 0; i < lines.count; i++)
        lines.lines[i].dashed = strcmp(lines.names[i], "predicted") == 0;
    return svg_lines(plot->out, &chart, lines.lines, lines.count);
}

static int draw_dots(const struct plot *plot) {
    double x[LAB_POINTS_MAX], y[LAB_POINTS_MAX], ends[2] = {INFINITY, -INFINITY};
    const char *notes[LAB_POINTS_MAX];
    struct chart chart = plot_chart(plot);
    const struct chart_range range = range_of_values(plot);
    plot_choose_axis(plot, &chart, &range);
    for (size_t i = 0; i < plot->count; i++) {
        x[i] = plot->shown[i].predicted;
        y[i] = plot->shown[i].value;
        notes[i] = plot->shown[i].point->label;
        ends[0] = fmin(ends[0], fmin(x[i], y[i]));
        ends[1] = fmax(ends[1], fmax(x[i], y[i]));
    }
    const struct chart_line lines[] = {
        {.name = "counted", .x = x, .y = y, .count = plot->count, .scattered = true, .notes = notes},
        {.name = "as predicted", .x = ends, .y = ends, .count = 2, .dashed = true}};
    chart.x_axis = "predicted";
    chart.x_log = chart.log;
    return svg_lines(plot->out, &chart, lines, 2);
}

/* ---- cells ---------------------------------------------------------------------------------------- */

/* What was asked for and not launched is listed because it ends in an error. */
static enum chart_mark mark_of(const struct plot *plot, const struct record_point *point) {
    if (point->result != LAB_CORRECT)
        return point->result == LAB_WRONG ? CHART_BROKEN : CHART_NUMBER;
    return plot->figure->experiment && !point->kernel[0] ? CHART_REFUSED : CHART_HOLDS;
}

static int draw_cells(const struct plot *plot) {
    struct chart_cell cells[LAB_POINTS_MAX];
    const struct chart chart = plot_chart(plot);
    for (size_t i = 0; i < plot->count; i++) {
        const struct shown *shown = &plot->shown[i];
        const struct label *label = &shown->label;
        const bool result = plot->figure->value == FIGURE_RESULT;
        cells[i] = (struct chart_cell){
            .row = label->part[LABEL_ROW],
            .column = label->part[label->part[LABEL_X][0] ? LABEL_X : LABEL_COLUMN],
            .note = shown->point->label,
            .mark = result ? mark_of(plot, shown->point) : CHART_NUMBER,
            .value = shown->value,
            .bad = shown->bad,
        };
    }
    return svg_cells(plot->out, &chart, "refused, as predicted", cells, plot->count);
}

/* ---- figures -------------------------------------------------------------------------------------- */

static int draw(const struct plot *plot) {
    static int (*const forms[])(const struct plot *) = {
        [FIGURE_BARS] = draw_bars, [FIGURE_LINES] = draw_lines, [FIGURE_DOTS] = draw_dots, [FIGURE_CELLS] = draw_cells};
    return forms[plot->figure->form](plot);
}

/* Whether there was anything to draw. */
static bool draw_figure(FILE *out, const struct record *record, const struct figure *figure) {
    struct plot plot;
    if (!plot_make(&plot, out, record, figure))
        return false;
    page_figure_begin(out);
    draw(&plot);
    page_figure_end(out, NULL);
    return true;
}

void report_figures(FILE *out, const struct record *record) {
    struct figure figures[FIGURES_MAX];
    const size_t count = figures_listed(record->meta.experiment, figures);
    bool drawn = false;
    for (size_t i = 0; i < count; i++)
        drawn |= draw_figure(out, record, &figures[i]);
    const struct figure usual = figure_usual(record);
    if (!drawn)
        draw_figure(out, record, &usual);
}

int report_picture(FILE *out, const struct record *record, size_t number) {
    struct figure figures[FIGURES_MAX];
    const size_t count = figures_listed(record->meta.experiment, figures);
    const struct figure usual = figure_usual(record);
    struct plot plot;
    if (number >= count && (count > 0 || number > 0))
        return complain("%s has %zu figure%s", record->meta.experiment, count ? count : 1, count > 1 ? "s" : "");
    if (!plot_make(&plot, out, record, count ? &figures[number] : &usual))
        return complain("%s has no number that this figure shows", record->meta.experiment);
    plot.alone = true;
    return draw(&plot);
}
