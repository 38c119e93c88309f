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

/* What token `token` of q's sees, whatever the tree mask hides. Bounds of ALL_KEYS make nothing wrap. */
static __device__ __forceinline__ struct keys keys_of_token(const struct gm_attention_params &p,
                                                            const struct request &request, int token) {
    const int behind = request.q_len - 1 - token; /* tokens of q's */
    const int before = max(request.kv_len - 1 - behind, 0);
    return {before - min(before, p.left), max(request.kv_len - max(behind - p.right, 0), 0)};
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
            p.tree_mask ? min(end, request.kv_len - request.q_len) : end};
}

/* ---- one row --------------------------------------------------------------------------------------- */

struct sight {
    struct keys keys;
    int tree_first; /* the key of the tree mask's bit 0 */
    uint64_t tree;
};

static __device__ __forceinline__ struct sight sight_of(const struct gm_attention_params &p,
                                                        const struct request &request, int token) {
    struct sight sight = {keys_of_token(p, request, token), ALL_KEYS, 0};
    if (p.tree_mask) {
        uint32_t words[2];
        ld_global_v2_b32(p.tree_mask + 8 * ((int64_t)request.q_start + token), words);
        sight.tree_first = request.kv_len - request.q_len;
        sight.tree = words[0] | (uint64_t)words[1] << 32;
    }
    return sight;
}

static __device__ __forceinline__ bool sees(const struct sight &sight, int key) {
    const bool is_tree = key >= sight.tree_first;
    const bool is_hidden = is_tree && !(sight.tree >> (key - sight.tree_first & 63) & 1);
    return key >= sight.keys.first && key < sight.keys.end && !is_hidden;
}

/* Scores of hidden keys become -infinity. Those of a row are elements `half` and `half` + 1 of every 8 keys, from `key` on. */
template <int EIGHTS>
static __device__ __forceinline__ void hide(const struct sight &sight, int key, int half, float (&scores)[EIGHTS][4]) {
#pragma unroll
    for (int i = 0; i < EIGHTS; ++i)
#pragma unroll
        for (int j = 0; j < 2; ++j)
            if (!sees(sight, key + 8 * i + j))
                scores[i][half + j] = -GM_INFINITY;
}

#endif
