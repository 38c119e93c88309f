/* SPDX-License-Identifier: Apache-2.0 */
/* One picture in any of its forms: the same calls give lines on a terminal, an SVG, or a section of an HTML page. */
#ifndef PROGRAM_SMEM_DRAW_CANVAS_H
#define PROGRAM_SMEM_DRAW_CANVAS_H

#include "program/smem/draw.h"
#include "program/smem/draw_sheet.h"
#include "program/base/text_table.h"
#include "program/draw/page.h"

struct canvas {
    enum draw_form form;
    FILE *out;
    struct terminal_paint paint; /* of a terminal */
    const char *title;
    FILE *body; /* SVG: drawn here first, because the head of the file needs the height */
    char *body_text;
    size_t body_bytes;
    double x, y, lowest; /* SVG: where the next block goes; the lowest edge of the blocks beside each other */
    bool beside;
};

/* -1 with a printed sentence when there is no memory. */
int canvas_begin(struct canvas *canvas, FILE *out, enum draw_form form, const char *title);
/* -1 with a printed sentence when there was no memory. Whether `out` took the picture is for the one who closes it to
 * see. */
int canvas_end(struct canvas *canvas);

/* Text for a terminal, coloured or not. */
bool canvas_on_terminal(const struct canvas *canvas);

void canvas_verdict(struct canvas *canvas, enum page_state state, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A fact in a sentence. */
void canvas_say(struct canvas *canvas, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* What a student should know to read the picture: on pages only. */
void canvas_teach(struct canvas *canvas, const char *text);
void canvas_sheet(struct canvas *canvas, const struct sheet *sheet);
void canvas_keys(struct canvas *canvas, const struct sheet_key *keys, size_t count);
/* `states`: of each row but the titles; it colours the row's first cell. NULL: all neutral. */
void canvas_table(struct canvas *canvas, const char *heading, const struct text_table *table,
                  const enum page_state *states);

/* Room of this height below what is there, of an SVG; where it begins. It is drawn into `body`, from `x` on. */
double canvas_room(struct canvas *canvas, double height);

/* Blocks between the two stand side by side where there is room. */
void canvas_beside_begin(struct canvas *canvas);
void canvas_beside_end(struct canvas *canvas);

#endif
