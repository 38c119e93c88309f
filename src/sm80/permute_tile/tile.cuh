/* SPDX-License-Identifier: Apache-2.0 */
/* A tile of a permutation: which one a number means, and how much of it exists. */
#ifndef GM_SM80_PERMUTE_TILE_TILE_CUH
#define GM_SM80_PERMUTE_TILE_TILE_CUH

#include "common/index.cuh"
#include "common/permute/elements.cuh"
#include "common/permute/walk.cuh"
#include "common/permute_tile/tile.h"

enum {
    X_BYTES = GM_X_BYTES,
    OUT_BYTES = GM_OUT_BYTES,
    THREADS = GM_THREADS,
    WARPS = THREADS / 32,
    COLUMNS = GM_WIDTH,
    ROWS = GM_HEIGHT,
    CTAS = GM_PERMUTE_TILE_CTAS(THREADS),
};

/* A tile's first element in x and in out, and the rows and columns that exist from there on. */
struct tile {
    uint64_t x, out;
    int rows, columns;
};

/* Tiles that follow each other along a row of out are neighbours in number. */
static __device__ __forceinline__ struct tile tile_of(const struct gm_permute_tile_params &p, uint32_t number) {
    uint32_t rest[1] = {divide(number, p.row_tiles)};
    const int row = (number - rest[0] * p.row_tiles.divisor) * ROWS;
    const uint32_t matrix = divide(rest[0], p.column_tiles);
    const int column = (rest[0] - matrix * p.column_tiles.divisor) * COLUMNS;
    uint64_t x[1] = {p.x + row * p.x_pitch + (int64_t)column * X_BYTES};
    uint64_t out[1] = {p.out + column * p.out_pitch + (int64_t)row * OUT_BYTES};
    rest[0] = matrix;
    walk_to(p.rest, rest, x, out);
    return {x[0], out[0], p.rows - row, p.columns - column};
}

#endif
