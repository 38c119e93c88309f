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
    int head;
    int boxes;  /* of the block: those that begin before kv_len */
    int tokens; /* from the block's first one to kv_len */
};

static __device__ __forceinline__ struct box box_of(const struct gm_attention_sm90_params &params, const struct tile &t,
                                                    int start, int block, int lane) {
    const struct gm_attention_params &p = params.attention;
    const int token = block * TILE_N + lane * params.box_tokens;
    const int tokens = t.kv_len - block * TILE_N, boxes = (tokens + params.box_tokens - 1) / params.box_tokens;
    struct box b = {start + token, 0, t.group, min(params.boxes, boxes), tokens};
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

/* A block of K or V into its stage, which nobody reads any more, each lane its box. `spans`: from a head to the next. */
template <int SLABS_OF_ROW>
static __device__ __forceinline__ void fill_stage(const struct gm_attention_sm90_params &p,
                                                  const struct gm_tensor_map &map, int spans, struct pipeline ring,
                                                  struct pipeline_state at, uint32_t dst, struct box b, int lane) {
    const uint32_t full = ring.full_addr + 8 * at.slot;
    if (lane == 0)
        mbarrier_arrive_expect_tx(full, b.boxes * p.box_tokens * SLABS_OF_ROW * SPAN);
    __syncwarp();
    if (lane < b.boxes && SLABS_OF_ROW > 1 && !IS_8BIT && p.attention.flags & GM_ATTENTION_WHOLE_ROWS) {
        tma_load_5d(dst + lane * p.box_tokens * SLABS_OF_ROW * SPAN, &map, 0, 0, b.head * spans, b.token / 8, b.page,
                    full);
    } else if (lane < b.boxes) {
#pragma unroll
        for (int slab = 0; slab < SLABS_OF_ROW; ++slab)
            tma_load_4d(dst + slab * TILE_N * SPAN + lane * p.box_tokens * SPAN, &map, slab * SLAB, b.token, b.head,
                        b.page, full);
    }
}

/* The same, as soon as nobody reads it. */
template <int SLABS_OF_ROW>
static __device__ __forceinline__ void load_block(const struct gm_attention_sm90_params &p,
                                                  const struct gm_tensor_map &map, int spans, struct pipeline ring,
                                                  struct pipeline_state at, uint32_t dst, struct box b, int lane) {
    mbarrier_wait(ring.empty_addr + 8 * at.slot, at.phase ^ 1);
    fill_stage<SLABS_OF_ROW>(p, map, spans, ring, at, dst, b, lane);
}

static __device__ __forceinline__ void load_k(const struct gm_attention_sm90_params &p, uint32_t base, uint32_t count,
                                              struct box b, int lane) {
    const struct pipeline_state at = state_at<STAGES>(count);
    load_block<SLABS>(p, p.k, p.k_head_spans, k_ring(base), at, k_addr(base, at.slot), b, lane);
}

/* What the TRANSPOSERS are told of a block of V, ahead of the arrival that makes it visible. */
static __device__ __forceinline__ void note_tokens(uint32_t base, struct pipeline_state at, int tokens, int lane) {
    mbarrier_wait(loaded_ring(base).empty_addr + 8 * at.slot, at.phase ^ 1);
    if (lane == 0)
        st_shared_b32(tokens_addr(base, at.slot), tokens);
}

static __device__ __forceinline__ void load_v(const struct gm_attention_sm90_params &p, uint32_t base, uint32_t count,
                                              struct box b, int lane) {
    const struct pipeline_state at = state_at<STAGES>(count);
    if (!IS_8BIT) {
        load_block<V_SLABS>(p, p.v, p.v_head_spans, v_ring(base), at, v_addr(base, at.slot), b, lane);
        return;
    }
    note_tokens(base, at, b.tokens, lane);
    load_block<V_SLABS>(p, p.v, p.v_head_spans, loaded_ring(base), at, loaded_addr(base, at.slot), b, lane);
}

static __device__ __forceinline__ void fill_q(const struct gm_attention_sm90_params &p, uint32_t base, uint32_t slot,
                                              int head, int row, int lane) {
    const uint32_t full = q_ring(base).full_addr + 8 * slot;
    if (lane == 0) {
        mbarrier_arrive_expect_tx(full, Q_BYTES);
#pragma unroll
        for (int slab = 0; slab < SLABS; ++slab)
            tma_load_3d(q_addr(base, slot) + slab * TILE_M * SPAN, &p.q, slab * SLAB, row, head, full);
    }
    __syncwarp();
}

static __device__ __forceinline__ void load_q(const struct gm_attention_sm90_params &p, uint32_t base, uint32_t count,
                                              int head, int row, int lane) {
    const struct pipeline_state at = state_at<Q_SLOTS>(count);
    mbarrier_wait(q_ring(base).empty_addr + 8 * at.slot, at.phase ^ 1);
    fill_q(p, base, at.slot, head, row, lane);
}

/* The blocks of all tiles of this CTA, one after the other. */
struct cursor {
    struct tile tile;
    uint32_t tiles;   /* so far */
    int block, start; /* the block that is next; the first token of KV_RAGGED */
    bool fresh;       /* it is the tile's first one, so that Q is needed */
};

/* Goes on to the next block; false if there is none. */
static __device__ __forceinline__ bool next_block(const struct gm_attention_params &p, uint32_t base, struct cursor &c,
                                                  int lane) {
    c.fresh = c.block-- == c.tile.first;
    if (c.fresh) {
        const struct pipeline_state at = state_at<TILE_SLOTS>(c.tiles++);
        mbarrier_wait(tile_ring(base).full_addr + 8 * at.slot, at.phase);
        c.tile = read_tile(tile_addr(base, at.slot));
        forget(base, at.slot, lane);
        if (c.tile.rows < 0)
            return false;
        c.block = c.tile.end - 1;
        c.start = p.flags & GM_ATTENTION_IS_RAGGED ? load_i32(p.kv_indptr, c.tile.request) : 0;
    }
    return true;
}

/* Loads blocks from the last of a tile to its first. K is a block ahead of V, since its scores are: also from a tile to the
 * next, if the next one's Q has room. Behind all tiles the last K comes once more, for scores that nobody uses. */
static __device__ __forceinline__ void produce(const struct gm_attention_sm90_params &p, uint32_t base, int lane) {
    struct cursor c;
    c.block = c.tile.first = 0;
    c.tiles = 0;
    griddep_wait();
    bool more = next_block(p.attention, base, c, lane);
    struct box now = {0, 0, 0, 0, 0}, next = now;
    uint32_t count = 0;
#pragma unroll 1
    for (; more || count > 0; ++count) {
        if (more)
            next = box_of(p, c.tile, c.start, c.block, lane);
        const bool v_first = c.fresh && !JOINS_TILES;
        if (count > 0 && v_first)
            load_v(p, base, count - 1, now, lane);
        if (more && c.fresh)
            load_q(p, base, c.tiles - 1, c.tile.head, c.tile.row, lane);
        if (more || JOINS_TILES)
            load_k(p, base, count, next, lane);
        if (count > 0 && !v_first)
            load_v(p, base, count - 1, now, lane);
        if (!more)
            break;
        now = next;
        more = next_block(p.attention, base, c, lane);
    }
    if (IS_8BIT) {
        const struct pipeline_state at = state_at<STAGES>(count);
        note_tokens(base, at, -1, lane);
        if (lane == 0)
            mbarrier_arrive(loaded_ring(base).full_addr + 8 * at.slot);
    }
}

#endif
