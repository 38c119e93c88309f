/* SPDX-License-Identifier: Apache-2.0 */
/* The walk over the tiles: TILE_M rows of one head of one request each. A warp of its own, the clerk, finds the next tile
 * while this one is loaded and computed, and leaves its description in shared memory. All of it follows from q_indptr and
 * kv_len, which are read here, so that one launch serves any requests.
 *
 * Tiles are numbered request by request. Where later rows see more tokens, as many heads of K and V go together as L2 keeps;
 * of these the rows that see most come first, heads of one head of K and V behind each other. Else all rows of a head come
 * behind each other: CTAs that run beside each other read the same K and V at the same time. */
#ifndef GM_SM90_ATTENTION_WALK_CUH
#define GM_SM90_ATTENTION_WALK_CUH

#include "common/attention/scales.cuh"
#include "common/attention/visible.cuh"
#include "common/attention_sm90/params.h"
#include "common/global.cuh"
#include "common/index.cuh"
#include "common/shared.cuh"
#include "common/special.cuh"
#include "sm90/attention_sm90/constants.cuh"
#include "sm90/cluster.cuh"
#include "sm90/mbarrier.cuh"
#include "sm90/pipeline.cuh"
#include "sm90/ticket.cuh"

/* What is known of a tile. Its words are in shared memory in this order. */
struct tile {
    int row, rows; /* of q: the first, and how many the request has from there, TILE_M at most; -1: no more tiles */
    int head;      /* of q */
    int position;  /* the first row's token among the request's; may be negative */
    int kv_len;
    int first, end; /* blocks of TILE_N tokens that any row sees; none: first == end, and nobody is told of it */
    int request;
    int group; /* the head of k and v */
};

/* As many requests at a time as a warp's lanes have. A CTA alone walks for one tile, and the later ones have far to go. */
enum { OF_LANE = IS_ALONE ? 4 : 1 };
struct walk {
    int chunk;  /* the first of them */
    int before; /* tiles of the requests ahead of them */
    int upto;   /* the lane's: tiles of its requests and those ahead of them in the chunk */
};

/* Computed anew where it is used, as thread_index() is; unsigned, since the remainder of a negative number takes more. */
static __device__ __forceinline__ int lane_index(void) {
    return (int)((uint32_t)thread_index() % 32);
}

static __device__ __forceinline__ int load_i32(uint64_t address, int index) {
    return (int)ld_global_b32(address + 4 * (int64_t)index);
}

static __device__ __forceinline__ int tiles_of_request(const struct gm_attention_params &p, int request) {
    const int heads = p.kv_heads * (int)p.group.divisor;
    const int rows = request < p.batch ? rows_of_request(p, request).rows : 0;
    return (rows + TILE_M - 1) / TILE_M * heads;
}

/* Tiles of this chunk's requests, added up. */
static __device__ __forceinline__ void walk_chunk(const struct gm_attention_params &p, struct walk &w) {
    const int lane = lane_index();
    w.upto = 0;
#pragma unroll
    for (int i = 0; i < OF_LANE; ++i)
        w.upto += tiles_of_request(p, w.chunk + lane * OF_LANE + i);
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
        const int sum = __shfl_up_sync(0xFFFFFFFF, w.upto, step);
        w.upto += lane >= step ? sum : 0;
    }
}

static __device__ __forceinline__ struct walk walk_begin(const struct gm_attention_params &p) {
    struct walk w = {0, 0, 0};
    walk_chunk(p, w);
    return w;
}

/* Goes on to the chunk with tile `number`; false if there is none. Numbers only rise. */
static __device__ __forceinline__ bool walk_to(const struct gm_attention_params &p, struct walk &w, int number) {
    for (;;) {
        const int tiles = __shfl_sync(0xFFFFFFFF, w.upto, 31);
        if (number < w.before + tiles)
            return true;
        w.before += tiles;
        w.chunk += 32 * OF_LANE;
        if (w.chunk >= p.batch)
            return false;
        walk_chunk(p, w);
    }
}

/* Heads of k and v whose tiles are computed together. */
static __device__ __forceinline__ int heads_together(const struct gm_attention_sm90_params &p, int kv_len) {
    const uint32_t tokens = (uint32_t)p.together_bytes / ((HEAD_DIM + V_DIM) * GM_TYPE_BYTES(GM_TYPE));
    return max(min((int)(tokens / max(kv_len, 1)), p.attention.kv_heads), 1);
}

/* Tile `number` of the chunk, as the warp finds it together. */
static __device__ __forceinline__ struct tile tile_of(const struct gm_attention_sm90_params &params,
                                                      const struct walk &w, int number) {
    const struct gm_attention_params &p = params.attention;
    struct tile t;
    const int lane = __popc(__ballot_sync(0xFFFFFFFF, number - w.before >= w.upto));
    const int ahead = __shfl_sync(0xFFFFFFFF, w.upto, max(lane - 1, 0));
    int place = number - w.before - (lane > 0 ? ahead : 0); /* among the request's */
    t.request = w.chunk + lane * OF_LANE;
#pragma unroll
    for (int i = 1; i < OF_LANE; ++i) {
        const int tiles = tiles_of_request(p, w.chunk + lane * OF_LANE + i - 1);
        if (t.request == w.chunk + lane * OF_LANE + i - 1 && place >= tiles) {
            place -= tiles;
            ++t.request;
        }
    }
    const struct span span = rows_of_request(p, t.request);
    t.kv_len = keys_of_request(p, t.request);

    const int bands = (span.rows + TILE_M - 1) / TILE_M;
    const int heads = heads_together(params, t.kv_len), group = (int)p.group.divisor;
    const int section = place / (bands * heads * group), inside = place % (bands * heads * group);
    const int there = min(heads, p.kv_heads - section * heads) * group; /* heads of q of this section */
    const bool rising = p.right < ALL_KEYS;                             /* later rows see more tokens */
    const int band = rising ? bands - 1 - inside / there : inside % bands;
    t.head = section * heads * group + (rising ? inside % there : inside / bands);
    t.group = (int)divide(t.head, p.group);
    t.row = span.row + band * TILE_M;
    t.rows = min(span.rows - band * TILE_M, (int)TILE_M);
    t.position = t.kv_len - span.rows + band * TILE_M;
    const int high = high_of(p, t.position + t.rows - 1, t.kv_len), low = low_of(p, t.position);
    t.first = low / TILE_N;
    t.end = high > low ? (high + TILE_N - 1) / TILE_N : t.first;
    return t;
}

