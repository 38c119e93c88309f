/* SPDX-License-Identifier: Apache-2.0 */
/* The fp32 GEMM ladder, last part: a ring of stages filled by cp.async. What limits these steps is the rate at which an
 * SM issues instructions, 4 a clock: everything that is no FFMA takes a place from one. */
#include "gemm_fp32_square.cuh"

#include "sm80/pipeline.cuh"

/* ---- copies --------------------------------------------------------------------------------------- */

/* A k-block as cp.async brings it, both by rows: 16 bytes cannot be turned on the way, and 4 at a time would be four
 * times the instructions. So a thread that wants columns of A reads four neighbouring ones at once. */
struct alignas(16) stage {
    float a[GEMM_2D_TILE][GEMM_DEPTH], b[GEMM_DEPTH][GEMM_2D_TILE];
};

/* Thread t copies the t-th 16 bytes of A's tile and of B's, and every THREADS-th after them:
 *     A: row q / 2, columns 4 * (q % 2) ..     B: row q / 32, columns 4 * (q % 32) ..     q = t, t + THREADS, ..
 * Rows of A and columns of B that do not exist are taken from the last one that does: they end in elements of C that
 * are never stored. Only along k must the copies stop where the matrix does, and fill up with zeros. */
template <int THREADS> struct copier {
    static constexpr int copies = GEMM_2D_TILE * GEMM_DEPTH / 4 / THREADS;
    int a[copies], b; /* its first elements of the next k-block, counted from the matrices' first */
    int k_left;       /* columns of A, and rows of B, from there on */
    uint32_t to;      /* shared address of its first 16 bytes in stage 0 */
};

template <int THREADS>
static __device__ __forceinline__ struct copier<THREADS> copy_begin(const struct gemm_fp32 &p,
                                                                    const struct stage *ring) {
    const int t = threadIdx.x, row = blockIdx.y * GEMM_2D_TILE + t / 2;
    const int column = min((int)blockIdx.x * GEMM_2D_TILE + t % 32 * 4, (p.n - 1) / 4 * 4);
    struct copier<THREADS> c;
#pragma unroll
    for (int i = 0; i < c.copies; i++) {
        c.a[i] = min(row + i * THREADS / 2, p.m - 1) * p.a_pitch + t % 2 * 4;
    }
    c.b = t / 32 * p.b_pitch + column;
    c.k_left = p.k;
    c.to = (uint32_t)__cvta_generic_to_shared(ring) + t * 16;
    return c;
}

/* The next k-block, into the stage that begins `stage` bytes into the ring. */
template <int THREADS>
static __device__ __forceinline__ void copy_block(const struct gemm_fp32 &p, struct copier<THREADS> &c,
                                                  uint32_t stage) {
    const int t = threadIdx.x, a_left = c.k_left - t % 2 * 4, b_left = c.k_left - t / 32;
#pragma unroll
    for (int i = 0; i < c.copies; i++) {
        const uint32_t to = c.to + stage + i * THREADS * 16;
        cp_async_cg_16(to, (uint64_t)(p.a + c.a[i]), min(max(a_left, 0), 4) * 4);
        cp_async_cg_16(to + sizeof(float[GEMM_2D_TILE][GEMM_DEPTH]),
                       (uint64_t)(p.b + c.b + i * THREADS / 32 * p.b_pitch), b_left > i * THREADS / 32 ? 16 : 0);
        c.a[i] += GEMM_DEPTH;
    }
    c.b += GEMM_DEPTH * p.b_pitch;
    c.k_left -= GEMM_DEPTH;
}

/* ---- 8 x 8 elements a thread ---------------------------------------------------------------------- */

/* Four columns of the stage at a time: 8 loads bring them for a thread's 8 rows of A, as many as four columns of a
 * turned tile take. */
static __device__ __forceinline__ void multiply_stage(float sum[8][8], const struct stage &stage) {
    const int row = threadIdx.x / 16 * 4;
#pragma unroll
    for (int first = 0; first < GEMM_DEPTH; first += 4) {
        alignas(16) float a[8][4], b[8];
#pragma unroll
        for (int i = 0; i < 8; i++) {
            *(float4 *)a[i] = *(const float4 *)&stage.a[row + i % 4 + i / 4 * 64][first];
        }
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const float column[8] = {a[0][k], a[1][k], a[2][k], a[3][k], a[4][k], a[5][k], a[6][k], a[7][k]};
            read_fours(b, stage.b[first + k], threadIdx.x % 16);
            multiply_fragments(sum, column, b);
        }
    }
}

/* Step 10. cp.async writes shared memory without passing through registers, three k-blocks ahead of the one that is
 * multiplied. The last is multiplied behind the loop, as in step 9: in the loop, ptxas then finds registers with which
 * fewer FFMA read one register bank three times. */
extern "C" __global__ void __launch_bounds__(GEMM_2D_THREADS, 2) lab_gemm_cp_async(const struct gemm_fp32 p) {
    __shared__ struct stage ring[GEMM_STAGES];
    struct copier<GEMM_2D_THREADS> copier = copy_begin<GEMM_2D_THREADS>(p, ring);
    for (uint32_t i = 0; i < GEMM_STAGES - 1; i++) {
        copy_block(p, copier, i * sizeof *ring);
        pipeline_commit();
    }
    float sum[8][8] = {{0.0f}};
    uint32_t reading = 0, writing = (GEMM_STAGES - 1) * sizeof *ring;
    pipeline_wait<GEMM_STAGES - 2>();
    for (int next = GEMM_DEPTH; next < p.k; next += GEMM_DEPTH) {
        copy_block(p, copier, writing);
        pipeline_commit();
        multiply_stage(sum, *(const struct stage *)((const char *)ring + reading));
        writing = reading;
        reading = pipeline_next(reading, sizeof *ring, sizeof ring);
        pipeline_wait<GEMM_STAGES - 2>();
    }
    multiply_stage(sum, *(const struct stage *)((const char *)ring + reading));
    store_sums(p, sum);
}

