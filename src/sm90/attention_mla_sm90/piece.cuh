/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces: which keys of which rows the CTA takes. One warp, the clerk, finds the next while others load and compute this one, and
 * leaves its description in shared memory. */
#ifndef GM_SM90_ATTENTION_MLA_PIECE_CUH
#define GM_SM90_ATTENTION_MLA_PIECE_CUH

#include "sm90/attention_mla_sm90/constants.cuh"

#include "common/attention/work.cuh"
#include "common/shared.cuh"
#include "sm90/cluster.cuh"

static __device__ __forceinline__ void write_piece(uint32_t addr, const struct piece &piece) {
    const uint32_t words[12] = {(uint32_t)piece.request.number, (uint32_t)piece.request.q_start,
                                (uint32_t)piece.request.q_len,  (uint32_t)piece.request.kv_len,
                                (uint32_t)piece.head,           (uint32_t)piece.first_row,
                                (uint32_t)piece.rows,           (uint32_t)piece.keys.first,
                                (uint32_t)piece.keys.end,       (uint32_t)piece.begins,
                                (uint32_t)piece.ends,           0};
#pragma unroll
    for (int i = 0; i < 12; i += 2)
        st_shared_v2_b32(addr + 4 * i, words + i);
}

static __device__ __forceinline__ struct piece read_piece(uint32_t addr) {
    uint32_t a[4], b[4], c[4];
    ld_shared_v4_b32(addr, a);
    ld_shared_v4_b32(addr + 16, b);
    ld_shared_v4_b32(addr + 32, c);
    struct piece piece = {{(int)a[0], (int)a[1], (int)a[2], (int)a[3]}};
    piece.head = (int)b[0];
    piece.first_row = (int)b[1];
    piece.rows = (int)b[2];
    piece.keys = {(int)b[3], (int)c[0]};
    piece.begins = c[1];
    piece.ends = c[2];
    return piece;
}

static __device__ __forceinline__ int blocks_of(const struct piece &piece) {
    return (piece.keys.end - piece.keys.first + BLOCK - 1) / BLOCK;
}

/* The rows of a CTA of the cluster, perhaps none; all its CTAs have the same keys. */
static __device__ __forceinline__ struct piece of_cta(struct piece piece, int rank) {
    piece.first_row += rank * CTA_ROWS;
    piece.rows = min(max(piece.rows - rank * CTA_ROWS, 0), (int)CTA_ROWS);
    return piece;
}

/* All heads of k are in one list. */
static __device__ __forceinline__ struct deal deal_of(const struct gm_attention_mla_sm90_params &p, int part) {
    return {1, p.a.kv_heads, p.parts, 0, part};
}

/* ---- clerk and readers ------------------------------------------------------------------------------ */

static __device__ __forceinline__ void tell(uint32_t base, uint32_t &count, const struct piece &piece) {
    const struct pipeline_state at = state_at<PIECE_SLOTS>(count++);
    mbarrier_wait(piece_ring(base).empty_addr + 8 * at.slot, at.phase ^ 1);
    if (lane_index() == 0) {
        write_piece(piece_addr(base, at.slot), piece);
        mbarrier_arrive(piece_ring(base).full_addr + 8 * at.slot);
    }
    __syncwarp();
}

static __device__ __forceinline__ void tell_pieces(const struct gm_attention_mla_sm90_params &p, uint32_t base) {
    uint32_t told = 0;
    griddep_wait();
    take_pieces(p.a, deal_of(p, cta_index() / CLUSTER), p.slots != 0,
                [&](const struct shares &, const struct piece &piece) { tell(base, told, of_cta(piece, cta_rank())); });
    struct piece none = {};
    none.rows = -1;
    tell(base, told, none);
}

/* Hears of piece number `count`; false if there is none. A piece may have no keys. */
static __device__ __forceinline__ bool hear(uint32_t base, uint32_t count, struct piece &piece) {
    const struct pipeline_state at = state_at<PIECE_SLOTS>(count);
    pipeline_wait(piece_ring(base), at);
    piece = read_piece(piece_addr(base, at.slot));
    return __shfl_sync(0xFFFFFFFF, piece.rows, 0) >= 0;
}

/* A whole warp is done with what others, too, read or write behind its lanes: the barrier of that. */
static __device__ __forceinline__ void arrive_warp(uint32_t bar) {
    __syncwarp();
    if (lane_index() == 0)
        mbarrier_arrive(bar);
}

/* The description may be overwritten, and the sums beside it. */
static __device__ __forceinline__ void forget(uint32_t base, uint32_t count) {
    arrive_warp(piece_ring(base).empty_addr + 8 * (count % PIECE_SLOTS));
}

#endif
