/* SPDX-License-Identifier: Apache-2.0 */
/* A consumer's mma_promoted_tile(): the ring -> accumulators, for fp8.
 *
 * The tensor cores keep some 14 bits of a sum's mantissa. So of every PROMOTED_STEPS atoms along K a sum of their own is
 * made, which fp32 instructions add to the accumulators: it is promoted. Where there are registers for two such sums, the
 * next one is on its way meanwhile; else the tensor cores are the other consumer's. */
#ifndef GM_SM90_GEMM_MMA_PROMOTED_CUH
#define GM_SM90_GEMM_MMA_PROMOTED_CUH

#include "sm90/gemm/constants.cuh"
#include "sm90/gemm/mma.cuh"
#include "sm90/gemm/sum_scales.cuh"
#include "sm90/pipeline.cuh"
#include "sm90/wgmma.cuh"
#include "sm90/wgmma_shapes.cuh"

/* Issues the atoms of steps first, first + 1, ... of the stage at `stage_addr`, of atom i of the consumer's rows, as one
 * group. */
static __device__ __forceinline__ void mma_sums(float (&sums)[ATOM_REGISTERS], uint32_t stage_addr, int row0, int i,
                                                int first) {
    const uint64_t m = operand_descriptor<0>(m_side_addr(stage_addr) + atom_offset<WGMMA_M, 0>(row0, 0));
    const uint64_t n = operand_descriptor<0>(n_side_addr(stage_addr));
    wgmma_fence_operand(sums);
    wgmma_fence();
#pragma unroll
    for (int k = 0; k < PROMOTED_STEPS; ++k)
        wgmma_m64<WGMMA_N>(sums, wgmma_descriptor_advance(m, atom_offset<WGMMA_M, 0>(i * 64, first + k)),
                           wgmma_descriptor_advance(n, atom_offset<WGMMA_N, 0>(0, first + k)), k);
    wgmma_commit_group();
}

/* Where a consumer's sums come from: the ring, its slots' shared memory, and this thread's place. */
struct promoted_context {
    struct pipeline ring;
    uint32_t base, thread;
    int row0; /* of the M side */
};

/* The factors of an atom's sums, number `part` of the stage in `slot`, if they have any. */
static __device__ __forceinline__ struct sum_factors factors_of(const struct promoted_context &c, uint32_t slot, int i,
                                                                int part) {
    struct sum_factors factors = {};
    if (SCALES_SUMS)
        factors = sum_factors_at(sum_factors_addr(c.base, slot, part), c.row0 + i * 64, c.thread);
    return factors;
}

/* Waits for all groups but the last IN_FLIGHT, and adds an atom's sums to its accumulators; times their factors, if they
 * have any, which are loaded before. */
template <int IN_FLIGHT>
static __device__ __forceinline__ void promote(float (&acc)[ATOM_REGISTERS], float (&sums)[ATOM_REGISTERS],
                                               const struct sum_factors &factors) {
    wgmma_wait_group<IN_FLIGHT>();
    wgmma_fence_operand(sums);
    if (SCALES_SUMS)
        add_scaled(acc, sums, factors);
    else
#pragma unroll
        for (int r = 0; r < ATOM_REGISTERS; ++r)
            acc[r] += sums[r];
}

/* Tells the producer that a stage is free. Warps that have loaded scales each say so themselves. */
static __device__ __forceinline__ void release_stage(const struct promoted_context &c, uint32_t slot) {
    if (SCALES_SUMS)
        __syncwarp();
    pipeline_release<SHARERS>(c.ring, slot, SCALES_SUMS ? c.thread % 32 : c.thread);
}

enum {
    HAS_TWO_SUMS = ATOMS_M == 1 && 3 * ATOM_REGISTERS <= MOST_ACCUMULATORS,
    BLOCKS_AT_ONCE = SUMS_OF_STAGE < 4 ? 4 / SUMS_OF_STAGE : 1,
};

