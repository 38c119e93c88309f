/* SPDX-License-Identifier: Apache-2.0 */
/* Colour on a terminal with 256 of them, or nothing at all. */
#ifndef PROGRAM_DRAW_TERMINAL_PAINT_H
#define PROGRAM_DRAW_TERMINAL_PAINT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "program/draw/palette.h"

/* Whether `out` is a terminal that wants colour: neither NO_COLOR nor a TERM that is dumb or empty
 * says otherwise. */
bool terminal_paint_wanted(FILE *out);

struct terminal_paint {
    FILE *out;
    bool on;
};

/* Ink and ground (0xrrggbb, as in palette.h) until terminal_paint_end; COLOUR_NONE leaves the terminal's own. */
void terminal_paint_begin(struct terminal_paint paint, uint32_t ink, uint32_t ground, bool bold);
void terminal_paint_end(struct terminal_paint paint);

/* Text for a terminal: control characters, which could drive it, become '?'. */
void terminal_paint_text(FILE *out, const char *text);

#endif
