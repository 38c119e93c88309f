/* SPDX-License-Identifier: Apache-2.0 */
/* The scorer, one warpgroup: S = Q K, and weights of it in shared memory. A thread has two rows, 16 * warp + lane / 4 and 8 below,
 * and of every 8 keys the two at 2 * (lane % 4): element i is in row r + 8 * (i / 2 % 2), key 8 * (i / 4) + i % 2 from there. Four
 * lanes, a quad, share a row. */
#ifndef GM_SM90_ATTENTION_MLA_SCORE_CUH
#define GM_SM90_ATTENTION_MLA_SCORE_CUH

#include "common/attention/softmax.cuh"
#include "common/attention/visible.cuh"
#include "common/named_barrier.cuh"
#include "sm90/attention_mla_sm90/piece.cuh"
#include "sm90/stmatrix.cuh"
#include "sm90/tma.cuh"
#include "sm90/wgmma.cuh"
#include "sm90/wgmma_shapes.cuh"

/* The thread's two rows: the largest score so far, and the sum of weights of this lane's keys. */
struct rows {
    float most[2], sum[2];
};

/* The first of them in the unit. */
static __device__ __forceinline__ int row_of_lane(void) {
    return warp_index() * 16 + lane_index() / 4;
}

/* Step by step, as the stage comes. */
static __device__ __forceinline__ void multiply_keys(float (&s)[SCORES], uint32_t base, struct pipeline_state at) {
    const uint64_t q = wgmma_descriptor(q_addr(base), 16, 8 * SPAN, SPAN);
    const uint64_t k = wgmma_descriptor(stage_addr(base, at.slot), 16, 8 * SPAN, SPAN);
    mbarrier_wait(full_addr(base, at.slot, 0), at.phase);
    wgmma_fence_operand(s);
    wgmma_fence();
#pragma unroll
    for (int step = 0; step < HEAD_DIM / 16; ++step) {
        if (step == 4 * STEP_SLABS || step == 8 * STEP_SLABS) {
            mbarrier_wait(full_addr(base, at.slot, step / (4 * STEP_SLABS)), at.phase);
            wgmma_fence();
        }
        const uint32_t offset = step / 4 * SLAB_BYTES + step % 4 * 32;
        wgmma_m64<BLOCK>(s, wgmma_descriptor_advance(q, offset), wgmma_descriptor_advance(k, offset), step > 0);
    }
    wgmma_commit_group();
    wgmma_wait_group<0>();
    wgmma_fence_operand(s);
}

/* NOTE: in a loop of its own: in that of the scale nvcc branches at every score, 32 times a block. */
static __device__ __forceinline__ void cap_scores(float (&s)[SCORES], float cap, float exponent) {
#pragma unroll
    for (int i = 0; i < SCORES; ++i)
        s[i] = soft_cap(s[i], cap, exponent);
}

static __device__ __forceinline__ void scale_scores(const struct gm_attention_params &p, float (&s)[SCORES]) {
#pragma unroll
    for (int i = 0; i < SCORES; ++i)
        s[i] *= p.scale;
    if (p.flags & GM_ATTENTION_HAS_CAP)
        cap_scores(s, p.cap * GM_LOG2_E, p.cap_exponent);
}

static __device__ __forceinline__ void hide_keys(const struct gm_attention_params &p, const struct piece &piece,
                                                 int key, float (&s)[SCORES]) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const int row = piece.first_row + min(row_of_lane() + 8 * half, piece.rows - 1);
        const uint64_t visible = visible_bits(p, piece.request, token_of_row(p, row), key);
        hide((visible & low_bits(piece.keys.end - key)) >> lane_index() % 4 * 2, 2 * half,
             reinterpret_cast<float(&)[SCORES / 4][4]>(s));
    }
}

/* Scores become weights, relative to the largest so far. `kept`: what sums that were relative to another are multiplied by. */
static __device__ __forceinline__ void weigh(float (&s)[SCORES], struct rows &rows, float (&kept)[2]) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        float most[2] = {rows.most[half], s[2 * half]}, sum[2] = {0, 0};
#pragma unroll
        for (int i = 2 * half; i < SCORES; i += 4) {
            most[0] = fmaxf(most[0], s[i]);
            most[1] = fmaxf(most[1], s[i + 1]);
        }
        most[0] = max_of_quad(fmaxf(most[0], most[1]));
        const float base = base_of(most[0]);
        kept[half] = ex2_approx_ftz(rows.most[half] - base);
        rows.most[half] = most[0];
