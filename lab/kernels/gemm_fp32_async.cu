/* SPDX-License-Identifier: Apache-2.0 */
/* The fp32 GEMM ladder, last part: a ring of stages filled by cp.async. What limits these steps is the rate at which an
 * SM issues instructions, 4 a clock: everything that is no FFMA takes a place from one. */
#include "gemm_fp32_square.cuh"

#include "sm80/pipeline.cuh"

/* ---- copies --------------------------------------------------------------------------------------- */

/* A k-block in the ring: as in steps 8 and 9, with as many columns of B as a CTA has. */
template <int COLUMNS> struct alignas(16) stage {
    float a[GEMM_DEPTH][GEMM_2D_PITCH];
    float b[GEMM_DEPTH][COLUMNS];
};

/* What thread t copies of every k-block:
 *     A: column t % 8 of rows t / 8 + 32 i, word by word, since only so can cp.async turn them on the way
 *     B: four words at once, the t-th four of the stage and, of 256 columns, the (t + 256)-th
 * Rows of A and columns of B that do not exist are taken from the last one that does: they end in elements of C that
 * are never stored. Only along k must the copies stop where the matrix does, and fill up with zeros. */
template <int COLUMNS> struct copier {
    static constexpr int a_copies = GEMM_2D_TILE * GEMM_DEPTH / GEMM_2D_THREADS, a_step = GEMM_2D_THREADS / GEMM_DEPTH;
    static constexpr int b_copies = COLUMNS * GEMM_DEPTH / 4 / GEMM_2D_THREADS;
    static constexpr int b_step = GEMM_2D_THREADS / (COLUMNS / 4); /* rows */
    int a[a_copies], b;  /* its first elements of the next k-block, counted from the matrices' first */
    int k_left;          /* columns of A, and rows of B, from there on */
    uint32_t a_to, b_to; /* shared addresses in stage 0 */
};

template <int COLUMNS>
static __device__ __forceinline__ struct copier<COLUMNS> copy_begin(const struct gemm_fp32 &p,
                                                                    const struct stage<COLUMNS> *ring) {
    const int t = threadIdx.x, row = blockIdx.y * GEMM_2D_TILE + t / GEMM_DEPTH;
    const int column = min((int)blockIdx.x * COLUMNS + t % (COLUMNS / 4) * 4, (p.n - 1) / 4 * 4);
    struct copier<COLUMNS> c;
#pragma unroll
    for (int i = 0; i < c.a_copies; i++) {
        c.a[i] = min(row + i * c.a_step, p.m - 1) * p.a_pitch + t % GEMM_DEPTH;
    }
    c.b = t / (COLUMNS / 4) * p.b_pitch + column;
    c.k_left = p.k;
    c.a_to = (uint32_t)__cvta_generic_to_shared(&ring->a[t % GEMM_DEPTH][t / GEMM_DEPTH]);
    c.b_to = (uint32_t)__cvta_generic_to_shared(&ring->b[0][0]) + t * 16;
    return c;
}

/* The next k-block, into the stage that begins `stage` bytes into the ring. */
template <int COLUMNS>
static __device__ __forceinline__ void copy_block(const struct gemm_fp32 &p, struct copier<COLUMNS> &c,
                                                  uint32_t stage) {
    const int a_left = c.k_left - (int)threadIdx.x % GEMM_DEPTH, b_left = c.k_left - (int)threadIdx.x / (COLUMNS / 4);
#pragma unroll
    for (int i = 0; i < c.a_copies; i++) {
        cp_async_ca_4(c.a_to + stage + i * c.a_step * 4, (uint64_t)(p.a + c.a[i]), a_left > 0 ? 4 : 0);
        c.a[i] += GEMM_DEPTH;
    }
#pragma unroll
    for (int i = 0; i < c.b_copies; i++) {
        cp_async_cg_16(c.b_to + stage + i * GEMM_2D_THREADS * 16, (uint64_t)(p.b + c.b + i * c.b_step * p.b_pitch),
                       b_left > i * c.b_step ? 16 : 0);
    }
    c.b += GEMM_DEPTH * p.b_pitch;
    c.k_left -= GEMM_DEPTH;
    pipeline_commit();
}

/* All stages but the last. */
template <int COLUMNS>
static __device__ __forceinline__ void fill_ring(const struct gemm_fp32 &p, struct copier<COLUMNS> &c) {
    for (uint32_t i = 0; i < GEMM_STAGES - 1; i++) {
        copy_block(p, c, i * sizeof(struct stage<COLUMNS>));
    }
    pipeline_wait<GEMM_STAGES - 2>();
}

/* ---- 8 x 8 elements a thread ---------------------------------------------------------------------- */

/* Step 10. cp.async writes shared memory without passing through registers, two k-blocks ahead of the one that is
 * multiplied. */
