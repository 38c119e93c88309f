/* SPDX-License-Identifier: Apache-2.0 */
/* attend_8bit(): the blocks of a consumer's tiles, of 8-bit elements. A block's P V is a sum of its own, and O is one of fp32: what
 * makes O relative to the new largest score adds it too. */
#ifndef GM_SM90_ATTENTION_ATTEND_8BIT_CUH
#define GM_SM90_ATTENTION_ATTEND_8BIT_CUH

#include "sm90/attention_sm90/consumer.cuh"
#include "sm90/attention_sm90/mma_8bit.cuh"

/* Where the Q of this warpgroup's rows is. */
static __device__ __forceinline__ uint32_t q_operand(uint32_t base, const struct consumer &c) {
    return uniform(operand_8bit(q_addr(base, q_slot(c)) + number_of() * 64 * SPAN));
}

template <int COUNT>
static __device__ __forceinline__ void add_outputs(float *o, const float (&part)[COUNT], const float (&shrink)[2]) {
#pragma unroll
    for (int i = 0; i < COUNT; ++i)
        o[i] = o[i] * shrink[i / 2 % 2] + part[i];
}

/* The tile whose O is done is stored: the one before that of which it heard last, unless that was told to be none. */
static __device__ __forceinline__ void end_tile(const struct gm_attention_params &p, uint32_t base,
                                                const struct consumer &c, float (&o)[OUTPUTS], const float (&factor)[2],
                                                bool is_last) {
    finish_tile(p, base, c, o, factor, is_last ? tile_slot(c) : (c.tiles - 2) % TILE_SLOTS);
#pragma unroll
    for (int i = 0; i < OUTPUTS; ++i)
        o[i] = 0;
}

/* All scores of the tile are exponentials: goes on to the next one, and returns where its Q is. */
static __device__ __forceinline__ uint32_t go_on(const struct gm_attention_params &p, uint32_t base, struct consumer &c,
                                                 struct rows &rows, float (&factor)[2]) {
    find_factor(p, rows, tile_addr(base, tile_slot(c)), factor);
    rows = {{-GM_INFINITY, -GM_INFINITY}, {0, 0}};
    pipeline_release<1>(q_ring(base), q_slot(c), (uint32_t)thread_index() % 128);
    next_tile(p, base, c);
    return q_operand(base, c);
}

/* All tiles, without a gap; blocks of TOKENS, and COLUMNS of O.
 * Instructions are what schedulers have too many of: so P is packed once the wait for K is under way, ends of tiles are one
 * branch, and what a block is found by is added to where the ring begins. Consumers take no turns.
 * NOTE: wgmma stands in no branch, or ptxas serialises it (C7515). So behind the last tile scores are computed once more
 * from what the ring still holds, and nobody uses them. */
template <int TOKENS, int COLUMNS>
static __device__ __forceinline__ void attend_8bit(const struct gm_attention_params &p, uint32_t base,
                                                   struct consumer &c) {
    const struct pipeline ks = k_ring(base), vs = v_ring(base);
    const uint32_t k = operand_8bit(k_addr(base, 0)), v = operand_8bit(v_addr(base, 0));
    const uint32_t thread = (uint32_t)thread_index() % 128;
    float s[TOKENS / 2], o[COLUMNS / 2], part[COLUMNS / 2], shrink[2], factor[2];
    struct rows rows = {{-GM_INFINITY, -GM_INFINITY}, {0, 0}};

    uint32_t q = q_operand(base, c);
    pipeline_wait(ks, state_at<STAGES>(c.blocks));
    issue_scores_8bit<TOKENS>(s, q, operand_advance(k, c.blocks % STAGES * K_BYTES));
    wgmma_wait_group<0>();
    wgmma_fence_operand(s);
    pipeline_release<1>(ks, c.blocks % STAGES, thread);
    soften(p, base, s, rows, shrink, c);
#pragma unroll
    for (int i = 0; i < COLUMNS / 2; ++i)
        o[i] = 0;
#pragma unroll 1
    for (bool ended = false;;) {
        uint32_t probs[P_WORDS];
        const bool last = c.block == c.first, is_none = c.block < 0;
        const float before[2] = {shrink[0], shrink[1]};              /* of O, by the block that is added */
        const struct pipeline_state at = state_at<STAGES>(c.blocks); /* of V; K is one ahead */
        const struct pipeline_state next = state_at<STAGES>(c.blocks + 1);
        if (ended || last) {
            if (ended)
                end_tile(p, base, c, o, factor, is_none);
            if (is_none)
                return;
            if (last)
                q = go_on(p, base, c, rows, factor);
        }
        c.block -= !last;
        ended = last;
        ++c.blocks;
        pack_p(s, probs);
        pipeline_wait(ks, next);
        issue_scores_8bit<TOKENS>(s, q, operand_advance(k, next.slot * K_BYTES));
        pipeline_wait(vs, at);
        issue_outputs_8bit<COLUMNS>(part, probs, operand_advance(v, at.slot * V_BYTES));
        wgmma_wait_group<1>();
        wgmma_fence_operand(s);
        pipeline_release<1>(ks, next.slot, thread);
        soften(p, base, s, rows, shrink, c);
        wgmma_wait_group<0>();
        wgmma_fence_operand(part);
        pipeline_release<1>(vs, at.slot, thread);
        add_outputs(o, part, before);
    }
}

#endif
