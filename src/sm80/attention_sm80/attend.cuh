/* SPDX-License-Identifier: Apache-2.0 */
/* Both products of a tile of keys and the softmax between them. A warp has whole rows: what it needs of others is only their
 * copies. */
#ifndef GM_ATTENTION_SM80_ATTEND_CUH
#define GM_ATTENTION_SM80_ATTEND_CUH

#include "common/attention/softmax.cuh"
#include "sm80/attention_sm80/load.cuh"

/* Scores of a warp's rows and a tile's keys. A lane holds rows lane / 4 and 8 below of each block. */
typedef float scores_t[BLOCKS][TILE_KEYS / 8][4];

/* What they become, rounded: pairs of neighbouring keys' weights of both rows. Those of 16 keys are an A fragment. */
typedef uint32_t weights_t[BLOCKS][TILE_KEYS / 8][2];

/* What a warp has found of its rows. */
struct sums {
    float most[BLOCKS][2]; /* the largest score, before it is scaled */
    float sum[BLOCKS][2];  /* of what this lane has added up */
    float values[BLOCKS][HEAD_DIM / 8][4];
};

/* ---- scores ---------------------------------------------------------------------------------------- */

static __device__ __forceinline__ void score(scores_t &scores, uint32_t slot) {
    const uint32_t warp = warp_index(), lane = lane_index();
    const uint32_t q_addr = shared_q() + warp * (WARP_ROWS * ROW_BYTES) + lane_of_rows(lane);
    const uint32_t k_addr = slot + lane_of_columns(lane);
#pragma unroll
    for (int step = 0; step < STEPS; ++step) {
        uint32_t q[BLOCKS][4];
#pragma unroll
        for (int i = 0; i < BLOCKS; ++i)
            ldmatrix_x4(q[i], chunk_move(q_addr, 16 * i, 2 * step));
#pragma unroll
        for (int j = 0; j < KEY_STEPS; ++j) {
            uint32_t k[4];
            ldmatrix_x4(k, chunk_move(k_addr, 16 * j, 2 * step));
#pragma unroll
            for (int i = 0; i < BLOCKS; ++i) {
                multiply(scores[i][2 * j], q[i], k[0], k[1]);
                multiply(scores[i][2 * j + 1], q[i], k[2], k[3]);
            }
        }
    }
}

/* Scores of a block of rows. */
typedef float block_scores_t[TILE_KEYS / 8][4];

/* The cap is folded into the scores: they are scaled then. */
static __device__ __forceinline__ void cap_scores(const struct gm_attention_params &p, block_scores_t &scores) {
    float cap = p.cap;
    asm volatile("" : "+f"(cap)); /* else its product takes a register throughout */
#pragma unroll
    for (int j = 0; j < TILE_KEYS / 2; ++j) {
        float &x = scores[j / 4][j % 4];
        x = soft_cap(x * p.scale, cap * GM_LOG2_E, p.cap_exponent);
    }
}

static __device__ __forceinline__ int row_of_lane(int block, int half) {
    return warp_index() * WARP_ROWS + 16 * block + 8 * half + lane_index() / 4;
}

static __device__ __forceinline__ void hide_keys(const struct gm_attention_params &p, const struct tile &tile, int key,
                                                 int block, block_scores_t &scores) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const int row = tile.first_row + min(row_of_lane(block, half), tile.rows - 1);
        const uint64_t visible = visible_bits(p, tile.request, token_of_row(p, row), key);
        hide(visible >> lane_index() % 4 * 2, half * 2, scores);
    }
}

/* ---- weights --------------------------------------------------------------------------------------- */

/* Weights of one of a lane's rows of a block, relative to the largest score so far. Returns what is kept of sums that were
 * relative to the largest before. */
static __device__ __forceinline__ float weigh_row(float scale, int half, float &most, float &sum,
                                                  const float (&scores)[TILE_KEYS / 8][4],
                                                  uint32_t (&weights)[TILE_KEYS / 8][2]) {
    float here = most;
#pragma unroll
    for (int j = 0; j < TILE_KEYS / 4; ++j)
        here = fmaxf(here, scores[j / 2][2 * half + j % 2]);
    here = max_of_quad(here);
    const float base = base_of(here) * scale, kept = ex2_approx_ftz(fmaf(most, scale, -base));
    most = here;
    sum *= kept;
#pragma unroll
    for (int j = 0; j < TILE_KEYS / 8; ++j) {
        const float x = ex2_approx_ftz(fmaf(scores[j][2 * half], scale, -base));
        const float y = ex2_approx_ftz(fmaf(scores[j][2 * half + 1], scale, -base));
        sum += x + y;
        weights[j][half] = pack_pair(x, y);
    }
    return kept;
}

