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
    int plain, plain_end; /* blocks whose scores are exponents but for a factor: nothing is hidden, no cap */
    float scale;          /* that factor, of 8 bits */
};

/* Of this warpgroup. */
static __device__ __forceinline__ int number_of(void) {
    return IS_ALONE ? 0 : __shfl_sync(0xFFFFFFFF, (uint32_t)thread_index() / 128, 0) - 1;
}

/* Blocks of which all rows of the warpgroup see all tokens: the first one, and the one behind the last. */
static __device__ __forceinline__ int clear_from(const struct gm_attention_params &p, const struct tile &t) {
    return (low_of(p, t.position + 64 * number_of() + 63) + TILE_N - 1) / TILE_N;
}

static __device__ __forceinline__ int clear_upto(const struct gm_attention_params &p, const struct tile &t) {
    return max(high_of(p, t.position + 64 * number_of(), t.kv_len), 0) / TILE_N;
}

/* Scores of the tile that is described there have a cap, or a factor that is not positive: the largest one is not the largest
 * exponent. */
static __device__ __forceinline__ bool is_special(const struct gm_attention_params &p, uint32_t tile) {
    return p.flags & GM_ATTENTION_HAS_CAP || (IS_8BIT && !(scores_factor(p, tile) > 0));
}

/* What scores of the tile that is described there are multiplied by in the exponent. */
static __device__ __forceinline__ float scale_of(const struct gm_attention_params &p, uint32_t tile) {
    return is_special(p, tile) ? 1.0f : scores_factor(p, tile);
}

/* At the last block of the tile that is described there; false if it is none. */
static __device__ __forceinline__ bool stand_at(const struct gm_attention_params &p, uint32_t tile,
                                                struct consumer &c) {
    const struct tile t = read_tile(tile);
    c.block = __shfl_sync(0xFFFFFFFF, t.end - 1, 0);
    c.first = __shfl_sync(0xFFFFFFFF, t.first, 0);
    if (__shfl_sync(0xFFFFFFFF, t.rows, 0) < 0)
        return false;
    c.plain = clear_from(p, t);
    c.plain_end = is_special(p, tile) ? c.plain : clear_upto(p, t);
    c.scale = scale_of(p, tile);
    return true;
}

/* Hears of the next tile, and waits for its Q; false if there is none. */
static __device__ __forceinline__ bool next_tile(const struct gm_attention_params &p, uint32_t base,
                                                 struct consumer &c) {
    const struct pipeline_state at = state_at<TILE_SLOTS>(c.tiles);
    mbarrier_wait(tile_ring(base).full_addr + 8 * at.slot, at.phase);
    if (!stand_at(p, tile_addr(base, at.slot), c))
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

/* Scores of a block that is not plain become exponents but for the factor. */
static __device__ __forceinline__ void prepare_scores(const struct gm_attention_params &p, uint32_t tile,
                                                      float (&s)[SCORES], const struct consumer &c) {
    const struct tile t = read_tile(tile);
    if (p.flags & GM_ATTENTION_HAS_CAP)
        cap_scores(s, scores_factor(p, tile), p.cap * GM_LOG2_E, p.cap_exponent);
    else if (is_special(p, tile))
        scale_scores(s, scores_factor(p, tile));
    if (c.block < clear_from(p, t) || c.block >= clear_upto(p, t))
        hide(p, s, t.position + row_of(), t.kv_len, c.block, lane_index());
}

/* Scores -> exponentials, as far as it goes without touching O or the P that is being multiplied. */
static __device__ __forceinline__ void soften(const struct gm_attention_params &p, uint32_t base, float (&s)[SCORES],
                                              struct rows &rows, float (&shrink)[2], const struct consumer &c) {
    const float scale = IS_8BIT ? c.scale : scale_of(p, tile_addr(base, tile_slot(c)));
    if (c.block < c.plain || c.block >= c.plain_end)
        prepare_scores(p, tile_addr(base, tile_slot(c)), s, c);
    exponentials(s, rows, shrink, scale);
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
