/* SPDX-License-Identifier: Apache-2.0 */
/* A consumer's mma_tile() and mma_drain(): the ring -> accumulators, by WGMMA. */
#ifndef GM_SM90_GEMM_MMA_CUH
#define GM_SM90_GEMM_MMA_CUH

#include "sm90/gemm/constants.cuh"
#include "sm90/pipeline.cuh"
#include "sm90/wgmma.cuh"
#include "sm90/wgmma_s8_shapes.cuh"
#include "sm90/wgmma_shapes.cuh"

/* Descriptor of an operand's atom at a shared address. */
template <int IS_MN_MAJOR> static __device__ __forceinline__ uint64_t operand_descriptor(uint32_t addr) {
    return wgmma_descriptor(addr, IS_MN_MAJOR ? TILE_K * SPAN : 16, 8 * SPAN, SPAN);
}

/* Bytes from the tile's first atom to the atom at row mn (a multiple of 64, or 0) and k-step k. */
template <int MN, int IS_MN_MAJOR>
static __device__ __forceinline__ constexpr uint32_t atom_offset(int mn, int k_step) {
    return IS_MN_MAJOR ? (mn / SPAN_ELEMS) * TILE_K * SPAN + k_step * 16 * SPAN
                       : mn * SPAN + (k_step * 32 / SPAN) * MN * SPAN + k_step * 32 % SPAN;
}

/* wgmma's M and N side in a stage. */
static __device__ __forceinline__ uint32_t m_side_addr(uint32_t stage_addr) {
    return stage_addr + (SWAPPED ? A_BYTES : 0);
}
static __device__ __forceinline__ uint32_t n_side_addr(uint32_t stage_addr) {
    return stage_addr + (SWAPPED ? 0 : A_BYTES);
}

/* Issues the wgmma atoms of one k-block, the stage at `stage_addr`, as one group. */
static __device__ __forceinline__ void mma_stage(sum_t (&acc)[ATOMS_M][ATOM_REGISTERS], uint32_t stage_addr, int row0,
                                                 int accumulate) {
    const uint32_t m_addr = m_side_addr(stage_addr), n_addr = n_side_addr(stage_addr);
    const uint64_t m = operand_descriptor<GM_M_SIDE_MN>(m_addr + atom_offset<WGMMA_M, GM_M_SIDE_MN>(row0, 0));
    const uint64_t n = operand_descriptor<GM_N_SIDE_MN>(n_addr);
#pragma unroll
    for (int i = 0; i < ATOMS_M; ++i)
        wgmma_fence_operand(acc[i]);
    wgmma_fence();
#pragma unroll
    for (int k = 0; k < K_STEPS; ++k)
#pragma unroll
        for (int i = 0; i < ATOMS_M; ++i)
            wgmma_m64<WGMMA_N>(acc[i], wgmma_descriptor_advance(m, atom_offset<WGMMA_M, GM_M_SIDE_MN>(i * 64, k)),
                               wgmma_descriptor_advance(n, atom_offset<WGMMA_N, GM_N_SIDE_MN>(0, k)), accumulate | k);
    wgmma_commit_group();
}

/* Multiplies all k-blocks of one piece. One group stays in flight: a stage is released when its successor has been
 * issued, the last stage by mma_drain(). The remainder of the unrolled loop comes first, while operands are waited for
 * anyway: after the loop, its instruction-cache misses would delay the next wgmma. A `busy` consumer runs do_part(i)
 * for each of PARTS parts while the tensor cores have k-block i, or are idle where the piece has no k-block i.
 * NOTE: the first k-block stands apart because ptxas before 12.9 serialises a loop (C7515) whose own first turn is the
 * one that overwrites the accumulators. */
template <int PARTS, typename WORK>
static __device__ __forceinline__ void mma_tile(sum_t (&acc)[ATOMS_M][ATOM_REGISTERS], struct pipeline ring,
                                                struct pipeline_state &at, uint32_t base, int row0, int k_blocks,
                                                uint32_t thread, bool busy, WORK do_part) {
    constexpr int unrolled = 4;
    uint32_t previous = at.slot;
    pipeline_wait(ring, at);
    mma_stage(acc, base + at.slot * STAGE_BYTES, row0, 0);
    pipeline_next<STAGES>(at);
    const auto step = [&] {
        pipeline_wait(ring, at);
        mma_stage(acc, base + at.slot * STAGE_BYTES, row0, 1);
        wgmma_wait_group<1>();
        pipeline_release<SHARERS>(ring, previous, thread);
        previous = at.slot;
        pipeline_next<STAGES>(at);
    };
    int done = 1;
    if (PARTS > 0 && busy) {
#pragma unroll
        for (int i = 0; i < PARTS; ++i) {
            do_part(i);
            if (done < k_blocks) {
                step();
                ++done;
            }
        }
    }
    const int turns = (k_blocks - done) / unrolled;
#pragma unroll 1
    for (int i = turns * unrolled + done; i < k_blocks; ++i)
        step();
#pragma unroll 1
    for (int turn = 0; turn < turns; ++turn)
#pragma unroll
        for (int i = 0; i < unrolled; ++i)
            step();
}

static __device__ __forceinline__ void mma_drain(sum_t (&acc)[ATOMS_M][ATOM_REGISTERS], struct pipeline ring,
                                                 struct pipeline_state at, uint32_t thread) {
    wgmma_wait_group<0>();
#pragma unroll
    for (int i = 0; i < ATOMS_M; ++i)
        wgmma_fence_operand(acc[i]);
    pipeline_release<SHARERS>(ring, (at.slot + STAGES - 1) % STAGES, thread);
}

#endif
