/* SPDX-License-Identifier: Apache-2.0 */
/* A filled text_table as a table on a terminal, in an SVG or on a page. Long text of the last column is broken into lines.
 * `states`: one for each row but the titles; it colours the row's first cell; NULL: all neutral. */
#ifndef PROGRAM_SMEM_DRAW_TABLE_H
#define PROGRAM_SMEM_DRAW_TABLE_H

#include "program/base/text_table.h"
#include "program/draw/page.h"
#include "program/draw/terminal_paint.h"

/* Indexed by enum page_state. */
extern const uint32_t table_inks[3];

void table_print(struct terminal_paint paint, size_t letters, const char *heading, const struct text_table *table,
                 const enum page_state *states);
void table_page(FILE *out, const char *heading, const struct text_table *table, const enum page_state *states);

struct table_size {
    double width, height;
};
struct table_size table_svg_size(double width_most, const char *heading, const struct text_table *table);
void table_svg(FILE *out, double x, double y, double width_most, const char *heading, const struct text_table *table,
               const enum page_state *states);

#endif
