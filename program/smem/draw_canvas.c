/* SPDX-License-Identifier: Apache-2.0 */
/* One picture in any of its forms. */
#include "program/smem/draw_canvas.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "program/smem/draw_table.h"
#include "program/base/utf8.h"
#include "program/base/messages.h"
#include "program/draw/svg.h"

/* Pixels of an SVG, letters of a terminal's line. */
enum { MARGIN = 28, WIDTH = 964, INSIDE = WIDTH - 2 * MARGIN, BLOCK_GAP = 18, BESIDE_GAP = 40, TEXT_LINE = 17 };
enum { TERMINAL_LETTERS = 104, LINE_BYTES = 1024 };

static bool on_page(const struct canvas *canvas) {
    return canvas->form == DRAW_HTML || canvas->form == DRAW_PART;
}

bool canvas_on_terminal(const struct canvas *canvas) {
    return canvas->form == DRAW_TEXT || canvas->form == DRAW_COLOUR;
}

/* ---- begin and end ------------------------------------------------------------------------------ */

int canvas_begin(struct canvas *canvas, FILE *out, enum draw_form form, const char *title) {
    *canvas =
        (struct canvas){.form = form, .out = out, .title = title, .paint = {.out = out, .on = form == DRAW_COLOUR}};
    if (form == DRAW_HTML)
        page_begin(out, title, NULL);
    if (on_page(canvas))
        page_section_begin(out, NULL, form == DRAW_PART ? title : NULL);
    if (canvas_on_terminal(canvas)) {
        terminal_paint_begin(canvas->paint, COLOUR_NONE, COLOUR_NONE, true);
        terminal_paint_text(out, title);
        terminal_paint_end(canvas->paint);
        fputc('\n', out);
    }
    if (form != DRAW_SVG)
        return 0;
    canvas->body = open_memstream(&canvas->body_text, &canvas->body_bytes);
    if (!canvas->body)
        return complain("out of host memory");
    canvas->x = MARGIN;
    canvas->y = MARGIN + 16;
    svg_text(canvas->body, (struct svg_text){.x = MARGIN, .y = canvas->y, .role = SVG_TITLE}, "%s", title);
    canvas->y += 12;
    return 0;
}

int canvas_end(struct canvas *canvas) {
    bool drawn = true;
    if (canvas->form == DRAW_SVG) {
        drawn = fclose(canvas->body) == 0;
        if (drawn) {
            svg_begin(canvas->out, WIDTH, canvas->y - BLOCK_GAP + MARGIN, false, canvas->title);
            fwrite(canvas->body_text, 1, canvas->body_bytes, canvas->out);
            svg_end(canvas->out);
        }
        free(canvas->body_text);
    }
    if (on_page(canvas))
        page_section_end(canvas->out);
    if (canvas->form == DRAW_HTML)
        page_end(canvas->out, NULL);
    return drawn ? 0 : complain("out of host memory");
}

/* ---- room for the next block of an SVG ---------------------------------------------------------- */

/* Moves to the next line when the block does not fit beside the one before. */
static void make_room(struct canvas *canvas, double width) {
    if (canvas->beside && canvas->x > MARGIN && canvas->x + width > WIDTH - MARGIN) {
        canvas->x = MARGIN;
        canvas->y = canvas->lowest + BLOCK_GAP;
    }
}

static void take_room(struct canvas *canvas, double width, double height) {
    if (canvas->beside) {
        canvas->x += width + BESIDE_GAP;
        canvas->lowest = fmax(canvas->lowest, canvas->y + height);
    } else {
        canvas->y += height + BLOCK_GAP;
    }
}

double canvas_room(struct canvas *canvas, double height) {
    const double y = canvas->y;
    take_room(canvas, INSIDE, height);
    return y;
}

void canvas_beside_begin(struct canvas *canvas) {
    if (on_page(canvas))
        page_beside_begin(canvas->out);
    canvas->beside = true;
    canvas->lowest = canvas->y;
}

void canvas_beside_end(struct canvas *canvas) {
    if (on_page(canvas))
        page_beside_end(canvas->out);
    canvas->beside = false;
    canvas->x = MARGIN;
    canvas->y = canvas->lowest + BLOCK_GAP;
}

/* ---- sentences ---------------------------------------------------------------------------------- */

