/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 text that comes from outside: what of it may be written, and where to break its lines. */
#ifndef BENCH_LETTERS_H
#define BENCH_LETTERS_H

#include <stddef.h>

/* Bytes of the character at `text`: 1 to 4; 0 when it is no UTF-8 or a control character. */
size_t letters_length(const char *text);
/* Cuts the next line of at most `letters` characters, at a blank where there is one; returns what is left of `text`,
 * or NULL when nothing was left to cut. */
const char *letters_wrap(const char *text, size_t letters, char *line, size_t bytes);

#endif
