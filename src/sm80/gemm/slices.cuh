/* SPDX-License-Identifier: Apache-2.0 */
/* Warp-k: which threads are slice 0's, and sum_slices(), the accumulators of all slices -> slice 0's. */
#ifndef GM_SM80_GEMM_SLICES_CUH
#define GM_SM80_GEMM_SLICES_CUH

#include "common/index.cuh"
#include "common/named_barrier.cuh"
#include "sm80/gemm/constants.cuh"

enum { BAR_SLICE_0 = 1 }; /* named barrier; 0 is __syncthreads() */

static __device__ __forceinline__ bool in_slice_0() {
    return SLICES == 1 || thread_index() < TILE_THREADS;
}

/* A barrier of slice 0's threads. */
static __device__ __forceinline__ void sync_slice_0() {
    if (SLICES == 1) {
        __syncthreads();
    } else {
        bar_sync(BAR_SLICE_0, TILE_THREADS);
    }
}

/* Leaves the sum of all slices in slice 0's accumulators: (0 + 1) + 2 + ..., always in this order. The ring, which the
 * barrier that ended the piece has drained, carries the others' to it; the last barrier gives the ring back. A warp's
 * accesses are one contiguous stretch. */
static __device__ __forceinline__ void sum_slices(float (&acc)[BLOCKS_M][2 * BLOCKS_N][4]) {
    const int thread = thread_index(), slice = thread / TILE_THREADS;
    float4 *exchange = (float4 *)smem + thread % TILE_THREADS;
    if (slice > 0) {
#pragma unroll
        for (int i = 0; i < FLOATS / 4; i++) {
            const float *v = acc[i / (2 * BLOCKS_N)][i % (2 * BLOCKS_N)];
            exchange[((slice - 1) * (FLOATS / 4) + i) * TILE_THREADS] = make_float4(v[0], v[1], v[2], v[3]);
        }
    }
    __syncthreads();
    if (slice == 0) {
#pragma unroll
        for (int i = 0; i < (SLICES - 1) * FLOATS / 4; i++) {
            const float4 v = exchange[i * TILE_THREADS];
            float *sum = acc[i % (FLOATS / 4) / (2 * BLOCKS_N)][i % (2 * BLOCKS_N)];
            sum[0] += v.x, sum[1] += v.y, sum[2] += v.z, sum[3] += v.w;
        }
    }
    __syncthreads();
}

#endif
