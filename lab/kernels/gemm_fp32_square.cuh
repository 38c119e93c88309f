/* SPDX-License-Identifier: Apache-2.0 */
/* What the steps with 128 x 128 elements a CTA and 8 x 8 a thread share, from shared memory to C. */
#ifndef LAB_GEMM_FP32_SQUARE_CUH
#define LAB_GEMM_FP32_SQUARE_CUH

#include "gemm_fp32_parts.cuh"

/* A k-block in shared memory: A by columns, B by rows. */
struct alignas(16) block {
    float a[GEMM_DEPTH][GEMM_2D_PITCH], b[GEMM_DEPTH][GEMM_2D_TILE];
};

/* One column of A's tile times one row of B's: 64 multiplications on 16 words. */
static __device__ __forceinline__ void multiply_fragments(float sum[8][8], const float a[8], const float b[8]) {
#pragma unroll
    for (int i = 0; i < 8; i++) {
#pragma unroll
        for (int j = 0; j < 8; j++) {
            sum[i][j] += a[i] * b[j];
        }
    }
}

/* A thread's rows 4 y .. 4 y + 3 and the same 64 further down, its columns likewise. */
static __device__ __forceinline__ void read_fours(float fragment[8], const float *line, int four) {
    *(float4 *)fragment = *(const float4 *)(line + 4 * four);
    *(float4 *)(fragment + 4) = *(const float4 *)(line + 4 * four + 64);
}

template <class BLOCK> static __device__ __forceinline__ void multiply_block(float sum[8][8], const BLOCK &block) {
#pragma unroll
    for (int k = 0; k < GEMM_DEPTH; k++) {
        alignas(16) float a[8], b[8];
        read_fours(a, block.a[k], threadIdx.x / 16);
        read_fours(b, block.b[k], threadIdx.x % 16);
        multiply_fragments(sum, a, b);
    }
}

static __device__ __forceinline__ void store_sums(const struct gemm_fp32 &p, const float sum[8][8]) {
    const int row = blockIdx.y * GEMM_2D_TILE + threadIdx.x / 16 * 4;
    const int column = blockIdx.x * GEMM_2D_TILE + threadIdx.x % 16 * 4;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        store_four(p, row + i % 4 + i / 4 * 64, column, sum[i]);
        store_four(p, row + i % 4 + i / 4 * 64, column + 64, sum[i] + 4);
    }
}

#endif
