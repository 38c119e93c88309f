/* SPDX-License-Identifier: Apache-2.0 */
/* A tile by accesses of one element on both sides: for what is aligned to no more. Rows in shared memory are padded, so that
 * a warp that reads a column meets as many banks as one that writes a row. */
#ifndef GM_SM80_PERMUTE_TILE_ELEMENTS_CUH
#define GM_SM80_PERMUTE_TILE_ELEMENTS_CUH

#include "sm80/permute_tile/tile.cuh"

enum { PITCH = GM_PERMUTE_TILE_PITCH(X_BYTES, COLUMNS), BATCH = X_BYTES > 4 ? 4 : 8 };

/* BATCH elements of a thread are under way at once. */
static __device__ __forceinline__ void load_tile(const struct gm_permute_tile_params &p, const struct tile &t,
                                                 uint32_t memory) {
    static_assert(ROWS * COLUMNS % (BATCH * THREADS) == 0, "threads share elements evenly");
#pragma unroll 1
    for (int first = thread_index(); first < ROWS * COLUMNS; first += BATCH * THREADS) {
        uint32_t words[BATCH][GM_PERMUTE_WORDS(X_BYTES)];
#pragma unroll
        for (int i = 0; i < BATCH; ++i) {
            const int row = (first + i * THREADS) / COLUMNS, column = (first + i * THREADS) % COLUMNS;
            if (row < t.rows && column < t.columns)
                load_global<X_BYTES>(words[i], t.x + row * p.x_pitch + column * X_BYTES);
        }
#pragma unroll
        for (int i = 0; i < BATCH; ++i) {
            const int row = (first + i * THREADS) / COLUMNS, column = (first + i * THREADS) % COLUMNS;
            if (row < t.rows && column < t.columns)
                store_shared<X_BYTES>(memory + row * PITCH + column * X_BYTES, words[i]);
        }
    }
}

static __device__ __forceinline__ void store_tile(const struct gm_permute_tile_params &p, const struct tile &t,
                                                  uint32_t memory) {
#pragma unroll 4
    for (int i = thread_index(); i < ROWS * COLUMNS; i += THREADS) {
        const int row = i % ROWS, column = i / ROWS;
        uint32_t word[GM_PERMUTE_WORDS(X_BYTES)], converted[GM_PERMUTE_WORDS(OUT_BYTES)];
        if (row >= t.rows || column >= t.columns)
            continue;
        load_shared<X_BYTES>(word, memory + row * PITCH + column * X_BYTES);
        convert<X_BYTES, OUT_BYTES, 1>(p.from, p.to, word, converted);
        store_global<OUT_BYTES>(t.out + column * p.out_pitch + row * OUT_BYTES, converted);
    }
}

#endif
