/* SPDX-License-Identifier: Apache-2.0 */
/* The vectorised step of the fp32 GEMM ladder with other tiles: as many as an autotuner would try. */
#include "gemm_fp32_parts.cuh"
#include "gemm_fp32_tiles.h"

/* A k-block comes in by fours along a row, of A and of B; A's four land one below the other. A thread has every 4 rows that lie
 * ROWS / (DOWN / 4) apart, and columns likewise. */
template <int ROWS, int COLUMNS, int DEPTH, int DOWN, int ACROSS, int PITCH>
static __device__ __forceinline__ void multiply(const struct gemm_fp32 &p) {
    constexpr int threads_across = COLUMNS / ACROSS, threads = ROWS / DOWN * threads_across;
    constexpr int row_step = ROWS / (DOWN / 4), column_step = COLUMNS / (ACROSS / 4);
    static_assert(PITCH % 4 == 0 && PITCH >= ROWS, "columns of A's tile begin on 16 bytes");
    static_assert(ROWS * DEPTH / 4 % threads == 0 && COLUMNS * DEPTH / 4 % threads == 0, "every thread loads as much");
    __shared__ alignas(16) float a_tile[DEPTH][PITCH], b_tile[DEPTH][COLUMNS];
    const int t = threadIdx.x, x = t % threads_across, y = t / threads_across;
    const int tile_row = blockIdx.y * ROWS, tile_column = blockIdx.x * COLUMNS;
    float sum[DOWN][ACROSS] = {{0.0f}};
    for (int first = 0; first < p.k; first += DEPTH) {
        constexpr int a_loads = ROWS * DEPTH / 4 / threads, b_loads = COLUMNS * DEPTH / 4 / threads;
        float4 a_four[a_loads], b_four[b_loads];
#pragma unroll
        for (int i = 0; i < a_loads; i++) {
            const int at = t + i * threads;
            a_four[i] = load_four(view_a(p), tile_row + at / (DEPTH / 4), first + at % (DEPTH / 4) * 4);
        }
#pragma unroll
        for (int i = 0; i < b_loads; i++) {
            const int at = t + i * threads;
            b_four[i] = load_four(view_b(p), first + at / (COLUMNS / 4), tile_column + at % (COLUMNS / 4) * 4);
        }
#pragma unroll
        for (int i = 0; i < a_loads; i++) {
            const int at = t + i * threads, row = at / (DEPTH / 4), k = at % (DEPTH / 4) * 4;
            a_tile[k][row] = a_four[i].x;
            a_tile[k + 1][row] = a_four[i].y;
            a_tile[k + 2][row] = a_four[i].z;
            a_tile[k + 3][row] = a_four[i].w;
        }
#pragma unroll
        for (int i = 0; i < b_loads; i++) {
            const int at = t + i * threads;
            *(float4 *)&b_tile[at / (COLUMNS / 4)][at % (COLUMNS / 4) * 4] = b_four[i];
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < DEPTH; k++) {
            alignas(16) float a[DOWN], b[ACROSS];
#pragma unroll
            for (int i = 0; i < DOWN / 4; i++) {
                *(float4 *)&a[4 * i] = *(const float4 *)&a_tile[k][i * row_step + 4 * y];
            }
#pragma unroll
            for (int i = 0; i < ACROSS / 4; i++) {
                *(float4 *)&b[4 * i] = *(const float4 *)&b_tile[k][i * column_step + 4 * x];
            }
#pragma unroll
            for (int i = 0; i < DOWN; i++) {
#pragma unroll
                for (int j = 0; j < ACROSS; j++) {
                    sum[i][j] += a[i] * b[j];
                }
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < DOWN; i++) {
#pragma unroll
        for (int j = 0; j < ACROSS / 4; j++) {
            store_four(p, tile_row + i / 4 * row_step + 4 * y + i % 4, tile_column + j * column_step + 4 * x,
                       &sum[i][4 * j]);
        }
    }
}

#define KERNEL(rows, columns, depth, down, across, pitch)                                                              \
    extern "C" __global__ void __launch_bounds__(rows / down * (columns / across))                                     \
        lab_gemm_tile_##rows##x##columns##x##depth##_##down##x##across##_##pitch(const struct gemm_fp32 p) {           \
        multiply<rows, columns, depth, down, across, pitch>(p);                                                        \
    }

GEMM_TILES(KERNEL)