/* ---- the description in shared memory ---------------------------------------------------------------- */

enum { FACTORS_AT = 40 }; /* bytes: of scores and of values, of 8 bits */

static __device__ __forceinline__ void write_tile(uint32_t addr, const struct tile &t) {
    const uint32_t words[10] = {
        (uint32_t)t.row,   (uint32_t)t.rows, (uint32_t)t.head,    (uint32_t)t.position, (uint32_t)t.kv_len,
        (uint32_t)t.first, (uint32_t)t.end,  (uint32_t)t.request, (uint32_t)t.group,    0};
#pragma unroll
    for (int i = 0; i < 10; i += 2)
        st_shared_v2_b32(addr + 4 * i, words + i);
}

static __device__ __forceinline__ void write_factors(const struct gm_attention_params &p, uint32_t addr,
                                                     const struct tile &t) {
    st_shared_v2(addr + FACTORS_AT, factor_of_scores(p, t.request, t.group), factor_of_values(p, t.request, t.group));
}

/* What the scores of a described tile are multiplied by, and its values. */
static __device__ __forceinline__ float scores_factor(const struct gm_attention_params &p, uint32_t addr) {
    return IS_8BIT ? ld_shared_f32(addr + FACTORS_AT) : p.scale;
}

static __device__ __forceinline__ float values_factor(uint32_t addr) {
    return IS_8BIT ? ld_shared_f32(addr + FACTORS_AT + 4) : 1.0f;
}

static __device__ __forceinline__ struct tile read_tile(uint32_t addr) {
    uint32_t words[4], more[4];
    ld_shared_v4_b32(addr, words);
    ld_shared_v4_b32(addr + 16, more);
    return {(int)words[0], (int)words[1], (int)words[2],
            (int)words[3], (int)more[0],  (int)more[1],
            (int)more[2],  (int)more[3],  (int)ld_shared_b32(addr + 32)};
}

static __device__ __forceinline__ void tell(const struct gm_attention_params &p, uint32_t base, uint32_t &count,
                                            const struct tile &t) {
    const struct pipeline_state at = state_at<TILE_SLOTS>(count++);
    mbarrier_wait(tile_ring(base).empty_addr + 8 * at.slot, at.phase ^ 1);
    if (lane_index() == 0) {
        write_tile(tile_addr(base, at.slot), t);
        if (IS_8BIT && t.rows >= 0)
            write_factors(p, tile_addr(base, at.slot), t);
        mbarrier_arrive(tile_ring(base).full_addr + 8 * at.slot);
    }
    __syncwarp();
}

/* By a whole warp: the description may be overwritten. */
static __device__ __forceinline__ void forget(uint32_t base, uint32_t slot, int lane) {
    __syncwarp();
    if (lane == 0)
        mbarrier_arrive(tile_ring(base).empty_addr + 8 * slot);
}

/* A tile of which no row sees a token. */
static __device__ __forceinline__ void store_nothing(const struct gm_attention_params &p, const struct tile &t) {
    const uint32_t zeros[4] = {0, 0, 0, 0};
    const int bytes = p.v_head_dim * (p.flags & GM_ATTENTION_OUT_IS_FP32 ? 4 : 2), lane = lane_index();
#pragma unroll 1
    for (int row = t.row; row < t.row + t.rows; ++row) {
        for (int i = 16 * lane; i < bytes; i += 512)
            st_global_v4_b32(p.out.address + row * p.out.token + t.head * p.out.head + i, zeros);
        if (p.lse.address && lane == 0)
            st_global_b32(p.lse.address + row * p.lse.token + t.head * p.lse.head, __float_as_uint(-GM_INFINITY));
    }
}

/* The clerk. It tells of every tile of this CTA: the first by its index, others by tickets, or by the grid's stride. Tiles
 * with no token to see it stores itself. */
static __device__ __forceinline__ void tell_tiles(const struct gm_attention_sm90_params &p, uint32_t base) {
    uint32_t told = 0;
    griddep_wait();
    struct walk w = walk_begin(p.attention);
    int number = cta_index();
#pragma unroll 1
    while (walk_to(p.attention, w, number)) {
        const struct tile t = tile_of(p, w, number);
        if (t.first < t.end)
            tell(p.attention, base, told, t);
        else
            store_nothing(p.attention, t);
        if (!p.tickets) {
            number += gridDim.x;
            continue;
        }
        uint32_t ticket = 0;
        if (lane_index() == 0)
            ticket = ticket_take(p.tickets, p.nonce);
        number = gridDim.x + __shfl_sync(0xFFFFFFFF, ticket, 0);
    }
    if (p.tickets && lane_index() == 0 && number >= (int)gridDim.x && number - (int)gridDim.x == w.before - 1)
        ticket_reset(p.tickets, p.nonce);
    tell(p.attention, base, told, {0, -1, 0, 0, 0, 0, 0, 0, 0});
}

#endif
