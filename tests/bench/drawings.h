/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of pictures: a stream in memory, and checks of what was written to it. */
#ifndef BENCH_DRAWINGS_H
#define BENCH_DRAWINGS_H

#include <stdio.h>

struct drawing {
    FILE *out;
    char *text;
    size_t bytes;
};

void drawing_begin(struct drawing *drawing);
/* Closes the stream; the caller frees the text. */
char *drawing_end(struct drawing *drawing);

/* ASCII, no control characters, no line longer than `columns`. */
void drawing_check_text(const char *text, size_t columns);
/* Tags balanced, attributes quoted and different, nothing unescaped, no script, nothing from elsewhere. */
void drawing_check_xml(const char *text);

#endif
