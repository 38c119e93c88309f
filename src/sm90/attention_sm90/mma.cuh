/* SPDX-License-Identifier: Apache-2.0 */
/* The two products of a consumer warpgroup, each issued as one group of wgmmas: S = Q K and O += P V. */
#ifndef GM_SM90_ATTENTION_MMA_CUH
#define GM_SM90_ATTENTION_MMA_CUH

#include "sm90/attention_sm90/constants.cuh"
#include "sm90/wgmma.cuh"
#include "sm90/wgmma_rs_shapes.cuh"
#include "sm90/wgmma_shapes.cuh"

/* Q and K lie in slabs of 64 elements of the head, 128 bytes a row; a k-step is 32 bytes along it. */
static __device__ __forceinline__ void issue_scores(float (&s)[SCORES], uint32_t q_addr, uint32_t k_addr, int flags) {
    const struct layout l = layout_of<SLABS>(flags);
    const uint64_t q = wgmma_descriptor(q_addr, 16, 8 * SPAN, SPAN), k = wgmma_descriptor(k_addr, 16, l.eight, SPAN);
    wgmma_fence_operand(s);
    wgmma_fence();
#pragma unroll
    for (int step = 0; step < HEAD_DIM / 16; ++step)
        wgmma_m64<TILE_N>(s, wgmma_descriptor_advance(q, step / 4 * TILE_M * SPAN + step % 4 * 32),
                          wgmma_descriptor_advance(k, step / 4 * l.slab + step % 4 * 32), step > 0);
    wgmma_commit_group();
}

/* V's slabs are the same, but here its tokens are what is summed over: a k-step is 16 rows. */
static __device__ __forceinline__ void issue_outputs(float (&o)[OUTPUTS], const uint32_t (&p)[P_WORDS], uint32_t v_addr,
                                                     int flags) {
    const struct layout l = layout_of<V_SLABS>(flags);
    const uint64_t v = wgmma_descriptor(v_addr, l.slab, l.eight, SPAN);
    wgmma_fence_operand(o);
    wgmma_fence();
#pragma unroll
    for (int step = 0; step < TILE_N / 16; ++step)
        wgmma_m64k16_rs<V_DIM>(o, p[4 * step], p[4 * step + 1], p[4 * step + 2], p[4 * step + 3],
                               wgmma_descriptor_advance(v, step * 2 * l.eight));
    wgmma_commit_group();
}

#endif
