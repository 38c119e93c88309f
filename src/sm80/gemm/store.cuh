/* SPDX-License-Identifier: Apache-2.0 */
/* The store_tile() of the warps of K's part 0: accumulators -> staging strips -> D. */
#ifndef GM_SM80_GEMM_STORE_CUH
#define GM_SM80_GEMM_STORE_CUH

#include "common/convert.cuh"
#include "common/gemm/epilogue.cuh"
#include "common/gemm/extended.cuh"
#include "common/gemm/scaling.cuh"
#include "common/gemm_sm80/params.h"
#include "common/global.cuh"
#include "common/index.cuh"
#include "sm80/gemm/constants.cuh"

/* Zeroes the elements of a partial sum that lie outside D. They were computed from whatever shared memory held, which
 * no other kernel may see. */
static __device__ __forceinline__ void clear_outside(sum_t (&acc)[BLOCKS_M][2 * BLOCKS_N][4],
                                                     const struct gm_epilogue_params &p, int m, int n) {
    const int thread = thread_index(), warp = thread / 32, lane = thread % 32;
    const int rows_left = p.m - (m + warp / WARPS_N * WARP_M + lane / 4);
    const int columns_left = p.n - (n + warp % WARPS_N * WARP_N + lane % 4 * 2);
#pragma unroll
    for (int i = 0; i < BLOCKS_M; ++i)
#pragma unroll
        for (int j = 0; j < 2 * BLOCKS_N; ++j)
#pragma unroll
            for (int r = 0; r < 4; ++r) {
                const bool inside = i * 16 + r / 2 * 8 < rows_left && j * 8 + r % 2 < columns_left;
                acc[i][j][r] = inside ? acc[i][j][r] : 0;
            }
}

/* A lane's places while its warp stores its part of the tile: fragments -> the warp's strip of shared memory -> rows of
 * D, 8 neighbouring columns a lane. */
struct store_lane {
    unsigned char *write;      /* where in the strip the lane writes its fragment */
    const unsigned char *read; /* where in the strip the lane reads its part of a row */
    int row, column;           /* the first of D that the lane stores */
};

enum {
    STORE_LANES = WARP_N / 8, /* of one row */
    STORE_ROWS = 32 / STORE_LANES,
};
static_assert(STORE_ROWS <= 8, "a warp stores at most the 8 rows of a fp32 strip at once");

template <int ELEM_BYTES> static __device__ __forceinline__ struct store_lane store_begin(int m, int n) {
    enum { PITCH_BYTES = GM_SM80_STRIP_PITCH(WARP_N, ELEM_BYTES) };
    const int thread = thread_index(), warp = thread / 32, lane = thread % 32;
    unsigned char *strip = smem + RING_BYTES + warp * GM_SM80_STRIP_BYTES(WARP_N);
    return {strip + lane / 4 * PITCH_BYTES + lane % 4 * 2 * ELEM_BYTES,
            strip + lane / STORE_LANES * PITCH_BYTES + lane % STORE_LANES * 8 * ELEM_BYTES,
            m + warp / WARPS_N * WARP_M + lane / STORE_LANES, n + warp % WARPS_N * WARP_N + lane % STORE_LANES * 8};
}

/* Stores D = alpha * acc in 16 bits, where every chunk of 8 columns is whole and aligned: 16 rows at a time. */
static __device__ __forceinline__ void store_plain(const sum_t (&acc)[BLOCKS_M][2 * BLOCKS_N][4],
                                                   const struct gm_epilogue_params &p, struct store_lane at) {
    enum { PITCH_BYTES = GM_SM80_STRIP_PITCH(WARP_N, 2) };
    const int rows_left = at.column < p.n ? p.m - at.row : 0;
    const uint64_t d = p.d + (at.row * p.ldd + at.column) * 2;
#pragma unroll
    for (int i = 0; i < BLOCKS_M; ++i) {
#pragma unroll
        for (int j = 0; j < 4 * BLOCKS_N; ++j) { /* 8 columns of the upper 8 rows, then of the lower 8 */
            const float low = p.alpha * acc[i][j / 2][j % 2 * 2], high = p.alpha * acc[i][j / 2][j % 2 * 2 + 1];
            *(uint32_t *)(at.write + j % 2 * 8 * PITCH_BYTES + j / 2 * 16) =
                p.d_type == GM_TYPE_bf16 ? cvt_rn_bf16x2_f32(low, high) : cvt_rn_f16x2_f32(low, high);
        }
        __syncwarp();
#pragma unroll
        for (int row = 0; row < 16; row += STORE_ROWS) {
            const uint4 chunk = *(const uint4 *)(at.read + row * PITCH_BYTES);
            if (i * 16 + row < rows_left)
                st_global_v4_b32(d + (i * 16 + row) * p.ldd * 2, &chunk.x);
        }
        __syncwarp();
    }
}

