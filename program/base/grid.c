/* SPDX-License-Identifier: Apache-2.0 */
/* A table on the terminal. */
#include "program/base/grid.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "program/base/letters.h"

const char *grid_number(char text[GRID_NUMBER_BYTES], double value, const char *format) {
    snprintf(text, GRID_NUMBER_BYTES, isfinite(value) ? format : "–", value);
    return text;
}

size_t grid_width(const char *text) {
    return letters_put(NULL, text);
}

void grid_put(FILE *out, const char *text, size_t width, bool left) {
    const size_t used = grid_width(text);
    const int pad = used < width ? (int)(width - used) : 0;
    fprintf(out, "%*s", left ? 0 : pad, "");
    letters_put(out, text);
    fprintf(out, "%*s", left ? pad : 0, "");
}

static bool add_text(struct grid *grid, const char *text) {
    if (grid->rows == grid->capacity) {
        size_t capacity = grid->capacity ? grid->capacity * 2 : 32;
        void *cells = realloc(grid->cells, capacity * grid->columns * GRID_CELL_BYTES);
        if (!cells)
            return false;
        grid->cells = cells;
        grid->capacity = capacity;
    }
    for (size_t column = 0; column < grid->columns; column++) {
        size_t length = strcspn(text, "|");
        char *cell = grid->cells[grid->rows * grid->columns + column];
        snprintf(cell, GRID_CELL_BYTES, "%.*s", (int)length, text);
        text += length + (text[length] == '|');
    }
    grid->rows++;
    return true;
}

bool grid_start(struct grid *grid, const char *titles) {
    *grid = (struct grid){0};
    char plain[512];
    size_t used = 0;
    for (const char *c = titles;; c++) {
        if (c == titles || c[-1] == '|') {
            grid->left[grid->columns] = *c == '<';
            grid->columns++;
            c += *c == '<';
        }
        plain[used++] = *c;
        if (!*c || used == sizeof plain)
            break;
    }
    plain[used - 1] = 0;
    return add_text(grid, plain);
}

bool grid_add(struct grid *grid, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return add_text(grid, text);
}

static void print_row(const struct grid *grid, size_t row, const size_t *widths, FILE *out) {
    for (size_t column = 0; column < grid->columns; column++) {
        bool last = column + 1 == grid->columns && grid->left[column];
        grid_put(out, grid->cells[row * grid->columns + column], last ? 0 : widths[column], grid->left[column]);
        fputs(column + 1 == grid->columns ? "\n" : "  ", out);
    }
}

void grid_print(const struct grid *grid, FILE *out) {
    size_t widths[GRID_COLUMNS_MAX] = {0}, total = 0;
    for (size_t i = 0; i < grid->rows * grid->columns; i++) {
        size_t width = grid_width(grid->cells[i]);
        if (width > widths[i % grid->columns])
            widths[i % grid->columns] = width;
    }
    for (size_t column = 0; column < grid->columns; column++)
        total += widths[column] + (column ? 2 : 0);
    for (size_t row = 0; row < grid->rows; row++) {
        print_row(grid, row, widths, out);
        for (size_t i = 0; row == 0 && i < total; i++)
            letters_put(out, "─");
        if (row == 0)
            fputc('\n', out);
    }
}

void grid_free(struct grid *grid) {
    free(grid->cells);
    *grid = (struct grid){0};
}
