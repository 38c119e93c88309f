/* SPDX-License-Identifier: Apache-2.0 */
/* Stream-K of gemm.cu: a consumer with a part of a tile's K hands it on, or adds what others have. Included once. */
#ifndef GM_SM90_GEMM_STREAM_K_CUH
#define GM_SM90_GEMM_STREAM_K_CUH

enum {
    FLOATS = GM_SM90_FLOATS(TILE_M, TILE_N, GM_WARPS),
    BAND = GM_SM90_BAND(FLOATS),
};
static_assert(FLOATS == ATOMS_M * ATOM_REGISTERS, "the accumulators of a consumer's part of the tile");

/* Zeroes what lies outside D: it was made of whatever shared memory held, which is nobody else's to see. `rows` and
 * `columns` are what is left of D from the consumer's first row on wgmma's M side and first column on its N side. */
static __device__ __forceinline__ void clear_outside(float (&acc)[ATOMS_M][ATOM_REGISTERS], int rows, int columns,
                                                     uint32_t thread) {
    rows -= thread / 32 * 16 + thread % 32 / 4;
    columns -= thread % 4 * 2;
#pragma unroll
    for (int i = 0; i < ATOMS_M; ++i)
#pragma unroll
        for (int r = 0; r < ATOM_REGISTERS; ++r)
            if (i * 64 + r / 2 % 2 * 8 >= rows || r / 4 * 8 + r % 2 >= columns)
                acc[i][r] = 0;
}

/* True: the accumulators are the whole sum of a tile now. False: they were a part, and have been given away. */
static __device__ __forceinline__ bool piece_finish(const struct gm_gemm_sm90_params &p,
                                                    float (&acc)[ATOMS_M][ATOM_REGISTERS], struct tile_position tile,
                                                    struct gm_piece piece, uint32_t rank, int consumer, int row0,
                                                    const struct store_context &store) {
    const struct stream_k_gang gang = {SHARERS * TILE_CONSUMERS, (int)rank * TILE_CONSUMERS + (PINGPONG ? 0 : consumer),
                                       (int)store.thread};
    const auto sync = [&] { bar_sync(store.bar, 128); };
    if (piece.end < p.k_blocks) {
        const int rows = p.epilogue.m - tile.m * TILE_M, columns = p.epilogue.n - tile.n * TILE_N;
        if (rows < TILE_M || columns < TILE_N)
            clear_outside(acc, (SWAPPED ? columns : rows) - row0, SWAPPED ? rows : columns, store.thread);
        stream_k_give<128, FLOATS>(p.stream_k, gang, cluster_index(), &acc[0][0], sync);
        return false;
    }
    if (piece.first > 0)
        stream_k_take<128, FLOATS, BAND>(p.stream_k, gang, cluster_index(), p.k_blocks, &acc[0][0], sync);
    return true;
}

#endif
