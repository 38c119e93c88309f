/* SPDX-License-Identifier: Apache-2.0 */
/* The requests, read on the device: their lengths, and which of them an entry of a list of work belongs to. */
#ifndef GM_ATTENTION_REQUESTS_CUH
#define GM_ATTENTION_REQUESTS_CUH

#include "common/attention/params.h"
#include "common/global.cuh"
#include "common/index.cuh"

/* Lengths, within the problem's bounds. */
struct request {
    int number;
    int q_start; /* its first row of q */
    int q_len, kv_len;
};

/* Rows of q, the first and how many. */
struct span {
    int row, rows;
};

static __device__ __forceinline__ struct span rows_of_request(const struct gm_attention_params &p, int number) {
    const uint64_t starts = p.q_indptr + 4 * (int64_t)number;
    const int start = min(max((int)ld_global_b32(starts), 0), p.max_q_tokens);
    const int end = min(max((int)ld_global_b32(starts + 4), start), p.max_q_tokens);
    return {start, min(end - start, p.max_q_len)};
}

static __device__ __forceinline__ int keys_of_request(const struct gm_attention_params &p, int number) {
    return min(max((int)ld_global_b32(p.kv_len + 4 * (int64_t)number), 0), p.max_kv_len);
}

static __device__ __forceinline__ struct request request_of(const struct gm_attention_params &p, int number) {
    const struct span span = rows_of_request(p, number);
    return {number, span.row, span.rows, keys_of_request(p, number)};
}

/* Packed rows that share a head of k: row r is head r % group of token r / group. */
static __device__ __forceinline__ int packed_rows(const struct gm_attention_params &p, const struct request &request) {
    return request.q_len * (int)p.group.divisor;
}

/* ---- lists of work --------------------------------------------------------------------------------- */

/* A list has weight(request) entries of each request, one request behind the other. A whole warp adds them up, 32 requests at a
 * time: a lane has one of them. */
struct lane_request {
    struct request request;
    int64_t entries, end; /* of this request, and of those of lower lanes too */
};

template <class Weight>
static __device__ __forceinline__ struct lane_request lane_request(const struct gm_attention_params &p,
                                                                   const Weight &weight, int first) {
    const int lane = thread_index() % 32;
    struct lane_request mine = {{first + lane, 0, 0, 0}, 0, 0};
    if (first + lane < p.batch) {
        mine.request = request_of(p, first + lane);
        mine.entries = weight(mine.request);
    }
    mine.end = mine.entries;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
        const int64_t lower = __shfl_up_sync(0xffffffff, mine.end, step);
        mine.end += lane >= step ? lower : 0;
    }
    return mine;
}

/* `first`: the first 32 requests'. */
template <class Weight>
static __device__ __forceinline__ int64_t entries_of_all(const struct gm_attention_params &p, const Weight &weight,
                                                         const struct lane_request &first) {
    int64_t sum = __shfl_sync(0xffffffff, first.end, 31), more = 0;
    if (p.batch <= 32)
        return sum;
#pragma unroll 2
    for (int number = 32 + thread_index() % 32; number < p.batch; number += 32)
        more += weight(request_of(p, number));
#pragma unroll
    for (int bit = 1; bit < 32; bit *= 2)
        more += __shfl_xor_sync(0xffffffff, more, bit);
    return sum + more;
}

/* Where an entry is. */
struct found {
    struct request request;
    int64_t first; /* entries of the requests before */
};

/* The entry must be one of the list's. */
template <class Weight>
static __device__ __forceinline__ struct found find_entry(const struct gm_attention_params &p, const Weight &weight,
                                                          struct lane_request mine, int64_t entry) {
    int64_t before = 0;
#pragma unroll 1
    for (int first = 0;; mine = lane_request(p, weight, first)) {
        const uint32_t behind = __ballot_sync(0xffffffff, entry < before + mine.end);
        first += 32;
        if (behind != 0 || first >= p.batch) {
            const int from = behind ? __ffs((int)behind) - 1 : 31;
            const struct request &request = mine.request;
            const int64_t start = before + mine.end - mine.entries;
            return {{first - 32 + from, __shfl_sync(0xffffffff, request.q_start, from),
                     __shfl_sync(0xffffffff, request.q_len, from), __shfl_sync(0xffffffff, request.kv_len, from)},
                    __shfl_sync(0xffffffff, start, from)};
        }
        before += __shfl_sync(0xffffffff, mine.end, 31);
    }
}

#endif
