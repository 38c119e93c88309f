/* SPDX-License-Identifier: Apache-2.0 */
/* The transpose ladder, last step: TMA carries tiles of 64 x 64 both ways, and its swizzle takes the place of the pad,
 * which TMA could not write.
 *
 *   TMA load               a warp reads a column of chunks,        TMA store
 *   from -> in             32 rows x 16 bytes, and writes          out -> to
 *   (128-byte swizzle)     4 rows of 32 words                      (plain)
 *
 * Without the swizzle the chunks of a column would lie in 4 of the 32 banks. The rows that are written are
 * conflict-free in any layout: as with the pad, only the side that is walked by columns needs help.
 *
 * What the time depends on is how DRAM is met. A tile reads and writes pieces of 256 bytes, twice what a tile of 32 x
 * 32 does. CTAs that start together take tiles one below the other, so that what they write lies side by side. And a
 * CTA takes one tile only: the next goes to whichever SM has room, and no SM waits for a slower one, as it would if
 * each were given its share of the tiles in advance. Several CTAs an SM keep loads and stores under way all the time.
 *
 * Ragged edges are TMA's too: what lies outside arrives as zeros and is not stored. */
#include "common/tensor_map.h"
#include "sm90/mbarrier.cuh"
#include "sm90/tma.cuh"
#include "transpose_tile.h"

enum {
    TILE = TRANSPOSE_TMA_TILE,
    BOX_COLUMNS = TRANSPOSE_BOX_COLUMNS,
    WARPS = TRANSPOSE_TMA_THREADS / 32,
    CTAS_PER_SM = 6, /* 192 KB of tiles */
};

/* out = the transpose of in. */
static __device__ __forceinline__ void turn(const float *__restrict__ in, float *__restrict__ out, uint32_t warp,
                                            uint32_t lane) {
#pragma unroll
    for (uint32_t unit = warp; unit < TILE / 32 * TILE / 4; unit += WARPS) {
        const uint32_t row = unit % (TILE / 32) * 32 + lane, column = unit / (TILE / 32) * 4;
        const float4 chunk = *(const float4 *)&in[TRANSPOSE_TMA_IN(row, column)];
        out[TRANSPOSE_TMA_OUT(column, row)] = chunk.x;
        out[TRANSPOSE_TMA_OUT(column + 1, row)] = chunk.y;
        out[TRANSPOSE_TMA_OUT(column + 2, row)] = chunk.z;
        out[TRANSPOSE_TMA_OUT(column + 3, row)] = chunk.w;
    }
}

extern "C" __global__ void __launch_bounds__(TRANSPOSE_TMA_THREADS, CTAS_PER_SM)
    lab_transpose_tma(const __grid_constant__ struct gm_tensor_map from,
                      const __grid_constant__ struct gm_tensor_map to) {
    extern __shared__ __align__(1024) unsigned char smem[]; /* the swizzle's pattern repeats every 1024 bytes */
    const uint32_t in = (uint32_t)__cvta_generic_to_shared(smem), out = in + TRANSPOSE_TILE_BYTES;
    const uint32_t full = out + TRANSPOSE_TILE_BYTES;
    const uint32_t row0 = blockIdx.x * TILE, column0 = blockIdx.y * TILE;
    if (threadIdx.x == 0) {
        mbarrier_init(full, 1);
        fence_mbarrier_init();
        mbarrier_arrive_expect_tx(full, TRANSPOSE_TILE_BYTES);
#pragma unroll
        for (uint32_t column = 0; column < TILE; column += BOX_COLUMNS)
            tma_load_2d(in + TRANSPOSE_TMA_IN(0, column) * 4, &from, column0 + column, row0, full, GM_L2_EVICT_NORMAL);
    }
    __syncthreads(); /* the mbarrier is there */
    if (!mbarrier_wait_bounded(full, 0))
        __trap();
    turn((const float *)smem, (float *)(smem + TRANSPOSE_TILE_BYTES), threadIdx.x / 32, threadIdx.x % 32);
    fence_proxy_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        tma_store_2d(&to, row0, column0, out);
        bulk_commit_group();
        bulk_wait_group_read<0>(); /* shared memory must outlive its readers */
    }
}
