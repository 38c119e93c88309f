/* SPDX-License-Identifier: Apache-2.0 */
/* Which form of picture a stream wants. */
#include "program/smem/draw.h"

#include "program/draw/terminal_paint.h"

enum draw_form draw_form_of(FILE *out) {
    return terminal_paint_wanted(out) ? DRAW_COLOUR : DRAW_TEXT;
}
