/* SPDX-License-Identifier: Apache-2.0 */
/* Colour on a terminal with 256 of them, or nothing at all. */
#ifndef BENCH_PAINT_H
#define BENCH_PAINT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "program/draw/palette.h"

/* Whether `out` is a terminal that wants colour: neither NO_COLOR nor a TERM that is dumb or empty
 * says otherwise. */
bool paint_wanted(FILE *out);

struct paint {
    FILE *out;
    bool on;
};

/* Ink and ground (0xrrggbb, as in palette.h) until paint_end; COLOUR_NONE leaves the terminal's own. */
void paint_begin(struct paint paint, uint32_t ink, uint32_t ground, bool bold);
void paint_end(struct paint paint);

/* Text for a terminal: control characters, which could drive it, become '?'. */
void paint_text(FILE *out, const char *text);

#endif
