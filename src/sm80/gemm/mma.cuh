/* SPDX-License-Identifier: Apache-2.0 */
/* mma_piece(): the ring -> accumulators, by ldmatrix and mma.sync. It also loads the k-blocks to come. */
#ifndef GM_SM80_GEMM_MMA_CUH
#define GM_SM80_GEMM_MMA_CUH

#include "common/convert.cuh"
#include "common/gemm/split.cuh"
#include "common/index.cuh"
#include "common/shared.cuh"
#include "sm80/gemm/constants.cuh"
#include "sm80/gemm/decode.cuh"
#include "sm80/gemm/load.cuh"
#include "sm80/gemm/swizzle.cuh"
#include "sm80/ldmatrix.cuh"
#include "sm80/mma_m16n8.cuh"
#include "sm80/pipeline.cuh"

struct fragments {
    uint32_t a[BLOCKS_M][4], b[BLOCKS_N][4];
};

/* Loads a block of MN-major tf32 one element a lane: element i is 8 i % 16 further along MN and 4 (i / 2) along K, the
 * order of an A fragment, or with `k_first` the other way round. */
static __device__ __forceinline__ void load_turned(struct operand_shape shape, uint32_t (&fragment)[4],
                                                   uint32_t lane_addr, int mn, int k, bool k_first) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const int mn_half = k_first ? i / 2 : i % 2, k_half = k_first ? i % 2 : i / 2;
        fragment[i] =
            ld_shared_b32(swizzle_block(MAP, shape.row_elems, 1, lane_addr, mn + 8 * mn_half, k + 4 * k_half));
    }
}

/* Loads a block of 16 rows and a k-step of an operand; `lane_addr` is the lane's address in block (0, 0) of the warp.
 * mma.sync takes no notice of the low bits of tf32, so they are rounded off here. */
static __device__ __forceinline__ void load_fragment(struct operand_shape shape, uint32_t (&fragment)[4],
                                                     uint32_t lane_addr, int mn, int k, bool k_first) {
    const uint32_t shared_addr = swizzle_block(MAP, shape.row_elems, shape.mn_major, lane_addr, mn, k);
    if (shape.mn_major && !IS_HALF)
        load_turned(shape, fragment, lane_addr, mn, k, k_first);
    else if (shape.mn_major)
        ldmatrix_x4_trans(fragment, shared_addr);
    else
        ldmatrix_x4(fragment, shared_addr);
    if (TYPE == GM_TYPE_tf32)
#pragma unroll
        for (int i = 0; i < 4; ++i)
            fragment[i] = cvt_rna_tf32_f32(__uint_as_float(fragment[i]));
}

/* Loads the warp's fragments of k-step `step`. */
static __device__ __forceinline__ void load_fragments(struct fragments &f, uint32_t a_addr, uint32_t b_addr, int step) {
#pragma unroll
    for (int i = 0; i < BLOCKS_M || i < BLOCKS_N; ++i) {
        if (i < BLOCKS_N)
            load_fragment(shape_b(), f.b[i], b_addr, i * 16, step * K_STEP, true);
        if (i < BLOCKS_M)
            load_fragment(shape_a(), f.a[i], a_addr, i * 16, step * K_STEP, false);
    }
}