/* One sum at a time: all k-blocks of a piece. Factors are loaded while the sum before is on its way. */
static __device__ __forceinline__ void mma_one_sum(const struct promoted_context &c,
                                                   float (&acc)[ATOMS_M][ATOM_REGISTERS], struct pipeline_state &at,
                                                   int k_blocks) {
    constexpr int count = ATOMS_M * SUMS_OF_STAGE;
    struct sum_factors next = {};
    if (SCALES_SUMS && k_blocks > 0) {
        pipeline_wait(c.ring, at);
        next = factors_of(c, at.slot, 0, 0);
    }
#pragma unroll 1
    for (int block = 0; block < k_blocks; ++block) {
        const uint32_t slot = at.slot;
        if (!SCALES_SUMS)
            pipeline_wait(c.ring, at);
        pipeline_next<STAGES>(at);
#pragma unroll
        for (int part = 0; part < count; ++part) {
            float sums[ATOM_REGISTERS];
            const struct sum_factors factors = next;
            mma_sums(sums, c.base + slot * STAGE_BYTES, c.row0, part % ATOMS_M, part / ATOMS_M * PROMOTED_STEPS);
            if (part + 1 < count) {
                next = factors_of(c, slot, (part + 1) % ATOMS_M, (part + 1) / ATOMS_M);
            } else if (SCALES_SUMS && block + 1 < k_blocks) {
                pipeline_wait(c.ring, at);
                next = factors_of(c, at.slot, 0, 0);
            }
            promote<0>(acc[part % ATOMS_M], sums, factors);
        }
        release_stage(c, slot);
    }
}

/* Two sums by turns, of BLOCKS_AT_ONCE k-blocks: while one is promoted, the next is on its way. In the end none is.
 * NOTE: if one were on its way from one turn of the loop over them to the next, ptxas would serialise all (C7514). */
static __device__ __forceinline__ void mma_two_sums(const struct promoted_context &c,
                                                    float (&acc)[ATOMS_M][ATOM_REGISTERS], struct pipeline_state &at) {
    constexpr int count = BLOCKS_AT_ONCE * SUMS_OF_STAGE;
    float sums[2][ATOM_REGISTERS];
    uint32_t slots[BLOCKS_AT_ONCE];
#pragma unroll
    for (int i = 0; i < count; ++i) {
        if (i % SUMS_OF_STAGE == 0) {
            slots[i / SUMS_OF_STAGE] = at.slot;
            pipeline_wait(c.ring, at);
            pipeline_next<STAGES>(at);
        }
        const uint32_t stage_addr = c.base + slots[i / SUMS_OF_STAGE] * STAGE_BYTES;
        mma_sums(sums[i % 2], stage_addr, c.row0, 0, i % SUMS_OF_STAGE * PROMOTED_STEPS);
        if (i > 0) {
            promote<1>(acc[0], sums[(i - 1) % 2],
                       factors_of(c, slots[(i - 1) / SUMS_OF_STAGE], 0, (i - 1) % SUMS_OF_STAGE));
            if (i % SUMS_OF_STAGE == 0)
                release_stage(c, slots[i / SUMS_OF_STAGE - 1]);
        }
    }
    promote<0>(acc[0], sums[(count - 1) % 2], factors_of(c, slots[BLOCKS_AT_ONCE - 1], 0, SUMS_OF_STAGE - 1));
    release_stage(c, slots[BLOCKS_AT_ONCE - 1]);
}

/* Multiplies all k-blocks of one piece. */
static __device__ __forceinline__ void mma_promoted_tile(float (&acc)[ATOMS_M][ATOM_REGISTERS], struct pipeline ring,
                                                         struct pipeline_state &at, uint32_t base, int row0,
                                                         int k_blocks, uint32_t thread) {
    const struct promoted_context c = {ring, base, thread, row0};
    int block = 0;
#pragma unroll
    for (int i = 0; i < ATOMS_M * ATOM_REGISTERS; ++i)
        acc[i / ATOM_REGISTERS][i % ATOM_REGISTERS] = 0;
    if constexpr (HAS_TWO_SUMS) {
#pragma unroll 1
        for (; block + BLOCKS_AT_ONCE <= k_blocks; block += BLOCKS_AT_ONCE)
            mma_two_sums(c, acc, at);
    }
    mma_one_sum(c, acc, at, k_blocks - block);
}
static __device__ __forceinline__ void mma_promoted_tile(int32_t (&)[ATOMS_M][ATOM_REGISTERS], struct pipeline,
                                                         struct pipeline_state &, uint32_t, int, int, uint32_t) {}

#endif
