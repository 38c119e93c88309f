/* SPDX-License-Identifier: Apache-2.0 */
/* What came out in rows and columns, in a narrow chart: numbers shaded by their size, or marks. Long names of rows stand
 * above their cells, others beside them.
 *
 *                      x1   x2   x4
 *      128-byte rows    8   16   32
 *      padded           1    2    4  */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "program/draw/chart_axis.h"
#include "program/base/messages.h"

enum { CELLS_MAX = 128, CELL = 16, GAP = 2, ROW_NAME = 18, NAME_GAP = 7, HEADING_LINE = 12, FOOT = 4 };
enum { COLUMN_LEAST = 15, COLUMN_MOST = 64, HEADING_BYTES = 64 };

struct cell_chart {
    FILE *out;
    const struct chart *chart;
    const char *refused;
    const struct chart_cell *cells;
    size_t count;
    const char *rows[CELLS_MAX], *columns[CELLS_MAX];
    size_t row_count, column_count, heading_lines;
    double left, column;  /* where the first column begins; how wide each is, with its gap */
    double heading_width; /* of a line of a heading; 0: a word */
    double least, most;   /* of the numbers above 0 */
    bool above;           /* names of rows stand above their cells */
    bool marks;           /* there are marks, which a legend explains */
};

/* ---- sizes -------------------------------------------------------------------------------------- */

static size_t index_of(const char *name, const char **names, size_t *count) {
    size_t i = 0;
    while (i < *count && strcmp(names[i], name) != 0)
        i++;
    if (i == *count)
        names[(*count)++] = name;
    return i;
}

/* The next line of a heading: as many words as `width` has room for, and at least one. Returns what follows. */
static const char *heading_line(const char *text, double width, char line[HEADING_BYTES]) {
    size_t end = 0;
    for (size_t at = 1; at < HEADING_BYTES; at++) {
        if (text[at] != ' ' && text[at])
            continue;
        snprintf(line, HEADING_BYTES, "%.*s", (int)at, text);
        if (end && svg_text_width(SVG_SMALL, line) > width)
            break;
        end = at;
        if (!text[at])
            break;
    }
    snprintf(line, HEADING_BYTES, "%.*s", (int)end, text);
    return text[end] ? text + end + 1 : NULL;
}

static size_t lines_of(const char *heading, double width) {
    char line[HEADING_BYTES];
    size_t lines = 0;
    for (const char *at = *heading ? heading : NULL; at; lines++)
        at = heading_line(at, width, line);
    return lines;
}

/* The width of the longest word, which stays whole. */
static double word_width(const char *heading) {
    char line[HEADING_BYTES];
    double width = 0;
    for (const char *at = *heading ? heading : NULL; at;) {
        at = heading_line(at, 0, line);
        width = fmax(width, svg_text_width(SVG_SMALL, line));
    }
    return width;
}

static void measure_values(struct cell_chart *c) {
    c->least = INFINITY;
    c->most = 0;
    for (size_t i = 0; i < c->count; i++) {
        const struct chart_cell *cell = &c->cells[i];
        c->marks |= cell->mark != CHART_NUMBER;
        if (cell->mark != CHART_NUMBER || !isfinite(cell->value) || cell->value <= 0)
            continue;
        c->least = fmin(c->least, cell->value);
        c->most = fmax(c->most, cell->value);
    }
}

static bool is_number(const char *text) {
    char *end;
    strtod(text, &end);
    return *text && !*end;
}

/* Columns that are numbers stand in their order. */
static void sort_columns(struct cell_chart *c) {
    for (size_t i = 0; i < c->column_count; i++) {
        if (!is_number(c->columns[i]))
            return;
    }
    for (size_t i = 1; i < c->column_count; i++) {
        const char *const column = c->columns[i];
        size_t at = i;
        for (; at > 0 && atof(c->columns[at - 1]) > atof(column); at--)
            c->columns[at] = c->columns[at - 1];
        c->columns[at] = column;
    }
}

