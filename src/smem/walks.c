/* SPDX-License-Identifier: Apache-2.0 */
/* The walks of a warp through a tile that the proof goes through and the program searches for. */
#include "smem/walks.h"

struct gm_tile_access gm_row_walk(const struct gm_smem_tile *tile, uint32_t width, uint32_t row, uint32_t start) {
    const uint32_t per_row = tile->row_bytes / width;
    struct gm_tile_access walk = {.size = sizeof walk, .kind = GM_ACCESS_LOAD, .width = width};
    for (uint32_t lane = 0; lane < GM_LANES; lane++) {
        const uint32_t vector = start + lane;
        walk.row[lane] = row + vector / per_row;
        walk.byte[lane] = vector % per_row * width;
        if (walk.row[lane] >= tile->rows)
            walk.inactive |= 1u << lane;
    }
    return walk;
}

struct gm_tile_access gm_column_walk(const struct gm_smem_tile *tile, uint32_t width, uint32_t row, uint32_t byte) {
    struct gm_tile_access walk = {.size = sizeof walk, .kind = GM_ACCESS_LOAD, .width = width};
    for (uint32_t lane = 0; lane < GM_LANES; lane++) {
        walk.row[lane] = row + lane;
        walk.byte[lane] = byte;
        if (walk.row[lane] >= tile->rows)
            walk.inactive |= 1u << lane;
    }
    return walk;
}

struct gm_tile_access gm_matrix_walk(uint32_t row, uint32_t byte) {
    struct gm_tile_access walk = {.size = sizeof walk, .kind = GM_ACCESS_LDMATRIX, .width = 16, .matrices = 1};
    for (uint32_t lane = 0; lane < GM_LANES; lane++) {
        walk.row[lane] = row + lane % 8; /* only lanes 0 to 7 give addresses */
        walk.byte[lane] = byte;
    }
    return walk;
}
