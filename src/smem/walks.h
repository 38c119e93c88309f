/* SPDX-License-Identifier: Apache-2.0 */
/* The walks of a warp through a tile that the proof goes through and the program searches for. */
#ifndef GM_SMEM_WALKS_H
#define GM_SMEM_WALKS_H

#include "gristmill/smem.h"

/* Lanes side by side from vector `start` of a row, `width` bytes each. In a row of fewer than 32 vectors they go on with
 * the next rows. Lanes that find no row left do nothing. The row has at least one vector. */
struct gm_tile_access gm_row_walk(const struct gm_smem_tile *tile, uint32_t width, uint32_t row, uint32_t start);

/* Lanes one below the other from `row`, as many as there are rows. */
struct gm_tile_access gm_column_walk(const struct gm_smem_tile *tile, uint32_t width, uint32_t row, uint32_t byte);

/* One 8x8 matrix of 16-bit elements: ldmatrix.x1 on 8 rows of 16 bytes. */
struct gm_tile_access gm_matrix_walk(uint32_t row, uint32_t byte);

#endif
