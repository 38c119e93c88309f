/* SPDX-License-Identifier: Apache-2.0 */
/* The style sheet of a page and of the pictures in it. */
#ifndef PROGRAM_DRAW_PAGE_STYLE_H
#define PROGRAM_DRAW_PAGE_STYLE_H

#include <stdbool.h>
#include <stdio.h>

/* `adaptive`: light or dark as the reader's system is. */
void page_style(FILE *out, bool adaptive);

#endif
