/* SPDX-License-Identifier: Apache-2.0 */
/* A sheet of cells on a terminal and in an SVG. */
#include "program/smem/draw_sheet.h"

#include <math.h>
#include <string.h>

#include "program/draw/svg.h"

enum { UNIT = 26, LINE = 20, HEAD = 18, HEADING = 22, GAP = 8, SPAN = 18, INDENT_MAX = SHEET_TEXT };

static uint32_t span_of(const struct sheet *sheet) {
    return sheet->span ? sheet->span : 1;
}

static size_t utf8_of(const struct sheet *sheet) {
    return sheet->letters ? sheet->letters : SHEET_LETTERS;
}

static struct sheet_cell cell_at(const struct sheet *sheet, uint32_t row, uint32_t index) {
    struct sheet_cell cell = {0};
    sheet->cell(sheet->model, row, index, &cell);
    return cell;
}

/* Letters of the longest row label. */
static size_t label_letters(const struct sheet *sheet) {
    char text[SHEET_TEXT];
    size_t most = sheet->corner ? strlen(sheet->corner) : 0;
    for (uint32_t row = 0; row < sheet->rows; row++) {
        sheet->row_label(sheet->model, row, text);
        most = strlen(text) > most ? strlen(text) : most;
    }
    return most;
}

/* ---- terminal ----------------------------------------------------------------------------------- */

/* Centred when the cell is wide, so that neighbours keep apart; else to the right. */
static void print_in(FILE *out, const char *text, size_t letters) {
    const size_t length = strlen(text) < letters ? strlen(text) : letters;
    const size_t free = letters - length, right = letters > 4 ? free / 2 : 0;
    fprintf(out, "%*s%.*s%*s", (int)(free - right), "", (int)length, text, (int)right, "");
}

static void print_cell(struct terminal_paint paint, const struct sheet_cell *cell, size_t letters) {
    const uint32_t plain = cell->strong ? COLOUR_NONE : COLOUR_MUTED;
    terminal_paint_begin(paint, cell->ground ? (uint32_t)palette_ink_on(cell->ground) : plain, cell->ground,
                         cell->strong);
    print_in(paint.out, cell->text, letters);
    terminal_paint_end(paint);
}

/* "<--- start address --->" over its columns. */
static void print_span(struct terminal_paint paint, const struct sheet_span *span, size_t letters) {
    char line[256];
    const size_t length = strlen(span->label);
    letters = letters < sizeof line ? letters : sizeof line - 1;
    memset(line, '-', letters);
    line[letters] = 0;
    if (length + 2 <= letters) {
        line[0] = '<';
        line[letters - 1] = '>';
        memcpy(line + (letters - length) / 2, span->label, length);
    } else {
        memcpy(line, span->label, length < letters ? length : letters);
    }
    terminal_paint_begin(paint, span->ground ? (uint32_t)palette_ink_on(span->ground) : COLOUR_NONE, span->ground,
                         false);
    fputs(line, paint.out);
    terminal_paint_end(paint);
}

static void print_spans(struct terminal_paint paint, const struct sheet *sheet, size_t indent) {
    uint32_t at = 0;
    fprintf(paint.out, "%*s", (int)indent, "");
    for (size_t i = 0; i < sheet->span_count; i++) {
        const struct sheet_span *span = &sheet->spans[i];
        fprintf(paint.out, "%*s", (int)((span->first - at) * utf8_of(sheet)), "");
        print_span(paint, span, span->columns * utf8_of(sheet));
        at = span->first + span->columns;
    }
    fputc('\n', paint.out);
}

static void print_head(struct terminal_paint paint, const struct sheet *sheet, size_t indent) {
    char text[SHEET_TEXT];
    fprintf(paint.out, "%*s ", (int)indent - 1, sheet->corner ? sheet->corner : "");
    for (uint32_t column = 0; column < sheet->columns; column++) {
        sheet->column_label(sheet->model, column, text);
        print_in(paint.out, text, utf8_of(sheet));
    }
    fputc('\n', paint.out);
}

