/* SPDX-License-Identifier: Apache-2.0 */
/* A warp's ring: its tiles of k and of v, from global memory. No other warp reads it. */
#ifndef GM_ATTENTION_DECODE_RING_CUH
#define GM_ATTENTION_DECODE_RING_CUH

#include "sm80/attention_decode/constants.cuh"

#include "common/attention/cache.cuh"
#include "common/attention/work.cuh"
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

/* Rows of k or v on their way: chunk `lane % KV_CHUNKS` is what a lane copies of some. */
struct copy {
    uint32_t place; /* of the lane's first */
    int chunk;
    int elements; /* so many of the chunk exist, or fewer than none */
};

static __device__ __forceinline__ struct copy copy_of(uint32_t shared_addr, int elements) {
    const uint32_t lane = lane_index(), chunk = lane % KV_CHUNKS;
    return {shared_addr + chunk_offset<KV_ROW_BYTES>(lane / KV_CHUNKS, chunk), (int)chunk,
            elements - (int)chunk * KV_ELEMENTS};
}

/* A chunk is asked for alone: 256 bytes at once cost 6 % of DRAM's rate (docs/TUNING-LOG.md, entry 73). */
static __device__ __forceinline__ void copy_row(const struct copy &copy, int row, uint64_t address, bool exists) {
    cp_async_cg_16_alone(chunk_move<KV_ROW_BYTES>(copy.place, row, 0), address, exists ? 16 : 0);
}

/* ---- rows that lie evenly --------------------------------------------------------------------------- */

/* Whether all of a tile exists, and each row lies as far behind the one before: in one page, or where there are none. */
static __device__ __forceinline__ bool lies_evenly(const struct gm_attention_params &p, uint32_t key, int rows,
                                                   uint32_t entry) {
    if (rows < KEYS || p.flags & GM_ATTENTION_KV_BY_ELEMENT)
        return false;
    if (p.flags & GM_ATTENTION_IS_PAGED)
        return key - divide(key, p.page) * p.page.divisor + KEYS <= p.page.divisor;
    return !(p.flags & GM_ATTENTION_IS_RAGGED) || (uint64_t)entry + key + KEYS <= (uint32_t)p.kv_tokens;
}

static __device__ __forceinline__ void copy_evenly(const struct gm_attention_cache &cache, uint32_t shared_addr,
                                                   int head, const struct place &at, int elements) {
    const struct copy copy = copy_of(shared_addr, elements);
    uint64_t address = address_of(cache, head, at) + copy.chunk * 16;
#pragma unroll
    for (int row = 0; row < KEYS; row += LANE_ROWS) {
        copy_row(copy, row, address, copy.elements > 0);
        address += LANE_ROWS * cache.token;
    }
}

/* ---- rows anywhere ---------------------------------------------------------------------------------- */

/* The address of the row that a lane copies some of: another lane has it. */
static __device__ __forceinline__ uint64_t row_of_copy(const struct copy &copy, uint64_t row_address, int row) {
    return __shfl_sync(0xffffffff, row_address, row + lane_index() / KV_CHUNKS) + copy.chunk * 16;
}

static __device__ __forceinline__ int rows_of_lane(const struct copy &copy, int rows) {
    return copy.elements > 0 ? rows - (int)(lane_index() / KV_CHUNKS) : 0;
}

static __device__ __forceinline__ void copy_rows(uint32_t shared_addr, uint64_t row_address, int rows, int elements) {
    const struct copy copy = copy_of(shared_addr, elements);
    const int mine = rows_of_lane(copy, rows);
#pragma unroll
    for (int row = 0; row < KEYS; row += LANE_ROWS)
        copy_row(copy, row, row_of_copy(copy, row_address, row), row < mine);
}

static __device__ __forceinline__ void copy_rows_by_element(uint32_t shared_addr, uint64_t row_address, int rows,
                                                            int elements) {
    const struct copy copy = copy_of(shared_addr, elements);
    const int mine = rows_of_lane(copy, rows);
#pragma unroll 1
    for (int row = 0; row < KEYS; row += LANE_ROWS)
        copy_elements<KV_BYTES>(chunk_move<KV_ROW_BYTES>(copy.place, row, 0), row_of_copy(copy, row_address, row),
                                row < mine ? copy.elements : 0);
}

/* Rows behind the piece's end become zeros: NaN there times a weight of 0 would be NaN. */
static __device__ __forceinline__ void copy_by_rows(const struct gm_attention_params &p, const struct piece &piece,
                                                    uint32_t stage, const struct place &at, int rows) {
    const uint64_t k = address_of(p.k, piece.head, at), v = address_of(p.v, piece.head, at);
#pragma unroll 1
    for (int i = 0; i < 2; ++i) {
        const int elements = i ? p.v_head_dim : p.head_dim;
        if (p.flags & GM_ATTENTION_KV_BY_ELEMENT)
            copy_rows_by_element(stage + i * V_OFFSET, i ? v : k, rows, elements);
        else
            copy_rows(stage + i * V_OFFSET, i ? v : k, rows, elements);
    }
}

/* ---- a tile ----------------------------------------------------------------------------------------- */

/* Starts the copies of the tile that starts at `key`; none where the piece has ended. */
static __device__ __forceinline__ void fill_stage(const struct gm_attention_params &p, const struct piece &piece,
                                                  uint32_t stage, uint32_t key, uint32_t entry) {
    const int rows = (int)(piece.keys.end - key), request = piece.request.number;
    if (rows > 0) {
        if (lies_evenly(p, key, rows, entry)) {
            const struct place at = place_of_key(p, request, key + lane_index() / KV_CHUNKS, entry);
            copy_evenly(p.k, stage, piece.head, at, p.head_dim);
            copy_evenly(p.v, stage + V_OFFSET, piece.head, at, p.v_head_dim);
        } else {
            copy_by_rows(p, piece, stage, place_of_key(p, request, key + lane_index() % KEYS, entry), rows);
        }
    }
    pipeline_commit();
}

#endif
