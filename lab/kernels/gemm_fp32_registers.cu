/* SPDX-License-Identifier: Apache-2.0 */
/* The fp32 GEMM ladder, second part: a register tile of C a thread. What limits these steps is how many words a thread
 * must read from shared memory for one multiplication: 2 with one element a thread, 9/8 with 8 x 1, 1/4 with 8 x 8. */
#include "gemm_fp32_square.cuh"

/* ---- a column of 8 -------------------------------------------------------------------------------- */

/* Step 6. A thread computes 8 rows of one column, so that it reads an element of B once for 8 multiplications. */
extern "C" __global__ void __launch_bounds__(GEMM_1D_THREADS) lab_gemm_1d(const struct gemm_fp32 p) {
    __shared__ float a_tile[GEMM_DEPTH][GEMM_1D_PITCH], b_tile[GEMM_DEPTH][GEMM_1D_TILE];
    const int t = threadIdx.x, tile_row = blockIdx.y * GEMM_1D_TILE, tile_column = blockIdx.x * GEMM_1D_TILE;
    const int x = t % GEMM_1D_TILE, y = t / GEMM_1D_TILE;
    float sum[GEMM_1D_ROWS] = {0.0f};
    for (int first = 0; first < p.k; first += GEMM_DEPTH) {
        a_tile[t % GEMM_DEPTH][t / GEMM_DEPTH] = load_one(view_a(p), tile_row + t / GEMM_DEPTH, first + t % GEMM_DEPTH);
        b_tile[y][x] = load_one(view_b(p), first + y, tile_column + x);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < GEMM_DEPTH; k++) {
            const float b = b_tile[k][x];
#pragma unroll
            for (int i = 0; i < GEMM_1D_ROWS; i++) {
                sum[i] += a_tile[k][y * GEMM_1D_ROWS + i] * b;
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < GEMM_1D_ROWS; i++) {
        store_one(p, tile_row + y * GEMM_1D_ROWS + i, tile_column + x, sum[i]);
    }
}

/* ---- a square of 8 x 8 ---------------------------------------------------------------------------- */

/* Step 7. A thread computes 8 x 8 elements, every 16th row and column from (y, x) on: neighbouring threads read
 * neighbouring words. */
extern "C" __global__ void __launch_bounds__(GEMM_2D_THREADS) lab_gemm_2d(const struct gemm_fp32 p) {
    __shared__ float a_tile[GEMM_DEPTH][GEMM_2D_PITCH], b_tile[GEMM_DEPTH][GEMM_2D_TILE];
    const int t = threadIdx.x, tile_row = blockIdx.y * GEMM_2D_TILE, tile_column = blockIdx.x * GEMM_2D_TILE;
    const int x = t % 16, y = t / 16;
    float sum[8][8] = {{0.0f}};
    for (int first = 0; first < p.k; first += GEMM_DEPTH) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int a_row = t / GEMM_DEPTH + 32 * i, a_k = t % GEMM_DEPTH;
            const int b_k = t / GEMM_2D_TILE + 2 * i, b_column = t % GEMM_2D_TILE;
            a_tile[a_k][a_row] = load_one(view_a(p), tile_row + a_row, first + a_k);
            b_tile[b_k][b_column] = load_one(view_b(p), first + b_k, tile_column + b_column);
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < GEMM_DEPTH; k++) {
            float a[8], b[8];
#pragma unroll
            for (int i = 0; i < 8; i++) {
                a[i] = a_tile[k][y + 16 * i];
                b[i] = b_tile[k][x + 16 * i];
            }
            multiply_fragments(sum, a, b);
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 64; i++) {
        store_one(p, tile_row + y + 16 * (i / 8), tile_column + x + 16 * (i % 8), sum[i / 8][i % 8]);
    }
}

/* ---- the same in vectors of four ------------------------------------------------------------------ */

/* A thread's part of a k-block on its way from global to shared memory: 4 elements of a row of each operand.
 *     A: row t / 2, columns 4 * (t % 2) ..     B: row t / 32, columns 4 * (t % 32) ..  */
struct load {
    float4 a, b;
};

static __device__ __forceinline__ struct load load_block(const struct gemm_fp32 &p, int first) {
    const int t = threadIdx.x;
    return {load_four(view_a(p), blockIdx.y * GEMM_2D_TILE + t / 2, first + t % 2 * 4),
            load_four(view_b(p), first + t / 32, blockIdx.x * GEMM_2D_TILE + t % 32 * 4)};
}

/* A's four land one below the other: half the warp writes 16 rows of column k, the other half 16 rows of column k + 4,
 * which the pad puts 4 * 132 = 16 banks (mod 32) further on; without it they would meet. */
static __device__ __forceinline__ void store_block(struct block &block, const struct load &load) {
    const int t = threadIdx.x, row = t / 2, k = t % 2 * 4;
    block.a[k][row] = load.a.x;
    block.a[k + 1][row] = load.a.y;
    block.a[k + 2][row] = load.a.z;
    block.a[k + 3][row] = load.a.w;
    *(float4 *)&block.b[t / 32][t % 32 * 4] = load.b;
}

/* Step 8. The same words in a quarter of the instructions: every load and store moves 16 bytes. */
extern "C" __global__ void __launch_bounds__(GEMM_2D_THREADS) lab_gemm_vectorised(const struct gemm_fp32 p) {
    __shared__ struct block block;
    float sum[8][8] = {{0.0f}};
    for (int first = 0; first < p.k; first += GEMM_DEPTH) {
        store_block(block, load_block(p, first));
        __syncthreads();
        multiply_block(sum, block);
        __syncthreads();
    }
    store_sums(p, sum);
}

/* Step 9. The next k-block travels to registers while this one is multiplied, and lands in a second buffer, so that one
 * barrier a k-block is enough: nobody reads the buffer that is being written. */
extern "C" __global__ void __launch_bounds__(GEMM_2D_THREADS, 2) lab_gemm_double_buffer(const struct gemm_fp32 p) {
    __shared__ struct block buffers[2];
    float sum[8][8] = {{0.0f}};
    int current = 0;
    store_block(buffers[0], load_block(p, 0));
    __syncthreads();
    for (int next = GEMM_DEPTH; next < p.k; next += GEMM_DEPTH) {
        const struct load coming = load_block(p, next);
        multiply_block(sum, buffers[current]);
        current ^= 1;
        store_block(buffers[current], coming);
        __syncthreads();
    }
    multiply_block(sum, buffers[current]);
    store_sums(p, sum);
}