void sheet_print(struct terminal_paint paint, const struct sheet *sheet) {
    char text[SHEET_TEXT];
    const size_t indent = label_letters(sheet) + 1;
    if (sheet->heading) {
        terminal_paint_begin(paint, COLOUR_NONE, COLOUR_NONE, true);
        fprintf(paint.out, "%s\n", sheet->heading);
        terminal_paint_end(paint);
    }
    if (sheet->column_label)
        print_head(paint, sheet, indent);
    for (uint32_t row = 0; row < sheet->rows; row++) {
        sheet->row_label(sheet->model, row, text);
        fprintf(paint.out, "%*s ", (int)indent - 1, text);
        for (uint32_t index = 0; index < sheet->columns / span_of(sheet); index++) {
            const struct sheet_cell cell = cell_at(sheet, row, index);
            print_cell(paint, &cell, utf8_of(sheet) * span_of(sheet));
        }
        fputc('\n', paint.out);
    }
    if (sheet->span_count)
        print_spans(paint, sheet, indent);
}

void sheet_print_keys(struct terminal_paint paint, const struct sheet_key *keys, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (!keys[i].mark && !paint.on)
            continue; /* a colour alone says nothing here */
        fputs("  ", paint.out);
        terminal_paint_begin(paint, keys[i].ground ? (uint32_t)palette_ink_on(keys[i].ground) : COLOUR_NONE,
                             keys[i].ground, false);
        fprintf(paint.out, "%3s", keys[i].mark ? keys[i].mark : "");
        terminal_paint_end(paint);
        fprintf(paint.out, " %s\n", keys[i].meaning);
    }
}

/* ---- SVG ---------------------------------------------------------------------------------------- */

static double indent_of(const struct sheet *sheet) {
    return (double)label_letters(sheet) * 6.02 + GAP;
}

static double top_of(const struct sheet *sheet) {
    return (sheet->heading ? HEADING : 0) + (sheet->column_label ? HEAD : 0);
}

double sheet_width(const struct sheet *sheet) {
    const double heading = sheet->heading ? svg_text_width(SVG_HEADING, sheet->heading) : 0;
    return fmax(indent_of(sheet) + sheet->columns * UNIT + 1, heading);
}

double sheet_height(const struct sheet *sheet) {
    return top_of(sheet) + sheet->rows * LINE + (sheet->span_count ? SPAN + 4 : 0) + 1;
}

/* The role in which `text` fits into `width`. */
static enum svg_role role_that_fits(const char *text, double width) {
    return svg_text_width(SVG_CELL, text) <= width - 2 ? SVG_CELL : SVG_TINY;
}

static void svg_cell(FILE *out, double x, double y, double width, const struct sheet_cell *cell, bool tiny) {
    const char *hover = cell->hover[0] ? cell->hover : NULL;
    const uint32_t ink = cell->ground ? (uint32_t)palette_ink_on(cell->ground) : COLOUR_INK;
    if (cell->ground)
        svg_rect(out, x, y, width, LINE, (struct svg_paint){.fill = cell->ground, .stroke = COLOUR_PAPER}, hover);
    if (!cell->label[0])
        return;
    const enum svg_role role = tiny ? SVG_TINY : role_that_fits(cell->label, width);
    const struct svg_text where = {x + width / 2, y + LINE / 2.0 + (role == SVG_CELL ? 3.5 : 2.8),  role,
                                   SVG_MIDDLE,    cell->bare && !cell->strong ? COLOUR_MUTED : ink, cell->strong};
    svg_text(out, where, "%s", cell->label);
}

static void svg_head(FILE *out, double x, double y, const struct sheet *sheet) {
    char text[SHEET_TEXT];
    if (sheet->corner)
        svg_text(out, (struct svg_text){.x = x - GAP, .y = y, .role = SVG_CELL, .anchor = SVG_END, .ink = COLOUR_MUTED},
                 "%s", sheet->corner);
    for (uint32_t column = 0; column < sheet->columns; column++) {
        sheet->column_label(sheet->model, column, text);
        svg_text(out,
                 (struct svg_text){.x = x + (column + 0.5) * UNIT,
                                   .y = y,
                                   .role = role_that_fits(text, UNIT),
                                   .anchor = SVG_MIDDLE,
                                   .ink = COLOUR_MUTED},
                 "%s", text);
    }
}

