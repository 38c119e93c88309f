/* SPDX-License-Identifier: Apache-2.0 */
/* A tile of elements of 1 or 2 bytes to out, its columns by ldmatrix.trans.
 *
 * A lane receives PAIRS words, each a pair of rows. Matrix m of the instruction has rows 2q and 2q + 1 for each q of 0 to
 * 3, which go to the lanes whose number is q modulo 4. Any rows of the tile may be those of a matrix: q's are STORE_ROWS
 * further than (q - 1)'s, and the next matrix has the next pair of each. So a lane receives STORE_ROWS rows that follow each
 * other, an access to out, and four lanes with the same column four such pieces. */
#ifndef GM_SM80_PERMUTE_TILE_MATRICES_CUH
#define GM_SM80_PERMUTE_TILE_MATRICES_CUH

#include "sm80/ldmatrix.cuh"
#include "sm80/permute_tile/vectors.cuh"

enum {
    PAIRS = X_BYTES == 1 ? 8 : 4,
    STORE_PAIRS = STORE_ROWS / 2,
    BLOCK_ROWS = 4 * 2 * PAIRS, /* of all lanes */
    BLOCKS = ROWS / BLOCK_ROWS,
};

static __device__ __forceinline__ void read_pairs(uint32_t memory, int block, int chunk, uint32_t (&pairs)[PAIRS]) {
    const int lane = thread_index() % 32, in_matrix = lane % 8;
#pragma unroll
    for (int i = 0; i < PAIRS; i += 4) {
        const int matrix = i + lane / 8;
        const int row = block * BLOCK_ROWS + matrix / STORE_PAIRS * (4 * STORE_ROWS) + in_matrix / 2 * STORE_ROWS +
                        matrix % STORE_PAIRS * 2 + in_matrix % 2;
        ldmatrix_x4_trans((uint32_t(&)[4])pairs[i], memory + chunk_at(row, chunk, in_matrix));
    }
}

/* Pairs of rows of two columns of bytes: the first one's, or the second one's. */
static __device__ __forceinline__ void part_bytes(const uint32_t *pairs, int column, uint32_t (&bytes)[4]) {
#pragma unroll
    for (int i = 0; i < 4; ++i)
        bytes[i] = __byte_perm(pairs[2 * i], pairs[2 * i + 1], column ? 0x7531 : 0x6420);
}

/* What a lane has read, in rows `row` and further. Bytes are pairs of columns as well as of rows. */
template <int BYTES>
static __device__ __forceinline__ void store_pairs(const struct gm_permute_tile_params &p, const struct tile &t,
                                                   int column, int row, const uint32_t (&pairs)[PAIRS]) {
#pragma unroll
    for (int s = 0; s < (BYTES == 1 ? 2 : PAIRS / STORE_PAIRS); ++s) {
        uint32_t words[STORE_ROWS * BYTES / 4];
        if constexpr (BYTES == 1) {
            part_bytes(pairs, s, words);
            store_rows(p, t, column + s, row, words);
        } else {
#pragma unroll
            for (int w = 0; w < STORE_PAIRS; ++w)
                words[w] = pairs[s * STORE_PAIRS + w];
            store_rows(p, t, column, row + s * 4 * STORE_ROWS, words);
        }
    }
}

/* Each warp takes columns of chunks, down all rows: what it stores to a row of out follows each other. */
static __device__ __forceinline__ void store_tile(const struct gm_permute_tile_params &p, const struct tile &t,
                                                  uint32_t memory) {
    static_assert(ROW_CHUNKS % WARPS == 0 && ROWS % BLOCK_ROWS == 0, "warps share chunks evenly");
    const int lane = thread_index() % 32, warp = thread_index() / 32;
#pragma unroll
    for (int i = 0; i < ROW_CHUNKS / WARPS * BLOCKS; ++i) {
        const int chunk = i / BLOCKS * WARPS + warp, block = i % BLOCKS;
        uint32_t pairs[PAIRS];
        if (block * BLOCK_ROWS >= t.rows || chunk * CHUNK >= t.columns)
            continue;
        read_pairs(memory, block, chunk, pairs);
        store_pairs<X_BYTES>(p, t, chunk * CHUNK + lane / 4 * (CHUNK / 8), block * BLOCK_ROWS + lane % 4 * STORE_ROWS,
                             pairs);
    }
}

#endif
