/* SPDX-License-Identifier: Apache-2.0 */
/* One picture in any of its forms: the same calls give lines on a terminal, an SVG, or a section of an HTML page. */
#ifndef SMEM_DRAW_EASEL_H
#define SMEM_DRAW_EASEL_H

#include "program/smem/draw.h"
#include "program/smem/draw_sheet.h"
#include "program/base/grid.h"
#include "program/draw/page.h"

struct easel {
    enum draw_form form;
    FILE *out;
    struct paint paint; /* of a terminal */
    const char *title;
    FILE *body; /* SVG: drawn here first, because the head of the file needs the height */
    char *body_text;
    size_t body_bytes;
    double x, y, lowest; /* SVG: where the next block goes; the lowest edge of the blocks beside each other */
    bool beside;
};

/* -1 with a printed sentence when there is no memory. */
int easel_begin(struct easel *easel, FILE *out, enum draw_form form, const char *title);
/* -1 with a printed sentence when there was no memory. Whether `out` took the picture is for the one who closes it to
 * see. */
int easel_end(struct easel *easel);

/* Text for a terminal, coloured or not. */
bool easel_on_terminal(const struct easel *easel);

void easel_verdict(struct easel *easel, enum page_state state, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A fact in a sentence. */
void easel_say(struct easel *easel, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* What a student should know to read the picture: on pages only. */
void easel_teach(struct easel *easel, const char *text);
void easel_sheet(struct easel *easel, const struct sheet *sheet);
void easel_keys(struct easel *easel, const struct sheet_key *keys, size_t count);
/* `states`: of each row but the titles; it colours the row's first cell. NULL: all neutral. */
void easel_table(struct easel *easel, const char *heading, const struct grid *table, const enum page_state *states);

/* Blocks between the two stand side by side where there is room. */
void easel_beside_begin(struct easel *easel);
void easel_beside_end(struct easel *easel);

#endif
