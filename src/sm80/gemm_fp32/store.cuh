/* SPDX-License-Identifier: Apache-2.0 */
/* store_tile(): accumulators -> D, from registers. */
#ifndef GM_SM80_GEMM_FP32_STORE_CUH
#define GM_SM80_GEMM_FP32_STORE_CUH

#include "common/gemm/epilogue.cuh"
#include "common/global.cuh"
#include "common/index.cuh"
#include "sm80/gemm_fp32/constants.cuh"
#include "sm80/gemm_fp32/place.cuh"

/* Stores D = alpha * acc where every 4 columns of a thread are whole and aligned. */
static __device__ __forceinline__ void store_plain(const float (&acc)[THREAD_M][THREAD_N],
                                                   const struct gm_epilogue_params &p, int row, int column) {
#pragma unroll
    for (int i = 0; i < THREAD_M; ++i) {
        const int at = row + group_offset(LANES_M, i);
        const uint64_t d = p.d + (at * p.ldd + column) * 4;
#pragma unroll
        for (int j = 0; j < THREAD_N; j += 4)
            if (at < p.m && column + group_offset(LANES_N, j) < p.n)
                st_global_v4_f32(d + group_offset(LANES_N, j) * 4, p.alpha * acc[i][j], p.alpha * acc[i][j + 1],
                                 p.alpha * acc[i][j + 2], p.alpha * acc[i][j + 3]);
    }
}

/* Stores with any epilogue: 8 neighbouring columns of one row at a time, half of which the neighbour along N has. It
 * gives them for its half of another row. The outer loop stays rolled, for code size. */
static __device__ __forceinline__ void store_general(const float (&acc)[THREAD_M][THREAD_N],
                                                     const struct gm_epilogue_params &p, int row, int column) {
    enum { GROUPS = THREAD_N / 4, UNITS = THREAD_M / 2 * GROUPS };
    const bool odd = thread_index() & 1; /* lane_n()'s bit 0 */
#pragma unroll 1
    for (int unit = 0; unit < UNITS; ++unit) {
        float upper[4], lower[4], v[8];
#pragma unroll
        for (int i = 0; i < UNITS; ++i)
            if (i == unit)
#pragma unroll
                for (int j = 0; j < 4; ++j) {
                    upper[j] = acc[i / GROUPS * 2][i % GROUPS * 4 + j];
                    lower[j] = acc[i / GROUPS * 2 + 1][i % GROUPS * 4 + j];
                }
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const float kept = odd ? lower[j] : upper[j];
            const float given = __shfl_xor_sync(0xffffffff, odd ? upper[j] : lower[j], 1);
            v[j] = odd ? given : kept;
            v[j + 4] = odd ? kept : given;
        }
        const int at = row + group_offset(LANES_M, unit / GROUPS * 2) + odd;
        const int first = column - odd * 4 + group_offset(LANES_N, unit % GROUPS * 4);
        if (at < p.m && first < p.n) {
            epilogue_apply8(p, v, at, first);
            epilogue_store8(p, v, at, first);
        }
    }
}

static __device__ __forceinline__ void store_tile(const float (&acc)[THREAD_M][THREAD_N],
                                                  const struct gm_epilogue_params &p, int m, int n) {
    const bool linear = p.beta == 0.0f && p.bias_mode == 0 && p.activation == 0;
    if (linear && p.d_vector && p.n % 4 == 0)
        store_plain(acc, p, m + first_row(), n + first_column());
    else
        store_general(acc, p, m + first_row(), n + first_column());
}

#endif
