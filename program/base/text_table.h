/* SPDX-License-Identifier: Apache-2.0 */
/* A table on the terminal: rows of cells, columns as wide as their widest cell, UTF-8 counted by characters. */
#ifndef PROGRAM_BASE_TEXT_TABLE_H
#define PROGRAM_BASE_TEXT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define TEXT_TABLE_COLUMNS_MAX 20
#define TEXT_TABLE_CELL_BYTES  256

struct text_table {
    size_t columns, rows, capacity;
    bool left[TEXT_TABLE_COLUMNS_MAX]; /* aligned left; else right */
    char (*cells)[TEXT_TABLE_CELL_BYTES];
};

/* Titles separated by '|'; one that begins with '<' is aligned left. The titles are the first row. */
bool text_table_start(struct text_table *table, const char *titles);
/* One row of cells separated by '|'; false when out of memory. */
bool text_table_add(struct text_table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_table_print(const struct text_table *table, FILE *out);
void text_table_free(struct text_table *table);

/* The number by its format, a dash where there is none. Returns `text`. */
enum { TEXT_TABLE_NUMBER_BYTES = 32 };
const char *text_table_number(char text[TEXT_TABLE_NUMBER_BYTES], double value, const char *format);

/* Columns a terminal gives to UTF-8 text whose characters are one cell wide. */
size_t text_table_width(const char *text);
/* Writes `text` padded to `width`. */
void text_table_put(FILE *out, const char *text, size_t width, bool left);

#endif
