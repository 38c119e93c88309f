/* SPDX-License-Identifier: Apache-2.0 */
/* A filled text_table as a table on a terminal, in an SVG or on a page. */
#include "program/smem/draw_table.h"

#include <math.h>
#include <string.h>

#include "program/base/utf8.h"
#include "program/draw/svg.h"

const uint32_t table_inks[] = {[PAGE_NEUTRAL] = COLOUR_INK, [PAGE_OK] = COLOUR_OK, [PAGE_BAD] = COLOUR_BAD};

static const char *cell_of(const struct text_table *table, size_t row, size_t column) {
    return table->cells[row * table->columns + column];
}

static enum page_state state_of(const enum page_state *states, size_t row, size_t column) {
    return states && row > 0 && column == 0 ? states[row - 1] : PAGE_NEUTRAL;
}

void table_page(FILE *out, const char *heading, const struct text_table *table, const enum page_state *states) {
    char titles[TEXT_TABLE_COLUMNS_MAX * TEXT_TABLE_CELL_BYTES] = "";
    size_t used = 0;
    for (size_t column = 0; column < table->columns; column++)
        used += (size_t)snprintf(titles + used, sizeof titles - used, "%s%s%s", column ? "|" : "",
                                 table->left[column] ? "<" : "", cell_of(table, 0, column));
    page_table_begin(out, titles, heading);
    for (size_t row = 1; row < table->rows; row++) {
        page_row_begin(out);
        for (size_t column = 0; column < table->columns; column++)
            page_cell(out, state_of(states, row, column), table->left[column], "%s", cell_of(table, row, column));
        page_row_end(out);
    }
    page_table_end(out);
}

/* Letters of each column's widest cell; the last one gets what is left of `letters` when it asks for more. */
static void fit_columns(const struct text_table *table, size_t letters, size_t gap,
                        size_t widths[TEXT_TABLE_COLUMNS_MAX]) {
    const size_t last = table->columns - 1;
    size_t before = 0;
    memset(widths, 0, TEXT_TABLE_COLUMNS_MAX * sizeof *widths);
    for (size_t i = 0; i < table->rows * table->columns; i++) {
        const size_t width = text_table_width(table->cells[i]);
        if (width > widths[i % table->columns])
            widths[i % table->columns] = width;
    }
    for (size_t column = 0; column < last; column++)
        before += widths[column] + gap;
    const size_t rest = before + 24 < letters ? letters - before : 24;
    if (table->left[last] && widths[last] > rest)
        widths[last] = rest;
}

/* ---- terminal ----------------------------------------------------------------------------------- */

enum { PRINT_GAP = 2 };

static void print_cell(struct terminal_paint paint, const struct text_table *table, size_t row, size_t column,
                       size_t width, enum page_state state) {
    if (state != PAGE_NEUTRAL || row == 0)
        terminal_paint_begin(paint, state == PAGE_NEUTRAL ? (uint32_t)COLOUR_NONE : table_inks[state], COLOUR_NONE,
                             true);
    text_table_put(paint.out, cell_of(table, row, column), width, table->left[column]);
    if (state != PAGE_NEUTRAL || row == 0)
        terminal_paint_end(paint);
}

/* Columns after the row's last filled one are left out, so that no line ends in blanks. */
static void print_row(struct terminal_paint paint, const struct text_table *table, size_t row, const size_t *widths,
                      const enum page_state *states) {
    const size_t last = table->columns - 1;
    char line[TEXT_TABLE_CELL_BYTES];
    size_t indent = 0, filled = table->columns;
    while (filled && !cell_of(table, row, filled - 1)[0])
        filled--;
    for (size_t column = 0; column < filled && column < last; column++) {
        fprintf(paint.out, "%*s", column ? PRINT_GAP : 0, "");
        print_cell(paint, table, row, column, widths[column], state_of(states, row, column));
    }
    for (size_t column = 0; column < last; column++)
        indent += widths[column] + PRINT_GAP;
    const char *rest = utf8_wrap(cell_of(table, row, last), widths[last], line, sizeof line);
    if (rest) {
        fprintf(paint.out, "%*s", last ? PRINT_GAP : 0, "");
        text_table_put(paint.out, line, table->left[last] ? 0 : widths[last], table->left[last]);
    }
    while (rest && (rest = utf8_wrap(rest, widths[last], line, sizeof line)))
        fprintf(paint.out, "\n%*s%s", (int)indent, "", line);
    fputc('\n', paint.out);
}

