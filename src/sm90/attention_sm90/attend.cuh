/* SPDX-License-Identifier: Apache-2.0 */
/* attend(): the blocks of a consumer's tiles, of 16-bit elements. */
#ifndef GM_SM90_ATTENTION_ATTEND_CUH
#define GM_SM90_ATTENTION_ATTEND_CUH

#include "common/named_barrier.cuh"
#include "common/shared.cuh"
#include "sm90/attention_sm90/consumer.cuh"
#include "sm90/attention_sm90/mma.cuh"
#include "sm90/tma.cuh"

/* If the block is its tile's first and the last tokens of it are none, their rows of V become zeros, by all consumers
 * together. */
static __device__ __forceinline__ void clear_tail(uint32_t base, const struct consumer &c, int flags) {
    const struct layout l = layout_of<V_SLABS>(flags);
    const struct tile t = read_tile(tile_addr(base, tile_slot(c)));
    const int tokens = t.kv_len - c.block * TILE_N;
    if (c.block != t.end - 1 || tokens >= TILE_N)
        return;
    const struct pipeline_state at = state_at<STAGES>(c.blocks - 1);
    pipeline_wait(v_ring(base), at);
    for (int i = (thread_index() - FIRST_CONSUMER * 128) * 16 + tokens * SPAN; i < TILE_N * SPAN;
         i += CONSUMERS * 128 * 16)
#pragma unroll
        for (int slab = 0; slab < V_SLABS; ++slab)
            st_shared_v4(v_addr(base, at.slot) + slab * l.slab + i / (8 * SPAN) * l.eight + i % (8 * SPAN), 0, 0, 0, 0);
    fence_proxy_async();
    bar_sync(BAR_TAIL, 128 * CONSUMERS);
}

/* Tiles that follow each other without a gap: all, or one where there is one Q.
 * NOTE: wgmma stands in no branch, or ptxas serialises it (C7515). So behind the last tile scores are computed once more
 * from what the ring still holds, and nobody uses them. */
static __device__ __forceinline__ void attend(const struct gm_attention_params &p, uint32_t base, struct consumer &c) {
    const struct pipeline ks = k_ring(base), vs = v_ring(base);
    float s[SCORES], o[OUTPUTS], shrink[2], factor[2];
    uint32_t probs[P_WORDS];
    struct rows rows = {{-GM_INFINITY, -GM_INFINITY}, {0, 0}};

    pipeline_wait(ks, state_at<STAGES>(c.blocks));
    issue_scores(s, uniform(q_addr(base, q_slot(c))) + number_of() * 64 * SPAN, k_addr(base, c.blocks % STAGES),
                 p.flags);
    wgmma_wait_group<0>();
    wgmma_fence_operand(s);
    release_scores(base, c);
    soften(p, base, s, rows, shrink, c);
    pack_p(s, probs);
    clear_tail(base, c, p.flags);
    shrink[0] = shrink[1] = 0;
#pragma unroll
    for (int i = 0; i < OUTPUTS; ++i)
        o[i] = 0;
#pragma unroll 1
    for (;;) {
        const bool last = c.block == c.first;
        const uint32_t slot = tile_slot(c);
        const struct pipeline_state at = state_at<STAGES>(c.blocks - 1); /* of V; K is one ahead */
        bool more = true;
        if (!JOINS_TILES && last)
            break;
        if (last)
            more = next_tile(p, base, c);
        else
            --c.block;
        pipeline_wait(ks, state_at<STAGES>(c.blocks));
        const uint32_t q = (JOINS_TILES ? uniform(q_addr(base, q_slot(c))) : base) + number_of() * 64 * SPAN;
        const uint32_t k = uniform(k_addr(base, c.blocks % STAGES)), v = uniform(v_addr(base, at.slot));
        bar_sync(BAR_TURN + number_of(), 256);
        issue_scores(s, q, k, p.flags);
        if (OVERLAPS)
            shrink_outputs(o, shrink);
        pipeline_wait(vs, at);
        issue_outputs(o, probs, v, p.flags);
        bar_arrive(BAR_TURN + (number_of() + 1) % CONSUMERS, 256);
        if (JOINS_TILES && last) {
            find_factor(p, rows, tile_addr(base, slot), factor);
            rows = {{-GM_INFINITY, -GM_INFINITY}, {0, 0}};
        }
        wgmma_wait_group<1>();
        wgmma_fence_operand(s);
        release_scores(base, c);
        soften(p, base, s, rows, shrink, c);
        if (OVERLAPS)
            wgmma_wait_group_behind<0>(rows.sum[0] + rows.sum[1], tile_addr(base, 0));
        else
            wgmma_wait_group<0>();
        wgmma_fence_operand(o);
        pipeline_release<1>(vs, at.slot, (uint32_t)thread_index() % 128);
        pack_p(s, probs);
        if (JOINS_TILES && last) {
            finish_tile(p, base, c, o, factor, slot);
            if (!more)
                return;
#pragma unroll
            for (int i = 0; i < OUTPUTS; ++i)
                o[i] = 0;
            clear_tail(base, c, p.flags);
        } else if (!OVERLAPS) {
            shrink_outputs(o, shrink);
        }
    }
    if (OVERLAPS)
        shrink_outputs(o, shrink);
    const struct pipeline_state at = state_at<STAGES>(c.blocks - 1);
    pipeline_wait(vs, at);
    issue_outputs(o, probs, v_addr(base, at.slot), p.flags);
    find_factor(p, rows, tile_addr(base, tile_slot(c)), factor);
    wgmma_wait_group<0>();
    wgmma_fence_operand(o);
    pipeline_release<1>(vs, at.slot, (uint32_t)thread_index() % 128);
    finish_tile(p, base, c, o, factor, tile_slot(c));
}

#endif
