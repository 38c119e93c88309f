/* SPDX-License-Identifier: Apache-2.0 */
/* A warp's share of a piece's keys: every so manyth tile. Its 16 rows of q, their scores and their sums stay in
 * registers. */
#ifndef GM_ATTENTION_DECODE_ATTEND_CUH
#define GM_ATTENTION_DECODE_ATTEND_CUH

#include "common/attention_decode/tokens.h"

#if GM_CACHE == GM_CACHE_e4m3
#include "sm80/attention_decode/e4m3_cache.cuh"
#else
#include "sm80/attention_decode/same_cache.cuh"
#endif

/* ---- a tile ---------------------------------------------------------------------------------------- */

static __device__ __forceinline__ void hide_keys(const struct gm_attention_params &p, const struct piece &piece,
                                                 int key, scores_t &scores) {
    const uint32_t lane = lane_index();
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const int row = piece.first_row + min(lane / 4 + 8 * half, piece.rows - 1);
        const uint64_t visible = visible_bits(p, piece.request, token_of_row(p, row), key);
        hide((visible & low_bits(piece.keys.end - key)) >> lane % 4 * 2, 2 * half, scores);
    }
}

/* Scores become weights, relative to the largest so far; what was relative to another largest is made so. */
static __device__ __forceinline__ void weigh(struct sums &s, scores_t &scores) {
    float most[2], kept[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        most[half] = s.most[half];
#pragma unroll
        for (int i = 0; i < KEYS / 8; ++i)
            most[half] = fmaxf(most[half], fmaxf(scores[i][2 * half], scores[i][2 * half + 1]));
        most[half] = max_of_quad(most[half]);
        const float base = base_of(most[half]);
        kept[half] = ex2_approx_ftz(s.most[half] - base);
        float sum = 0;
#pragma unroll
        for (int i = 0; i < KEYS / 4; ++i) {
            float &x = scores[i / 2][2 * half + i % 2];
            x = ex2_approx_ftz(x - base);
            sum += x;
        }
        s.sum[half] = fmaf(s.sum[half], kept[half], sum);
    }
    if (__any_sync(0xffffffff, most[0] != s.most[0] || most[1] != s.most[1])) {
#pragma unroll
        for (int i = 0; i < HEAD_DIM / 8; ++i)
#pragma unroll
            for (int j = 0; j < 4; ++j)
                s.values[i][j] *= kept[j / 2];
    }
    s.most[0] = most[0];
    s.most[1] = most[1];
}

/* ---- all tiles ------------------------------------------------------------------------------------- */

static __device__ __forceinline__ void attend_tile(const struct gm_attention_params &p, const struct piece &piece,
                                                   const struct keys &clear, const struct fragments &f, uint32_t stage,
                                                   int key, struct sums &s) {
    scores_t scores = {};
    score(p, f, stage, scores);
    if (key < clear.first || key + KEYS > clear.end)
        hide_keys(p, piece, key, scores);
    weigh(s, scores);
    add_values(s, scores, stage);
}

/* Starts the first tiles: all their entries are on their way before the first one is waited for. Returns the entry of the tile
 * behind them. */
static __device__ __forceinline__ uint32_t fill_ring(const struct gm_attention_params &p, const struct piece &piece,
                                                     uint32_t ring, uint32_t key) {
    uint32_t entries[STAGES + 1];
#pragma unroll
    for (int i = 0; i <= STAGES; ++i)
        entries[i] = entry_of_lane(p, piece, key + i * BLOCK);
#pragma unroll 1
    for (int i = 0; i < STAGES; ++i) {
        fill_stage(p, piece, ring + i * STAGE_BYTES, key + i * BLOCK, entries[0]);
#pragma unroll
        for (int next = 0; next < STAGES; ++next)
            entries[next] = entries[next + 1];
    }
    return entries[0];
}

/* The warp's ring is full of tiles under way before q is waited for; and what finds a tile's rows is under way a tile before its
 * copies. */
static __device__ __forceinline__ void attend(const struct gm_attention_params &p, const struct piece &piece,
                                              struct sums &s) {
    const uint32_t ring = ring_of_warp();
    struct keys clear = keys_of_all(p, piece.request, first_token(p, piece), last_token(p, piece));
    clear.end = min(clear.end, piece.keys.end);
    uint32_t key = piece.keys.first + warp_index() * KEYS, stage = 0;
    struct fragments f;
    start_q(p, piece, f);
    uint32_t entry = fill_ring(p, piece, ring, key);
    finish_q(p, piece, f);
#pragma unroll 1
    for (; key < (uint32_t)piece.keys.end; key += BLOCK) {
        cp_async_wait_group<STAGES - 1>();
        __syncwarp();
        attend_tile(p, piece, clear, f, ring + stage, key, s);
        __syncwarp();
        fill_stage(p, piece, ring + stage, key + STAGES * BLOCK, entry);
        entry = entry_of_lane(p, piece, key + (STAGES + 1) * BLOCK);
        stage = pipeline_next(stage, STAGE_BYTES, RING_BYTES);
    }
    cp_async_wait_group<0>();
    scale_values(f, s);
}

#endif
