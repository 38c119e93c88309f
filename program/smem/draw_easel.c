/* SPDX-License-Identifier: Apache-2.0 */
/* One picture in any of its forms. */
#include "program/smem/draw_easel.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "program/smem/draw_table.h"
#include "program/base/letters.h"
#include "program/base/say.h"
#include "program/draw/svg.h"

/* Pixels of an SVG, letters of a terminal's line. */
enum { MARGIN = 28, WIDTH = 964, INSIDE = WIDTH - 2 * MARGIN, BLOCK_GAP = 18, BESIDE_GAP = 40, TEXT_LINE = 17 };
enum { TERMINAL_LETTERS = 104, LINE_BYTES = 1024 };

static bool on_page(const struct easel *easel) {
    return easel->form == DRAW_HTML || easel->form == DRAW_PART;
}

bool easel_on_terminal(const struct easel *easel) {
    return easel->form == DRAW_TEXT || easel->form == DRAW_COLOUR;
}

/* ---- begin and end ------------------------------------------------------------------------------ */

int easel_begin(struct easel *easel, FILE *out, enum draw_form form, const char *title) {
    *easel = (struct easel){.form = form, .out = out, .title = title, .paint = {.out = out, .on = form == DRAW_COLOUR}};
    if (form == DRAW_HTML)
        page_begin(out, title, NULL);
    if (on_page(easel))
        page_section_begin(out, NULL, form == DRAW_PART ? title : NULL);
    if (easel_on_terminal(easel)) {
        paint_begin(easel->paint, COLOUR_NONE, COLOUR_NONE, true);
        paint_text(out, title);
        paint_end(easel->paint);
        fputc('\n', out);
    }
    if (form != DRAW_SVG)
        return 0;
    easel->body = open_memstream(&easel->body_text, &easel->body_bytes);
    if (!easel->body)
        return complain("out of host memory");
    easel->x = MARGIN;
    easel->y = MARGIN + 16;
    svg_text(easel->body, (struct svg_text){.x = MARGIN, .y = easel->y, .role = SVG_TITLE}, "%s", title);
    easel->y += 12;
    return 0;
}

int easel_end(struct easel *easel) {
    bool drawn = true;
    if (easel->form == DRAW_SVG) {
        drawn = fclose(easel->body) == 0;
        if (drawn) {
            svg_begin(easel->out, WIDTH, easel->y - BLOCK_GAP + MARGIN, false, easel->title);
            fwrite(easel->body_text, 1, easel->body_bytes, easel->out);
            svg_end(easel->out);
        }
        free(easel->body_text);
    }
    if (on_page(easel))
        page_section_end(easel->out);
    if (easel->form == DRAW_HTML)
        page_end(easel->out, NULL);
    return drawn ? 0 : complain("out of host memory");
}

/* ---- room for the next block of an SVG ---------------------------------------------------------- */

/* Moves to the next line when the block does not fit beside the one before. */
static void make_room(struct easel *easel, double width) {
    if (easel->beside && easel->x > MARGIN && easel->x + width > WIDTH - MARGIN) {
        easel->x = MARGIN;
        easel->y = easel->lowest + BLOCK_GAP;
    }
}

static void take_room(struct easel *easel, double width, double height) {
    if (easel->beside) {
        easel->x += width + BESIDE_GAP;
        easel->lowest = fmax(easel->lowest, easel->y + height);
    } else {
        easel->y += height + BLOCK_GAP;
    }
}

void easel_beside_begin(struct easel *easel) {
    if (on_page(easel))
        page_beside_begin(easel->out);
    easel->beside = true;
    easel->lowest = easel->y;
}

void easel_beside_end(struct easel *easel) {
    if (on_page(easel))
        page_beside_end(easel->out);
    easel->beside = false;
    easel->x = MARGIN;
    easel->y = easel->lowest + BLOCK_GAP;
}

/* ---- sentences ---------------------------------------------------------------------------------- */

