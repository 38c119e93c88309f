/* SPDX-License-Identifier: Apache-2.0 */
/* Tile order: the linear index of a (cluster) tile -> its row and column in D. */
#ifndef GM_RASTER_CUH
#define GM_RASTER_CUH

#include "common/gemm/params.h"

/* Tiles are numbered through groups of `group` rows of tiles, column by column inside a group:
 *
 *   group = 2, tiles_m = 3, tiles_n = 3      0 2 4
 *                                            1 3 5
 *                                            6 7 8      (the last group has one row)
 *
 * along_n exchanges the roles of rows and columns. Unsigned divisions are the shorter ones. */
static __device__ __forceinline__ void raster_tile(const struct gm_raster &r, int linear, int *tile_m, int *tile_n) {
    const int major = r.along_n ? r.tiles_n : r.tiles_m;
    const int minor = r.along_n ? r.tiles_m : r.tiles_n;
    const int group = (uint32_t)linear / (uint32_t)(r.group * minor);
    const int first = group * r.group;
    const int rows = min(r.group, major - first);
    const int within = linear - first * minor;
    const int column = (uint32_t)within / (uint32_t)rows;
    const int row = first + within - column * rows;
    *tile_m = r.along_n ? column : row;
    *tile_n = r.along_n ? row : column;
}

#endif
