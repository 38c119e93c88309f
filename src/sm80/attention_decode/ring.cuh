/* SPDX-License-Identifier: Apache-2.0 */
/* A warp's ring: its tiles of 16 rows of k and of v, from global memory. No other warp reads it. */
#ifndef GM_ATTENTION_DECODE_RING_CUH
#define GM_ATTENTION_DECODE_RING_CUH

#include "common/attention/cache.cuh"
#include "sm80/attention/tile.cuh"
#include "sm80/attention_decode/work.cuh"
#include "sm80/pipeline.cuh"

enum {
    LANE_ROWS = 32 / CHUNKS, /* rows that a warp copies at once */
    V_OFFSET = KEYS * ROW_BYTES,
};
static_assert(V_OFFSET * 2 == STAGE_BYTES && (LANE_ROWS & (LANE_ROWS - 1)) == 0, "k's rows, then v's");

static __device__ __forceinline__ uint32_t ring_of_warp(void) {
    return (uint32_t)__cvta_generic_to_shared(rings) + thread_index() / 32 * RING_BYTES;
}

/* What a lane needs to find its key of the tile that starts at `key`. Lanes of the other half have the same keys. Keys are
 * unsigned where they may be behind all that there are. */
static __device__ __forceinline__ uint32_t entry_of_lane(const struct gm_attention_params &p,
                                                         const struct piece &piece, uint32_t key) {
    const uint32_t mine = key + thread_index() % KEYS;
    return mine < (uint32_t)piece.keys.end ? entry_of_key(p, piece.request.number, mine) : 0;
}

/* Starts the copy of 16 rows of k or v. Every lane has the address of one; chunk `lane % CHUNKS` is what it copies of some. */
static __device__ __forceinline__ void copy_rows(uint32_t shared_addr, uint64_t row_address, int rows, int elements,
                                                 bool by_element) {
    const int lane = thread_index() % 32, chunk = lane % CHUNKS;
    const uint32_t place = shared_addr + chunk_offset(lane / CHUNKS, chunk);
    const int rows_left = chunk * 8 < elements ? rows - lane / CHUNKS : 0;
#pragma unroll
    for (int row = 0; row < KEYS; row += LANE_ROWS) {
        const uint64_t from = __shfl_sync(0xffffffff, row_address, row + lane / CHUNKS) + chunk * 16;
        if (by_element)
            copy_elements(chunk_move(place, row, 0), from, row < rows_left);
        else
            copy_chunk(chunk_move(place, row, 0), from, row < rows_left);
    }
}

/* Starts the copies of the tile that starts at `key`; none where the piece has ended. Rows behind its end become zeros: NaN there
 * times a weight of 0 would be NaN. */
static __device__ __forceinline__ void fill_stage(const struct gm_attention_params &p, const struct piece &piece,
                                                  uint32_t stage, uint32_t key, uint32_t entry) {
    const int rows = (int)(piece.keys.end - key);
    if (rows > 0) {
        const struct place at = place_of_key(p, piece.request.number, key + thread_index() % KEYS, entry);
        const uint64_t k = address_of(p.k, piece.head, at), v = address_of(p.v, piece.head, at);
        if (p.flags & GM_ATTENTION_KV_BY_ELEMENT) {
            copy_rows(stage, k, rows, p.head_dim, true);
            copy_rows(stage + V_OFFSET, v, rows, p.v_head_dim, true);
        } else {
            copy_rows(stage, k, rows, p.head_dim, false);
            copy_rows(stage + V_OFFSET, v, rows, p.v_head_dim, false);
        }
    }
    pipeline_commit();
}

#endif
