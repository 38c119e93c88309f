/* SPDX-License-Identifier: Apache-2.0 */
/* A table on the terminal. */
#include "program/base/text_table.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "program/base/utf8.h"

const char *text_table_number(char text[TEXT_TABLE_NUMBER_BYTES], double value, const char *format) {
    snprintf(text, TEXT_TABLE_NUMBER_BYTES, isfinite(value) ? format : "–", value);
    return text;
}

size_t text_table_width(const char *text) {
    return utf8_put(NULL, text);
}

void text_table_put(FILE *out, const char *text, size_t width, bool left) {
    const size_t used = text_table_width(text);
    const int pad = used < width ? (int)(width - used) : 0;
    fprintf(out, "%*s", left ? 0 : pad, "");
    utf8_put(out, text);
    fprintf(out, "%*s", left ? pad : 0, "");
}

static bool add_text(struct text_table *table, const char *text) {
    if (table->rows == table->capacity) {
        size_t capacity = table->capacity ? table->capacity * 2 : 32;
        void *cells = realloc(table->cells, capacity * table->columns * TEXT_TABLE_CELL_BYTES);
        if (!cells)
            return false;
        table->cells = cells;
        table->capacity = capacity;
    }
    for (size_t column = 0; column < table->columns; column++) {
        size_t length = strcspn(text, "|");
        char *cell = table->cells[table->rows * table->columns + column];
        snprintf(cell, TEXT_TABLE_CELL_BYTES, "%.*s", (int)length, text);
        text += length + (text[length] == '|');
    }
    table->rows++;
    return true;
}

bool text_table_start(struct text_table *table, const char *titles) {
    *table = (struct text_table){0};
    char plain[512];
    size_t used = 0;
    for (const char *c = titles;; c++) {
        if (c == titles || c[-1] == '|') {
            table->left[table->columns] = *c == '<';
            table->columns++;
            c += *c == '<';
        }
        plain[used++] = *c;
        if (!*c || used == sizeof plain)
            break;
    }
    plain[used - 1] = 0;
    return add_text(table, plain);
}

bool text_table_add(struct text_table *table, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return add_text(table, text);
}

static void print_row(const struct text_table *table, size_t row, const size_t *widths, FILE *out) {
    for (size_t column = 0; column < table->columns; column++) {
        bool last = column + 1 == table->columns && table->left[column];
        text_table_put(out, table->cells[row * table->columns + column], last ? 0 : widths[column],
                       table->left[column]);
        fputs(column + 1 == table->columns ? "\n" : "  ", out);
    }
}

void text_table_print(const struct text_table *table, FILE *out) {
    size_t widths[TEXT_TABLE_COLUMNS_MAX] = {0}, total = 0;
    for (size_t i = 0; i < table->rows * table->columns; i++) {
        size_t width = text_table_width(table->cells[i]);
        if (width > widths[i % table->columns])
            widths[i % table->columns] = width;
    }
    for (size_t column = 0; column < table->columns; column++)
        total += widths[column] + (column ? 2 : 0);
    for (size_t row = 0; row < table->rows; row++) {
        print_row(table, row, widths, out);
        for (size_t i = 0; row == 0 && i < total; i++)
            utf8_put(out, "─");
        if (row == 0)
            fputc('\n', out);
    }
}

void text_table_free(struct text_table *table) {
    free(table->cells);
    *table = (struct text_table){0};
}
