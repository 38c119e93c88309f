/* SPDX-License-Identifier: Apache-2.0 */
/* The adders, a warpgroup for each 256 columns of out: O += P V, and at a piece's end O to global memory, or to the part's slot. */
#ifndef GM_SM90_ATTENTION_MLA_ADD_CUH
#define GM_SM90_ATTENTION_MLA_ADD_CUH

#include "common/attention/softmax.cuh"
#include "common/named_barrier.cuh"
#include "sm80/ldmatrix.cuh"
#include "sm90/attention/store_row.cuh"
#include "sm90/attention_mla_sm90/merge.cuh"
#include "sm90/attention_mla_sm90/score.cuh"
#include "sm90/wgmma_rs_shapes.cuh"

/* ---- a block ---------------------------------------------------------------------------------------- */

static __device__ __forceinline__ void load_weights(uint32_t base, uint32_t slot, uint32_t (&weights)[BLOCK / 16][4]) {
    const uint32_t lane = lane_index(), row = warp_index() * 16 + lane % 16;
#pragma unroll
    for (int i = 0; i < BLOCK / 16; ++i)
        ldmatrix_x4(weights[i], weights_addr(base, slot) + row * SPAN + (((2 * i + lane / 16) ^ row % 8) << 4));
}

/* Values that were relative to another largest score, if a row of the warp has a new one. */
static __device__ __forceinline__ void keep(uint32_t base, uint32_t slot, float (&o)[OUTPUTS]) {
    const uint32_t place = kept_addr(base, slot) + 4 * row_of_lane();
    const float kept[2] = {ld_shared_f32(place), ld_shared_f32(place + 32)};
    if (__any_sync(0xFFFFFFFF, kept[0] != 1 || kept[1] != 1)) {
#pragma unroll
        for (int i = 0; i < OUTPUTS; ++i)
            o[i] *= kept[i / 2 % 2];
    }
}

/* One half of the block's tokens, as a group of wgmmas. */
static __device__ __forceinline__ void add_half(uint32_t base, int adder, uint32_t slot, int half,
                                                const uint32_t (&weights)[BLOCK / 16][4], float (&o)[OUTPUTS]) {
    const uint32_t columns = stage_addr(base, slot) + adder * (COLUMNS / 64) * SLAB_BYTES;
    const uint64_t v = wgmma_descriptor(columns, SLAB_BYTES, 8 * SPAN, SPAN);
#pragma unroll
    for (int i = half * HALF / 16; i < (half + 1) * HALF / 16; ++i)
#pragma unroll
        for (int side = 0; side < 2; ++side)
            wgmma_m64k16_rs<COLUMNS / 2>(
                reinterpret_cast<float(&)[OUTPUTS / 2]>(o[side * OUTPUTS / 2]), weights[i][0], weights[i][1],
                weights[i][2], weights[i][3],
                wgmma_descriptor_advance(v, side * (COLUMNS / 128) * SLAB_BYTES + i * 16 * SPAN));
    wgmma_commit_group();
}

/* A whole warp is done with a half: the CTA that loads it again is told. */
static __device__ __forceinline__ void leave_half(uint32_t base, uint32_t slot, int half) {
    __syncwarp();
    if (lane_index() != 0)
        return;
    if (CLUSTER > 1)
        mbarrier_arrive_remote(empty_addr(base, slot, half), half);
    else
        mbarrier_arrive(empty_addr(base, slot, half));
}

/* NOTE: as one wgmma of 256 columns, ptxas refuses it in a kernel that is launched with 128 registers (C7602). */
static __device__ __forceinline__ void add_block(uint32_t base, int adder, struct pipeline_state at,
                                                 float (&o)[OUTPUTS]) {
    uint32_t weights[BLOCK / 16][4];
    mbarrier_wait(weighed_addr(base, at.slot), at.phase);
    load_weights(base, at.slot, weights);
    keep(base, at.slot, o);
    wgmma_fence_operand(o);
    wgmma_fence();
    add_half(base, adder, at.slot, 0, weights, o);
    add_half(base, adder, at.slot, 1, weights, o);
    wgmma_wait_group<1>();
    leave_half(base, at.slot, 0);
    wgmma_wait_group<0>();
    wgmma_fence_operand(o);
    leave_half(base, at.slot, 1);
    arrive_warp(left_addr(base, at.slot));
}

