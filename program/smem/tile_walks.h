/* SPDX-License-Identifier: Apache-2.0 */
/* All walks of one kind through a tile, for the search. */
#ifndef PROGRAM_SMEM_TILE_WALKS_H
#define PROGRAM_SMEM_TILE_WALKS_H

#include "gristmill/smem.h"

struct tile_walks {
    struct gm_tile_access *items;
    size_t count, capacity;
};

/* Adds what `text` says: "row", "column", "row:16", "column:16" (bytes a lane; `width` where none is said), "ldmatrix".
 * 0, or -1 with a printed sentence. */
int tile_walks_add(struct tile_walks *walks, const struct gm_smem_tile *tile, uint32_t width, const char *text);
void tile_walks_free(struct tile_walks *walks);

#endif