/* ---- 8 x 16 elements a thread --------------------------------------------------------------------- */

/*  A warp's 64 x 64 elements are 8 x 4 lanes; a lane has every 8th row, and 4 columns in each quarter:
 *
 *                          columns 0-15   16-31   32-47   48-63
 *      rows 0-7              8 x 4 lanes, each 1 x 4 elements, four times side by side
 *      rows 8-15 .. 56-63    the same again, seven times
 *
 *  Bit 0 and bit 2 of the lane say which columns, bits 1, 3 and 4 which row. So lanes n and n ^ 1 read the same words
 * of A, n and n ^ 2 the same of B, and the hardware serves 16 lanes at once instead of 8. The 4 rows of A that 16 lanes
 * read lie side by side, 8 words apart: 16 bytes of each are 16 banks. */
static __device__ __forceinline__ int warp_tile_row() {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    return warp / 2 * 64 + (lane >> 1 & 1) + (lane >> 3) * 2;
}

static __device__ __forceinline__ int warp_tile_column() {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    return warp % 2 * 64 + ((lane & 1) + (lane >> 1 & 2)) * 4;
}

/* Columns 4 * four .. of a lane's 8 rows of A. */
struct rows {
    alignas(16) float a[8][4];
};

static __device__ __forceinline__ void read_rows(struct rows &to, const struct stage &stage, int four) {
#pragma unroll
    for (int i = 0; i < 8; i++) {
        *(float4 *)to.a[i] = *(const float4 *)&stage.a[warp_tile_row() + 8 * i][4 * four];
    }
}

/* Row k of a lane's 16 columns of B. */
struct columns {
    alignas(16) float b[16];
};

static __device__ __forceinline__ void read_columns(struct columns &to, const struct stage &stage, int k) {
#pragma unroll
    for (int i = 0; i < 4; i++) {
        *(float4 *)&to.b[4 * i] = *(const float4 *)&stage.b[k][warp_tile_column() + 16 * i];
    }
}

/* 128 multiplications on 24 words. */
static __device__ __forceinline__ void multiply_column(float sum[8][16], const struct rows &rows, int k,
                                                       const struct columns &columns) {
#pragma unroll
    for (int i = 0; i < 8; i++) {
#pragma unroll
        for (int j = 0; j < 16; j++) {
            sum[i][j] += rows.a[i][k] * columns.b[j];
        }
    }
}

/* Step 11. A warp computes a square of 64 x 64 and a thread 8 x 16 of it: 6 loads of 16 bytes feed 128 FFMA instead of
 * 4 that feed 64. What the next multiplications need is read during these, the first of a k-block before the last of
 * the block before it, so that no FFMA waits for shared memory.
 *
 * Prediction, by issue slots: of the 1119 instructions that a warp has to issue for a k-block on sm_90, 1024 are FFMA,
 * 48 LDS, 4 LDGSTS and the rest addresses, barrier and loop: 92 % of the FFMA peak while the CTAs run. 1024 CTAs on 2
 * x 132 places are 3.88 of 4 waves, 97 % of that: 89 %. Shared memory serves a column of A and a row of B in 12
 * wavefronts, as before, and FFMA now has 32 clocks of work with them instead of 16. */
extern "C" __global__ void __launch_bounds__(GEMM_WARP_THREADS, 2) lab_gemm_warp_tile(const struct gemm_fp32 p) {
    __shared__ struct stage ring[GEMM_STAGES];
    struct copier<GEMM_WARP_THREADS> copier = copy_begin<GEMM_WARP_THREADS>(p, ring);
    for (uint32_t i = 0; i < GEMM_STAGES - 1; i++) {
        copy_block(p, copier, i * sizeof *ring);
        pipeline_commit();
    }
    pipeline_wait<GEMM_STAGES - 2>();
    float sum[8][16] = {{0.0f}};
    struct rows rows[2];
    struct columns columns[2];
    uint32_t reading = 0, writing = (GEMM_STAGES - 1) * sizeof *ring;
    read_rows(rows[0], ring[0], 0);
    read_columns(columns[0], ring[0], 0);
    for (int first = 0; first < p.k; first += GEMM_DEPTH) {
        copy_block(p, copier, writing);
        pipeline_commit();
#pragma unroll
        for (int k = 0; k < GEMM_DEPTH; k++) {
            const int next = (k + 1) % GEMM_DEPTH;
            if (next == 0) {
                writing = reading;
                reading = pipeline_next(reading, sizeof *ring, sizeof ring);
                pipeline_wait<GEMM_STAGES - 2>();
            }
            const struct stage &stage = *(const struct stage *)((const char *)ring + reading);
            if (next % 4 == 0) {
                read_rows(rows[next / 4], stage, next / 4);
            }
            read_columns(columns[next % 2], stage, next);
            multiply_column(sum, rows[k / 4], k % 4, columns[k % 2]);
        }
    }
#pragma unroll
    for (int i = 0; i < 32; i++) {
        const int row = blockIdx.y * GEMM_2D_TILE + warp_tile_row() + i / 4 * 8;
        const int column = blockIdx.x * GEMM_2D_TILE + warp_tile_column() + i % 4 * 16;
        store_four(p, row, column, &sum[i / 4][i % 4 * 4]);
    }
}