/* One mma.sync of the operands' type. */
static __device__ __forceinline__ void mma_step(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    if (TYPE == GM_TYPE_tf32 || IS_SPLIT)
        mma_m16n8k8_tf32(d, a, b0, b1);
    else if (TYPE == GM_TYPE_bf16)
        mma_m16n8k16_bf16(d, a, b0, b1);
    else
        mma_m16n8k16_f16(d, a, b0, b1);
}
static __device__ __forceinline__ void mma_step(int32_t (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    mma_m16n8k32_s8(d, a, b0, b1);
}

/* Multiplies 16 rows of the warp's tile, block row `i`. Even block rows run right and odd ones left, so that
 * consecutive instructions share a fragment. */
static __device__ __forceinline__ void mma_block_row(sum_t (&acc)[2 * BLOCKS_N][4], const struct fragments &f, int i) {
#pragma unroll
    for (int n = 0; n < 2 * BLOCKS_N; ++n) {
        const int j = i % 2 ? 2 * BLOCKS_N - 1 - n : n;
        mma_step(acc[j], f.a[i], f.b[j / 2][j % 2 * 2], f.b[j / 2][j % 2 * 2 + 1]);
    }
}

/* What a step's fragments of B are split into, of tf32x3. Those of A are split row by row, for want of registers. */
struct b_halves {
    uint32_t big[BLOCKS_N][4], small[BLOCKS_N][4];
};

static __device__ __forceinline__ void split_b(struct b_halves &b, const struct fragments &f) {
#pragma unroll
    for (int n = 0; n < BLOCKS_N; ++n)
#pragma unroll
        for (int i = 0; i < 4; ++i)
            split(f.b[n][i], b.big[n][i], b.small[n][i]);
}

/* The same of tf32x3: tensor cores, which cut off as they add, add up a k-step at most, the small products first. FADD
 * adds the k-steps. */
static __device__ __forceinline__ void mma_block_row(float (&acc)[2 * BLOCKS_N][4], const uint32_t (&a)[4],
                                                     const struct b_halves &b) {
    uint32_t big[4], small[4];
#pragma unroll
    for (int i = 0; i < 4; ++i)
        split(a[i], big[i], small[i]);
#pragma unroll
    for (int j = 0; j < 2 * BLOCKS_N; ++j) {
        const uint32_t *const b_big = &b.big[j / 2][j % 2 * 2], *const b_small = &b.small[j / 2][j % 2 * 2];
        float sums[4] = {};
        mma_step(sums, big, b_small[0], b_small[1]);
        mma_step(sums, small, b_big[0], b_big[1]);
        mma_step(sums, big, b_big[0], b_big[1]);
#pragma unroll
        for (int e = 0; e < 4; ++e)
            acc[j][e] += sums[e];
    }
}
static __device__ __forceinline__ void mma_block_row(int32_t (&)[2 * BLOCKS_N][4], const uint32_t (&)[4],
                                                     const struct b_halves &) {}

/* A word of an operand, which in kernels of e5m2 is of either type. */
static __device__ __forceinline__ void decode(const struct operand &from, uint32_t word, uint32_t &even,
                                              uint32_t &odd) {
    if (IS_MIXED)
        decode_word(word, from.bits, even, odd);
    else
        decode_word(word, even, odd);
}

/* Multiplies half a k-step of fp8, which is a k-step of fp16: of a word of four neighbours along K bytes 0 and 2 take fp16's
 * k = 2q and 2q + 1, and bytes 1 and 3 k = 2q + 8 and 2q + 9, in A and in B alike. */
static __device__ __forceinline__ void mma_decoded(sum_t (&acc)[BLOCKS_M][2 * BLOCKS_N][4], const struct fragments &f,
                                                   const struct operand &of_a, const struct operand &of_b, int half) {
    uint32_t b[2 * BLOCKS_N][2], a[4];
#pragma unroll
    for (int j = 0; j < 2 * BLOCKS_N; ++j)
        decode(of_b, f.b[j / 2][j % 2 * 2 + half], b[j][0], b[j][1]);
#pragma unroll
    for (int i = 0; i < BLOCKS_M; ++i) {
        decode(of_a, f.a[i][2 * half], a[0], a[2]);
        decode(of_a, f.a[i][2 * half + 1], a[1], a[3]);
#pragma unroll
        for (int j = 0; j < 2 * BLOCKS_N; ++j)
            mma_step(acc[i][j], a, b[j][0], b[j][1]);
    }
}

/* The sums of decoded products as those of fp8. */
static __device__ __forceinline__ void scale_decoded(sum_t (&acc)[BLOCKS_M][2 * BLOCKS_N][4]) {
    constexpr float unit = IS_MIXED ? GM_MOVED_E4M3_UNIT : GM_E4M3_AS_F16_UNIT * GM_E4M3_AS_F16_UNIT;
#pragma unroll
    for (int i = 0; i < BLOCKS_M; ++i)
#pragma unroll
        for (int j = 0; j < 2 * BLOCKS_N; ++j)
#pragma unroll
            for (int r = 0; r < 4; ++r)
                acc[i][j][r] *= unit;
}

/* Whether fragments are loaded by ld.shared, which should not read what no copy has written. */
enum { LOADS_TURNED = !IS_HALF && (A_MN || B_MN) };

/* Multiplies the k-steps of one stage, and issues between them the copies of the k-block STAGES - 1 further on. Each
 * step loads the fragments of the next step; the last step loads them from the next stage, after waiting for it. `more`:
 * there is a next stage; else ldmatrix loads anything. */
static __device__ __forceinline__ void mma_stage(sum_t (&acc)[BLOCKS_M][2 * BLOCKS_N][4], struct fragments (&f)[2],
                                                 uint32_t a_lane, uint32_t b_lane, struct operand &a, struct operand &b,
                                                 bool whole, bool more, uint32_t &read, uint32_t write) {
#pragma unroll
    for (int step = 0; step < K_STEPS; ++step) {
        if (IS_DECODED) /* before there are two sets of fragments, for want of registers */
            mma_decoded(acc, f[step % 2], a, b, 0);
        if (step == K_STEPS - 1) {
            pipeline_commit();
            pipeline_wait<STAGES - 2>();
            read = pipeline_next(read, STAGE_BYTES, RING_BYTES);
        }
        if (!LOADS_TURNED || more || step < K_STEPS - 1)
            load_fragments(f[(step + 1) % 2], a_lane + read, b_lane + read, (step + 1) % K_STEPS);
        if (step < K_STEPS - 1) {
            load_part(shape_a(), a, whole, write, step, K_STEPS - 1);
            load_part(shape_b(), b, whole, write, step, K_STEPS - 1);
        }
        if (IS_DECODED) {
            mma_decoded(acc, f[step % 2], a, b, 1);
            continue;
        }
        struct b_halves b_halves;
        if (IS_SPLIT)
            split_b(b_halves, f[step % 2]);
#pragma unroll
        for (int i = 0; i < BLOCKS_M; ++i)
            if (IS_SPLIT)
                mma_block_row(acc[i], f[step % 2].a[i], b_halves);
            else
                mma_block_row(acc[i], f[step % 2], i);
    }
}

/* Multiplies k-blocks [block, end) of the tile: the piece that begin_piece() began. */
static __device__ __forceinline__ void mma_piece(sum_t (&acc)[BLOCKS_M][2 * BLOCKS_N][4], struct operand &a,
                                                 struct operand &b, int block, int end) {
    const int thread = thread_index(), lane = thread % 32;
    const int k_part = WARP_K > 1 ? thread / TILE_THREADS : 0, k = k_part * K_STEPS * K_STEP;
    const int warp = thread / 32 - k_part * (TILE_THREADS / 32);
    const uint32_t ring = (uint32_t)__cvta_generic_to_shared(smem);
    const uint32_t a_lane =
        ring + shape_a().start_bytes + swizzle_lane(MAP, A_ROW_ELEMS, A_MN, 0, warp / WARPS_N * WARP_M, k, lane);
    const uint32_t b_lane =
        ring + shape_b().start_bytes + swizzle_lane(MAP, B_ROW_ELEMS, B_MN, 1, warp % WARPS_N * WARP_N, k, lane);
    uint32_t read = 0, write = (STAGES - 1) * STAGE_BYTES;
    struct fragments f[2];
    pipeline_wait<STAGES - 2>();
    if (!LOADS_TURNED || block < end)
        load_fragments(f[0], a_lane, b_lane, 0);
    /* Most k-blocks of a tile inside D need no branch and no predicate: all their chunks are full. */
    const bool whole = a.mn_left >= TILE_M && b.mn_left >= TILE_N;
    const int full_end = whole ? min(min(a.full_chunk_blocks, b.full_chunk_blocks), end) - (STAGES - 1) : 0;
#pragma unroll 1
    for (; block < full_end; ++block) {
        mma_stage(acc, f, a_lane, b_lane, a, b, true, true, read, write);
        write = pipeline_next(write, STAGE_BYTES, RING_BYTES);
    }
    struct unaligned_block unaligned;
    if (DEFERS_STORES && min(a.vector, b.vector) == ELEM_BYTES)
#pragma unroll 1
        for (; block < end; ++block) {
            load_begin<true>(a, b, block + STAGES - 1, end, write, unaligned);
            mma_stage(acc, f, a_lane, b_lane, a, b, false, block + 1 < end, read, write);
            load_end(a, b, write, unaligned);
            write = pipeline_next(write, STAGE_BYTES, RING_BYTES);
        }
#pragma unroll 1
    for (; block < end; ++block) {
        load_begin<false>(a, b, block + STAGES - 1, end, write, unaligned);
        mma_stage(acc, f, a_lane, b_lane, a, b, false, block + 1 < end, read, write);
        write = pipeline_next(write, STAGE_BYTES, RING_BYTES);
    }
    pipeline_wait<0>();
    if (IS_DECODED)
        scale_decoded(acc);
}

#endif