/* Lines of at most `width` pixels from (x, y) downwards; returns their height. */
static double svg_lines_of_text(FILE *out, double x, double y, double width, enum svg_role role, uint32_t ink,
                                const char *text) {
    char line[LINE_BYTES];
    double height = 0;
    const size_t letters = (size_t)(width / svg_text_width(role, "x"));
    while ((text = letters_wrap(text, letters, line, sizeof line))) {
        height += TEXT_LINE;
        if (out)
            svg_text(out, (struct svg_text){.x = x, .y = y + height - 4, .role = role, .ink = ink}, "%s", line);
    }
    return height;
}

static void print_lines_of_text(struct paint paint, const char *text, uint32_t ink, bool bold) {
    char line[LINE_BYTES];
    while ((text = letters_wrap(text, TERMINAL_LETTERS, line, sizeof line))) {
        if (bold)
            paint_begin(paint, ink, COLOUR_NONE, bold);
        paint_text(paint.out, line);
        if (bold)
            paint_end(paint);
        fputc('\n', paint.out);
    }
}

static void put_verdict(struct easel *easel, enum page_state state, const char *text) {
    if (on_page(easel))
        page_verdict(easel->out, state, "%s", text);
    else if (easel_on_terminal(easel))
        print_lines_of_text(easel->paint, text, state == PAGE_NEUTRAL ? COLOUR_NONE : table_inks[state], true);
    else
        easel->y += 9 + svg_lines_of_text(easel->body, MARGIN, easel->y, INSIDE, SVG_BOLD, table_inks[state], text);
}

void easel_verdict(struct easel *easel, enum page_state state, const char *format, ...) {
    char text[LINE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    put_verdict(easel, state, text);
}

static void put_sentence(struct easel *easel, const char *text) {
    if (on_page(easel))
        page_paragraph(easel->out, "%s", text);
    else if (easel_on_terminal(easel))
        print_lines_of_text(easel->paint, text, COLOUR_NONE, false);
    else
        easel->y += 9 + svg_lines_of_text(easel->body, MARGIN, easel->y, INSIDE, SVG_BODY, COLOUR_INK, text);
}

void easel_say(struct easel *easel, const char *format, ...) {
    char text[LINE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    put_sentence(easel, text);
}

void easel_teach(struct easel *easel, const char *text) {
    if (on_page(easel))
        page_aside(easel->out, "%s", text);
}

/* ---- sheets ------------------------------------------------------------------------------------- */

void easel_sheet(struct easel *easel, const struct sheet *sheet) {
    const double width = sheet_width(sheet), height = sheet_height(sheet);
    if (on_page(easel)) {
        page_figure_begin(easel->out);
        svg_begin(easel->out, width, height, true, NULL);
        sheet_svg(easel->out, 0, 0, sheet);
        svg_end(easel->out);
        page_figure_end(easel->out, NULL);
    } else if (easel_on_terminal(easel)) {
        fputc('\n', easel->out);
        sheet_print(easel->paint, sheet);
    } else {
        make_room(easel, width);
        sheet_svg(easel->body, easel->x, easel->y, sheet);
        take_room(easel, width, height);
    }
}

void easel_keys(struct easel *easel, const struct sheet_key *keys, size_t count) {
    const double height = sheet_keys_height(keys, count, INSIDE);
    if (on_page(easel)) {
        page_figure_begin(easel->out);
        svg_begin(easel->out, INSIDE, height, true, NULL);
        sheet_svg_keys(easel->out, 0, 0, INSIDE, keys, count);
        svg_end(easel->out);
        page_figure_end(easel->out, NULL);
    } else if (easel_on_terminal(easel)) {
        sheet_print_keys(easel->paint, keys, count);
    } else {
        sheet_svg_keys(easel->body, MARGIN, easel->y, INSIDE, keys, count);
        take_room(easel, INSIDE, height);
    }
}

/* ---- tables ------------------------------------------------------------------------------------- */

void easel_table(struct easel *easel, const char *heading, const struct grid *table, const enum page_state *states) {
    if (on_page(easel)) {
        table_page(easel->out, heading, table, states);
    } else if (easel_on_terminal(easel)) {
        fputc('\n', easel->out);
        table_print(easel->paint, TERMINAL_LETTERS, heading, table, states);
    } else {
        const struct table_size size = table_svg_size(INSIDE, heading, table);
        make_room(easel, size.width);
        table_svg(easel->body, easel->x, easel->y, INSIDE, heading, table, states);
        take_room(easel, size.width, size.height);
    }
}