#pragma unroll
        for (int i = 2 * half; i < SCORES; i += 4) {
            s[i] = ex2_approx_ftz(s[i] - base);
            s[i + 1] = ex2_approx_ftz(s[i + 1] - base);
            sum[0] += s[i];
            sum[1] += s[i + 1];
        }
        rows.sum[half] = fmaf(rows.sum[half], kept[half], sum[0] + sum[1]);
    }
}

/* ---- what the adders need --------------------------------------------------------------------------- */

/* Rows of v behind the last token become zeros: 0 times what lies there may be NaN. A half without a token was not loaded, so that
 * adders may be at what it had before. */
static __device__ __forceinline__ void clear_tail(uint32_t base, struct pipeline_state at, int tokens) {
    mbarrier_wait(left_addr(base, at.slot), at.phase ^ 1);
#pragma unroll 1
    for (int i = (uint32_t)thread_index() % 128 * 16 + tokens * SPAN; i < SLAB_BYTES; i += 128 * 16)
#pragma unroll
        for (int slab = 0; slab < V_SLABS; ++slab)
            st_shared_v4(stage_addr(base, at.slot) + slab * SLAB_BYTES + i, 0, 0, 0, 0);
}

/* The warp's 16 rows of weights, as a slab of A: accumulators of two neighbouring blocks of 8 keys are four matrices. */
static __device__ __forceinline__ void store_weights(uint32_t base, uint32_t slot, const float (&s)[SCORES],
                                                     const float (&kept)[2]) {
    const uint32_t lane = lane_index(), row = warp_index() * 16 + lane % 16;
    const uint32_t place = weights_addr(base, slot) + row * SPAN;
#pragma unroll
    for (int i = 0; i < BLOCK / 16; ++i)
        stmatrix_x4(place + (((2 * i + lane / 16) ^ row % 8) << 4), pack_pair(s[8 * i], s[8 * i + 1]),
                    pack_pair(s[8 * i + 2], s[8 * i + 3]), pack_pair(s[8 * i + 4], s[8 * i + 5]),
                    pack_pair(s[8 * i + 6], s[8 * i + 7]));
    if (lane % 4 == 0) {
        st_shared(kept_addr(base, slot) + 4 * row_of_lane(), kept[0]);
        st_shared(kept_addr(base, slot) + 4 * row_of_lane() + 32, kept[1]);
    }
}

static __device__ __forceinline__ void store_sums(uint32_t base, uint32_t count, const struct rows &rows) {
    const uint32_t slot = count % PIECE_SLOTS, place = sums_addr(base, slot) + 8 * row_of_lane();
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const float sum = sum_of_quad(rows.sum[half]);
        if (lane_index() % 4 == 0)
            st_shared_v2(place + 64 * half, rows.most[half], sum);
    }
    arrive_warp(summed_addr(base, slot));
}

/* ---- all blocks ------------------------------------------------------------------------------------- */

static __device__ __forceinline__ void score_block(const struct gm_attention_params &p, uint32_t base,
                                                   const struct piece &piece, const struct keys &clear, int key,
                                                   struct pipeline_state at, struct rows &rows) {
    float s[SCORES], kept[2];
    multiply_keys(s, base, at);
    bar_sync(BAR_SCORED, 128); /* whichever warp is last: weights go where it reads k */
    if (key + BLOCK >= piece.keys.end)
        arrive_warp(q_ring(base).empty_addr);
    scale_scores(p, s);
    if (key < clear.first || key + BLOCK > clear.end)
        hide_keys(p, piece, key, s);
    weigh(s, rows, kept);
    if (key + BLOCK > piece.keys.end)
        clear_tail(base, at, piece.keys.end - key);
    store_weights(base, at.slot, s, kept);
    fence_proxy_async();
    arrive_warp(weighed_addr(base, at.slot));
}

static __device__ __forceinline__ void score(const struct gm_attention_params &p, uint32_t base) {
    struct piece piece;
    uint32_t blocks = 0, queries = 0;
#pragma unroll 1
    for (uint32_t count = 0; hear(base, count, piece); ++count) {
        struct rows rows = {{-GM_INFINITY, -GM_INFINITY}, {0, 0}};
        struct keys clear = keys_of_all(p, piece.request, first_token(p, piece), last_token(p, piece));
        clear.end = min(clear.end, piece.keys.end);
        if (blocks_of(piece))
            pipeline_wait(q_ring(base), state_at<1>(queries++));
#pragma unroll 1
        for (int key = piece.keys.first; key < piece.keys.end; key += BLOCK)
            score_block(p, base, piece, clear, key, state_at<STAGES>(blocks++), rows);
        store_sums(base, count, rows);
        forget(base, count);
    }
}

#endif
