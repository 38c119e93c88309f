/* SPDX-License-Identifier: Apache-2.0 */
/* multiply_piece(): the ring -> accumulators, by FFMA. It also loads the k-blocks to come.
 *
 * A step is 4 of K. In a step a thread holds its fragment of A, THREAD_M rows x 4 of K, and multiplies it with 16-byte
 * chunks of B as they come: of a K-major B one column x 4 of K, of an MN-major one 4 columns x 1 of K. Either way a
 * step is THREAD_M loads of A, THREAD_N of B, and 4 THREAD_M FFMAs behind each of these. Every element of D is summed
 * in the order of K. */
#ifndef GM_SM80_GEMM_FP32_MULTIPLY_CUH
#define GM_SM80_GEMM_FP32_MULTIPLY_CUH

#include "common/index.cuh"
#include "common/shared.cuh"
#include "sm80/gemm_fp32/constants.cuh"
#include "sm80/gemm_fp32/load.cuh"
#include "sm80/gemm_fp32/place.cuh"
#include "sm80/pipeline.cuh"

struct fragment {
    float a[STEP_K][THREAD_M];
};

/* One 16-byte chunk of B. */
struct chunk {
    float x[4];
};

/* This thread's chunk `number` of a step; `size`: THREAD_M or THREAD_N. `lane_addr` is of its chunk 0 of step 0. */
static __device__ __forceinline__ struct chunk load_chunk(struct operand_shape shape, uint32_t lane_addr, int size,
                                                          int step, int number) {
    struct chunk c;
    const int groups = size / 4;
    const uint32_t addr =
        shape.mn_major ? place_move(shape, lane_addr, step * STEP_K + number / groups, number % groups * shape.lanes)
                       : place_move(shape, lane_addr, number / 4 * 4 * shape.lanes + number % 4 * shape.lanes, step);
    ld_shared_v4(addr, c.x[0], c.x[1], c.x[2], c.x[3]);
    return c;
}

/* Loads chunk `number` of A's fragment. */
static __device__ __forceinline__ void load_fragment(struct fragment &f, uint32_t lane_addr, int step, int number) {
    const struct chunk c = load_chunk(shape_a(), lane_addr, THREAD_M, step, number);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        if (A_MN)
            f.a[number / (THREAD_M / 4)][number % (THREAD_M / 4) * 4 + i] = c.x[i];
        else
            f.a[i][number] = c.x[i];
    }
}

static __device__ __forceinline__ void multiply_chunk(float (&acc)[THREAD_M][THREAD_N], const struct fragment &f,
                                                      const struct chunk &b, int number) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const int k = B_MN ? number / (THREAD_N / 4) : i;
        const int column = B_MN ? number % (THREAD_N / 4) * 4 + i : number;
#pragma unroll
        for (int row = 0; row < THREAD_M; ++row)
            acc[row][column] = fmaf(f.a[k][row], b.x[i], acc[row][column]);
    }
}

/* Where a thread is in the ring. */
struct ring {
    uint32_t a_lane, b_lane; /* addresses of its first chunks in a stage at 0 */
    uint32_t read, next;     /* offsets of the stage that is multiplied, and of the next */
    uint32_t write;          /* of the one that is filled */
};

/* Fragments on their way from the ring: A's of this step and of the next, B's chunks of this step. */
struct fragments {
    struct fragment a[1 + PREFETCHES];
    struct chunk b[AHEAD];
};

static __device__ __forceinline__ void load_step(struct fragments &f, const struct ring &r, int step) {
#pragma unroll
    for (int i = 0; i < THREAD_M; ++i)
        load_fragment(f.a[0], r.a_lane + r.read, step, i);
#pragma unroll
    for (int i = 0; i < AHEAD; ++i)
        f.b[i] = load_chunk(shape_b(), r.b_lane + r.read, THREAD_N, step, i);
}

/* Multiplies a step, whose fragment of A and first chunks of B have been loaded. With its last chunks of B it loads
 * the same of the next step: `read` is there that step's stage. */
static __device__ __forceinline__ void multiply_step(float (&acc)[THREAD_M][THREAD_N], struct fragments &f,
                                                     struct ring &r, int step, int which) {
    const int next = (step + 1) % STEPS;
#pragma unroll
    for (int i = 0; i < THREAD_N; ++i) {
        const struct chunk b = f.b[i % AHEAD];
        const int behind = i + AHEAD - THREAD_N; /* from 0 on: the loads are the next step's */
        if (behind == 0 && next == 0 && PREFETCHES) {
            pipeline_wait<STAGES - 2>();
            r.read = r.next;
        }
        if (behind < 0)
            f.b[i % AHEAD] = load_chunk(shape_b(), r.b_lane + r.read, THREAD_N, step, i + AHEAD);
        else if (PREFETCHES) {
            f.b[i % AHEAD] = load_chunk(shape_b(), r.b_lane + r.read, THREAD_N, next, behind);
#pragma unroll
            for (int j = 0; j < THREAD_M / AHEAD; ++j)
                load_fragment(f.a[1 - which], r.a_lane + r.read, next, behind * (THREAD_M / AHEAD) + j);
        }
        multiply_chunk(acc, f.a[PREFETCHES ? which : 0], b, i);
    }
}

/* Multiplies k-blocks [block, end) of the tile: the piece that begin_piece() began. */
static __device__ __forceinline__ void multiply_piece(float (&acc)[THREAD_M][THREAD_N],
                                                      const struct gm_gemm_sm80_params &p, struct operand &a,
                                                      struct operand &b, int block, int end) {
    const uint32_t base = (uint32_t)__cvta_generic_to_shared(smem);
    const int full_end = full_end_of(p, end, a.mn, b.mn), lane = thread_index() % 32;
    const int warp_m = thread_index() / 32 / WARPS_N * WARP_M, warp_n = thread_index() / 32 % WARPS_N * WARP_N;
    struct ring r;
    r.a_lane = base + (A_MN ? place_of(shape_a(), 0, warp_m / 4 + lane_m(lane))
                            : place_of(shape_a(), warp_m + lane_m(lane), 0));
    r.b_lane = base + (B_MN ? place_of(shape_b(), 0, warp_n / 4 + lane_n(lane))
                            : place_of(shape_b(), warp_n + lane_n(lane), 0));
    r.read = 0;
    r.write = (STAGES - 1) * STAGE_BYTES;
    struct fragments f;
    if (PREFETCHES && block < end) {
        pipeline_wait<STAGES - 2>();
        load_step(f, r, 0);
    }
#pragma unroll 1
    for (; block < end; ++block) {
        if (!PREFETCHES)
            pipeline_wait<STAGES - 2>();
        load_block(p, a, b, block + STAGES - 1, full_end, end, r.write);
        r.write = pipeline_next(r.write, STAGE_BYTES, RING_BYTES);
        /* Behind the last k-block nothing has been loaded: its own stage is read again, to no end. */
        r.next = block + 1 < end ? pipeline_next(r.read, STAGE_BYTES, RING_BYTES) : r.read;
#pragma unroll 1
        for (int first = 0; first < STEPS; first += UNROLLED)
#pragma unroll
            for (int i = 0; i < UNROLLED; ++i) {
                if (!PREFETCHES)
                    load_step(f, r, first + i);
                multiply_step(acc, f, r, first + i, i % 2);
            }
        r.read = r.next;
    }
    pipeline_wait<0>();
}

#endif
