/* SPDX-License-Identifier: Apache-2.0 */
/* One element of C a thread, by tiles in shared memory that lie by rows: a step of the fp32 GEMM ladder, and with pads that no
 * access needs. */
#ifndef LAB_GEMM_FP32_TILES_CUH
#define LAB_GEMM_FP32_TILES_CUH

#include "gemm_fp32_parts.cuh"

/* A tile of A and one of B pass through shared memory, so an element is fetched once for TILE elements of C.
 * Every thread loads one element of each; what lies outside is 0 and adds nothing. */
template <int TILE, int A_PITCH = TILE, int B_PITCH = TILE>
static __device__ __forceinline__ void multiply_tiles(const struct gemm_fp32 &p) {
    __shared__ float a_tile[TILE][A_PITCH], b_tile[TILE][B_PITCH];
    const int x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    float sum = 0.0f;
    for (int first = 0; first < p.k; first += TILE) {
        a_tile[y][x] = load_one(view_a(p), row, first + x);
        b_tile[y][x] = load_one(view_b(p), first + y, column);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE; k++) {
            sum += a_tile[y][k] * b_tile[k][x];
        }
        __syncthreads();
    }
    store_one(p, row, column, sum);
}

#endif
