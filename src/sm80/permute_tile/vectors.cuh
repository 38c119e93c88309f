/* SPDX-License-Identifier: Apache-2.0 */
/* A tile by accesses of 16 bytes: from x to shared memory, and pieces of its columns to out. */
#ifndef GM_SM80_PERMUTE_TILE_VECTORS_CUH
#define GM_SM80_PERMUTE_TILE_VECTORS_CUH

#include "sm80/cp_async.cuh"
#include "sm80/permute_tile/tile.cuh"

enum {
    CHUNK_BYTES = 16,
    CHUNK = CHUNK_BYTES / X_BYTES, /* elements of x */
    PANEL_BYTES = 128,
    PANEL_CHUNKS = PANEL_BYTES / CHUNK_BYTES,
    ROW_CHUNKS = COLUMNS / CHUNK,
    STORE_ROWS = CHUNK_BYTES / OUT_BYTES, /* elements of one access to out */
};

/* By what the chunks of a row are exchanged. */
static __device__ __forceinline__ int in_row(int row) {
    if (X_BYTES <= 2)
        return row / STORE_ROWS % 4 * 2 + row % 2;
    return row / STORE_ROWS % PANEL_CHUNKS;
}

/* Byte of a panel's row and chunk; `swizzle` is in_row() of it. */
static __device__ __forceinline__ int chunk_at(int row, int chunk, int swizzle) {
    const int panel = chunk / PANEL_CHUNKS;
    return (panel * ROWS + row) * PANEL_BYTES + (chunk % PANEL_CHUNKS ^ swizzle) * CHUNK_BYTES;
}

/* All of the tile is under way before any of it is waited for. What does not exist becomes zeros. */
static __device__ __forceinline__ void load_tile(const struct gm_permute_tile_params &p, const struct tile &t,
                                                 uint32_t memory) {
    enum { STEP = THREADS / ROW_CHUNKS };
    static_assert(THREADS % ROW_CHUNKS == 0 && ROWS % STEP == 0, "threads share rows evenly");
    const int chunk = thread_index() % ROW_CHUNKS, first = thread_index() / ROW_CHUNKS;
    const bool exists = chunk * CHUNK < t.columns;
    uint64_t from = t.x + first * p.x_pitch + chunk * CHUNK_BYTES;
#pragma unroll
    for (int row = first; row < first + ROWS; row += STEP) {
        cp_async_cg_16_alone(memory + chunk_at(row, chunk, in_row(row)), from,
                             exists && row < t.rows ? CHUNK_BYTES : 0);
        from += STEP * p.x_pitch;
    }
    cp_async_commit_group();
    cp_async_wait_group<0>();
}

/* Rows first, ..., first + STORE_ROWS - 1 of a column to out. */
static __device__ __forceinline__ void store_rows(const struct gm_permute_tile_params &p, const struct tile &t,
                                                  int column, int first,
                                                  const uint32_t (&words)[STORE_ROWS * X_BYTES / 4]) {
    uint32_t converted[CHUNK_BYTES / 4];
    convert<X_BYTES, OUT_BYTES, STORE_ROWS>(p.from, p.to, words, converted);
    if (column < t.columns && first < t.rows)
        store_global<CHUNK_BYTES>(t.out + column * p.out_pitch + first * OUT_BYTES, converted);
}

#endif
