/* SPDX-License-Identifier: Apache-2.0 */
/* Writing SVG: shapes and text with short numbers and escaped characters. A picture stands alone as a file, or lies
 * inside a page of page.h, which then carries the style. Coordinates are in pixels, y downwards. */
#ifndef PROGRAM_DRAW_SVG_H
#define PROGRAM_DRAW_SVG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "program/draw/palette.h"

/* `title` is what a screen reader says and what a browser shows; NULL: none. */
void svg_begin(FILE *out, double width, double height, bool inside_page, const char *title);
void svg_end(FILE *out);
/* The style that all pictures share; a page writes it once. */
void svg_style(FILE *out);

/* How a shape is painted; what is left zero is not painted. */
struct svg_paint {
    uint32_t fill, stroke; /* 0xrrggbb, as in palette.h */
    double stroke_width;   /* 0: 1 */
    double radius;         /* of a rectangle's corners */
    double opacity;        /* 0: 1 */
    bool dashed;
};

/* `hover` of a shape: shown when the pointer rests on it; NULL: none. */
void svg_rect(FILE *out, double x, double y, double width, double height, struct svg_paint paint, const char *hover);
void svg_circle(FILE *out, double x, double y, double radius, struct svg_paint paint, const char *hover);
void svg_line(FILE *out, double x1, double y1, double x2, double y2, struct svg_paint paint);
/* `data`: the path's commands, made with svg_path_point or by hand. */
void svg_path(FILE *out, const char *data, struct svg_paint paint);

enum svg_anchor { SVG_START, SVG_MIDDLE, SVG_END };

/* What a text is for; decides font, size and weight. */
enum svg_role {
    SVG_TITLE,   /* the picture's heading, 17 px */
    SVG_HEADING, /* of a part, 13 px bold */
    SVG_BODY,    /* 12 px */
    SVG_BOLD,    /* 12 px bold */
    SVG_SMALL,   /* 11 px */
    SVG_CODE,    /* 11 px, letters of one width (6.6 px each) */
    SVG_CELL,    /* 10 px, letters of one width (6 px each) */
    SVG_TINY     /* 8 px, letters of one width (4.8 px each) */
};

struct svg_text {
    double x, y; /* of the anchor, on the base line */
    enum svg_role role;
    enum svg_anchor anchor;
    uint32_t ink; /* 0: COLOUR_INK */
    bool strong;  /* bold, whatever the role */
};
void svg_text(FILE *out, struct svg_text where, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* About as wide as `text` will be; never less than that for the usual fonts. */
double svg_text_width(enum svg_role role, const char *text);

/* Two decimals at most, no trailing zeros; what is not finite is written as 0. */
void svg_number(FILE *out, double value);
/* & < > " as entities; control characters as spaces. Bytes that are no UTF-8 become '?'. */
void svg_escape(FILE *out, const char *text);

#endif
