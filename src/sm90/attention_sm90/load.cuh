/* SPDX-License-Identifier: Apache-2.0 */
/* The producer's produce(): Q, K and V of every tile -> shared memory, by TMA. One warp. */
#ifndef GM_SM90_ATTENTION_LOAD_CUH
#define GM_SM90_ATTENTION_LOAD_CUH

#include "common/attention_sm90/params.h"
#include "common/shared.cuh"
#include "sm90/attention_sm90/constants.cuh"
#include "sm90/attention_sm90/walk.cuh"
#include "sm90/cluster.cuh"
#include "sm90/mbarrier.cuh"
#include "sm90/pipeline.cuh"
#include "sm90/tma.cuh"

/* Where the lane's box of a block is. */
struct box {
    int token, page; /* coordinates of the map */
    int boxes;       /* of the block: those that begin before kv_len */
};

static __device__ __forceinline__ struct box box_of(const struct gm_attention_sm90_params &params,
                                                    const struct tile &t, int start, int block, int lane) {
    const struct gm_attention_params &p = params.attention;
    const int token = block * TILE_N + lane * params.box_tokens;
    struct box b = {start + token, 0, min(params.boxes, (t.kv_len - block * TILE_N + params.box_tokens - 1) / params.box_tokens)};
    if (p.flags & GM_ATTENTION_IS_PAGED) {
        if (lane < b.boxes) {
            const int page = (int)divide(token, p.page);
            const int number = load_i32(p.page_table + 4 * (t.request * p.table_stride), page);
            b.page = (uint32_t)number < (uint32_t)p.page_count ? number : 0;
            b.token = token - page * (int)p.page.divisor;
        }
    } else if (!(p.flags & GM_ATTENTION_IS_RAGGED)) {
        b.page = t.request;
    }
    return b;
}

/* A block of K or V into its stage, each lane its box. */
static __device__ __forceinline__ void load_block(const struct gm_attention_sm90_params &p,
                                                  const struct gm_tensor_map &map, struct pipeline ring,
                                                  struct pipeline_state &at, uint32_t dst, struct box b, int head,
                                                  int lane) {
    mbarrier_wait(ring.empty_addr + 8 * at.slot, at.phase ^ 1);
    if (lane == 0)
        mbarrier_arrive_expect_tx(ring.full_addr + 8 * at.slot, b.boxes * p.box_tokens * HEAD_DIM * 2);
    __syncwarp();
    if (lane < b.boxes) {
#pragma unroll
        for (int slab = 0; slab < SLABS; ++slab)
            tma_load_4d(dst + slab * TILE_N * SPAN + lane * p.box_tokens * SPAN, &map, slab * 64, b.token, head, b.page,
                        ring.full_addr + 8 * at.slot);
    }
    pipeline_next<STAGES>(at);
}

static __device__ __forceinline__ void load_q(const struct gm_attention_sm90_params &p, uint32_t base, uint32_t phase,
                                              const struct tile &t, int lane) {
    const struct pipeline ring = q_ring(base);
    mbarrier_wait(ring.empty_addr, phase ^ 1);
    if (lane == 0) {
        mbarrier_arrive_expect_tx(ring.full_addr, Q_BYTES);
#pragma unroll
        for (int slab = 0; slab < SLABS; ++slab)
            tma_load_3d(base + slab * TILE_M * SPAN, &p.q, slab * 64, t.row, t.head, ring.full_addr);
    }
    __syncwarp();
}

/* Blocks of one tile, from the last to the first; K is a block ahead of V, since its scores are. */
static __device__ __forceinline__ void load_tile(const struct gm_attention_sm90_params &p, uint32_t base, uint32_t phase,
                                                 struct pipeline_state &k, struct pipeline_state &v,
                                                 const struct tile &t, int lane) {
    const int start = p.attention.flags & GM_ATTENTION_IS_RAGGED ? load_i32(p.attention.kv_indptr, t.request) : 0;
    struct box now = box_of(p, t, start, t.end - 1, lane), next = now;
    load_block(p, p.k, k_ring(base), k, k_addr(base, k.slot), now, t.group, lane);
    if (t.end > t.first + 1)
        next = box_of(p, t, start, t.end - 2, lane);
    load_q(p, base, phase, t, lane);
#pragma unroll 1
    for (int block = t.end - 1; block >= t.first; --block) {
        if (block > t.first)
            load_block(p, p.k, k_ring(base), k, k_addr(base, k.slot), next, t.group, lane);
        load_block(p, p.v, v_ring(base), v, v_addr(base, v.slot), now, t.group, lane);
        now = next;
        if (block > t.first + 1)
            next = box_of(p, t, start, block - 2, lane);
    }
}

/* All tiles of this CTA. */
static __device__ __forceinline__ void produce(const struct gm_attention_sm90_params &p, uint32_t base, int lane) {
    struct pipeline_state k = {0, 0}, v = {0, 0};
    uint32_t phase = 0, q_phase = 0;
    griddep_wait();
    for (;;) {
        const struct tile t = next_tile(base, phase, lane);
        if (t.rows < 0)
            break;
        if (t.first == t.end)
            continue;
        load_tile(p, base, q_phase, k, v, t, lane);
        q_phase ^= 1;
    }
}

#endif
