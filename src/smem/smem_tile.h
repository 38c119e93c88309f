/* SPDX-License-Identifier: Apache-2.0 */
/* What makes a tile in shared memory a sensible one. */
#ifndef GM_SMEM_TILE_H
#define GM_SMEM_TILE_H

#include "gristmill/smem.h"

#define GM_TILE_ROWS_MAX  65536u
#define GM_TILE_BYTES_MAX (1u << 20)

/* GM_OK, or the status and sentence about what is wrong with the tile or its swizzle. */
enum gm_status gm_smem_tile_check(const struct gm_smem_tile *tile);
/* The same of a caller's tile, with GM_TAKE() before. */
enum gm_status gm_smem_tile_take(const struct gm_smem_tile **tile, struct gm_smem_tile *today);

/* Element `index` of a caller's array, whose first element's size is that of all. */
static inline const struct gm_tile_access *gm_walk_at(const struct gm_tile_access *walks, size_t index) {
    return (const struct gm_tile_access *)((const char *)walks + index * walks->size);
}

/* The pitch, which is row_bytes where it is left 0. */
uint32_t gm_smem_tile_pitch(const struct gm_smem_tile *tile);

#endif
