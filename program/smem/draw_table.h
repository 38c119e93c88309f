/* SPDX-License-Identifier: Apache-2.0 */
/* A filled grid as a table on a terminal, in an SVG or on a page. Long text of the last column is broken into lines.
 * `states`: one for each row but the titles; it colours the row's first cell; NULL: all neutral. */
#ifndef SMEM_DRAW_TABLE_H
#define SMEM_DRAW_TABLE_H

#include "program/base/grid.h"
#include "program/draw/page.h"
#include "program/draw/paint.h"

/* Indexed by enum page_state. */
extern const uint32_t table_inks[3];

void table_print(struct paint paint, size_t letters, const char *heading, const struct grid *table,
                 const enum page_state *states);
void table_page(FILE *out, const char *heading, const struct grid *table, const enum page_state *states);

struct table_size {
    double width, height;
};
struct table_size table_svg_size(double width_most, const char *heading, const struct grid *table);
void table_svg(FILE *out, double x, double y, double width_most, const char *heading, const struct grid *table,
               const enum page_state *states);

#endif
