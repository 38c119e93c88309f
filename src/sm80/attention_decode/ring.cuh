/* SPDX-License-Identifier: Apache-2.0 */
/* A warp's ring: its tiles of k and of v, from global memory. No other warp reads it. */
#ifndef GM_ATTENTION_DECODE_RING_CUH
#define GM_ATTENTION_DECODE_RING_CUH

#include "common/attention/cache.cuh"
#include "sm80/attention/tile.cuh"
#include "sm80/attention_decode/work.cuh"
#include "sm80/pipeline.cuh"

enum {
    LANE_ROWS = 32 / KV_CHUNKS, /* rows that a warp copies at once */
    V_OFFSET = KEYS * KV_ROW_BYTES,
};
static_assert(V_OFFSET * 2 == STAGE_BYTES && (LANE_ROWS & (LANE_ROWS - 1)) == 0, "k's rows, then v's");

static __device__ __forceinline__ uint32_t ring_of_warp(void) {
    return (uint32_t)__cvta_generic_to_shared(rings) + warp_index() * RING_BYTES;
}

/* What a lane needs to find its key of the tile that starts at `key`. With 16 keys lanes of both halves have the same. Keys are
 * unsigned where they may be behind all that there are. */
static __device__ __forceinline__ uint32_t entry_of_lane(const struct gm_attention_params &p, const struct piece &piece,
                                                         uint32_t key) {
    const uint32_t mine = key + lane_index() % KEYS;
    return mine < (uint32_t)piece.keys.end ? entry_of_key(p, piece.request.number, mine) : 0;
}

/* Rows of k or v on their way: every lane has the address of one; chunk `lane % KV_CHUNKS` is what it copies of some. */
struct copy {
    uint32_t place; /* of the lane's first */
    int chunk;
    int elements; /* so many of the chunk exist, or fewer than none; */
    int rows;     /* so many rows from its first on, where some do */
};

static __device__ __forceinline__ struct copy copy_of(uint32_t shared_addr, int rows, int elements) {
    const uint32_t lane = lane_index(), chunk = lane % KV_CHUNKS;
    const int left = elements - (int)chunk * KV_ELEMENTS;
    return {shared_addr + chunk_offset<KV_ROW_BYTES>(lane / KV_CHUNKS, chunk), (int)chunk, left,
            left > 0 ? rows - (int)(lane / KV_CHUNKS) : 0};
}

static __device__ __forceinline__ uint64_t row_of_copy(const struct copy &copy, uint64_t row_address, int row) {
    return __shfl_sync(0xffffffff, row_address, row + lane_index() / KV_CHUNKS) + copy.chunk * 16;
}

static __device__ __forceinline__ void copy_rows(uint32_t shared_addr, uint64_t row_address, int rows, int elements) {
    const struct copy copy = copy_of(shared_addr, rows, elements);
#pragma unroll
    for (int row = 0; row < KEYS; row += LANE_ROWS)
        copy_chunk<KV_ROW_BYTES>(chunk_move<KV_ROW_BYTES>(copy.place, row, 0), row_of_copy(copy, row_address, row),
                                 row < copy.rows);
}

static __device__ __forceinline__ void copy_rows_by_element(uint32_t shared_addr, uint64_t row_address, int rows,
                                                            int elements) {
    const struct copy copy = copy_of(shared_addr, rows, elements);
#pragma unroll 1
    for (int row = 0; row < KEYS; row += LANE_ROWS)
        copy_elements<KV_BYTES>(chunk_move<KV_ROW_BYTES>(copy.place, row, 0), row_of_copy(copy, row_address, row),
                                row < copy.rows ? copy.elements : 0);
}

/* Starts the copies of the tile that starts at `key`; none where the piece has ended. Rows behind its end become zeros: NaN there
 * times a weight of 0 would be NaN. */
static __device__ __forceinline__ void fill_stage(const struct gm_attention_params &p, const struct piece &piece,
                                                  uint32_t stage, uint32_t key, uint32_t entry) {
    const int rows = (int)(piece.keys.end - key);
    if (rows > 0) {
        const struct place at = place_of_key(p, piece.request.number, key + lane_index() % KEYS, entry);
        const uint64_t k = address_of(p.k, piece.head, at), v = address_of(p.v, piece.head, at);
        if (p.flags & GM_ATTENTION_KV_BY_ELEMENT) {
#pragma unroll 1
            for (int i = 0; i < 2; ++i)
                copy_rows_by_element(stage + i * V_OFFSET, i ? v : k, rows, i ? p.v_head_dim : p.head_dim);
        } else {
            copy_rows(stage, k, rows, p.head_dim);
            copy_rows(stage + V_OFFSET, v, rows, p.v_head_dim);
        }
    }
    pipeline_commit();
}

#endif
