/* SPDX-License-Identifier: Apache-2.0 */
/* The lists of work, and what each CTA, a part, does of them.
 *
 *   a unit is ROWS packed rows of a request and a head of k; the units of a request follow each other, those of a head too
 *   its entries in a list are blocks of BLOCK keys, as many as the widest of the request's units sees, and one at least;
 *   the first key of its first block is a multiple of KEY_STEP
 *   a list has as many heads of k as another, of all requests, and as many parts; share s of a list has entries
 *   cut(s) ... cut(s + 1): all shares have as many, but for the last ones, which have fewer or none
 *
 * Parts are dealt to lists by turns: those that run side by side read the same tokens of neighbouring heads, which lie side by
 * side in memory.
 *
 * A part takes its entries from last to first, a piece of a unit at a time. So the only piece that does not end its unit, if there
 * is one, is its first. Without a workspace no unit is divided: cuts move on to where a unit begins.
 *
 * Included behind the family's constants: ROWS, BLOCK, KEY_STEP. */
#ifndef GM_ATTENTION_WORK_CUH
#define GM_ATTENTION_WORK_CUH

#include "common/attention/rows.cuh"
#include "common/attention/visible.cuh"

static __device__ __forceinline__ int tiles_of(const struct gm_attention_params &p, const struct request &request) {
    return (packed_rows(p, request) + ROWS - 1) / ROWS;
}

/* Entries of each unit of a request. Rows of a unit are so many neighbouring tokens' at most, of which the first sees `left` keys
 * before its own and the last `right` behind it. */
static __device__ __forceinline__ int blocks_of_unit(const struct gm_attention_params &p,
                                                     const struct request &request) {
    const int tokens = min(request.q_len, (int)divide(ROWS - 1, p.group) + 2);
    const int64_t keys = min((int64_t)request.kv_len, (int64_t)p.left + p.right + tokens + KEY_STEP - 1);
    return max((int)((keys + BLOCK - 1) / BLOCK), 1);
}

struct entries_of_request {
    const struct gm_attention_params &p;
    int heads; /* of k, in a list */
    __device__ __forceinline__ int64_t operator()(const struct request &request) const {
        return (int64_t)tiles_of(p, request) * heads * blocks_of_unit(p, request);
    }
};

/* ---- parts ----------------------------------------------------------------------------------------- */

/* Which share of which list is a part's. */
struct deal {
    int lists, heads, shares; /* how many there are, each with so many heads of k, and shares */
    int list, share;
};

struct shares {
    struct deal deal;
    int64_t entries, each; /* of a list; of a share */
};

static __device__ __forceinline__ uint64_t quotient(uint64_t number, uint64_t by) {
    return (number | by) >> 32 ? number / by : (uint32_t)number / (uint32_t)by;
}

/* Shares a little larger, where no unit is cut by them then, or every unit into as many shares. */
static __device__ __forceinline__ int64_t evened(const struct gm_attention_params &p, const struct lane_request &first,
                                                 int64_t entries, int64_t each) {
    enum { SLACK = 16 };
    if (each < SLACK)
        return each;
    const int64_t of_request = __shfl_sync(0xffffffff, first.entries, 0);
    const uint32_t blocks = __shfl_sync(0xffffffff, blocks_of_unit(p, first.request), 0);
    if (of_request * p.batch != entries)
        return each;
    const uint64_t pieces = quotient(blocks, each), units = quotient(each + blocks - 1, blocks);
    const uint64_t even = pieces > 1 ? quotient(blocks, pieces) : units * blocks;
    return even * max(pieces, (uint64_t)1) % blocks == 0 && even >= each && even <= each + each / SLACK ? even : each;
}

static __device__ __forceinline__ struct shares shares_of(const struct gm_attention_params &p, const struct deal &deal,
                                                          const struct lane_request &first) {
    const int64_t entries = entries_of_all(p, entries_of_request{p, deal.heads}, first);
    const int64_t each = entries <= deal.shares ? 1 : quotient(entries + deal.shares - 1, deal.shares);
    return {deal, entries, evened(p, first, entries, each)};
}

static __device__ __forceinline__ int64_t cut_of(const struct shares &shares, int share) {
    return min(share * shares.each, shares.entries);
}

/* The share that has an entry. */
static __device__ __forceinline__ int share_of(const struct shares &shares, int64_t entry) {
    return (int)quotient(entry, shares.each);
}