/* In one line, or where one needs more, each word of all in a line of its own. */
static void measure_headings(struct cell_chart *c) {
    for (size_t pass = 0; pass < 2; pass++) {
        c->heading_width = pass == 0 ? c->column - GAP : 0;
        c->heading_lines = 0;
        for (size_t i = 0; i < c->column_count; i++) {
            const size_t lines = lines_of(c->columns[i], c->heading_width);
            c->heading_lines = lines > c->heading_lines ? lines : c->heading_lines;
        }
        if (c->heading_lines <= 1)
            return;
    }
}

static void measure(struct cell_chart *c) {
    const double whole = CHART_NARROW - 2 * CHART_NARROW_MARGIN;
    double name = 0, word = COLUMN_LEAST;
    for (size_t i = 0; i < c->count; i++) {
        index_of(c->cells[i].row, c->rows, &c->row_count);
        index_of(c->cells[i].column, c->columns, &c->column_count);
        name = fmax(name, svg_text_width(SVG_SMALL, c->cells[i].row));
        word = fmax(word, word_width(c->cells[i].column));
    }
    const double columns = (double)c->column_count;
    c->above = name + NAME_GAP + columns * (word + GAP) > whole;
    const double room = whole - (c->above ? 0 : name + NAME_GAP);
    c->column = fmin(room / columns, COLUMN_MOST + GAP);
    c->left = CHART_NARROW_MARGIN + (c->above ? 0 : name + NAME_GAP);
    sort_columns(c);
    measure_headings(c);
}

static double row_height(const struct cell_chart *c) {
    return CELL + GAP + (c->above ? ROW_NAME : 0);
}

/* ---- drawing ------------------------------------------------------------------------------------ */

static void draw_mark(FILE *out, double x, double y, double width, enum chart_mark mark, const char *hover) {
    static const uint32_t colours[] = {
        [CHART_HOLDS] = COLOUR_OK, [CHART_REFUSED] = COLOUR_MUTED, [CHART_BROKEN] = COLOUR_BAD};
    static const char *const paths[] = {[CHART_HOLDS] = "M%.2f %.2fm-4.5 0l3 3.5l6 -7",
                                        [CHART_REFUSED] = "M%.2f %.2fm-4 0h8",
                                        [CHART_BROKEN] = "M%.2f %.2fm-4 -4l8 8m0 -8l-8 8"};
    char path[96];
    const uint32_t colour = colours[mark];
    svg_rect(out, x, y, width, CELL, (struct svg_paint){.fill = colour, .opacity = 0.16, .radius = 2}, hover);
    snprintf(path, sizeof path, paths[mark], x + width / 2, y + CELL / 2.0);
    svg_path(out, path, (struct svg_paint){.stroke = colour, .stroke_width = 1.8});
}

/* From pale to full, evenly by the number's logarithm. */
static double shade_of(const struct cell_chart *c, double value) {
    if (!(value > 0) || c->most <= c->least)
        return 0.06;
    return 0.1 + 0.45 * log(value / c->least) / log(c->most / c->least);
}

static void draw_number(const struct cell_chart *c, double x, double y, const struct chart_cell *cell) {
    char text[48];
    const double width = c->column - GAP;
    chart_number(text, sizeof text, cell->value, c->chart->decimals);
    svg_rect(c->out, x, y, width, CELL,
             (struct svg_paint){.fill = COLOUR_SERIES_0, .opacity = shade_of(c, cell->value), .radius = 2}, cell->note);
    if (cell->bad)
        svg_rect(c->out, x + 1, y + 1, width - 2, CELL - 2,
                 (struct svg_paint){.stroke = COLOUR_BAD, .stroke_width = 2, .radius = 2}, NULL);
    svg_text(c->out,
             (struct svg_text){
                 .x = x + width / 2, .y = y + 12, .role = SVG_SMALL, .anchor = SVG_MIDDLE, .strong = cell->bad},
             "%s", text);
}

/* What is shown in one place; NULL: nothing came there. */
static const struct chart_cell *cell_at(const struct cell_chart *c, size_t row, size_t column) {
    const struct chart_cell *shown = NULL;
    for (size_t i = 0; i < c->count; i++) {
        const struct chart_cell *cell = &c->cells[i];
        if (strcmp(cell->row, c->rows[row]) != 0 || strcmp(cell->column, c->columns[column]) != 0)
            continue;
        if (!shown || cell->mark > shown->mark)
            shown = cell;
    }
    return shown;
}