/* ---- a piece's end ---------------------------------------------------------------------------------- */

/* The thread's rows of a unit that no other part has some of. */
static __device__ __forceinline__ void store_unit(const struct gm_attention_params &p, const struct piece &piece,
                                                  int adder, uint32_t sums, const float (&o)[OUTPUTS]) {
    const int lane = lane_index(), bytes = p.flags & GM_ATTENTION_OUT_IS_FP32 ? 4 : 2;
    struct packed_row at[2];
    float factor[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const int row = row_of_lane() + 8 * half;
        float most, sum;
        ld_shared_v2(sums + 8 * row, most, sum);
        at[half] = packed_row(p, piece.request, piece.head, piece.first_row + min(row, piece.rows - 1));
        factor[half] = norm_of(most, sum, sink_of(p, at[half].head));
        if (adder == 0 && row < piece.rows && lane % 4 == 0)
            store_lse(p, at[half], lse_of(most, sum));
    }
    const int row = row_of_lane(), first = adder * COLUMNS;
    store_row<0>(p, address_of(p.out, at[0]) + first * bytes, o, factor[0], row < piece.rows, p.v_head_dim - first,
                 lane);
    store_row<1>(p, address_of(p.out, at[1]) + first * bytes, o, factor[1], row + 8 < piece.rows, p.v_head_dim - first,
                 lane);
}

/* The thread's rows into the part's slot, and when all threads' are there, its flags. */
static __device__ __forceinline__ void leave_piece(const struct gm_attention_mla_sm90_params &p,
                                                   const struct piece &piece, int adder, uint32_t sums,
                                                   const float (&o)[OUTPUTS]) {
    const int number = slot_number(cta_index() / CLUSTER, piece.begins, cta_rank()), thread = thread_index() - 256;
    const uint64_t slot = slot_of(p, number);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const int row = row_of_lane() + 8 * half;
        uint32_t words[2];
        ld_shared_v2_b32(sums + 8 * row, words);
        if (row >= piece.rows)
            continue;
        if (adder == 0 && lane_index() % 4 == 0)
            st_global_v2_b32(slot + 4 * p.slot_rows * V_HEAD_DIM + 8 * row, words);
        const uint64_t place = slot + 4 * (row * V_HEAD_DIM + adder * COLUMNS + lane_index() % 4 * 2);
#pragma unroll
        for (int i = 0; i < OUTPUTS; i += 4) {
            const uint32_t pair[2] = {__float_as_uint(o[i + 2 * half]), __float_as_uint(o[i + 2 * half + 1])};
            st_global_v2_b32(place + 8 * i, pair);
        }
    }
    bar_sync(BAR_LEFT, 128 * ADDERS);
    if (thread < p.slices)
        st_release_gpu_b64(flag_of(p, number, thread), p.ready);
}

static __device__ __forceinline__ void add(const struct gm_attention_mla_sm90_params &p, uint32_t base, int adder) {
    struct piece piece;
    uint32_t blocks = 0;
#pragma unroll 1
    for (uint32_t count = 0; hear(base, count, piece); ++count) {
        const struct pipeline_state at = state_at<PIECE_SLOTS>(count);
        float o[OUTPUTS];
#pragma unroll
        for (int i = 0; i < OUTPUTS; ++i)
            o[i] = 0;
#pragma unroll 1
        for (int i = blocks_of(piece); i > 0; --i)
            add_block(base, adder, state_at<STAGES>(blocks++), o);
        mbarrier_wait(summed_addr(base, at.slot), at.phase);
        if (piece.begins && piece.ends)
            store_unit(p.a, piece, adder, sums_addr(base, at.slot), o);
        else
            leave_piece(p, piece, adder, sums_addr(base, at.slot), o);
        forget(base, count);
    }
}

#endif
