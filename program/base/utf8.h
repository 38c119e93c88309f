/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 text: what of it may be written where it comes from outside, where to break its lines, and what stands for the
 * program's own marks on a terminal that has ASCII only. */
#ifndef PROGRAM_BASE_UTF8_H
#define PROGRAM_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Bytes of the character at `text`: 1 to 4; 0 when it is no UTF-8 or a control character. */
size_t utf8_length(const char *text);
/* Cuts the next line of at most `letters` characters, at a blank where there is one; returns what is left of `text`,
 * or NULL when nothing was left to cut. */
const char *utf8_wrap(const char *text, size_t letters, char *line, size_t bytes);

/* Whether the terminal has more than ASCII: the locale in LC_ALL, LC_CTYPE or LANG, the first that says something, is
 * one of UTF-8; without any it is taken for one. */
bool utf8_on_terminal(void);
/* Writes text with the marks that the program prints, such as a dash or a times sign, in ASCII where there is no other.
 * Returns the columns that it takes, of characters one cell wide. `out` NULL: only that. */
size_t utf8_put(FILE *out, const char *text);
void utf8_print(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