static void svg_spans(FILE *out, double x, double y, const struct sheet *sheet) {
    for (size_t i = 0; i < sheet->span_count; i++) {
        const struct sheet_span *span = &sheet->spans[i];
        const double from = x + span->first * UNIT, width = span->columns * UNIT;
        const uint32_t ink = span->ground ? (uint32_t)palette_ink_on(span->ground) : COLOUR_INK;
        svg_rect(out, from, y + 3, width, SPAN, (struct svg_paint){.fill = span->ground, .stroke = COLOUR_PAPER}, NULL);
        svg_text(out,
                 (struct svg_text){.x = from + width / 2,
                                   .y = y + 3 + 12.5,
                                   .role = role_that_fits(span->label, width),
                                   .anchor = SVG_MIDDLE,
                                   .ink = ink},
                 "%s", span->label);
    }
}

/* How many rows from the top have a ground: rows of bare cells lie below it. */
static uint32_t grounded_rows(const struct sheet *sheet) {
    uint32_t rows = sheet->rows;
    while (rows && cell_at(sheet, rows - 1, 0).bare)
        rows--;
    return rows;
}

/* The ground of idle cells, with the columns still to be told apart. */
static void svg_panel(FILE *out, double x, double y, double width, const struct sheet *sheet) {
    const double height = grounded_rows(sheet) * LINE;
    svg_rect(out, x, y, width, height, (struct svg_paint){.fill = COLOUR_PANEL}, NULL);
    for (uint32_t column = span_of(sheet); column < sheet->columns; column += span_of(sheet)) {
        const double at = x + column * UNIT;
        svg_line(out, at, y, at, y + height, (struct svg_paint){.stroke = COLOUR_PAPER, .stroke_width = 1.5});
    }
}

void sheet_svg(FILE *out, double x, double y, const struct sheet *sheet) {
    char text[SHEET_TEXT];
    const double left = x + indent_of(sheet), top = y + top_of(sheet), width = sheet->columns * UNIT;
    if (sheet->heading)
        svg_text(out, (struct svg_text){.x = x, .y = y + 13, .role = SVG_HEADING}, "%s", sheet->heading);
    if (sheet->column_label)
        svg_head(out, left, top - 6, sheet);
    svg_panel(out, left, top, width, sheet);
    for (uint32_t row = 0; row < sheet->rows; row++) {
        sheet->row_label(sheet->model, row, text);
        const double line = top + row * LINE;
        svg_text(out, (struct svg_text){left - GAP, line + LINE / 2.0 + 3.5, SVG_CELL, SVG_END, COLOUR_MUTED, false},
                 "%s", text);
        for (uint32_t index = 0; index < sheet->columns / span_of(sheet); index++) {
            const struct sheet_cell cell = cell_at(sheet, row, index);
            svg_cell(out, left + index * span_of(sheet) * UNIT, line, span_of(sheet) * UNIT, &cell, sheet->tiny);
        }
    }
    svg_spans(out, left, top + sheet->rows * LINE, sheet);
}

enum { KEY_BOX = 26, KEY_GAP = 22, KEY_LINE = 22 };

/* Places the keys one after the other, as many on a line as fit, and draws them when `out` is given. */
static double flow_keys(FILE *out, double x, double y, double width, const struct sheet_key *keys, size_t count) {
    double at = 0, line = 0;
    for (size_t i = 0; i < count; i++) {
        const double wide = KEY_BOX + 7 + svg_text_width(SVG_SMALL, keys[i].meaning);
        if (at > 0 && at + wide > width) {
            at = 0;
            line += KEY_LINE;
        }
        if (out) {
            struct sheet_cell cell = {.ground = keys[i].ground ? keys[i].ground : COLOUR_PANEL};
            snprintf(cell.label, sizeof cell.label, "%s", keys[i].mark ? keys[i].mark : "");
            svg_cell(out, x + at, y + line, KEY_BOX, &cell, false);
            svg_text(out, (struct svg_text){.x = x + at + KEY_BOX + 7, .y = y + line + 14, .role = SVG_SMALL}, "%s",
                     keys[i].meaning);
        }
        at += wide + KEY_GAP;
    }
    return line + KEY_LINE;
}

double sheet_keys_height(const struct sheet_key *keys, size_t count, double width) {
    return flow_keys(NULL, 0, 0, width, keys, count);
}

void sheet_svg_keys(FILE *out, double x, double y, double width, const struct sheet_key *keys, size_t count) {
    flow_keys(out, x, y, width, keys, count);
}
