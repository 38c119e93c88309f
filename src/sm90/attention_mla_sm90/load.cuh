/* SPDX-License-Identifier: Apache-2.0 */
/* Global memory -> shared memory: blocks of k by TMA, in boxes of a page's tokens, by one warp; q's packed rows, and k of pages that
 * have no boxes, by cp.async, by two. */
#ifndef GM_SM90_ATTENTION_MLA_LOAD_CUH
#define GM_SM90_ATTENTION_MLA_LOAD_CUH

#include "common/attention/cache.cuh"
#include "sm80/cp_async.cuh"
#include "sm90/attention_mla_sm90/piece.cuh"
#include "sm90/tma.cuh"

/* ---- boxes ------------------------------------------------------------------------------------------ */

/* Lane i finds box i of the block that starts at `key`. */
static __device__ __forceinline__ struct place place_of_box(const struct gm_attention_mla_sm90_params &p,
                                                            const struct piece &piece, int key, int boxes) {
    const int mine = key + min((int)lane_index(), boxes - 1) * p.box_tokens;
    return place_of_key(p.a, piece.request.number, mine, entry_of_key(p.a, piece.request.number, mine));
}

/* Boxes first ... end - 1, a lane every 32nd copy of all boxes and slabs. */
static __device__ __forceinline__ void copy_boxes(const struct gm_attention_mla_sm90_params &p, uint32_t base,
                                                  uint32_t slot, const struct place &at, int head, int first, int end) {
    const uint32_t lane = lane_index(), copies = SLABS * (end - first), box_bytes = p.box_tokens * SPAN;
#pragma unroll 1
    for (uint32_t i = lane; i < (copies + 31) / 32 * 32; i += 32) {
        const uint32_t slab = i % SLABS, box = first + i / SLABS;
        const int page = (int)__shfl_sync(0xFFFFFFFF, at.page, box),
                  token = (int)__shfl_sync(0xFFFFFFFF, at.token, box);
        const uint32_t to = stage_addr(base, slot) + slab * SLAB_BYTES + box * box_bytes;
        const uint32_t full = full_addr(base, slot, slab / STEP_SLABS);
        if (i < copies && CLUSTER > 1)
            tma_load_4d_multicast(to, &p.k, slab * 64, token, head, page, full, (1 << CLUSTER) - 1);
        else if (i < copies)
            tma_load_4d(to, &p.k, slab * 64, token, head, page, full);
    }
}

/* So many boxes, each half when it is empty; in a cluster only the CTA's half, when it is empty in all CTAs. What a stage is told
 * to expect comes from all of them. */
static __device__ __forceinline__ void load_boxes(const struct gm_attention_mla_sm90_params &p, uint32_t base,
                                                  struct pipeline_state state, const struct place &at, int head,
                                                  int boxes) {
    const uint32_t lane = lane_index(), slot = state.slot, bytes = boxes * p.box_tokens * SPAN;
    const int of_half = HALF / p.box_tokens;
#pragma unroll
    for (int i = 0; i < HALVES / CLUSTER; ++i) {
        const int half = CLUSTER > 1 ? cta_rank() : i;
        mbarrier_wait(empty_addr(base, slot, half), state.phase ^ 1);
        if (i == 0 && lane < STEPS)
            mbarrier_arrive_expect_tx(full_addr(base, slot, lane), bytes * (lane < 2 ? STEP_SLABS : SLABS - V_SLABS));
        __syncwarp();
        if (boxes > half * of_half)
            copy_boxes(p, base, slot, at, head, half * of_half, min(boxes, (half + 1) * of_half));
    }
}

/* One warp: all blocks of all pieces. */
static __device__ __forceinline__ void produce_boxes(const struct gm_attention_mla_sm90_params &p, uint32_t base) {
    struct piece piece;
    uint32_t blocks = 0;
    griddep_wait();
#pragma unroll 1
    for (uint32_t count = 0; hear(base, count, piece); ++count) {
        forget(base, count);
#pragma unroll 1
        for (int key = piece.keys.first; key < piece.keys.end && p.box_tokens; key += BLOCK) {
            const int tokens = min(piece.keys.end - key, (int)BLOCK);
            const int boxes = (tokens + p.box_tokens - 1) / p.box_tokens;
            const struct place at = place_of_box(p, piece, key, boxes);
            load_boxes(p, base, state_at<STAGES>(blocks++), at, piece.head, boxes);
        }
    }
}

/* ---- rows by their addresses ------------------------------------------------------------------------ */

/* 64 rows of HEAD_DIM elements into slabs; rows and elements that do not exist become zeros. Eight lanes copy a row. */
template <class Address>
static __device__ __forceinline__ void gather_rows(uint32_t to, int rows, int elements, const Address &address_of_row) {
    const uint32_t lane = lane_index(), chunk = lane % 8, row_step = 4 * GATHER_WARPS;
    const uint32_t first = warp_index() % GATHER_WARPS * 4 + lane / 8;
#pragma unroll 1
    for (uint32_t row = first; row < CTA_ROWS; row += row_step) {
        const bool exists = (int)row < rows;
        const uint64_t from = address_of_row(exists ? (int)row : 0) + 16 * chunk;
        const uint32_t place = to + row * SPAN + ((chunk ^ row % 8) << 4);
#pragma unroll
        for (int slab = 0; slab < SLABS; ++slab)
            cp_async_cg_16(place + slab * SLAB_BYTES, from + slab * SPAN,
                           exists && (int)(slab * 64 + chunk * 8) < elements ? 16 : 0);
    }
    cp_async_commit_group();
    cp_async_wait_group<0>();
    fence_proxy_async();
    __syncwarp();
}

static __device__ __forceinline__ void gather_q(const struct gm_attention_params &p, uint32_t base,
                                                const struct piece &piece, struct pipeline_state at) {
    mbarrier_wait(q_ring(base).empty_addr, at.phase ^ 1);
    gather_rows(q_addr(base), piece.rows, p.head_dim, [&](int row) {
        return address_of(p.q, packed_row(p, piece.request, piece.head, piece.first_row + row));
    });
    arrive_warp(q_ring(base).full_addr);
}

static __device__ __forceinline__ void gather_block(const struct gm_attention_params &p, uint32_t base,
                                                    const struct piece &piece, int key, struct pipeline_state at) {
    mbarrier_wait(empty_addr(base, at.slot, 0), at.phase ^ 1);
    mbarrier_wait(empty_addr(base, at.slot, 1), at.phase ^ 1);
    gather_rows(stage_addr(base, at.slot), piece.keys.end - key, p.head_dim, [&](int row) {
        const int number = piece.request.number;
        return address_of(p.k, piece.head, place_of_key(p, number, key + row, entry_of_key(p, number, key + row)));
    });
#pragma unroll
    for (int step = 0; step < STEPS; ++step)
        arrive_warp(full_addr(base, at.slot, step));
}

/* Two warps: q of all pieces, and of pages without boxes all blocks. */
static __device__ __forceinline__ void produce_rows(const struct gm_attention_mla_sm90_params &p, uint32_t base) {
    struct piece piece;
    uint32_t blocks = 0, queries = 0;
    griddep_wait();
#pragma unroll 1
    for (uint32_t count = 0; hear(base, count, piece); ++count) {
        forget(base, count);
        if (blocks_of(piece))
            gather_q(p.a, base, piece, state_at<1>(queries++));
#pragma unroll 1
        for (int key = piece.keys.first; key < piece.keys.end && p.box_tokens == 0; key += BLOCK)
            gather_block(p.a, base, piece, key, state_at<STAGES>(blocks++));
    }
}

#endif
