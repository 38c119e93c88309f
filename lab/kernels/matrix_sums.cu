/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of the rows, and of the columns, of a matrix in rows. All kernels do the same additions; what differs is who walks
 * where, and so which words the lanes of a warp ask for together. blockIdx.y is the strip; sums begin as 0. */
#include <stdint.h>

#include "matrix_sums.h"

enum { THREADS = MATRIX_THREADS, WARPS = THREADS / 32, STRIP = MATRIX_STRIP, TILE = MATRIX_TILE };

struct matrix {
    const float *__restrict__ from;
    uint32_t rows, columns;
};

static __device__ __forceinline__ float element(const struct matrix &matrix, uint32_t row, uint32_t column) {
    return row < matrix.rows && column < matrix.columns ? matrix.from[(size_t)row * matrix.columns + column] : 0;
}

static __device__ __forceinline__ void add_to(float *sums, uint32_t at, uint32_t count, float sum) {
    if (at < count)
        atomicAdd(&sums[at], sum);
}

/* In lane 0, the sum over the warp. */
static __device__ __forceinline__ float sum_of_warp(float value) {
#pragma unroll
    for (int step = 16; step > 0; step /= 2)
        value += __shfl_down_sync(0xffffffff, value, step);
    return value;
}

/* A thread a row: the lanes of a warp read words of one column, each in a sector of its own. */
extern "C" __global__ void __launch_bounds__(THREADS)
    lab_rows_by_threads(const float *__restrict__ from, float *sums, uint32_t rows, uint32_t columns) {
    const struct matrix matrix = {from, rows, columns};
    const uint32_t row = blockIdx.x * THREADS + threadIdx.x, first = blockIdx.y * STRIP;
    float sum = 0;
#pragma unroll 8
    for (uint32_t i = 0; i < STRIP; i++)
        sum += element(matrix, row, first + i);
    add_to(sums, row, rows, sum);
}

struct plain {
    static __device__ __forceinline__ uint32_t word(uint32_t row, uint32_t column) { return MATRIX_PLAIN(row, column); }
};

struct padded {
    static __device__ __forceinline__ uint32_t word(uint32_t row, uint32_t column) {
        return MATRIX_PADDED(row, column);
    }
};

/* 32 rows a CTA, by way of tiles: warps load rows of a tile, side by side, and then lane i adds up row i, in which every
 * warp takes each eighth column. The lanes read a column of the tile. */
template <class layout> static __device__ __forceinline__ void rows_by_tiles(const struct matrix &matrix, float *sums) {
    __shared__ float tile[TILE * (TILE + 1)], part[THREADS];
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, top = blockIdx.x * TILE;
    float sum = 0;
    for (uint32_t first = blockIdx.y * STRIP; first < (blockIdx.y + 1) * STRIP; first += TILE) {
#pragma unroll
        for (uint32_t row = warp; row < TILE; row += WARPS)
            tile[layout::word(row, lane)] = element(matrix, top + row, first + lane);
        __syncthreads();
#pragma unroll
        for (uint32_t column = warp; column < TILE; column += WARPS)
            sum += tile[layout::word(lane, column)];
        __syncthreads();
    }
    part[threadIdx.x] = sum;
    __syncthreads();
    if (warp > 0)
        return;
    sum = 0;
    for (uint32_t i = 0; i < WARPS; i++)
        sum += part[i * 32 + lane];
    add_to(sums, top + lane, matrix.rows, sum);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    lab_rows_by_tiles(const float *__restrict__ from, float *sums, uint32_t rows, uint32_t columns) {
    rows_by_tiles<plain>({from, rows, columns}, sums);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    lab_rows_by_padded_tiles(const float *__restrict__ from, float *sums, uint32_t rows, uint32_t columns) {
    rows_by_tiles<padded>({from, rows, columns}, sums);
}

/* A warp a row: the lanes read side by side, and shuffles add up what they have in the end. */
extern "C" __global__ void __launch_bounds__(THREADS)
    lab_rows_by_warps(const float *__restrict__ from, float *sums, uint32_t rows, uint32_t columns) {
    const struct matrix matrix = {from, rows, columns};
    const uint32_t lane = threadIdx.x % 32, row = blockIdx.x * WARPS + threadIdx.x / 32, first = blockIdx.y * STRIP;
    float sum = 0;
#pragma unroll 8
    for (uint32_t i = lane; i < STRIP; i += 32)
        sum += element(matrix, row, first + i);
    sum = sum_of_warp(sum);
    if (lane == 0)
        add_to(sums, row, rows, sum);
}

/* A warp a column, as a warp a row: but the lanes read words of one column, each in a sector of its own. */
extern "C" __global__ void __launch_bounds__(THREADS)
    lab_columns_by_warps(const float *__restrict__ from, float *sums, uint32_t rows, uint32_t columns) {
    const struct matrix matrix = {from, rows, columns};
    const uint32_t lane = threadIdx.x % 32, column = blockIdx.x * WARPS + threadIdx.x / 32;
    float sum = 0;
#pragma unroll 8
    for (uint32_t i = lane; i < STRIP; i += 32)
        sum += element(matrix, blockIdx.y * STRIP + i, column);
    sum = sum_of_warp(sum);
    if (lane == 0)
        add_to(sums, column, columns, sum);
}

/* A thread a column, as a thread a row: and the lanes read side by side. */
extern "C" __global__ void __launch_bounds__(THREADS)
    lab_columns_by_threads(const float *__restrict__ from, float *sums, uint32_t rows, uint32_t columns) {
    const struct matrix matrix = {from, rows, columns};
    const uint32_t column = blockIdx.x * THREADS + threadIdx.x;
    float sum = 0;
#pragma unroll 8
    for (uint32_t i = 0; i < STRIP; i++)
        sum += element(matrix, blockIdx.y * STRIP + i, column);
    add_to(sums, column, columns, sum);
}
