/* SPDX-License-Identifier: Apache-2.0 */
/* Attention by 16 rows of q at a time: the keys of all requests and heads are divided among all CTAs. One registry row per
 * compilation; attention_decode.cu of each architecture is the entry.
 *
 * Rows are packed: row r of a request and a head of k is head r % group of token r / group, so that one token's heads fill them.
 * It takes every problem; where tokens are many, others have larger tiles.
 *
 *   constants.cuh                    what follows from the variant's columns
 *   work.cuh       piece_before      which keys of which rows a CTA takes
 *   ring.cuh       fill_stage        a warp's tiles of k and v -> its ring
 *   attend.cuh     attend            the ring -> a warp's sums
 *   merge.cuh      merge_piece       all warps' sums, and other parts', -> out
 *
 * Of the same plan and the same lengths, results have the same bits from run to run. */
#ifndef GM_ATTENTION_DECODE_CUH
#define GM_ATTENTION_DECODE_CUH

#include "sm80/attention_decode/merge.cuh"

static __device__ __forceinline__ void attend_piece(const struct gm_attention_decode_params &p,
                                                    const struct shares &shares, const struct piece &piece, int part) {
    struct sums s = {{-GM_INFINITY, -GM_INFINITY}, {0, 0}, {}};
    attend(p.a, piece, s);
    store_sums(s);
    merge_piece(p, shares, piece, part);
}

/* A part's entries, a piece at a time from last to first. The first 32 requests' lengths are on their way once, for what comes
 * before the first piece. */
static __device__ __forceinline__ void attention_decode(const struct gm_attention_decode_params &p) {
    const entries_of_request weight = {p.a};
    const struct lane_request mine = lane_request(p.a, weight, 0);
    const struct shares shares = shares_of(p, mine);
    const int part = cta_index();
    int64_t low = cut_of(shares, part), end = cut_of(shares, part + 1);
    if (p.slots == 0) {
        low = rounded_up(p.a, shares, mine, low);
        end = rounded_up(p.a, shares, mine, end);
    }
    if (end <= low)
        return;
    struct found at = find_entry(p.a, weight, mine, end - 1);
#pragma unroll 1
    for (;;) {
        const struct piece piece = piece_before(p.a, at, low, end);
        attend_piece(p, shares, piece, part);
        end = max(low, piece.start);
        if (end <= low)
            return;
        if (end <= at.first)
            at = find_entry(p.a, weight, lane_request(p.a, weight, 0), end - 1);
    }
}

#endif
