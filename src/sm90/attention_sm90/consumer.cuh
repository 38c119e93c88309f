/* SPDX-License-Identifier: Apache-2.0 */
/* A consumer warpgroup: where it stands, and the steps of its way that are no wgmmas. */
#ifndef GM_SM90_ATTENTION_CONSUMER_CUH
#define GM_SM90_ATTENTION_CONSUMER_CUH

#include "common/attention_sm90/params.h"
#include "common/index.cuh"
#include "sm90/attention_sm90/constants.cuh"
#include "sm90/attention_sm90/softmax.cuh"
#include "sm90/attention_sm90/store.cuh"
#include "sm90/attention_sm90/walk.cuh"
#include "sm90/pipeline.cuh"

/* Where it stands. Of all rings it knows only how many it has had: that is fewer registers. */
struct consumer {
    uint32_t blocks;      /* whose scores were computed, of all tiles */
    uint32_t tiles;       /* it has heard of */
    int block, first;     /* the block whose scores were computed last, and the tile's last one to come */
    int clear, clear_end; /* blocks of which all rows of the warpgroup see all tokens */
};

/* Of this warpgroup. */
static __device__ __forceinline__ int number_of(void) {
    return IS_ALONE ? 0 : __shfl_sync(0xFFFFFFFF, (uint32_t)thread_index() / 128, 0) - 1;
}

/* At a tile's last block. */
static __device__ __forceinline__ void stand_at(const struct gm_attention_params &p, const struct tile &t,
                                                struct consumer &c) {
    const int position = t.position + 64 * number_of();
    c.block = __shfl_sync(0xFFFFFFFF, t.end - 1, 0);
    c.first = __shfl_sync(0xFFFFFFFF, t.first, 0);
    c.clear = (low_of(p, position + 63) + TILE_N - 1) / TILE_N;
    c.clear_end = max(high_of(p, position, t.kv_len), 0) / TILE_N;
}

/* Hears of the next tile, and waits for its Q; false if there is none. */
static __device__ __forceinline__ bool next_tile(const struct gm_attention_params &p, uint32_t base,
                                                 struct consumer &c) {
    const struct pipeline_state at = state_at<TILE_SLOTS>(c.tiles);
    mbarrier_wait(tile_ring(base).full_addr + 8 * at.slot, at.phase);
    const struct tile t = read_tile(tile_addr(base, at.slot));
    stand_at(p, t, c);
    if (__shfl_sync(0xFFFFFFFF, t.rows, 0) < 0)
        return false;
    pipeline_wait(q_ring(base), state_at<Q_SLOTS>(c.tiles));
    ++c.tiles;
    return true;
}

/* The description and the Q of the tile that it heard of last. */
static __device__ __forceinline__ uint32_t tile_slot(const struct consumer &c) {
    return (c.tiles - 1) % TILE_SLOTS;
}

static __device__ __forceinline__ uint32_t q_slot(const struct consumer &c) {
    return (c.tiles - 1) % Q_SLOTS;
}

/* The first of a thread's two rows in the tile. */
static __device__ __forceinline__ int row_of(void) {
    const uint32_t thread = thread_index();
    return 64 * number_of() + thread / 32 % 4 * 16 + thread % 32 / 4;
}

/* What scores of the tile that is described there are multiplied by in the exponent, if they are not before. */
static __device__ __forceinline__ float scale_of(const struct gm_attention_params &p, uint32_t tile) {
    const float factor = scores_factor(p, tile);
    return p.flags & GM_ATTENTION_HAS_CAP || (IS_8BIT && !(factor > 0)) ? 1.0f : factor;
}

/* Scores -> exponentials, as far as it goes without touching O or the P that is being multiplied. */
static __device__ __forceinline__ void soften(const struct gm_attention_params &p, uint32_t base, float (&s)[SCORES],
                                              struct rows &rows, float (&shrink)[2], const struct consumer &c) {
    const uint32_t tile = tile_addr(base, tile_slot(c));
    if (p.flags & GM_ATTENTION_HAS_CAP)
        cap_scores(s, scores_factor(p, tile), p.cap * GM_LOG2_E, p.cap_exponent);
    else if (IS_8BIT && !(scores_factor(p, tile) > 0))
        scale_scores(s, scores_factor(p, tile));
    if (c.block < c.clear || c.block >= c.clear_end) {
        const struct tile t = read_tile(tile);
        hide(p, s, t.position + row_of(), t.kv_len, c.block, lane_index());
    }
    exponentials(s, rows, shrink, scale_of(p, tile));
}

/* The scores of c.block are there: its K may be overwritten, and behind the tile's last block its Q. */
static __device__ __forceinline__ void release_scores(uint32_t base, struct consumer &c) {
    const uint32_t thread = (uint32_t)thread_index() % 128;
    pipeline_release<1>(k_ring(base), c.blocks % STAGES, thread);
    ++c.blocks;
    if (c.block == c.first)
        pipeline_release<1>(q_ring(base), q_slot(c), thread);
}

/* The same in all lanes; ptxas believes it of a shuffle. */
static __device__ __forceinline__ uint32_t uniform(uint32_t x) {
    return __shfl_sync(0xFFFFFFFF, x, 0);
}

/* What O of a described tile is to be multiplied by, once all its scores are exponentials. */
static __device__ __forceinline__ void find_factor(const struct gm_attention_params &p, const struct rows &rows,
                                                   uint32_t tile, float (&factor)[2]) {
    finish_rows(p, rows, scale_of(p, tile), values_factor(tile), read_tile(tile), row_of(), lane_index(), factor);
}

/* The end of a tile, whose O is done. */
static __device__ __forceinline__ void finish_tile(const struct gm_attention_params &p, uint32_t base,
                                                   const struct consumer &c, const float (&o)[OUTPUTS],
                                                   const float (&factor)[2], uint32_t slot) {
    const int lane = lane_index();
    store_rows(p, o, factor, read_tile(tile_addr(base, slot)), row_of(), lane);
    forget(base, slot, lane);
}

#endif
