/* SPDX-License-Identifier: Apache-2.0 */
/* q's rows, and the ring: tiles of k and v in turns, from global memory. */
#ifndef GM_ATTENTION_SM80_LOAD_CUH
#define GM_ATTENTION_SM80_LOAD_CUH

#include "sm80/attention_sm80/work.cuh"
#include "sm80/pipeline.cuh"

static __device__ __forceinline__ uint32_t shared_q(void) {
    return (uint32_t)__cvta_generic_to_shared(smem);
}

static __device__ __forceinline__ uint32_t slot_address(uint32_t slot) {
    return shared_q() + Q_BYTES + slot;
}

/* Thread t copies chunk t % CHUNKS of rows t / CHUNKS + i * COPY_ROWS. */
static __device__ __forceinline__ int copy_row(void) {
    return (uint32_t)thread_index() / CHUNKS;
}

static __device__ __forceinline__ int copy_chunk_number(void) {
    return (uint32_t)thread_index() % CHUNKS;
}

/* Rows that do not exist become zeros. */
static __device__ __forceinline__ void load_q(const struct gm_attention_params &p, const struct tile &tile) {
    const int chunk = copy_chunk_number(), rows = chunk * 8 < p.head_dim ? tile.rows : 0;
    const uint32_t place = shared_q() + chunk_offset(copy_row(), chunk);
#pragma unroll 4
    for (int i = 0; i < TILE_ROWS; i += COPY_ROWS) {
        const int row = i + copy_row();
        const struct packed_row at = packed_row(p, tile.request, tile.head, tile.first_row + row);
        copy_chunk(chunk_move(place, i, 0), address_of(p.q, at) + chunk * 16, row < rows);
    }
}

/* ---- k and v --------------------------------------------------------------------------------------- */

/* In pages a lane finds one of the rows that its warp copies: the row's number in the tile. */
static __device__ __forceinline__ int lane_row(void) {
    const uint32_t warp = warp_index(), lane = lane_index();
    return lane / LANE_ROWS % COPIES * COPY_ROWS + warp * LANE_ROWS + lane % LANE_ROWS;
}

/* The table's entry of that row in the tile that starts at `key`; keys are unsigned where they may be behind all that there
 * are. */
static __device__ __forceinline__ uint32_t entry_of_lane(const struct gm_attention_params &p, const struct tile &tile,
                                                         uint32_t key) {
    const uint32_t mine = key + lane_row();
    return is_paged(p) && mine < (uint32_t)tile.keys.end ? entry_of_key(p, tile.request.number, mine) : 0;
}

static __device__ __forceinline__ void copy_from_pages(const struct gm_attention_params &p,
                                                       const struct gm_attention_cache &cache, const struct tile &tile,
                                                       uint32_t place, uint32_t key, uint32_t entry, int rows) {
    const struct place at = place_of_key(p, tile.request.number, key + lane_row(), entry);
    const uint64_t mine = address_of(cache, tile.head, at);
    const uint32_t lane = lane_index();
#pragma unroll
    for (int i = 0; i < COPIES; ++i) {
        const uint64_t from = __shfl_sync(0xffffffff, mine, i * LANE_ROWS + lane / CHUNKS);
        copy_chunk(chunk_move(place, i * COPY_ROWS, 0), from + lane % CHUNKS * 16, i * COPY_ROWS < rows);
    }
}

/* Starts the copies of the tile of k or v that starts at `key`; none behind the last. `source`: key 0, where rows lie behind each
 * other. Rows behind the last key become zeros: NaN there times a weight of 0 would be NaN. */
static __device__ __forceinline__ void load_tile(const struct gm_attention_params &p,
                                                 const struct gm_attention_cache &cache, uint64_t source, int elements,
                                                 const struct tile &tile, uint32_t slot, uint32_t key, uint32_t entry) {
    const int chunk = copy_chunk_number();
    const uint32_t place = slot + chunk_offset(copy_row(), chunk);
    const int rows = chunk * 8 < elements ? (int)(tile.loaded_end - key) - copy_row() : 0;
    if (key < (uint32_t)tile.keys.end && is_paged(p)) {
        copy_from_pages(p, cache, tile, place, key, entry, rows);
    } else if (key < (uint32_t)tile.keys.end) {
        uint64_t from = source + (int64_t)(key + copy_row()) * cache.token + chunk * 16;
#pragma unroll
        for (int i = 0; i < COPIES; ++i, from += COPY_ROWS * cache.token)
            copy_chunk(chunk_move(place, i * COPY_ROWS, 0), from, i * COPY_ROWS < rows);
    }
    pipeline_commit();
}

static __device__ __forceinline__ void load_k(const struct gm_attention_params &p, const struct tile &tile,
                                              uint32_t slot, uint32_t key, uint32_t entry) {
    load_tile(p, p.k, tile.k, p.head_dim, tile, slot, key, entry);
}

static __device__ __forceinline__ void load_v(const struct gm_attention_params &p, const struct tile &tile,
                                              uint32_t slot, uint32_t key, uint32_t entry) {
    load_tile(p, p.v, tile.v, p.v_head_dim, tile, slot, key, entry);
}

/* q's rows and the first tiles of k and v: a group of copies, and another. */
static __device__ __forceinline__ void load_first(const struct gm_attention_params &p, const struct tile &tile,
                                                  uint32_t entry) {
    load_q(p, tile);
#pragma unroll 1
    for (int i = 0; i < 2; ++i)
        load_tile(p, i ? p.v : p.k, i ? tile.v : tile.k, i ? p.v_head_dim : p.head_dim, tile,
                  slot_address(i * SLOT_BYTES), tile.keys.first, entry);
}

#endif
