/* SPDX-License-Identifier: Apache-2.0 */
/* tf32x3: split_stages() of the splitters, and a consumer's mma_split_tile(), the ring -> accumulators, where three products
 * of tf32 make one of fp32.
 *
 * An element is big + small, see split.cuh. A B becomes
 *
 *   big(M side) small(N side) + small(M side) big(N side) + big(M side) big(N side)
 *
 * The fourth product is left out: it is at most 2^-22 of the third. Every consumer splits its rows of the M side on their
 * way to registers, which wgmma takes them from. A warpgroup of its own, the splitters, splits the N side in place:
 * its big halves overwrite it in the stage, its small halves follow behind the stage.
 *
 *   producer            splitters                    consumer
 *   (TMA) -> full[s]    wait full[s]                 wait full[s], split the M side
 *                       split the N side -> split[s] wait split[s], multiply -> empty[s]
 *
 * Tensor cores cut off as they add, always towards zero. So wgmma adds up no more than a k-block, and FADD, which rounds
 * to nearest, adds the k-blocks. While one consumer does that, the tensor cores have another's k-block. */
#ifndef GM_SM90_GEMM_MMA_SPLIT_CUH
#define GM_SM90_GEMM_MMA_SPLIT_CUH

#include "common/gemm/split.cuh"
#include "common/gemm_sm90/params.h"
#include "common/shared.cuh"
#include "sm80/ldmatrix.cuh"
#include "sm90/gemm/constants.cuh"
#include "sm90/gemm/mma.cuh"
#include "sm90/gemm/walk.cuh"
#include "sm90/mbarrier.cuh"
#include "sm90/pipeline.cuh"
#include "sm90/tma.cuh"
#include "sm90/wgmma.cuh"
#include "sm90/wgmma_tf32_rs_shapes.cuh"

enum {
    SPLIT_N = IS_SPLIT ? WGMMA_N : 16,   /* else none */
    SPLITTERS = 128,                     /* threads of the last warpgroup */
    SPLIT_CHUNKS = WGMMA_N * TILE_K / 4, /* of 16 bytes, of the N side of a stage */
    CHUNKS_TOGETHER =
        SPLIT_CHUNKS / SPLITTERS < 4 ? SPLIT_CHUNKS / SPLITTERS : 4, /* that a splitter has in registers */
};
static_assert(!IS_SPLIT || (TILE_K * ELEM_BYTES == SPAN && SPAN == 128), "a row of a stage is a span");
static_assert(!IS_SPLIT || SPLIT_CHUNKS % (SPLITTERS * CHUNKS_TOGETHER) == 0, "every splitter has as many chunks");

/* The mbarrier on which the splitters say that a stage's N side is split: one behind the others for each slot. */
static __device__ __forceinline__ uint32_t split_barrier_addr(uint32_t base, uint32_t slot) {
    return partials_barrier_addr(base, CONSUMERS) + 8 * slot;
}

/* ---- before the first stage -------------------------------------------------------------------------- */

/* Zeros rows from..to of an operand in a stage, with all threads. */
static __device__ __forceinline__ void zero_rows(uint32_t addr, int from, int to) {
    const uint32_t zeros[4] = {};
    for (int chunk = from * (SPAN / 16) + threadIdx.x; chunk < to * (SPAN / 16); chunk += THREADS)
        st_shared_v4_b32(addr + chunk * 16, zeros);
}

/* Zeros what the boxes of the last tiles leave out of a stage: it is split as well. Needs no other kernel's results; a
 * barrier has to follow. */
static __device__ __forceinline__ void zero_ring_outside(const struct gm_gemm_sm90_params &p, uint32_t base) {
    for (int stage = 0; stage < STAGES; ++stage) {
        zero_rows(base + stage * STAGE_BYTES, p.a_tiles.rows ? p.a_tiles.rows : TILE_M, TILE_M);
        zero_rows(base + stage * STAGE_BYTES + A_BYTES, p.b_tiles.rows ? p.b_tiles.rows : TILE_N, TILE_N);
    }
    fence_proxy_async();
}

/* ---- splitters: the N side --------------------------------------------------------------------------- */

/* Splits this thread's chunks of a stage. Both halves lie as the whole does, whatever its swizzle. */
static __device__ __forceinline__ void split_n_side(uint32_t stage_addr, uint32_t splitter) {
    const uint32_t from = n_side_addr(stage_addr) + splitter * 16, to = stage_addr + LOADED_BYTES + splitter * 16;
#pragma unroll
    for (int chunk = 0; chunk < SPLIT_CHUNKS / SPLITTERS; chunk += CHUNKS_TOGETHER) {
        uint32_t x[CHUNKS_TOGETHER][4];
#pragma unroll
        for (int i = 0; i < CHUNKS_TOGETHER; ++i)
            ld_shared_v4_b32(from + (chunk + i) * SPLITTERS * 16, x[i]);
#pragma unroll
        for (int i = 0; i < CHUNKS_TOGETHER; ++i) {
            uint32_t big[4], small[4];
#pragma unroll
            for (int j = 0; j < 4; ++j)
                split(x[i][j], big[j], small[j]);
            st_shared_v4_b32(from + (chunk + i) * SPLITTERS * 16, big);
            st_shared_v4_b32(to + (chunk + i) * SPLITTERS * 16, small);
        }
    }
}

