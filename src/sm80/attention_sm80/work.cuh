/* SPDX-License-Identifier: Apache-2.0 */
/* The list of work: tiles of packed rows of all requests, for every head of k. Neighbours in it run at the same time.
 *
 *   heads come in sections, whose keys fit L2; in a section all tiles, from last to first, as causal ones become shorter so; of a
 *   tile all heads of the section */
#ifndef GM_ATTENTION_SM80_WORK_CUH
#define GM_ATTENTION_SM80_WORK_CUH

#include "common/attention/cache.cuh"
#include "common/attention/rows.cuh"
#include "common/attention/visible.cuh"
#include "sm80/attention_sm80/constants.cuh"

struct tiles_of_request {
    const struct gm_attention_params &p;
    __device__ __forceinline__ int64_t operator()(const struct request &request) const {
        return (packed_rows(p, request) + TILE_ROWS - 1) / TILE_ROWS;
    }
};

/* What a CTA works on, in shared memory: the main loop has no register for it. */
struct tile {
    struct request request;
    int head;          /* of k */
    int first_row;     /* packed; */
    int rows;          /* so many exist, up to TILE_ROWS */
    struct keys keys;  /* those that any row sees, */
    struct keys clear; /* and those that all do */
    int loaded_end;    /* behind the last key that there is: keys.end, if kv_indptr is right */
    uint64_t k, v;     /* where rows lie behind each other, key 0 of the head */
};

struct list {
    struct tile tile;
    uint32_t tiles; /* of all requests */
};
static_assert(sizeof(struct list) <= GM_ATTENTION_SM80_TILE_BYTES, "it has room");

static __device__ __forceinline__ struct list &shared_list(void) {
    return *reinterpret_cast<struct list *>(smem + Q_BYTES + RING_BYTES);
}

static __device__ __forceinline__ bool is_paged(const struct gm_attention_params &p) {
    return p.flags & GM_ATTENTION_IS_PAGED;
}

static __device__ __forceinline__ void find_rows(const struct gm_attention_params &p, struct tile &tile) {
    struct place at = {(uint32_t)tile.request.number, 0};
    tile.loaded_end = tile.keys.end;
    if (p.flags & GM_ATTENTION_IS_RAGGED) {
        at = {0, min(entry_of_key(p, tile.request.number, 0), (uint32_t)p.kv_tokens)};
        tile.loaded_end = (int)min((uint32_t)tile.keys.end, (uint32_t)p.kv_tokens - at.token);
    }
    tile.k = is_paged(p) ? 0 : address_of(p.k, tile.head, at);
    tile.v = is_paged(p) ? 0 : address_of(p.v, tile.head, at);
}

/* The host has counted with as many at most. */
static __device__ __forceinline__ uint32_t tiles_of_all(const struct gm_attention_sm80_params &p) {
    const tiles_of_request weight = {p.a};
    return (uint32_t)min(entries_of_all(p.a, weight, lane_request(p.a, weight, 0)), (int64_t)p.tiles);
}

static __device__ __forceinline__ struct tile tile_of(const struct gm_attention_sm80_params &p, uint32_t tiles,
                                                      uint32_t work) {
    const uint32_t section = work / (tiles * p.section), rest = work - section * (tiles * p.section);
    const uint32_t head = section * p.section, heads = min(p.a.kv_heads - head, (uint32_t)p.section);
    const int64_t number = tiles - 1 - rest / heads;
    const tiles_of_request weight = {p.a};
    const struct found at = find_entry(p.a, weight, lane_request(p.a, weight, 0), number);
    struct tile tile = {at.request, (int)(head + rest % heads), (int)(number - at.first) * TILE_ROWS};
    tile.rows = min(packed_rows(p.a, at.request) - tile.first_row, (int)TILE_ROWS);
    const int first = token_of_row(p.a, tile.first_row), last = token_of_row(p.a, tile.first_row + tile.rows - 1);
    tile.keys = keys_of_any(p.a, at.request, first, last);
    tile.clear = keys_of_all(p.a, at.request, first, last);
    tile.clear.end = min(tile.clear.end, tile.keys.end);
    find_rows(p.a, tile);
    return tile;
}

/* The first warp finds it, and all wait. */
static __device__ __forceinline__ void begin_list(const struct gm_attention_sm80_params &p) {
    if (thread_index() < 32) {
        const uint32_t tiles = tiles_of_all(p);
        if (thread_index() == 0)
            shared_list().tiles = tiles;
    }
    __syncthreads();
}

static __device__ __forceinline__ void begin_tile(const struct gm_attention_sm80_params &p, uint32_t work) {
    if (thread_index() < 32) {
        const struct tile tile = tile_of(p, shared_list().tiles, work);
        if (thread_index() == 0)
            shared_list().tile = tile;
    }
    __syncthreads();
}

#endif