/* The parameters begin with those of every kernel, of which the epilogue is here. */
static __device__ __forceinline__ const struct gm_extension_params &extension_of(const struct gm_gemm_sm80_params &p) {
    return reinterpret_cast<const struct gm_gemm_sm80_extended_params &>(p).extension;
}

/* Stores with any epilogue, through fp32, 8 rows at a time: finish(v, row, column) makes of copies of 8 sums what it stores.
 * The outer loop stays rolled, for code size: only the writes need compile-time register numbers. */
template <typename FINISH>
static __device__ __forceinline__ void store_rows(const sum_t (&acc)[BLOCKS_M][2 * BLOCKS_N][4],
                                                  const struct gm_epilogue_params &p, struct store_lane at,
                                                  FINISH finish) {
    enum { PITCH_BYTES = GM_SM80_STRIP_PITCH(WARP_N, 4) };
#pragma unroll 1
    for (int rows8 = 0; rows8 < 2 * BLOCKS_M; ++rows8) {
#pragma unroll
        for (int i = 0; i < 2 * BLOCKS_M; ++i)
            if (i == rows8)
#pragma unroll
                for (int j = 0; j < 2 * BLOCKS_N; ++j)
                    *(float2 *)(at.write + j * 32) =
                        make_float2(sum_copied(acc[i / 2][j][i % 2 * 2]), sum_copied(acc[i / 2][j][i % 2 * 2 + 1]));
        __syncwarp();
#pragma unroll 1
        for (int i = 0; i < 8; i += STORE_ROWS) {
            const float4 *chunk = (const float4 *)(at.read + i * PITCH_BYTES);
            float v[8] = {chunk[0].x, chunk[0].y, chunk[0].z, chunk[0].w,
                          chunk[1].x, chunk[1].y, chunk[1].z, chunk[1].w};
            const int row = at.row + rows8 * 8 + i;
            if (row < p.m && at.column < p.n)
                finish(v, row, at.column);
        }
        __syncwarp();
    }
}

static __device__ __forceinline__ void store_general(const sum_t (&acc)[BLOCKS_M][2 * BLOCKS_N][4],
                                                     const struct gm_epilogue_params &p,
                                                     const struct gm_scaling_params &scaling, struct store_lane at) {
    store_rows(acc, p, at, [&](float(&v)[8], int row, int column) {
        sum_epilogue8(scaling, p, v, row, column);
        if (BATCHED && !p.d_vector && p.d_type != GM_TYPE_fp32)
            epilogue_store8_narrow(p, v, row, column);
        else
            epilogue_store8(p, v, row, column);
    });
}

/* Stores with an extended epilogue. The largest |y| is one number for all of D. */
static __device__ __forceinline__ void store_extended(const sum_t (&acc)[BLOCKS_M][2 * BLOCKS_N][4],
                                                      const struct gm_gemm_sm80_params &p, struct store_lane at) {
    const struct gm_extension_params &extension = extension_of(p);
    uint32_t most = 0;
    store_rows(acc, p.epilogue, at, [&](float(&v)[8], int row, int column) {
        extended_apply8(extension, p.scaling, p.epilogue, v, row, column);
        most = max(most, largest_size(v));
        extended_store8(extension, p.epilogue, v, row, column);
    });
    most = __reduce_max_sync(0xffffffff, most);
    if (extension.amax && thread_index() % 32 == 0)
        red_max_gpu_u32(extension.amax, most);
}

static __device__ __forceinline__ void store_tile(const sum_t (&acc)[BLOCKS_M][2 * BLOCKS_N][4],
                                                  const struct gm_epilogue_params &p,
                                                  const struct gm_scaling_params &scaling, int m, int n) {
    const bool linear = p.beta == 0.0f && p.bias_mode == 0 && p.activation == 0;
    if (IS_HALF && linear && p.d_type != GM_TYPE_fp32 && p.d_vector && p.n % 8 == 0)
        store_plain(acc, p, store_begin<2>(m, n));
    else
        store_general(acc, p, scaling, store_begin<4>(m, n));
}

#endif