/* Splits the N side of every k-block of every piece of this CTA's walk. */
static __device__ __forceinline__ void split_stages(const struct gm_gemm_sm90_params &p, uint32_t base, uint32_t rank,
                                                    uint32_t splitter) {
    const struct pipeline ring = pipeline_at(base);
    struct pipeline_state at = {0, 0};
    int walk = walk_begin(p);
    while (walk_more(p, walk)) {
        struct gm_piece piece;
        walk_next(p, rank, walk, piece);
#pragma unroll 1
        for (; piece.first < piece.end; ++piece.first) {
            pipeline_wait(ring, at);
            split_n_side(base + at.slot * STAGE_BYTES, splitter);
            fence_proxy_async();
            __syncwarp();
            if (splitter % 32 == 0)
                mbarrier_arrive(split_barrier_addr(base, at.slot));
            pipeline_next<STAGES>(at);
        }
    }
}

/* ---- consumers: the M side, and the multiplication --------------------------------------------------- */

/* One warp's 16 rows of the M side of a k-block, as wgmma takes them from registers. */
struct split_fragments {
    uint32_t big[K_STEPS][4], small[K_STEPS][4];
};

/* What a consumer has at hand while it multiplies a tile. */
struct split_context {
    uint32_t base, thread; /* of shared memory; of the warpgroup */
    int row0;              /* of the M side */
};

/* Loads and splits this warp's rows of the M side, once they are there: lane l has the address of row l % 16, of columns
 * 0..3 or 4..7 of a k-step. */
static __device__ __forceinline__ void split_m_side(const struct split_context &c, struct split_fragments &f,
                                                    struct pipeline_state at) {
    const uint32_t row = c.row0 + c.thread / 32 * 16 + c.thread % 16, half = c.thread / 16 % 2;
    const uint32_t row_addr = m_side_addr(c.base + at.slot * STAGE_BYTES) + row * SPAN;
    pipeline_wait(pipeline_at(c.base), at);
#pragma unroll
    for (int k = 0; k < K_STEPS; ++k) {
        uint32_t x[4];
        ldmatrix_x4(x, row_addr + ((2 * k + half) ^ (row % 8)) * 16);
#pragma unroll
        for (int i = 0; i < 4; ++i)
            split(x[i], f.big[k][i], f.small[k][i]);
    }
}

/* Issues the three products of a k-block. The small ones come first, so that what they lose to the tensor cores' cutting
 * off is of their size. */
static __device__ __forceinline__ void issue_products(float (&sums)[SPLIT_N / 2], const struct split_fragments &f,
                                                      uint32_t stage_addr) {
    const uint64_t big = operand_descriptor<0>(n_side_addr(stage_addr));
    const uint64_t small = operand_descriptor<0>(stage_addr + LOADED_BYTES);
    wgmma_fence_operand(sums);
    wgmma_fence();
#pragma unroll
    for (int k = 0; k < K_STEPS; ++k)
        wgmma_m64k8_rs<SPLIT_N>(sums, f.big[k], wgmma_descriptor_advance(small, k * 32), k);
#pragma unroll
    for (int k = 0; k < K_STEPS; ++k)
        wgmma_m64k8_rs<SPLIT_N>(sums, f.small[k], wgmma_descriptor_advance(big, k * 32), 1);
#pragma unroll
    for (int k = 0; k < K_STEPS; ++k)
        wgmma_m64k8_rs<SPLIT_N>(sums, f.big[k], wgmma_descriptor_advance(big, k * 32), 1);
    wgmma_commit_group();
}

/* Multiplies the k-block whose rows of the M side `own` has, and meanwhile splits those of the next into `next`, if there
 * are `more`. */
static __device__ __forceinline__ void mma_split_stage(const struct split_context &c, sum_t (&acc)[ATOM_REGISTERS],
                                                       const struct split_fragments &own, struct split_fragments &next,
                                                       struct pipeline_state &at, bool more) {
    float sums[SPLIT_N / 2];
    const uint32_t slot = at.slot;
    mbarrier_wait(split_barrier_addr(c.base, slot), at.phase);
    issue_products(sums, own, c.base + slot * STAGE_BYTES);
    pipeline_next<STAGES>(at);
    if (more)
        split_m_side(c, next, at);
    wgmma_wait_group<0>();
    wgmma_fence_operand(sums);
    pipeline_release<1>(pipeline_at(c.base), slot, c.thread % 32); /* by every warp */
#pragma unroll
    for (int i = 0; i < SPLIT_N / 2; ++i)
        acc[i] += sums[i];
}

/* Multiplies all k-blocks of one piece, and leaves no wgmma in flight. */
static __device__ __forceinline__ void mma_split_tile(sum_t (&acc)[ATOM_REGISTERS], const struct split_context &c,
                                                      struct pipeline_state &at, int k_blocks) {
    struct split_fragments f[2];
#pragma unroll
    for (int i = 0; i < ATOM_REGISTERS; ++i)
        acc[i] = 0;
    split_m_side(c, f[0], at);
#pragma unroll 1
    for (int left = k_blocks;;) {
        mma_split_stage(c, acc, f[0], f[1], at, left > 1);
        if (--left == 0)
            break;
        mma_split_stage(c, acc, f[1], f[0], at, left > 1);
        if (--left == 0)
            break;
    }
}

#endif
