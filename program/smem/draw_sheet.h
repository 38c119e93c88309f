/* SPDX-License-Identifier: Apache-2.0 */
/* A sheet of cells, such as 32 banks x wavefronts, on a terminal and in an SVG. */
#ifndef PROGRAM_SMEM_DRAW_SHEET_H
#define PROGRAM_SMEM_DRAW_SHEET_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "program/draw/terminal_paint.h"

enum { SHEET_TEXT = 40, SHEET_LETTERS = 3 };

struct sheet_cell {
    uint32_t ground;        /* 0xrrggbb; COLOUR_NONE: nothing is there */
    bool bare;              /* only its text: a sum below a column */
    bool strong;            /* bold */
    char text[SHEET_TEXT];  /* on a terminal: ASCII, as many letters as `span` columns have */
    char label[SHEET_TEXT]; /* in an SVG */
    char hover[256];        /* the whole story; "": none */
};

/* A label below some columns: what they are together. */
struct sheet_span {
    uint32_t first, columns;
    const char *label;
    uint32_t ground;
};

struct sheet {
    const char *heading;    /* NULL: none */
    const char *corner;     /* over the row labels, beside the column labels: "bank"; NULL: none */
    uint32_t rows, columns; /* a cell is `span` columns wide */
    uint32_t span;          /* 0: 1; divides `columns` */
    bool tiny;              /* all labels of an SVG in the smallest letters */
    uint32_t letters;       /* of a terminal for each column; 0: SHEET_LETTERS */
    const struct sheet_span *spans;
    size_t span_count;
    const void *model; /* passed to the three: */
    void (*row_label)(const void *model, uint32_t row, char text[SHEET_TEXT]);
    void (*column_label)(const void *model, uint32_t column, char text[SHEET_TEXT]);      /* of one column */
    void (*cell)(const void *model, uint32_t row, uint32_t cell, struct sheet_cell *out); /* `out` comes zeroed */
};

void sheet_print(struct terminal_paint paint, const struct sheet *sheet);
double sheet_width(const struct sheet *sheet);
double sheet_height(const struct sheet *sheet);
void sheet_svg(FILE *out, double x, double y, const struct sheet *sheet);

/* What the colours and marks mean. */
struct sheet_key {
    uint32_t ground;
    const char *mark, *meaning; /* "!5", "waits for an earlier word of its bank"; mark NULL: only the colour */
};
void sheet_print_keys(struct terminal_paint paint, const struct sheet_key *keys, size_t count);
double sheet_keys_height(const struct sheet_key *keys, size_t count, double width);
void sheet_svg_keys(FILE *out, double x, double y, double width, const struct sheet_key *keys, size_t count);

#endif
