/* SPDX-License-Identifier: Apache-2.0 */
/* A tile's place in shared memory: lines of 128 bytes, which are 32 banks, and the logical chunk in each place. */
#ifndef PROGRAM_SMEM_DRAW_MEMORY_H
#define PROGRAM_SMEM_DRAW_MEMORY_H

#include "program/smem/draw_sheet.h"
#include "gristmill/smem.h"

enum { MEMORY_LINE = 128 };

struct memory_view {
    struct gm_smem_tile tile;         /* its pitch filled in */
    uint32_t unit;                    /* bytes of a chunk: 4, 8, 16 */
    uint32_t chunks;                  /* in a row */
    uint32_t first_line, lines;       /* shown */
    uint32_t lines_all;               /* that the tile touches */
    uint32_t mark_written, mark_read; /* addresses to be marked W and R, when `marks` */
    bool marks;
};

/* The widest chunk, up to 16 bytes, that the layout never tears apart; below 4 no picture can be drawn. */
uint32_t memory_widest_unit(const struct gm_smem_tile *tile);
/* `unit` 0: the widest that fits the tile. 0, or -1 with a printed sentence. */
int memory_look(struct memory_view *view, const struct gm_smem_tile *tile, uint32_t unit, uint32_t lines_most);

/* The logical row and chunk that lie at `place`; false: none of the tile. */
bool memory_owner(const struct memory_view *view, uint32_t place, uint32_t *row, uint32_t *chunk);

/* 32 banks x lines. The view must outlive the sheet. */
struct sheet memory_sheet(const struct memory_view *view, const char *heading);

/* "Swizzle<3,4,3>, the 128B mode" or "no swizzle". */
void memory_swizzle_name(struct gm_swizzle swizzle, char *text, size_t bytes);

#endif
