/* SPDX-License-Identifier: Apache-2.0 */
/* Which keys a row of q sees: those from `left` before its own token to `right` behind it, and of the last ones those of its
 * word of the tree mask. */
#ifndef GM_ATTENTION_VISIBLE_CUH
#define GM_ATTENTION_VISIBLE_CUH

#include "common/attention/requests.cuh"
#include "common/special.cuh"

enum { ALL_KEYS = 0x7fffffff }; /* left, right: no bound */

/* Keys [first, end) of a request. */
struct keys {
    int first, end;
};

/* A row whose token is at `position` sees the keys low ... high - 1, none where high is no more.
 * NOTE: written as `left < position ? position - left : 0`, nvcc 13.0 makes max(position - left, 0) of it, which wraps round
 * where left is INT32_MAX and position is negative. */
static __device__ __forceinline__ int low_of(const struct gm_attention_params &p, int position) {
    const int before = max(position, 0);
    return before - min(before, p.left);
}

static __device__ __forceinline__ int high_of(const struct gm_attention_params &p, int position, int kv_len) {
    return position + min(p.right, kv_len - 1 - position) + 1;
}

/* What token `token` of q's sees, whatever the tree mask hides. */
static __device__ __forceinline__ struct keys keys_of_token(const struct gm_attention_params &p,
                                                            const struct request &request, int token) {
    const int position = request.kv_len - request.q_len + token;
    return {low_of(p, position), max(high_of(p, position, request.kv_len), 0)};
}

/* What tokens first ... last of q see: any of them, */
static __device__ __forceinline__ struct keys keys_of_any(const struct gm_attention_params &p,
                                                          const struct request &request, int first, int last) {
    return {keys_of_token(p, request, first).first, keys_of_token(p, request, last).end};
}

/* and all of them: scores of these need no look at a mask. */
static __device__ __forceinline__ struct keys keys_of_all(const struct gm_attention_params &p,
                                                          const struct request &request, int first, int last) {
    const int end = keys_of_token(p, request, first).end;
    return {keys_of_token(p, request, last).first,
            p.tree_mask ? max(min(end, request.kv_len - request.q_len), 0) : end};
}

/* ---- one row --------------------------------------------------------------------------------------- */

/* The lowest bits of 64. */
static __device__ __forceinline__ uint64_t low_bits(int count) {
    return count >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << max(count, 0)) - 1;
}

/* Bit i: what the tree mask shows of key first + i, of which bit 0 of its word is `shift` keys before. */
static __device__ __forceinline__ uint64_t tree_bits(const struct gm_attention_params &p, const struct request &request,
                                                     int token, int shift) {
    uint32_t words[2];
    ld_global_v2_b32(p.tree_mask + 8 * ((int64_t)request.q_start + token), words);
    const uint64_t tree = words[0] | (uint64_t)words[1] << 32;
    if (shift >= 0)
        return shift < 64 ? tree >> shift : 0;
    return shift > -64 ? tree << -shift | low_bits(-shift) : ~(uint64_t)0;
}

/* Bit i: whether token `token` of q's sees key first + i, of 64. */
static __device__ __forceinline__ uint64_t visible_bits(const struct gm_attention_params &p,
                                                        const struct request &request, int token, int first) {
    const struct keys seen = keys_of_token(p, request, token);
    const uint64_t bits = low_bits(max(seen.end - first, 0)) & ~low_bits(max(seen.first - first, 0));
    if (p.tree_mask == 0)
        return bits;
    return bits & tree_bits(p, request, token, first - (request.kv_len - request.q_len));
}

/* Scores of hidden keys become -infinity. A lane has keys 0 and 1 of every 8, counted from bit 0, as elements `half` and
 * `half` + 1. */
template <int EIGHTS>
static __device__ __forceinline__ void hide(uint64_t visible, int half, float (&scores)[EIGHTS][4]) {
    const uint32_t words[2] = {(uint32_t)visible, (uint32_t)(visible >> 32)};
    static_assert(EIGHTS <= 8, "64 bits");
#pragma unroll
    for (int i = 0; i < EIGHTS; ++i)
#pragma unroll
        for (int j = 0; j < 2; ++j)
            if (!(words[i / 4] >> (i % 4 * 8 + j) & 1))
                scores[i][half + j] = -GM_INFINITY;
}

#endif
