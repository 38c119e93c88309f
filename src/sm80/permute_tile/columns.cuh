/* SPDX-License-Identifier: Apache-2.0 */
/* A tile of elements of 4, 8 or 16 bytes to out: a lane reads STORE_ROWS elements of a column one by one, an access to out.
 * 8 lanes have the same column; a warp has 4 columns at a time. */
#ifndef GM_SM80_PERMUTE_TILE_COLUMNS_CUH
#define GM_SM80_PERMUTE_TILE_COLUMNS_CUH

#include "sm80/permute_tile/vectors.cuh"

enum { LANE_COLUMNS = 4, BLOCK_ROWS = 8 * STORE_ROWS, BLOCKS = ROWS / BLOCK_ROWS };

static __device__ __forceinline__ void store_tile(const struct gm_permute_tile_params &p, const struct tile &t,
                                                  uint32_t memory) {
    static_assert(ROWS % BLOCK_ROWS == 0 && COLUMNS / LANE_COLUMNS * BLOCKS % WARPS == 0, "warps share columns evenly");
    const int lane = thread_index() % 32, warp = thread_index() / 32;
#pragma unroll
    for (int i = 0; i < COLUMNS / LANE_COLUMNS * BLOCKS; i += WARPS) {
        const int column = (i + warp) / BLOCKS * LANE_COLUMNS + lane / 8;
        const int row = (i + warp) % BLOCKS * BLOCK_ROWS + lane % 8 * STORE_ROWS;
        const uint32_t first = memory + chunk_at(row, column / CHUNK, in_row(row)) + column % CHUNK * X_BYTES;
        uint32_t words[STORE_ROWS * X_BYTES / 4];
#pragma unroll
        for (int r = 0; r < STORE_ROWS; ++r)
            load_shared<X_BYTES>(words + r * (X_BYTES / 4), first + r * PANEL_BYTES);
        store_rows(p, t, column, row, words);
    }
}

#endif
