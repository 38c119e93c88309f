/* SPDX-License-Identifier: Apache-2.0 */
/* Warp-k, sum_warp_k(): the warps of every part of K have accumulators of the whole tile; the warps of part 0 add
 * them. */
#ifndef GM_SM80_GEMM_WARP_K_CUH
#define GM_SM80_GEMM_WARP_K_CUH

#include "common/index.cuh"
#include "common/named_barrier.cuh"
#include "sm80/gemm/constants.cuh"

enum { BAR_K_PART_0 = 1 }; /* named barrier; 0 is __syncthreads() */

static __device__ __forceinline__ bool in_k_part_0(void) {
    return WARP_K == 1 || thread_index() < TILE_THREADS;
}

/* A barrier of the threads of K's part 0. */
static __device__ __forceinline__ void sync_k_part_0(void) {
    if (WARP_K == 1)
        __syncthreads();
    else
        bar_sync(BAR_K_PART_0, TILE_THREADS);
}

/* Adds the accumulators of all parts of K into those of part 0: (0 + 1) + 2 + ..., always in this order. They pass
 * through the ring, which is drained since the barrier at the end of the piece; the last barrier frees the ring.
 * Accesses are conflict-free: 16 bytes a thread, side by side. */
static __device__ __forceinline__ void sum_warp_k(sum_t (&acc)[BLOCKS_M][2 * BLOCKS_N][4]) {
    const int thread = thread_index(), k_part = thread / TILE_THREADS;
    float4 *exchange = (float4 *)smem + thread % TILE_THREADS;
    if (k_part > 0)
#pragma unroll
        for (int i = 0; i < FLOATS / 4; ++i) {
            const sum_t *v = acc[i / (2 * BLOCKS_N)][i % (2 * BLOCKS_N)];
            exchange[((k_part - 1) * (FLOATS / 4) + i) * TILE_THREADS] =
                make_float4(sum_copied(v[0]), sum_copied(v[1]), sum_copied(v[2]), sum_copied(v[3]));
        }
    __syncthreads();
    if (k_part == 0)
#pragma unroll
        for (int i = 0; i < (WARP_K - 1) * FLOATS / 4; ++i) {
            const float4 v = exchange[i * TILE_THREADS];
            sum_t *sum = acc[i % (FLOATS / 4) / (2 * BLOCKS_N)][i % (2 * BLOCKS_N)];
            sum_add(sum[0], v.x), sum_add(sum[1], v.y), sum_add(sum[2], v.z), sum_add(sum[3], v.w);
        }
    __syncthreads();
}

#endif
