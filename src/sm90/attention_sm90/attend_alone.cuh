/* SPDX-License-Identifier: Apache-2.0 */
/* attend_alone(): a CTA of one warpgroup and one tile, of which an SM has several. While it waits, the others compute: so
 * nothing is specialised. One of its warps finds the tile, and loads: a stage's next block as soon as the warpgroup's wgmma
 * has read the one before, so that no barrier has to say so. */
#ifndef GM_SM90_ATTENTION_ATTEND_ALONE_CUH
#define GM_SM90_ATTENTION_ATTEND_ALONE_CUH

#include "sm90/attention_sm90/attend.cuh"
#include "sm90/attention_sm90/load.cuh"
#include "sm90/follow.cuh"

enum {
    START_AT = 36, /* of a description: the first token of KV_RAGGED */
    PLACE_AT = 48, /* where block 0 is without pages: coordinates of the map, without the element */
};

/* The warp that loads. Not the same of all CTAs: the first ones of them share a scheduler. */
static __device__ __forceinline__ bool is_loader(void) {
    const uint32_t cta = (uint32_t)cta_index();
    return __shfl_sync(0xFFFFFFFF, (uint32_t)thread_index() / 32, 0) == (cta + cta / 128) % 4;
}

/* Block `block` of K or V, whose stage nobody reads any more. */
template <int SLABS_OF_ROW>
static __device__ __forceinline__ void fill(const struct gm_attention_sm90_params &p, const struct gm_tensor_map &map,
                                            int spans, uint32_t base, struct pipeline ring, struct pipeline_state at,
                                            uint32_t dst, int block) {
    const uint32_t tile = tile_addr(base, 0), full = ring.full_addr + 8 * at.slot;
    const int lane = lane_index();
    if (p.attention.flags & GM_ATTENTION_IS_PAGED) {
        fill_stage<SLABS_OF_ROW>(p, map, spans, ring, at, dst,
                                 box_of(p, read_tile(tile), (int)ld_shared_b32(tile + START_AT), block, lane), lane);
    } else if (lane == 0) {
        uint32_t place[4];
        ld_shared_v4_b32(tile + PLACE_AT, place);
        mbarrier_arrive_expect_tx(full, SLABS_OF_ROW * TILE_N * SPAN);
#pragma unroll
        for (int slab = 0; slab < SLABS_OF_ROW; ++slab)
            tma_load_4d(dst + slab * TILE_N * SPAN, &map, slab * SLAB, (int)place[0] + block * TILE_N, (int)place[1],
                        (int)place[2], full);
    }
    __syncwarp();
}

/* Block `block` of K, and of V, into the stage of the CTA's `count`-th, if there is such a block. */
static __device__ __forceinline__ void fill_k(const struct gm_attention_sm90_params &p, uint32_t base,
                                              const struct consumer &c, int block, uint32_t count) {
    const struct pipeline_state at = state_at<STAGES>(count);
    if (block >= c.first && is_loader())
        fill<SLABS>(p, p.k, p.k_head_spans, base, k_ring(base), at, k_addr(base, at.slot), block);
}

static __device__ __forceinline__ void fill_v(const struct gm_attention_sm90_params &p, uint32_t base,
                                              const struct consumer &c, int block, uint32_t count) {
    const struct pipeline_state at = state_at<STAGES>(count);
    if (block >= c.first && is_loader())
        fill<V_SLABS>(p, p.v, p.v_head_spans, base, v_ring(base), at, v_addr(base, at.slot), block);
}

static __device__ __forceinline__ void init_full_barriers(uint32_t base) {
    if (lane_index() == 0) {
#pragma unroll
        for (uint32_t slot = 0; slot < STAGES; ++slot) {
            mbarrier_init(k_ring(base).full_addr + 8 * slot, 1);
            mbarrier_init(v_ring(base).full_addr + 8 * slot, 1);
        }
        mbarrier_init(q_ring(base).full_addr, 1);
        fence_mbarrier_init();
    }
    __syncwarp();
}

/* The loader's: the tile's description, its Q. A tile of no rows, or whose rows see no token, is none. */
static __device__ __forceinline__ void find_tile(const struct gm_attention_sm90_params &params, uint32_t base) {
    const struct gm_attention_params &p = params.attention;
    const int lane = lane_index();
    struct tile t = {0, -1, 0, 0, 0, 0, 0, 0, 0};
    int start = 0;
    init_full_barriers(base);
    griddep_follow();
    struct walk w = walk_begin(p);
    if (walk_to(p, w, cta_index())) {
        t = tile_of(params, w, cta_index());
        if (t.first < t.end) {
            start = p.flags & GM_ATTENTION_IS_RAGGED ? load_i32(p.kv_indptr, t.request) : 0;
            fill_q(params, base, 0, t.head, t.row, lane);
        } else {
            store_nothing(p, t);
            t.rows = -1;
        }
    }
    if (lane == 0) {
        write_tile(tile_addr(base, 0), t);
        const uint32_t place[4] = {(uint32_t)start, (uint32_t)t.group,
                                   p.flags & GM_ATTENTION_IS_RAGGED ? 0 : (uint32_t)t.request, 0};
        st_shared_b32(tile_addr(base, 0) + START_AT, start);
        st_shared_v2_b32(tile_addr(base, 0) + PLACE_AT, place);
        st_shared_v2_b32(tile_addr(base, 0) + PLACE_AT + 8, place + 2);
    }
    __syncwarp();
}