static __device__ __forceinline__ int part_of(const struct deal &deal, int share) {
    return share * deal.lists + deal.list;
}

/* An entry, moved on to where a unit begins. */
static __device__ __forceinline__ int64_t rounded_up(const struct gm_attention_params &p, const struct shares &shares,
                                                     const struct lane_request &mine, int64_t entry) {
    if (entry >= shares.entries)
        return entry;
    const struct found at = find_entry(p, entries_of_request{p, shares.deal.heads}, mine, entry);
    const uint32_t blocks = blocks_of_unit(p, at.request);
    return at.first + (int64_t)((uint64_t)(entry - at.first + blocks - 1) / blocks * blocks);
}

/* ---- pieces ---------------------------------------------------------------------------------------- */

struct piece {
    struct request request;
    int head;          /* of k */
    int first_row;     /* packed; */
    int rows;          /* so many exist, up to ROWS */
    struct keys keys;  /* those to go through */
    int64_t start;     /* the unit's first entry */
    bool begins, ends; /* the unit */
};

/* The first and the last token of a piece's rows. */
static __device__ __forceinline__ int first_token(const struct gm_attention_params &p, const struct piece &piece) {
    return token_of_row(p, piece.first_row);
}

static __device__ __forceinline__ int last_token(const struct gm_attention_params &p, const struct piece &piece) {
    return token_of_row(p, piece.first_row + piece.rows - 1);
}

/* The piece of entries [low, end) that ends at `end`, of the request that was found there in the deal's list. Its keys are
 * counted from the first one that the unit sees. */
static __device__ __forceinline__ struct piece piece_before(const struct gm_attention_params &p, const struct found &at,
                                                            const struct deal &deal, int64_t low, int64_t end) {
    struct piece piece = {at.request};
    const uint32_t blocks = blocks_of_unit(p, at.request), tiles = tiles_of(p, at.request);
    const bool is_one = tiles * deal.heads == 1; /* the usual case of a step, and two divisions less */
    const uint64_t unit = is_one ? 0 : quotient(end - 1 - at.first, blocks),
                   of_list = is_one ? 0 : quotient(unit, tiles);
    piece.start = at.first + (int64_t)unit * blocks;
    piece.head = deal.list * deal.heads + (int)of_list;
    piece.first_row = (int)(unit - of_list * tiles) * ROWS;
    piece.rows = min(packed_rows(p, at.request) - piece.first_row, (int)ROWS);
    piece.begins = low <= piece.start;
    piece.ends = end == piece.start + blocks;
    const struct keys seen = keys_of_any(p, at.request, first_token(p, piece), last_token(p, piece));
    const int64_t base = (int64_t)(seen.first / (uint32_t)KEY_STEP * (uint32_t)KEY_STEP);
    const int64_t first = base + (piece.begins ? 0 : (low - piece.start) * BLOCK);
    const int64_t last = base + (end - piece.start) * BLOCK;
    piece.keys = {(int)min(first, (int64_t)seen.end), (int)min(last, (int64_t)seen.end)};
    return piece;
}

/* Calls take(shares, piece) for the entries of a part, a piece at a time from last to first; `cuts`: units may be divided. The
 * first 32 requests' lengths are on their way once, for what comes before the first piece. */
template <class Take>
static __device__ __forceinline__ void take_pieces(const struct gm_attention_params &p, const struct deal &deal,
                                                   bool cuts, const Take &take) {
    const entries_of_request weight = {p, deal.heads};
    const struct lane_request mine = lane_request(p, weight, 0);
    const struct shares shares = shares_of(p, deal, mine);
    int64_t low = cut_of(shares, deal.share), end = cut_of(shares, deal.share + 1);
    if (!cuts) {
        low = rounded_up(p, shares, mine, low);
        end = rounded_up(p, shares, mine, end);
    }
    if (end <= low)
        return;
    struct found at = find_entry(p, weight, mine, end - 1);
#pragma unroll 1
    for (;;) {
        const struct piece piece = piece_before(p, at, deal, low, end);
        take(shares, piece);
        end = max(low, piece.start);
        if (end <= low)
            return;
        if (end <= at.first)
            at = find_entry(p, weight, lane_request(p, weight, 0), end - 1);
    }
}

#endif
