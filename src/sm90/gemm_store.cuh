/* SPDX-License-Identifier: Apache-2.0 */
/* store_tile of gemm.cu: the accumulators of a consumer warpgroup -> staging -> D. Included once, after gemm.cu's
 * constants. */
#ifndef GM_SM90_GEMM_STORE_CUH
#define GM_SM90_GEMM_STORE_CUH

/* What one consumer warpgroup needs to stage chunks of D. */
struct store_context {
    uint32_t staging_addr; /* of its first buffer */
    uint32_t thread;       /* 0..127 */
    uint32_t bar;          /* its named barrier */
    uint32_t buffer;       /* next buffer, 0 or 1 */
};

/* Fragment registers of columns first..first + 15 -> 16 rows a warp of the chunk, as 16-bit elements. */
static __device__ __forceinline__ void stage_chunk_16(uint32_t chunk_addr, const float *acc, float alpha, int d_type,
                                                      uint32_t thread) {
    const uint32_t row = thread / 32 * 16 + thread % 16, half = thread % 32 / 16;
#pragma unroll
    for (int j = 0; j < CHUNK_COLS_16 / 16; ++j) {
        uint32_t packed[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const float low = alpha * acc[8 * j + 2 * i], high = alpha * acc[8 * j + 2 * i + 1];
            packed[i] = d_type == GM_TYPE_bf16 ? cvt_rn_bf16x2_f32(low, high) : cvt_rn_f16x2_f32(low, high);
        }
        stmatrix_x4(chunk_addr + swizzle_offset<STORE_SPAN>(row * STORE_SPAN + j * 32 + half * 16), packed[0],
                    packed[1], packed[2], packed[3]);
    }
}

/* The same as fp32. */
static __device__ __forceinline__ void stage_chunk_32(uint32_t chunk_addr, const float *acc, float alpha,
                                                      uint32_t thread) {
    const uint32_t row = thread / 32 * 16 + thread % 32 / 4, col = thread % 4 * 2;
#pragma unroll
    for (int j = 0; j < CHUNK_COLS_32 / 8; ++j)
#pragma unroll
        for (int h = 0; h < 2; ++h)
            st_shared_v2(chunk_addr + swizzle_offset<STORE_SPAN>((row + 8 * h) * STORE_SPAN + (8 * j + col) * 4),
                         alpha * acc[4 * j + 2 * h], alpha * acc[4 * j + 2 * h + 1]);
}

/* D = alpha * acc, D of 2 or 4 bytes an element. Two buffers: a chunk is staged while TMA reads the one before, and
 * the one barrier of a chunk says both that it is staged and that the buffer of the next is free. */
template <int D_BYTES>
static __device__ __forceinline__ void store_plain(const struct gm_gemm_sm90_params &p, struct store_context &s,
                                                   const float (&acc)[ATOMS_M][ATOM_REGISTERS], int m0, int n0) {
    constexpr int chunk_cols = STORE_SPAN / D_BYTES, chunks = TILE_N / chunk_cols;
#pragma unroll
    for (int c = 0; c < ATOMS_M * chunks; ++c) {
        const float *chunk_acc = &acc[c / chunks][c % chunks * chunk_cols / 2];
        const uint32_t chunk_addr = s.staging_addr + s.buffer * CHUNK_BYTES;
        if (D_BYTES == 4)
            stage_chunk_32(chunk_addr, chunk_acc, p.epilogue.alpha, s.thread);
        else
            stage_chunk_16(chunk_addr, chunk_acc, p.epilogue.alpha, p.epilogue.d_type, s.thread);
        fence_proxy_async();
        if (s.thread == 0)
            bulk_wait_group_read<GM_SM90_STORE_BUFFERS - 2>();
        bar_sync(s.bar, 128);
        if (s.thread == 0) {
            tma_store_2d(&p.d, n0 + c % chunks * chunk_cols, m0 + c / chunks * 64, chunk_addr);
            bulk_commit_group();
        }
        s.buffer ^= 1;
    }
}

/* Everything else: accumulators go through staging as fp32, so that C, bias and D are met row by row, 8 columns a
 * thread. The loop over chunks stays rolled, for code size: only the writes need compile-time register numbers. */
static __device__ __forceinline__ void store_general(const struct gm_gemm_sm90_params &p, struct store_context &s,
                                                     const float (&acc)[ATOMS_M][ATOM_REGISTERS], int m0, int n0) {
    constexpr int chunks = TILE_N / CHUNK_COLS_32, groups = CHUNK_COLS_32 / 8;
#pragma unroll 1
    for (int chunk = 0; chunk < ATOMS_M * chunks; ++chunk) {
        const uint32_t chunk_addr = s.staging_addr + s.buffer * CHUNK_BYTES;
#pragma unroll
        for (int c = 0; c < ATOMS_M * chunks; ++c)
            if (c == chunk)
                stage_chunk_32(chunk_addr, &acc[c / chunks][c % chunks * CHUNK_COLS_32 / 2], 1.0f, s.thread);
        bar_sync(s.bar, 128);
#pragma unroll 1
        for (uint32_t i = s.thread; i < 64 * groups; i += 128) {
            const uint32_t row = i / groups, col = i % groups * 8;
            float v[8];
#pragma unroll
            for (int h = 0; h < 2; ++h)
                ld_shared_v4(chunk_addr + swizzle_offset<STORE_SPAN>(row * STORE_SPAN + col * 4 + h * 16), v[4 * h],
                             v[4 * h + 1], v[4 * h + 2], v[4 * h + 3]);
            const int d_row = m0 + chunk / chunks * 64 + row, d_col = n0 + chunk % chunks * CHUNK_COLS_32 + col;
            epilogue_apply8(p.epilogue, v, d_row, d_col);
            epilogue_store8(p.epilogue, v, d_row, d_col);
        }
        s.buffer ^= 1;
    }
}

#endif