/* False if the CTA has no tile; else its first blocks are on their way. */
static __device__ __forceinline__ bool begin_tile(const struct gm_attention_sm90_params &p, uint32_t base,
                                                  struct consumer &c) {
    if (is_loader()) {
        find_tile(p, base);
        const struct tile t = read_tile(tile_addr(base, 0));
        c.first = __shfl_sync(0xFFFFFFFF, t.first, 0);
#pragma unroll
        for (int i = 0; i < STAGES; ++i)
            if (t.rows >= 0) {
                fill_k(p, base, c, t.end - 1 - i, i);
                fill_v(p, base, c, t.end - 1 - i, i);
            }
    } else {
        prefetch_tensormap(&p.k);
    }
    __syncthreads();
    c.tiles = 1;
    return stand_at(p.attention, tile_addr(base, 0), c);
}

/* The scores of the first block -> P. */
static __device__ __forceinline__ void begin_blocks(const struct gm_attention_sm90_params &params, uint32_t base,
                                                    struct consumer &c, float (&s)[SCORES], uint32_t (&probs)[P_WORDS],
                                                    struct rows &rows) {
    float shrink[2];
    pipeline_wait(k_ring(base), state_at<STAGES>(0));
    issue_scores(s, base, k_addr(base, 0), params.attention.flags);
    wgmma_wait_group<0>();
    wgmma_fence_operand(s);
    fill_k(params, base, c, c.block - STAGES, STAGES);
    ++c.blocks;
    soften(params.attention, base, s, rows, shrink, c);
    pack_p(s, probs);
    clear_tail(base, c, params.attention.flags);
}

/* The next block's scores are issued with this block's O. */
static __device__ __forceinline__ void attend_ahead(const struct gm_attention_sm90_params &params, uint32_t base,
                                                    struct consumer &c, float (&o)[OUTPUTS], float (&factor)[2]) {
    const struct pipeline ks = k_ring(base), vs = v_ring(base);
    float s[SCORES], shrink[2];
    uint32_t probs[P_WORDS];
    struct rows rows = {{-GM_INFINITY, -GM_INFINITY}, {0, 0}};
    begin_blocks(params, base, c, s, probs, rows);
#pragma unroll 1
    while (c.block > c.first) {
        const struct pipeline_state at = state_at<STAGES>(c.blocks - 1); /* of V; K is one ahead */
        --c.block;
        pipeline_wait(ks, state_at<STAGES>(c.blocks));
        issue_scores(s, base, uniform(k_addr(base, c.blocks % STAGES)), params.attention.flags);
        pipeline_wait(vs, at);
        issue_outputs(o, probs, uniform(v_addr(base, at.slot)), params.attention.flags);
        wgmma_wait_group<1>();
        wgmma_fence_operand(s);
        fill_k(params, base, c, c.block - STAGES, c.blocks + STAGES);
        ++c.blocks;
        soften(params.attention, base, s, rows, shrink, c);
        wgmma_wait_group<0>();
        wgmma_fence_operand(o);
        fill_v(params, base, c, c.block + 1 - STAGES, c.blocks - 2 + STAGES);
        pack_p(s, probs);
        shrink_outputs(o, shrink);
    }
    const struct pipeline_state at = state_at<STAGES>(c.blocks - 1);
    pipeline_wait(vs, at);
    issue_outputs(o, probs, v_addr(base, at.slot), params.attention.flags);
    find_factor(params.attention, rows, tile_addr(base, 0), factor);
    wgmma_wait_group<0>();
    wgmma_fence_operand(o);
}

/* One product after the other: a thread has registers for S or for P beside O, not for both. */
static __device__ __forceinline__ void attend_serial(const struct gm_attention_sm90_params &params, uint32_t base,
                                                     struct consumer &c, float (&o)[OUTPUTS], float (&factor)[2]) {
    float s[SCORES], shrink[2];
    uint32_t probs[P_WORDS];
    struct rows rows = {{-GM_INFINITY, -GM_INFINITY}, {0, 0}};
#pragma unroll 1
    for (; c.block >= c.first; --c.block) {
        const struct pipeline_state at = state_at<STAGES>(c.blocks);
        pipeline_wait(k_ring(base), at);
        issue_scores(s, base, uniform(k_addr(base, at.slot)), params.attention.flags);
        wgmma_wait_group<0>();
        wgmma_fence_operand(s);
        fill_k(params, base, c, c.block - STAGES, c.blocks + STAGES);
        ++c.blocks;
        soften(params.attention, base, s, rows, shrink, c);
        pack_p(s, probs);
        shrink_outputs(o, shrink);
        clear_tail(base, c, params.attention.flags);
        pipeline_wait(v_ring(base), at);
        issue_outputs(o, probs, uniform(v_addr(base, at.slot)), params.attention.flags);
        wgmma_wait_group<0>();
        wgmma_fence_operand(o);
        fill_v(params, base, c, c.block - STAGES, c.blocks - 1 + STAGES);
    }
    find_factor(params.attention, rows, tile_addr(base, 0), factor);
}

static __device__ __forceinline__ void attend_alone(const struct gm_attention_sm90_params &params, uint32_t base) {
    struct consumer c = {};
    float o[OUTPUTS], factor[2];
    if (!begin_tile(params, base, c))
        return;
    mbarrier_wait(q_ring(base).full_addr, 0);
#pragma unroll
    for (int i = 0; i < OUTPUTS; ++i)
        o[i] = 0;
    if (IS_SERIAL)
        attend_serial(params, base, c, o, factor);
    else
        attend_ahead(params, base, c, o, factor);
    store_rows(params.attention, o, factor, read_tile(tile_addr(base, 0)), row_of(), lane_index());
}

#endif
