/* SPDX-License-Identifier: Apache-2.0 */
/* The transpose ladder, first four steps, and a copy to measure them by: to[c][r] = from[r][c] for `rows` x `columns`
 * fp32, rows packed. A CTA of 32 x 8 threads takes a tile of 32 x 32. Every kernel differs from the one before it by
 * one idea; the last step is transpose_tma.cu. */
#include <stdint.h>

#include "transpose_tile.h"

enum { TILE = TRANSPOSE_TILE, THREAD_ROWS = TRANSPOSE_THREAD_ROWS };

/* Not a transpose: every thread copies 16 bytes. What a kernel can reach at best. A grid that stays, each thread taking
 * its share of the vectors, would be slower: SMs that are done early would wait for those that are not. */
extern "C" __global__ void __launch_bounds__(TRANSPOSE_COPY_THREADS)
    lab_transpose_copy(const float4 *__restrict__ from, float4 *__restrict__ to, uint32_t count) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        to[i] = from[i];
}

/* Step 1: a thread reads an element and writes it where it belongs. The reads of a warp are neighbours; its writes lie
 * a whole row apart, each in a sector of 32 bytes of its own. */
extern "C" __global__ void lab_transpose_naive(const float *__restrict__ from, float *__restrict__ to, uint32_t rows,
                                               uint32_t columns) {
    const uint32_t column = blockIdx.x * TILE + threadIdx.x;
    for (uint32_t i = threadIdx.y; i < TILE; i += THREAD_ROWS) {
        const uint32_t row = blockIdx.y * TILE + i;
        if (row < rows && column < columns)
            to[(size_t)column * rows + row] = from[(size_t)row * columns + column];
    }
}

/* Where the next steps place their tile. */
struct plain {
    static __device__ uint32_t word(uint32_t row, uint32_t column) { return TRANSPOSE_PLAIN(row, column); }
};
struct padded {
    static __device__ uint32_t word(uint32_t row, uint32_t column) { return TRANSPOSE_PADDED(row, column); }
};
struct exclusive_or {
    static __device__ uint32_t word(uint32_t row, uint32_t column) { return TRANSPOSE_XOR(row, column); }
};

/* Tile in by rows, tile out by columns: both sides of global memory now see whole rows of 128 bytes. */
template <class PLACE>
static __device__ __forceinline__ void transpose_tile(float *tile, const float *__restrict__ from,
                                                      float *__restrict__ to, uint32_t rows, uint32_t columns) {
    const uint32_t row0 = blockIdx.y * TILE, column0 = blockIdx.x * TILE, lane = threadIdx.x;
#pragma unroll
    for (uint32_t i = 0; i < TILE; i += THREAD_ROWS) {
        const uint32_t in_tile = i + threadIdx.y, row = row0 + in_tile;
        if (row < rows && column0 + lane < columns)
            tile[PLACE::word(in_tile, lane)] = from[(size_t)row * columns + column0 + lane];
    }
    __syncthreads();
#pragma unroll
    for (uint32_t i = 0; i < TILE; i += THREAD_ROWS) {
        const uint32_t in_tile = i + threadIdx.y, column = column0 + in_tile;
        if (column < columns && row0 + lane < rows)
            to[(size_t)column * rows + row0 + lane] = tile[PLACE::word(lane, in_tile)];
    }
}

/* Step 2: the tile passes through shared memory. A warp writes a row of it and reads a column, and the 32 words of a
 * column lie in one bank. */
extern "C" __global__ void lab_transpose_tiled(const float *__restrict__ from, float *__restrict__ to, uint32_t rows,
                                               uint32_t columns) {
    __shared__ float tile[TILE * TILE];
    transpose_tile<plain>(tile, from, to, rows, columns);
}

/* Step 3: one unused word after each row moves every row on by a bank, so a column meets every bank once. */
extern "C" __global__ void lab_transpose_padded(const float *__restrict__ from, float *__restrict__ to, uint32_t rows,
                                                uint32_t columns) {
    __shared__ float tile[TILE * (TILE + 1)];
    transpose_tile<padded>(tile, from, to, rows, columns);
}

/* Step 4: the same without the unused words: column XOR row is another order of the row's own 32 words. */
extern "C" __global__ void lab_transpose_xor(const float *__restrict__ from, float *__restrict__ to, uint32_t rows,
                                             uint32_t columns) {
    __shared__ float tile[TILE * TILE];
    transpose_tile<exclusive_or>(tile, from, to, rows, columns);
}