/* Lines of at most `width` pixels from (x, y) downwards; returns their height. */
static double svg_lines_of_text(FILE *out, double x, double y, double width, enum svg_role role, uint32_t ink,
                                const char *text) {
    char line[LINE_BYTES];
    double height = 0;
    const size_t letters = (size_t)(width / svg_text_width(role, "x"));
    while ((text = utf8_wrap(text, letters, line, sizeof line))) {
        height += TEXT_LINE;
        if (out)
            svg_text(out, (struct svg_text){.x = x, .y = y + height - 4, .role = role, .ink = ink}, "%s", line);
    }
    return height;
}

static void print_lines_of_text(struct terminal_paint paint, const char *text, uint32_t ink, bool bold) {
    char line[LINE_BYTES];
    while ((text = utf8_wrap(text, TERMINAL_LETTERS, line, sizeof line))) {
        if (bold)
            terminal_paint_begin(paint, ink, COLOUR_NONE, bold);
        terminal_paint_text(paint.out, line);
        if (bold)
            terminal_paint_end(paint);
        fputc('\n', paint.out);
    }
}

static void put_verdict(struct canvas *canvas, enum page_state state, const char *text) {
    if (on_page(canvas))
        page_verdict(canvas->out, state, "%s", text);
    else if (canvas_on_terminal(canvas))
        print_lines_of_text(canvas->paint, text, state == PAGE_NEUTRAL ? COLOUR_NONE : table_inks[state], true);
    else
        canvas->y += 9 + svg_lines_of_text(canvas->body, MARGIN, canvas->y, INSIDE, SVG_BOLD, table_inks[state], text);
}

void canvas_verdict(struct canvas *canvas, enum page_state state, const char *format, ...) {
    char text[LINE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    put_verdict(canvas, state, text);
}

static void put_sentence(struct canvas *canvas, const char *text) {
    if (on_page(canvas))
        page_paragraph(canvas->out, "%s", text);
    else if (canvas_on_terminal(canvas))
        print_lines_of_text(canvas->paint, text, COLOUR_NONE, false);
    else
        canvas->y += 9 + svg_lines_of_text(canvas->body, MARGIN, canvas->y, INSIDE, SVG_BODY, COLOUR_INK, text);
}

void canvas_say(struct canvas *canvas, const char *format, ...) {
    char text[LINE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    put_sentence(canvas, text);
}

void canvas_teach(struct canvas *canvas, const char *text) {
    if (on_page(canvas))
        page_aside(canvas->out, "%s", text);
}

/* ---- sheets ------------------------------------------------------------------------------------- */

void canvas_sheet(struct canvas *canvas, const struct sheet *sheet) {
    const double width = sheet_width(sheet), height = sheet_height(sheet);
    if (on_page(canvas)) {
        page_figure_begin(canvas->out);
        svg_begin(canvas->out, width, height, true, NULL);
        sheet_svg(canvas->out, 0, 0, sheet);
        svg_end(canvas->out);
        page_figure_end(canvas->out, NULL);
    } else if (canvas_on_terminal(canvas)) {
        fputc('\n', canvas->out);
        sheet_print(canvas->paint, sheet);
    } else {
        make_room(canvas, width);
        sheet_svg(canvas->body, canvas->x, canvas->y, sheet);
        take_room(canvas, width, height);
    }
}

void canvas_keys(struct canvas *canvas, const struct sheet_key *keys, size_t count) {
    const double height = sheet_keys_height(keys, count, INSIDE);
    if (on_page(canvas)) {
        page_figure_begin(canvas->out);
        svg_begin(canvas->out, INSIDE, height, true, NULL);
        sheet_svg_keys(canvas->out, 0, 0, INSIDE, keys, count);
        svg_end(canvas->out);
        page_figure_end(canvas->out, NULL);
    } else if (canvas_on_terminal(canvas)) {
        sheet_print_keys(canvas->paint, keys, count);
    } else {
        sheet_svg_keys(canvas->body, MARGIN, canvas->y, INSIDE, keys, count);
        take_room(canvas, INSIDE, height);
    }
}

/* ---- tables ------------------------------------------------------------------------------------- */

void canvas_table(struct canvas *canvas, const char *heading, const struct text_table *table,
                  const enum page_state *states) {
    if (on_page(canvas)) {
        table_page(canvas->out, heading, table, states);
    } else if (canvas_on_terminal(canvas)) {
        fputc('\n', canvas->out);
        table_print(canvas->paint, TERMINAL_LETTERS, heading, table, states);
    } else {
        const struct table_size size = table_svg_size(INSIDE, heading, table);
        make_room(canvas, size.width);
        table_svg(canvas->body, canvas->x, canvas->y, INSIDE, heading, table, states);
        take_room(canvas, size.width, size.height);
    }
}
