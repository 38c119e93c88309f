/* SPDX-License-Identifier: Apache-2.0 */
/* attend_8bit_wide(): the blocks of a tile, of 8-bit elements whose O leaves no room for a block's P V beside it: that comes in
 * PASSES of PASS elements of the head. What is relative to the largest score is as in attend_8bit.cuh. A consumer's turn has
 * these and the next scores; its exponentials run under the others' turns. */
#ifndef GM_SM90_ATTENTION_ATTEND_8BIT_WIDE_CUH
#define GM_SM90_ATTENTION_ATTEND_8BIT_WIDE_CUH

#include "common/named_barrier.cuh"
#include "sm90/attention_sm90/attend_8bit.cuh"
#include "sm90/attention_sm90/consumer.cuh"
#include "sm90/attention_sm90/mma_8bit.cuh"

enum { PASS = 128 };

/* P V of a block whose V lies there, added to O. */
template <int PASSES>
static __device__ __forceinline__ void add_block(float (&o)[PASSES * PASS / 2], const uint32_t (&probs)[P_WORDS],
                                                 uint32_t v, const float (&shrink)[2]) {
    float part[PASS / 2];
#pragma unroll
    for (int pass = 0; pass < PASSES; ++pass) {
        issue_outputs_8bit<PASS>(part, probs, operand_advance(v, pass * PASS * SPAN));
        wgmma_wait_group<0>();
        wgmma_fence_operand(part);
        add_outputs(o + pass * PASS / 2, part, shrink);
    }
}

template <int TOKENS, int PASSES>
static __device__ __forceinline__ void attend_8bit_wide(const struct gm_attention_params &p, uint32_t base,
                                                        struct consumer &c) {
    const struct pipeline ks = k_ring(base), vs = v_ring(base);
    const uint32_t q = q_operand(base, c);
    float s[TOKENS / 2], o[PASSES * PASS / 2], shrink[2], factor[2];
    uint32_t probs[P_WORDS];
    struct rows rows = {{-GM_INFINITY, -GM_INFINITY}, {0, 0}};

#pragma unroll
    for (int i = 0; i < PASSES * PASS / 2; ++i)
        o[i] = 0;
    pipeline_wait(ks, state_at<STAGES>(c.blocks));
    issue_scores_8bit<TOKENS>(s, q, operand_8bit(uniform(k_addr(base, c.blocks % STAGES))));
#pragma unroll 1
    for (;;) {
        const struct pipeline_state at = state_at<STAGES>(c.blocks);
        wgmma_wait_group<0>();
        wgmma_fence_operand(s);
        release_scores(base, c);
        soften(p, base, s, rows, shrink, c);
        pack_p(s, probs);
        bar_sync(BAR_TURN + number_of(), 256);
        pipeline_wait(vs, at);
        add_block<PASSES>(o, probs, operand_8bit(uniform(v_addr(base, at.slot))), shrink);
        pipeline_release<1>(vs, at.slot, (uint32_t)thread_index() % 128);
        if (c.block == c.first)
            break;
        --c.block;
        pipeline_wait(ks, state_at<STAGES>(c.blocks));
        issue_scores_8bit<TOKENS>(s, q, operand_8bit(uniform(k_addr(base, c.blocks % STAGES))));
        bar_arrive(BAR_TURN + (number_of() + 1) % CONSUMERS, 256);
    }
    bar_arrive(BAR_TURN + (number_of() + 1) % CONSUMERS, 256);
    find_factor(p, rows, tile_addr(base, tile_slot(c)), factor);
    finish_tile(p, base, c, o, factor, tile_slot(c));
}

#endif