void table_print(struct terminal_paint paint, size_t letters, const char *heading, const struct text_table *table,
                 const enum page_state *states) {
    size_t widths[TEXT_TABLE_COLUMNS_MAX];
    fit_columns(table, letters, PRINT_GAP, widths);
    if (heading) {
        terminal_paint_begin(paint, COLOUR_NONE, COLOUR_NONE, true);
        fprintf(paint.out, "%s\n", heading);
        terminal_paint_end(paint);
    }
    for (size_t row = 0; row < table->rows; row++)
        print_row(paint, table, row, widths, states);
}

/* ---- SVG ---------------------------------------------------------------------------------------- */

enum { ROW = 19, TEXT_LINE = 15, GAP = 18, HEADING = 24 };

static double letter_width(void) {
    return svg_text_width(SVG_SMALL, "x");
}

static size_t utf8_in(double width) {
    return (size_t)(width / letter_width());
}

/* Lines that the last cell of a row is broken into. */
static size_t lines_of(const struct text_table *table, size_t row, size_t letters) {
    char line[TEXT_TABLE_CELL_BYTES];
    size_t lines = 0;
    for (const char *rest = cell_of(table, row, table->columns - 1);
         (rest = utf8_wrap(rest, letters, line, sizeof line));)
        lines++;
    return lines ? lines : 1;
}

static double height_of(const struct text_table *table, size_t row, size_t letters) {
    return ROW + (double)(lines_of(table, row, letters) - 1) * TEXT_LINE;
}

/* The columns' right edges, relative to the table's left. */
static void edges_of(const struct text_table *table, double width_most, size_t widths[TEXT_TABLE_COLUMNS_MAX],
                     double edges[TEXT_TABLE_COLUMNS_MAX]) {
    double edge = 0;
    fit_columns(table, utf8_in(width_most), (size_t)ceil(GAP / letter_width()), widths);
    for (size_t column = 0; column < table->columns; column++) {
        edge += (column ? GAP : 0) + (double)widths[column] * letter_width();
        edges[column] = edge;
    }
}

struct table_size table_svg_size(double width_most, const char *heading, const struct text_table *table) {
    size_t widths[TEXT_TABLE_COLUMNS_MAX];
    double edges[TEXT_TABLE_COLUMNS_MAX], height = heading ? HEADING : 0;
    const size_t last = table->columns - 1;
    edges_of(table, width_most, widths, edges);
    for (size_t row = 0; row < table->rows; row++)
        height += height_of(table, row, widths[last]);
    return (struct table_size){fmax(edges[last], heading ? svg_text_width(SVG_HEADING, heading) : 0), height + 2};
}

static void svg_row(FILE *out, double x, double y, const struct text_table *table, size_t row, const size_t *widths,
                    const double *edges, const enum page_state *states) {
    const size_t last = table->columns - 1;
    char line[TEXT_TABLE_CELL_BYTES];
    for (size_t column = 0; column <= last; column++) {
        const enum page_state state = state_of(states, row, column);
        const bool left = table->left[column];
        const double start = edges[column] - (double)widths[column] * letter_width();
        struct svg_text where = {.x = x + (left ? start : edges[column]),
                                 .y = y + 13,
                                 .role = SVG_SMALL,
                                 .anchor = left ? SVG_START : SVG_END,
                                 .ink = row == 0 ? (uint32_t)COLOUR_MUTED : table_inks[state],
                                 .strong = row == 0 || state != PAGE_NEUTRAL};
        const char *rest = cell_of(table, row, column);
        for (; (rest = utf8_wrap(rest, column == last ? widths[last] : TEXT_TABLE_CELL_BYTES, line, sizeof line));
             where.y += TEXT_LINE)
            svg_text(out, where, "%s", line);
    }
}

void table_svg(FILE *out, double x, double y, double width_most, const char *heading, const struct text_table *table,
               const enum page_state *states) {
    size_t widths[TEXT_TABLE_COLUMNS_MAX];
    double edges[TEXT_TABLE_COLUMNS_MAX];
    const size_t last = table->columns - 1;
    edges_of(table, width_most, widths, edges);
    if (heading) {
        svg_text(out, (struct svg_text){.x = x, .y = y + 13, .role = SVG_HEADING}, "%s", heading);
        y += HEADING;
    }
    for (size_t row = 0; row < table->rows; row++) {
        svg_row(out, x, y, table, row, widths, edges, states);
        y += height_of(table, row, widths[last]);
        svg_line(out, x, y, x + edges[last], y,
                 (struct svg_paint){.stroke = row == 0 ? COLOUR_RULE : COLOUR_FAINT, .stroke_width = 1});
    }
}
