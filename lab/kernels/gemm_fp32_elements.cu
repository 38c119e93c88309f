/* SPDX-License-Identifier: Apache-2.0 */
/* The fp32 GEMM ladder, first part: one element of C a thread. What limits these steps is how often an element of A or
 * B is fetched again, and how a warp's fetch falls into sectors and banks. */
#include "gemm_fp32_tiles.cuh"

/* Step 1. A thread computes one element; a warp runs down a column of C, so that each of its lanes reads another row of
 * A: 32 sectors for 32 words. */
extern "C" __global__ void __launch_bounds__(1024) lab_gemm_naive(const struct gemm_fp32 p) {
    const int row = blockIdx.y * GEMM_TILE + threadIdx.x, column = blockIdx.x * GEMM_TILE + threadIdx.y;
    if (row >= p.m || column >= p.n) {
        return;
    }
    float sum = 0.0f;
    for (int k = 0; k < p.k; k++) {
        sum += p.a[row * p.a_pitch + k] * p.b[k * p.b_pitch + column];
    }
    p.c[row * p.c_pitch + column] = sum;
}

/* Step 2. A warp runs along a row of C instead: its lanes share the element of A (1 sector) and read neighbours of B
 * (4 sectors). */
extern "C" __global__ void __launch_bounds__(1024) lab_gemm_coalesced(const struct gemm_fp32 p) {
    const int row = blockIdx.y * GEMM_TILE + threadIdx.y, column = blockIdx.x * GEMM_TILE + threadIdx.x;
    if (row >= p.m || column >= p.n) {
        return;
    }
    float sum = 0.0f;
    for (int k = 0; k < p.k; k++) {
        sum += p.a[row * p.a_pitch + k] * p.b[k * p.b_pitch + column];
    }
    p.c[row * p.c_pitch + column] = sum;
}

/* Step 3. A tile of A and one of B pass through shared memory. */
extern "C" __global__ void __launch_bounds__(1024) lab_gemm_tiled(const struct gemm_fp32 p) {
    multiply_tiles<GEMM_TILE>(p);
}

/* The same with smaller tiles, for the experiment on reuse. */
extern "C" __global__ void __launch_bounds__(256) lab_gemm_tiled_16(const struct gemm_fp32 p) {
    multiply_tiles<16>(p);
}

extern "C" __global__ void __launch_bounds__(64) lab_gemm_tiled_8(const struct gemm_fp32 p) {
    multiply_tiles<8>(p);
}

/* Steps 4 and 5. The tile of A stored by columns. A warp still loads 32 neighbours of a row of A, and now writes them
 * one below the other: with a pitch of 32 words into one bank, with 33 into all 32. */
template <int PITCH> static __device__ __forceinline__ void multiply_transposed(const struct gemm_fp32 &p) {
    __shared__ float a_tile[GEMM_TILE][PITCH], b_tile[GEMM_TILE][GEMM_TILE];
    const int x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.y * GEMM_TILE + y, column = blockIdx.x * GEMM_TILE + x;
    float sum = 0.0f;
    for (int first = 0; first < p.k; first += GEMM_TILE) {
        a_tile[x][y] = load_one(view_a(p), row, first + x);
        b_tile[y][x] = load_one(view_b(p), first + y, column);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < GEMM_TILE; k++) {
            sum += a_tile[k][y] * b_tile[k][x];
        }
        __syncthreads();
    }
    store_one(p, row, column, sum);
}

extern "C" __global__ void __launch_bounds__(1024) lab_gemm_transposed(const struct gemm_fp32 p) {
    multiply_transposed<GEMM_TILE>(p);
}

extern "C" __global__ void __launch_bounds__(1024) lab_gemm_padded(const struct gemm_fp32 p) {
    multiply_transposed<GEMM_TILE + 1>(p);
}
