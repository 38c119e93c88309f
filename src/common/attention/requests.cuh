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

static __device__ __forceinline__ struct request request_of(const struct gm_attention_params &p, int number) {
    const uint64_t starts = p.q_indptr + 4 * (int64_t)number;
    const int start = min(max((int)ld_global_b32(starts), 0), p.max_q_tokens);
    const int end = min(max((int)ld_global_b32(starts + 4), start), p.max_q_tokens);
    const int kv_len = (int)ld_global_b32(p.kv_len + 4 * (int64_t)number);
    return {number, start, min(end - start, p.max_q_len), min(max(kv_len, 0), p.max_kv_len)};
}

/* Packed rows that share a head of k: row r is head r % group of token r / group. */
static __device__ __forceinline__ int packed_rows(const struct gm_attention_params &p, const struct request &request) {
    return request.q_len * (int)p.group.divisor;
}

/* ---- lists of work --------------------------------------------------------------------------------- */

/* A list has weight(request) entries of each request, one request behind the other. A whole warp adds them up, 32 requests at a
 * time. */

static __device__ __forceinline__ int64_t sum_of_lanes(int64_t value) {
#pragma unroll
    for (int bit = 1; bit < 32; bit *= 2)
        value += __shfl_xor_sync(0xffffffff, value, bit);
    return value;
}

template <class Weight>
static __device__ __forceinline__ int64_t entries_of_all(const struct gm_attention_params &p, const Weight &weight) {
    int64_t sum = 0;
#pragma unroll 2
    for (int number = thread_index() % 32; number < p.batch; number += 32)
        sum += weight(request_of(p, number));
    return sum_of_lanes(sum);
}

/* Where an entry is. */
struct found {
    struct request request;
    int64_t first; /* entries of the requests before */
};

/* The entry must be one of the list's. */
template <class Weight>
static __device__ __forceinline__ struct found find_entry(const struct gm_attention_params &p, const Weight &weight,
                                                          int64_t entry) {
    const int lane = thread_index() % 32;
    int64_t before = 0;
#pragma unroll 1
    for (int first = 0;; first += 32) {
        struct request mine = {first + lane, 0, 0, 0};
        if (mine.number < p.batch)
            mine = request_of(p, mine.number);
        const int64_t entries = mine.number < p.batch ? weight(mine) : 0;
        int64_t end = entries;
#pragma unroll
        for (int step = 1; step < 32; step *= 2) {
            const int64_t lower = __shfl_up_sync(0xffffffff, end, step);
            end += lane >= step ? lower : 0;
        }
        const uint32_t behind = __ballot_sync(0xffffffff, entry < before + end);
        if (behind != 0 || first + 32 >= p.batch) {
            const int from = behind ? __ffs((int)behind) - 1 : 31;
            const int64_t start = before + end - entries;
            return {{first + from, __shfl_sync(0xffffffff, mine.q_start, from),
                     __shfl_sync(0xffffffff, mine.q_len, from), __shfl_sync(0xffffffff, mine.kv_len, from)},
                    __shfl_sync(0xffffffff, start, from)};
        }
        before += __shfl_sync(0xffffffff, end, 31);
    }
}

#endif