static void draw_row(const struct cell_chart *c, size_t row, double y) {
    char name[256];
    const double room = c->above ? CHART_NARROW - 2 * CHART_NARROW_MARGIN : c->left - NAME_GAP + 1;
    chart_cut(name, sizeof name, c->rows[row], SVG_SMALL, room);
    svg_text(c->out,
             (struct svg_text){.x = c->above ? CHART_NARROW_MARGIN : c->left - NAME_GAP,
                               .y = y + (c->above ? 14 : 12),
                               .role = SVG_SMALL,
                               .anchor = c->above ? SVG_START : SVG_END},
             "%s", name);
    y += c->above ? ROW_NAME : 0;
    for (size_t column = 0; column < c->column_count; column++) {
        const struct chart_cell *cell = cell_at(c, row, column);
        const double x = c->left + (double)column * c->column;
        if (cell && cell->mark == CHART_NUMBER)
            draw_number(c, x, y, cell);
        else if (cell)
            draw_mark(c->out, x, y, c->column - GAP, cell->mark, cell->note);
    }
}

static void draw_headings(const struct cell_chart *c, double y) {
    char line[HEADING_BYTES];
    for (size_t column = 0; column < c->column_count; column++) {
        const double x = c->left + (double)column * c->column + (c->column - GAP) / 2;
        size_t at_line = c->heading_lines - lines_of(c->columns[column], c->heading_width);
        for (const char *at = *c->columns[column] ? c->columns[column] : NULL; at; at_line++) {
            at = heading_line(at, c->heading_width, line);
            svg_text(c->out,
                     (struct svg_text){.x = x,
                                       .y = y + (double)(at_line + 1) * HEADING_LINE,
                                       .role = SVG_SMALL,
                                       .anchor = SVG_MIDDLE,
                                       .ink = COLOUR_MUTED},
                     "%s", line);
        }
    }
}

/* Returns the y below it. To no file it is only measured. */
static double draw_legend(FILE *out, const struct cell_chart *c, double y) {
    static const char *const words[] = {[CHART_HOLDS] = "as predicted", [CHART_BROKEN] = "not as predicted"};
    struct chart_legend legend = {CHART_NARROW_MARGIN, y + 9};
    bool used[CHART_BROKEN + 1] = {false};
    for (size_t i = 0; i < c->count; i++)
        used[c->cells[i].mark] = true;
    for (enum chart_mark mark = CHART_HOLDS; mark <= CHART_BROKEN; mark++) {
        const char *const word = mark == CHART_REFUSED ? c->refused : words[mark];
        if (!used[mark] || !word)
            continue;
        chart_legend_place(&legend, word);
        if (out)
            draw_mark(out, legend.x, legend.y - CELL / 2.0, 13, mark, NULL);
        chart_legend_name(out, &legend, word);
    }
    return c->marks ? legend.y + 11 : y;
}

int svg_cells(FILE *out, const struct chart *chart, const char *refused, const struct chart_cell *cells, size_t count) {
    struct cell_chart c = {.out = out, .chart = chart, .refused = refused, .cells = cells, .count = count};
    if (count == 0 || count > CELLS_MAX)
        return complain("%s: %zu cells; a chart has 1 to %d", chart->title ? chart->title : "a chart", count,
                        CELLS_MAX);
    measure_values(&c);
    measure(&c);
    double y = draw_legend(NULL, &c, chart_narrow_head_height(chart));
    const double top = y + (double)c.heading_lines * HEADING_LINE + (c.heading_lines ? 5 : 0);
    svg_begin(out, CHART_NARROW, top + (double)c.row_count * row_height(&c) + FOOT, chart->inside_page, chart->title);
    draw_legend(out, &c, chart_narrow_head(out, chart));
    draw_headings(&c, y);
    for (size_t row = 0; row < c.row_count; row++)
        draw_row(&c, row, top + (double)row * row_height(&c));
    svg_end(out);
    return 0;
}
