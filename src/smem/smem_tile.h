/* SPDX-License-Identifier: Apache-2.0 */
/* What makes a tile in shared memory a sensible one. */
#ifndef GM_SMEM_TILE_H
#define GM_SMEM_TILE_H

#include "gristmill/smem.h"

#define GM_TILE_ROWS_MAX  65536u
#define GM_TILE_BYTES_MAX (1u << 20)

/* GM_OK, or the status and sentence about what is wrong with the tile or its swizzle. */
enum gm_status gm_smem_tile_check(const struct gm_smem_tile *tile);

/* The pitch, which is row_bytes where it is left 0. */
uint32_t gm_smem_tile_pitch(const struct gm_smem_tile *tile);

#endif
