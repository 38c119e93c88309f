/* SPDX-License-Identifier: Apache-2.0 */
/* A table on the terminal: rows of cells, columns as wide as their widest cell, UTF-8 counted by characters. */
#ifndef BENCH_GRID_H
#define BENCH_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define GRID_COLUMNS_MAX 20
#define GRID_CELL_BYTES  256

struct grid {
    size_t columns, rows, capacity;
    bool left[GRID_COLUMNS_MAX]; /* aligned left; else right */
    char (*cells)[GRID_CELL_BYTES];
};

/* Titles separated by '|'; one that begins with '<' is aligned left. The titles are the first row. */
bool grid_start(struct grid *grid, const char *titles);
/* One row of cells separated by '|'; false when out of memory. */
bool grid_add(struct grid *grid, const char *format, ...) __attribute__((format(printf, 2, 3)));
void grid_print(const struct grid *grid, FILE *out);
void grid_free(struct grid *grid);

/* The number by its format, a dash where there is none. Returns `text`. */
enum { GRID_NUMBER_BYTES = 32 };
const char *grid_number(char text[GRID_NUMBER_BYTES], double value, const char *format);

/* Columns a terminal gives to UTF-8 text whose characters are one cell wide. */
size_t grid_width(const char *text);
/* Writes `text` padded to `width`. */
void grid_put(FILE *out, const char *text, size_t width, bool left);

#endif
