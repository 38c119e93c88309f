/* SPDX-License-Identifier: Apache-2.0 */
/* Units that are cut among parts: each part leaves what it has found in a slot, and CTAs behind the parts put it together, each some
 * rows of a unit. They wait for CTAs of lower numbers only, and every flag has one that waits for it. */
#ifndef GM_SM90_ATTENTION_MLA_MERGE_CUH
#define GM_SM90_ATTENTION_MLA_MERGE_CUH

#include "sm90/attention_mla_sm90/piece.cuh"

#include "common/attention/partial.cuh"

/* Each CTA of a part has two slots: one for a unit that it begins, one for a unit that a lower part began. */
static __device__ __forceinline__ int slot_number(int part, bool begins, int rank) {
    return (2 * part + begins) * CLUSTER + rank;
}

static __device__ __forceinline__ uint64_t slot_of(const struct gm_attention_mla_sm90_params &p, int number) {
    return p.slots + (int64_t)number * GM_MLA_SLOT_BYTES(p.slot_rows, V_HEAD_DIM);
}

static __device__ __forceinline__ uint64_t flag_of(const struct gm_attention_mla_sm90_params &p, int number,
                                                   int slice) {
    return p.flags + ((int64_t)number * p.slices + slice) * GM_MLA_FLAG_BYTES;
}

/* ---- which unit ------------------------------------------------------------------------------------- */

struct units_of_request {
    const struct gm_attention_params &p;
    __device__ __forceinline__ int64_t operator()(const struct request &request) const {
        return (int64_t)tiles_of(p, request) * p.kv_heads;
    }
};

/* Entries of the requests before this one, by a whole warp. */
static __device__ __forceinline__ int64_t entries_before(const struct gm_attention_params &p, int request) {
    const entries_of_request weight = {p, p.kv_heads};
    int64_t sum = 0;
#pragma unroll 1
    for (int number = lane_index(); number < request; number += 32)
        sum += weight(request_of(p, number));
#pragma unroll
    for (int bit = 1; bit < 32; bit *= 2)
        sum += __shfl_xor_sync(0xFFFFFFFF, sum, bit);
    return sum;
}

/* A CTA's rows of a unit, as its last piece is, and the parts that have some of it; `first` == `last`: there is nothing to put
 * together. */
struct cut_unit {
    struct piece piece;
    int first, last;
    int rank;
};

static __device__ __forceinline__ struct cut_unit find_unit(const struct gm_attention_mla_sm90_params &p, int number,
                                                            int rank) {
    const units_of_request units = {p.a};
    const struct lane_request mine = lane_request(p.a, units, 0);
    struct cut_unit unit = {};
    if (number >= entries_of_all(p.a, units, mine))
        return unit;
    struct found at = find_entry(p.a, units, mine, number);
    const entries_of_request weight = {p.a, p.a.kv_heads};
    const struct shares shares = shares_of(p.a, deal_of(p, 0), lane_request(p.a, weight, 0));
    const int of_request = number - (int)at.first, blocks = blocks_of_unit(p.a, at.request);
    at.first = entries_before(p.a, at.request.number);
    const int64_t start = at.first + (int64_t)of_request * blocks;
    unit.piece = of_cta(piece_before(p.a, at, shares.deal, start, start + blocks), rank);
    unit.rank = rank;
    unit.first = share_of(shares, start);
    unit.last = share_of(shares, start + blocks - 1);
    return unit;
}

/* ---- its rows --------------------------------------------------------------------------------------- */

static __device__ __forceinline__ int slot_of_unit(const struct cut_unit &unit, int part) {
    return slot_number(part, part == unit.first, unit.rank);
}

/* Each thread for some parts; flags are cleared for the next launch. */
static __device__ __forceinline__ void wait_for_parts(const struct gm_attention_mla_sm90_params &p,
                                                      const struct cut_unit &unit, int slice) {
    for (int part = unit.first + thread_index(); part <= unit.last; part += THREADS) {
        const uint64_t flag = flag_of(p, slot_of_unit(unit, part), slice);
        while (ld_acquire_gpu_b64(flag) != p.ready) {
        }
        st_global_b64(flag, 0);
    }
    __syncthreads();
}

/* What all parts have found of 8 columns of a row, in their order: several are under way. */
static __device__ __forceinline__ struct partial collect(const struct gm_attention_mla_sm90_params &p,
                                                         const struct cut_unit &unit, int row, int chunk) {
    enum { AT_ONCE = 6 };
    struct partial all = {-GM_INFINITY, 0, {}};
#pragma unroll 1
    for (int part = unit.first; part <= unit.last; part += AT_ONCE) {
        struct partial other[AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i)
            other[i] = load_partial(slot_of(p, slot_of_unit(unit, min(part + i, unit.last))), p.slot_rows, V_HEAD_DIM,
                                    row, chunk);
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i)
            if (part + i <= unit.last)
                add_partial(all, other[i]);
    }
    return all;
}

/* All threads of a CTA behind the parts. */
static __device__ __forceinline__ void merge(const struct gm_attention_mla_sm90_params &p, int number) {
    enum { CHUNKS = V_HEAD_DIM / 8 };
    griddep_wait();
    const int slice = number % p.slices, slice_rows = p.slot_rows / p.slices;
    const struct cut_unit unit = find_unit(p, number / p.slices / CLUSTER, number / p.slices % CLUSTER);
    if (unit.first == unit.last)
        return;
    wait_for_parts(p, unit, slice);
#pragma unroll 1
    for (int i = thread_index(); i < slice_rows * CHUNKS; i += THREADS) {
        const int row = slice * slice_rows + i / CHUNKS, chunk = i % CHUNKS;
        if (row < unit.piece.rows)
            finish_row(p.a, unit.piece, row, chunk, collect(p, unit, row, chunk));
    }
}

#endif
