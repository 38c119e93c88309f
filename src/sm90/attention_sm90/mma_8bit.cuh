/* SPDX-License-Identifier: Apache-2.0 */
/* The two products of a consumer warpgroup of 8-bit elements, each issued as one group of wgmmas: S = Q K and a block's P V.
 * Their sums keep some 14 bits, so that of many blocks is not left to them. */
#ifndef GM_SM90_ATTENTION_MMA_8BIT_CUH
#define GM_SM90_ATTENTION_MMA_8BIT_CUH

#include "sm90/attention_sm90/constants.cuh"
#include "sm90/wgmma.cuh"
#include "sm90/wgmma_fp8_shapes.cuh"

/* The low word of the descriptor of what lies there. All operands have the same high word, and a step along them changes the low
 * one only: as 64 bits each would take four instructions more. */
static __device__ __forceinline__ uint32_t operand_8bit(uint32_t addr) {
    return (uint32_t)wgmma_descriptor(addr, 16, 8 * SPAN, SPAN);
}

/* The same, so many bytes on. */
static __device__ __forceinline__ uint32_t operand_advance(uint32_t operand, uint32_t bytes) {
    return operand + bytes / 16;
}

static __device__ __forceinline__ uint64_t descriptor_8bit(uint32_t operand) {
    return (wgmma_descriptor(0, 16, 8 * SPAN, SPAN) & 0xFFFFFFFF00000000) | operand;
}

/* Q and K lie in slabs of 128 elements of the head, 128 bytes a row; a k-step is 32 bytes along it. N tokens. */
template <int N> static __device__ __forceinline__ void issue_scores_8bit(float (&s)[N / 2], uint32_t q, uint32_t k) {
    wgmma_fence_operand(s);
    wgmma_fence();
#pragma unroll
    for (int step = 0; step < HEAD_DIM / 32; ++step)
        wgmma_m64k32<N>(s, descriptor_8bit(operand_advance(q, step / 4 * TILE_M * SPAN + step % 4 * 32)),
                        descriptor_8bit(operand_advance(k, step / 4 * TILE_N * SPAN + step % 4 * 32)), step > 0);
    wgmma_commit_group();
}

/* The transposed V has a row for each element of the head, of SPAN bytes, and a k-step is 32 tokens along it. N elements, of
 * which the first one's row is there. */
template <int N>
static __device__ __forceinline__ void issue_outputs_8bit(float (&part)[N / 2], const uint32_t (&p)[P_WORDS],
                                                          uint32_t v) {
    wgmma_fence_operand(part);
    wgmma_fence();
#pragma unroll
    for (int step = 0; step < TILE_N / 32; ++step)
        wgmma_m64k32_rs<N>(part, p[4 * step], p[4 * step + 1], p[4 * step + 2], p[4 * step + 3],
                           descriptor_8bit(operand_advance(v, step * 32)), step > 0);
    wgmma_commit_group();
}

#endif