static __device__ __forceinline__ void weigh_block(float scale, struct sums &s, int i, const block_scores_t &scores,
                                                   weights_t &weights) {
    const float upper = weigh_row(scale, 0, s.most[i][0], s.sum[i][0], scores, weights[i]);
    const float lower = weigh_row(scale, 1, s.most[i][1], s.sum[i][1], scores, weights[i]);
    if (__any_sync(0xffffffff, upper != 1 || lower != 1)) {
#pragma unroll
        for (int j = 0; j < HEAD_DIM / 2; ++j)
            s.values[i][j / 4][j % 4] *= j % 4 < 2 ? upper : lower;
    }
}

/* ---- values ---------------------------------------------------------------------------------------- */

static __device__ __forceinline__ void add_values(struct sums &s, const weights_t &weights, uint32_t slot) {
    const uint32_t v_addr = slot + lane_of_rows(lane_index());
#pragma unroll
    for (int step = 0; step < KEY_STEPS; ++step)
#pragma unroll
        for (int j = 0; j < STEPS; ++j) {
            uint32_t v[4];
            ldmatrix_x4_trans(v, chunk_move(v_addr, 16 * step, 2 * j));
#pragma unroll
            for (int i = 0; i < BLOCKS; ++i) {
                const uint32_t(&left)[2] = weights[i][2 * step], (&right)[2] = weights[i][2 * step + 1];
                const uint32_t a[4] = {left[0], left[1], right[0], right[1]};
                multiply(s.values[i][2 * j], a, v[0], v[1]);
                multiply(s.values[i][2 * j + 1], a, v[2], v[3]);
            }
        }
}

/* ---- all keys -------------------------------------------------------------------------------------- */

/* Slots change round: that of the tile after next is the one before. */
static __device__ __forceinline__ uint32_t free_slot(uint32_t slot) {
    return slot_address(slot == 0 ? RING_BYTES - SLOT_BYTES : slot - SLOT_BYTES);
}

/* What scores are multiplied by, those with a cap have been already. Looked at anew: a register would hold it throughout. */
static __device__ __forceinline__ float scale_of(const struct gm_attention_params &p) {
    int flags = p.flags;
    asm volatile("" : "+r"(flags));
    return flags & GM_ATTENTION_HAS_CAP ? 1 : p.scale;
}

/* What the cap and the mask make of scores, and then their weights. */
static __device__ __forceinline__ void weigh_keys(const struct gm_attention_params &p, const struct tile &tile,
                                                  uint32_t key, struct sums &s, scores_t &scores, weights_t &weights) {
    const bool is_clear = (int)key >= tile.clear.first && key + TILE_KEYS <= (uint32_t)tile.clear.end;
#pragma unroll
    for (int i = 0; i < BLOCKS; ++i) {
        if (p.flags & GM_ATTENTION_HAS_CAP)
            cap_scores(p, scores[i]);
        if (!is_clear)
            hide_keys(p, tile, key, i, scores[i]);
        weigh_block(scale_of(p), s, i, scores[i], weights);
    }
}

static __device__ __forceinline__ void attend(const struct gm_attention_params &p, const struct tile &tile,
                                              struct sums &s) {
    uint32_t key = tile.keys.first, slot = 0;
    uint32_t next = entry_of_lane(p, tile, key + TILE_KEYS);
    load_first(p, tile, entry_of_lane(p, tile, key));
#pragma unroll 1
    for (; key < (uint32_t)tile.keys.end; key += TILE_KEYS) {
        scores_t scores = {};
        weights_t weights;
        pipeline_wait<1>();
        load_k(p, tile, free_slot(slot), key + TILE_KEYS, next);
        score(scores, slot_address(slot));
        slot = pipeline_next(slot, SLOT_BYTES, RING_BYTES);
        weigh_keys(p, tile, key, s, scores, weights);
        pipeline_wait<1>();
        load_v(p, tile, free_slot(slot), key + TILE_KEYS, next);
        next = entry_of_lane(p, tile, key + 2 * TILE_KEYS);
        add_values(s, weights, slot_address(slot));
        slot = pipeline_next(slot, SLOT_BYTES, RING_BYTES);
    }
    cp_async_wait_group<0>();
}

#endif
