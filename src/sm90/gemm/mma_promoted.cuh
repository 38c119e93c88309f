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

/* Waits for all groups but the last IN_FLIGHT, and adds an atom's sums to its accumulators. */
template <int IN_FLIGHT>
static __device__ __forceinline__ void promote(float (&acc)[ATOM_REGISTERS], float (&sums)[ATOM_REGISTERS]) {
    wgmma_wait_group<IN_FLIGHT>();
    wgmma_fence_operand(sums);
#pragma unroll
    for (int r = 0; r < ATOM_REGISTERS; ++r)
        acc[r] += sums[r];
}

enum {
    SUMS_OF_STAGE = K_STEPS / PROMOTED_STEPS,
    HAS_TWO_SUMS = ATOMS_M == 1 && 3 * ATOM_REGISTERS <= MOST_ACCUMULATORS,
    BLOCKS_AT_ONCE = SUMS_OF_STAGE < 4 ? 4 / (SUMS_OF_STAGE > 0 ? (int)SUMS_OF_STAGE : 1) : 1,
};

/* One sum at a time: all k-blocks of a piece. */
static __device__ __forceinline__ void mma_one_sum(float (&acc)[ATOMS_M][ATOM_REGISTERS], struct pipeline ring,
                                                   struct pipeline_state &at, uint32_t base, int row0, int k_blocks,
                                                   uint32_t thread) {
#pragma unroll 1
    for (int block = 0; block < k_blocks; ++block) {
        pipeline_wait(ring, at);
#pragma unroll
        for (int part = 0; part < ATOMS_M * K_STEPS / PROMOTED_STEPS; ++part) {
            float sums[ATOM_REGISTERS];
            mma_sums(sums, base + at.slot * STAGE_BYTES, row0, part % ATOMS_M, part / ATOMS_M * PROMOTED_STEPS);
            promote<0>(acc[part % ATOMS_M], sums);
        }
        pipeline_release<SHARERS>(ring, at.slot, thread);
        pipeline_next<STAGES>(at);
    }
}

/* Two sums by turns, of BLOCKS_AT_ONCE k-blocks: while one is promoted, the next is on its way. In the end none is.
 * NOTE: if one were on its way from one turn of the loop over them to the next, ptxas would serialise all (C7514). */
static __device__ __forceinline__ void mma_two_sums(float (&acc)[ATOMS_M][ATOM_REGISTERS], struct pipeline ring,
                                                    struct pipeline_state &at, uint32_t base, int row0,
                                                    uint32_t thread) {
    constexpr int count = BLOCKS_AT_ONCE * SUMS_OF_STAGE;
    float sums[2][ATOM_REGISTERS];
    uint32_t slots[BLOCKS_AT_ONCE];
#pragma unroll
    for (int i = 0; i < count; ++i) {
        if (i % SUMS_OF_STAGE == 0) {
            slots[i / SUMS_OF_STAGE] = at.slot;
            pipeline_wait(ring, at);
            pipeline_next<STAGES>(at);
        }
        const uint32_t stage_addr = base + slots[i / SUMS_OF_STAGE] * STAGE_BYTES;
        mma_sums(sums[i % 2], stage_addr, row0, 0, i % SUMS_OF_STAGE * PROMOTED_STEPS);
        if (i > 0) {
            promote<1>(acc[0], sums[(i - 1) % 2]);
            if (i % SUMS_OF_STAGE == 0)
                pipeline_release<SHARERS>(ring, slots[i / SUMS_OF_STAGE - 1], thread);
        }
    }
    promote<0>(acc[0], sums[(count - 1) % 2]);
    pipeline_release<SHARERS>(ring, slots[BLOCKS_AT_ONCE - 1], thread);
}

/* Multiplies all k-blocks of one piece. */
static __device__ __forceinline__ void mma_promoted_tile(float (&acc)[ATOMS_M][ATOM_REGISTERS], struct pipeline ring,
                                                         struct pipeline_state &at, uint32_t base, int row0,
                                                         int k_blocks, uint32_t thread) {
    int block = 0;
#pragma unroll
    for (int i = 0; i < ATOMS_M * ATOM_REGISTERS; ++i)
        acc[i / ATOM_REGISTERS][i % ATOM_REGISTERS] = 0;
    if constexpr (HAS_TWO_SUMS) {
#pragma unroll 1
        for (; block + BLOCKS_AT_ONCE <= k_blocks; block += BLOCKS_AT_ONCE)
            mma_two_sums(acc, ring, at, base, row0, thread);
    }
    mma_one_sum(acc, ring, at, base, row0, k_blocks - block, thread);
}
static __device__ __forceinline__ void mma_promoted_tile(int32_t (&)[ATOMS_M][ATOM_REGISTERS], struct pipeline,
                                                         struct pipeline_state &, uint32_t, int, int, uint32_t) {}

#endif
