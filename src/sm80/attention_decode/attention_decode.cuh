/* SPDX-License-Identifier: Apache-2.0 */
/* Attention by 16 rows of q at a time: the keys of all requests and heads are divided among all CTAs. One registry row per
 * compilation; attention_decode.cu of each architecture is the entry.
 *
 * Rows are packed: row r of a request and a head of k is head r % group of token r / group, so that one token's heads fill them.
 * It takes every problem; where tokens are many, others have larger tiles.
 *
 *   constants.cuh                    what follows from the variant's columns
 *   common/attention/work.cuh        which keys of which rows a CTA takes
 *   ring.cuh       fill_stage        a warp's tiles of k and v -> its ring
 *   attend.cuh     attend            the ring -> a warp's sums
 *   merge.cuh      merge_piece       all warps' sums, and other parts', -> out
 *
 * Of the same plan and the same lengths, results have the same bits from run to run. */
#ifndef GM_ATTENTION_DECODE_CUH
#define GM_ATTENTION_DECODE_CUH

#include "sm80/attention_decode/merge.cuh"

static __device__ __forceinline__ struct deal deal_of_cta(const struct gm_attention_decode_params &p) {
    const int lists = (int)p.lists.divisor, share = (int)divide(cta_index(), p.lists);
    return {lists, p.heads, p.shares, cta_index() - share * lists, share};
}

static __device__ __forceinline__ void attention_decode(const struct gm_attention_decode_params &p) {
    const auto attend_piece = [&](const struct shares &shares, const struct piece &piece) {
        struct sums s = {{-GM_INFINITY, -GM_INFINITY}, {0, 0}, {}};
        attend(p.a, piece, s);
        store_sums(piece, s);
        merge_piece(p, shares, piece);
    };
    take_pieces(p.a, deal_of_cta(p), p.slots != 0, attend_piece);
}

#endif
