/* SPDX-License-Identifier: Apache-2.0 */
/* attend_8bit(): the blocks of a consumer's tiles, of 8-bit elements. A block's P V is a sum of its own, and O is one of fp32: what
 * makes O relative to the new largest score adds it too. */
#ifndef GM_SM90_ATTENTION_ATTEND_8BIT_CUH
#define GM_SM90_ATTENTION_ATTEND_8BIT_CUH

#include "common/named_barrier.cuh"
#include "sm90/attention_sm90/consumer.cuh"
#include "sm90/attention_sm90/mma_8bit.cuh"

template <int COUNT>
static __device__ __forceinline__ void add_outputs(float *o, const float (&part)[COUNT], const float (&shrink)[2]) {
#pragma unroll
    for (int i = 0; i < COUNT; ++i)
        o[i] = o[i] * shrink[i / 2 % 2] + part[i];
}

/* All tiles, without a gap; blocks of TOKENS, and COLUMNS of O.
 * NOTE: wgmma stands in no branch, or ptxas serialises it (C7515). So behind the last tile scores are computed once more
 * from what the ring still holds, and nobody uses them. */
template <int TOKENS, int COLUMNS>
static __device__ __forceinline__ void attend_8bit(const struct gm_attention_params &p, uint32_t base,
                                                   struct consumer &c) {
    const struct pipeline ks = k_ring(base), vs = v_ring(base);
    float s[TOKENS / 2], o[COLUMNS / 2], part[COLUMNS / 2], shrink[2], factor[2];
    uint32_t probs[P_WORDS];
    struct rows rows = {{-GM_INFINITY, -GM_INFINITY}, {0, 0}};

    pipeline_wait(ks, state_at<STAGES>(c.blocks));
    issue_scores_8bit<TOKENS>(s, uniform(q_addr(base, q_slot(c))) + number_of() * 64 * SPAN,
                              k_addr(base, c.blocks % STAGES));
    wgmma_wait_group<0>();
    wgmma_fence_operand(s);
    release_scores(base, c);
    soften(p, base, s, rows, shrink, c);
    pack_p(s, probs);
#pragma unroll
    for (int i = 0; i < COLUMNS / 2; ++i)
        o[i] = 0;
#pragma unroll 1
    for (;;) {
        const bool last = c.block == c.first;
        const uint32_t slot = tile_slot(c);
        const struct pipeline_state at = state_at<STAGES>(c.blocks - 1); /* of V; K is one ahead */
        const float before[2] = {shrink[0], shrink[1]};                  /* of O, by the block that is added */
        bool more = true;
        if (last)
            more = next_tile(p, base, c);
        else
            --c.block;
        pipeline_wait(ks, state_at<STAGES>(c.blocks));
        const uint32_t q = uniform(q_addr(base, q_slot(c))) + number_of() * 64 * SPAN;
        const uint32_t k = uniform(k_addr(base, c.blocks % STAGES)), v = uniform(v_addr(base, at.slot));
        bar_sync(BAR_TURN + number_of(), 256);
        issue_scores_8bit<TOKENS>(s, q, k);
        pipeline_wait(vs, at);
        issue_outputs_8bit<COLUMNS>(part, probs, v);
        bar_arrive(BAR_TURN + (number_of() + 1) % CONSUMERS, 256);
        if (last) {
            find_factor(p, rows, tile_addr(base, slot), factor);
            rows = {{-GM_INFINITY, -GM_INFINITY}, {0, 0}};
        }
        wgmma_wait_group<1>();
        wgmma_fence_operand(s);
        release_scores(base, c);
        soften(p, base, s, rows, shrink, c);
        wgmma_wait_group<0>();
        wgmma_fence_operand(part);
        pipeline_release<1>(vs, at.slot, (uint32_t)thread_index() % 128);
        pack_p(s, probs);
        add_outputs(o, part, before);
        if (last) {
            finish_tile(p, base, c, o, factor, slot);
            if (!more)
                return;
#pragma unroll
            for (int i = 0; i < COLUMNS / 2; ++i)
                o[i] = 0;
        }
    }
}

#endif