extern "C" __global__ void __launch_bounds__(GEMM_2D_THREADS, 2) lab_gemm_cp_async(const struct gemm_fp32 p) {
    using stage = struct stage<GEMM_2D_TILE>;
    __shared__ stage ring[GEMM_STAGES];
    struct copier<GEMM_2D_TILE> copier = copy_begin<GEMM_2D_TILE>(p, ring);
    fill_ring(p, copier);
    float sum[8][8] = {{0.0f}};
    uint32_t reading = 0, writing = (GEMM_STAGES - 1) * sizeof *ring;
    for (int next = GEMM_DEPTH; next < p.k; next += GEMM_DEPTH) {
        copy_block(p, copier, writing);
        multiply_block(sum, *(const stage *)((const char *)ring + reading));
        writing = reading;
        reading = pipeline_next(reading, sizeof *ring, sizeof ring);
        pipeline_wait<GEMM_STAGES - 2>();
    }
    multiply_block(sum, *(const stage *)((const char *)ring + reading));
    store_sums(p, sum);
}

/* ---- 8 x 16 elements a thread --------------------------------------------------------------------- */

/*  A warp's 64 x 64 elements are 8 x 4 lanes; a lane has 4 rows in each half and 4 columns in each quarter:
 *
 *                 columns 0-15   16-31   32-47   48-63
 *      rows 0-31    8 x 4 lanes, each 4 x 4 elements, four times side by side
 *      rows 32-63   the same again
 *
 *  Bit 0 and bit 2 of the lane say which column, bits 1, 3 and 4 which row. So lanes n and n ^ 1 read the same words of
 * A, n and n ^ 2 the same of B, and the hardware serves 16 lanes at once instead of 8. */
static __device__ __forceinline__ int warp_tile_row() {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    return warp / 4 * 64 + ((lane >> 1 & 1) + (lane >> 3) * 2) * 4;
}

static __device__ __forceinline__ int warp_tile_column() {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    return warp % 4 * 64 + ((lane & 1) + (lane >> 1 & 2)) * 4;
}

/* A lane's part of column k of A and of row k of B. */
struct fragment {
    alignas(16) float a[8], b[16];
};

static __device__ __forceinline__ void read_fragment(struct fragment &to, const struct stage<GEMM_WARP_COLUMNS> &stage,
                                                     int k) {
#pragma unroll
    for (int i = 0; i < 2; i++) {
        *(float4 *)&to.a[4 * i] = *(const float4 *)&stage.a[k][warp_tile_row() + 32 * i];
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
        *(float4 *)&to.b[4 * i] = *(const float4 *)&stage.b[k][warp_tile_column() + 16 * i];
    }
}

/* 128 multiplications on 24 words. */
static __device__ __forceinline__ void multiply_fragment(float sum[8][16], const struct fragment &with) {
#pragma unroll
    for (int i = 0; i < 8; i++) {
#pragma unroll
        for (int j = 0; j < 16; j++) {
            sum[i][j] += with.a[i] * with.b[j];
        }
    }
}

/* Step 11. A warp computes a square of 64 x 64 and a thread 8 x 16 of it: 6 loads of 16 bytes feed 128 FFMA instead of
 * 4 that feed 64. The next fragment is read while this one is multiplied, the first of a k-block before the last of
 * the block before it, so that no FFMA waits for shared memory. */
extern "C" __global__ void __launch_bounds__(GEMM_2D_THREADS) lab_gemm_warp_tile(const struct gemm_fp32 p) {
    using stage = struct stage<GEMM_WARP_COLUMNS>;
    __shared__ stage ring[GEMM_STAGES];
    struct copier<GEMM_WARP_COLUMNS> copier = copy_begin<GEMM_WARP_COLUMNS>(p, ring);
    fill_ring(p, copier);
    float sum[8][16] = {{0.0f}};
    struct fragment fragment[2];
    uint32_t reading = 0, writing = (GEMM_STAGES - 1) * sizeof *ring;
    read_fragment(fragment[0], ring[0], 0);
    for (int first = 0; first < p.k; first += GEMM_DEPTH) {
        copy_block(p, copier, writing);
#pragma unroll
        for (int k = 0; k < GEMM_DEPTH; k++) {
            const int next = (k + 1) % GEMM_DEPTH;
            if (next == 0) {
                writing = reading;
                reading = pipeline_next(reading, sizeof *ring, sizeof ring);
                pipeline_wait<GEMM_STAGES - 2>();
            }
            read_fragment(fragment[next % 2], *(const stage *)((const char *)ring + reading), next);
            multiply_fragment(sum, fragment[k % 2]);
        }
    }
#pragma unroll
    for (int i = 0; i < 32; i++) {
        const int row = blockIdx.y * GEMM_2D_TILE + warp_tile_row() + i / 16 * 32 + i / 4 % 4;
        const int column = blockIdx.x * GEMM_WARP_COLUMNS + warp_tile_column() + i % 4 * 16;
        store_four(p, row, column, &sum[i / 4][i % 4 * 4]);
    }
}
