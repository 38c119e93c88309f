/* SPDX-License-Identifier: Apache-2.0 */
/* Colour on a terminal, or nothing at all. */
#include "program/draw/terminal_paint.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program/base/utf8.h"

bool terminal_paint_wanted(FILE *out) {
    const char *no_colour = getenv("NO_COLOR"), *terminal = getenv("TERM");
    const int descriptor = fileno(out); /* -1: a stream in memory */
    if (no_colour && *no_colour)
        return false;
    return terminal && *terminal && strcmp(terminal, "dumb") != 0 && descriptor >= 0 && isatty(descriptor);
}

void terminal_paint_begin(struct terminal_paint paint, uint32_t ink, uint32_t ground, bool bold) {
    if (!paint.on)
        return;
    if (bold)
        fputs("\033[1m", paint.out);
    if (ink)
        fprintf(paint.out, "\033[38;5;%um", palette_terminal(ink));
    if (ground)
        fprintf(paint.out, "\033[48;5;%um", palette_terminal(ground));
}

void terminal_paint_end(struct terminal_paint paint) {
    if (paint.on)
        fputs("\033[0m", paint.out);
}

void terminal_paint_text(FILE *out, const char *text) {
    while (*text) {
        const size_t length = utf8_length(text);
        if (length)
            fwrite(text, 1, length, out);
        else
            fputc('?', out);
        text += length ? length : 1;
    }
}
