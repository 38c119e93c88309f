/* SPDX-License-Identifier: Apache-2.0 */
/* The k experts of every token, and their weights. One registry row per compilation; moe_route.cu of each architecture is
 * the entry.
 *
 *   a warp takes a token at a time, with a part of shared memory of its own
 *   a unit is 8 neighbouring experts; a lane owns units lane, lane + 32, ...
 *   a choice is kept in shared memory as a key, an unsigned number of the same order: 0 cannot be chosen, 1 is NaN
 *   k times, the largest of the lanes' best keys is found, then the lowest expert that has it; lane j keeps number j, and
 *   the expert's owner looks for its next best
 *
 * Then lane j weighs its expert: exp(x - largest) / sum, or sigmoid(x). */
#ifndef GM_SM80_MOE_ROUTE_CUH
#define GM_SM80_MOE_ROUTE_CUH

#include "common/elements.cuh"
#include "common/index.cuh"
#include "common/moe_route/params.h"
#include "common/special.cuh"

enum {
    TYPE = GM_TYPE,
    ELEM_BYTES = GM_TYPE_BYTES(TYPE),
    THREADS = GM_THREADS,
    WARPS = THREADS / 32,
    EXPERTS = GM_MOE_ROUTE_EXPERTS, /* at most */
    UNIT = GM_MOE_ROUTE_UNIT,
    CHUNK = 16 / ELEM_BYTES, /* logits of a load */
    CTAS = GM_MOE_ROUTE_CTAS,
    TAKEN = 0, /* the key of an expert that cannot be chosen, or was */
    NAN_KEY = 1,
};
static_assert(UNIT % CHUNK == 0 && UNIT % 4 == 0, "a unit is whole loads, of logits and of keys");

extern __shared__ uint4 all_keys[]; /* [WARPS][EXPERTS / 4] */

#define ALL_LANES 0xffffffffu
#define LOG2_E    1.44269504f

static __device__ __forceinline__ int lane_index(void) {
    return thread_index() % 32;
}

/* The keys of the warp's token. */
static __device__ __forceinline__ uint32_t *warp_keys(void) {
    return (uint32_t *)(all_keys + thread_index() / 32 * (EXPERTS / 4));
}

/* ---- numbers --------------------------------------------------------------------------------------- */

/* A larger float has a larger key. Of zeros there is one: +0 was added to them. */
static __device__ __forceinline__ uint32_t key_of(float x) {
    const uint32_t bits = __float_as_uint(x);
    return x != x ? (uint32_t)NAN_KEY : bits ^ ((int32_t)bits < 0 ? 0xffffffffu : 0x80000000u);
}

static __device__ __forceinline__ float value_of(uint32_t key) {
    const uint32_t bits = key ^ ((int32_t)key < 0 ? 0x80000000u : 0xffffffffu);
    return __uint_as_float(key == NAN_KEY ? 0x7fffffffu : bits);
}

/* e^x for x <= 0. */
static __device__ __forceinline__ float exponential(float x) {
    return ex2_approx_ftz(x * LOG2_E);
}

static __device__ __forceinline__ float sigmoid(float x) {
    return rcp_approx_ftz(1.0f + ex2_approx_ftz(-x * LOG2_E));
}

static __device__ __forceinline__ float sum_over_lanes(float x) {
#pragma unroll
    for (int bit = 16; bit > 0; bit /= 2)
        x += __shfl_xor_sync(ALL_LANES, x, bit);
    return x;
}

/* ---- keys ------------------------------------------------------------------------------------------ */

static __device__ __forceinline__ float load_logit(uint64_t address, bool exists) {
    uint32_t word[1];
    float x[1];
    load<TYPE, 1>(word, address, exists);
    unpack<TYPE, 1>(word, x);
    return x[0];
}

/* The logits of a unit that begins at expert `first`; whatever is beyond the last expert. */
static __device__ __forceinline__ void load_unit(const struct gm_moe_route_params &p, uint64_t row, int first,
                                                 float (&x)[UNIT]) {
    if (p.by_elements) {
#pragma unroll
        for (int i = 0; i < UNIT; ++i)
            x[i] = load_logit(row + (first + i) * ELEM_BYTES, first + i < p.experts);
        return;
    }
    uint32_t words[UNIT / CHUNK][4];
#pragma unroll
    for (int c = 0; c < UNIT / CHUNK; ++c)
        load<TYPE, CHUNK>(words[c], row + (first + c * CHUNK) * ELEM_BYTES, first + c * CHUNK < p.experts);
#pragma unroll
    for (int c = 0; c < UNIT / CHUNK; ++c) {
        float chunk[CHUNK];
        unpack<TYPE, CHUNK>(words[c], chunk);
#pragma unroll
        for (int i = 0; i < CHUNK; ++i)
            x[c * CHUNK + i] = chunk[i];
    }
}

/* What is chosen by: x, or its sigmoid, and the bias. */
static __device__ __forceinline__ void choose_by(const struct gm_moe_route_params &p, int first, float (&x)[UNIT]) {
    float bias[UNIT];
#pragma unroll
    for (int i = 0; i < UNIT; ++i)
        bias[i] = p.bias && first + i < p.experts ? __uint_as_float(ld_global_b32(p.bias + (first + i) * 4)) : 0.0f;
    if (p.is_sigmoid) {
#pragma unroll
        for (int i = 0; i < UNIT; ++i)
            x[i] = sigmoid(x[i]);
    }
#pragma unroll
    for (int i = 0; i < UNIT; ++i)
        x[i] += bias[i];
}

/* The keys of a lane's experts, into shared memory. */
static __device__ __forceinline__ void make_keys(const struct gm_moe_route_params &p, uint64_t row) {
#pragma unroll 1
    for (int first = lane_index() * UNIT; first < p.experts; first += 32 * UNIT) {
        float x[UNIT];
        uint32_t keys[UNIT];
        load_unit(p, row, first, x);
        choose_by(p, first, x);
#pragma unroll
        for (int i = 0; i < UNIT; ++i)
            keys[i] = first + i < p.experts ? key_of(x[i]) : (uint32_t)TAKEN;
#pragma unroll
        for (int i = 0; i < UNIT; i += 4)
            *(uint4 *)(warp_keys() + first + i) = make_uint4(keys[i], keys[i + 1], keys[i + 2], keys[i + 3]);
    }
}

static __device__ __forceinline__ void load_keys(int first, uint32_t (&keys)[UNIT]) {
#pragma unroll
    for (int i = 0; i < UNIT; i += 4) {
        const uint4 four = *(const uint4 *)(warp_keys() + first + i);
        keys[i] = four.x;
        keys[i + 1] = four.y;
        keys[i + 2] = four.z;
        keys[i + 3] = four.w;
    }
}

struct choice {
    uint32_t key;
    int expert;
};

/* The largest key of a lane's experts, and the lowest expert that has it. */
static __device__ __forceinline__ struct choice find_best(const struct gm_moe_route_params &p) {
    struct choice best = {TAKEN, 0};
#pragma unroll 1
    for (int first = lane_index() * UNIT; first < p.experts; first += 32 * UNIT) {
        uint32_t keys[UNIT];
        load_keys(first, keys);
#pragma unroll
        for (int i = 0; i < UNIT; ++i)
            if (keys[i] > best.key)
                best = {keys[i], first + i};
    }
    return best;
}

/* ---- groups ---------------------------------------------------------------------------------------- */

/* The key of the sum of a group's 2 largest choices; a group's lanes share its experts, and all get the key. */
static __device__ __forceinline__ uint32_t score_group(const struct gm_moe_route_params &p, int group, int lanes) {
    uint32_t best = TAKEN, second = TAKEN;
#pragma unroll 1
    for (int i = lane_index() % lanes; i < p.group_size && group < p.groups; i += lanes) {
        const uint32_t key = warp_keys()[group * p.group_size + i];
        second = max(second, min(best, key));
        best = max(best, key);
    }
#pragma unroll 1
    for (int bit = lanes / 2; bit > 0; bit /= 2) {
        const uint32_t other_best = __shfl_xor_sync(ALL_LANES, best, bit);
        const uint32_t other_second = __shfl_xor_sync(ALL_LANES, second, bit);
        second = max(min(best, other_best), max(second, other_second));
        best = max(best, other_best);
    }
    return key_of(value_of(best) + (second == TAKEN ? 0.0f : value_of(second)) + 0.0f);
}

/* Whether so many groups at most have a larger score, or the same and a lower number. */
static __device__ __forceinline__ bool is_top_group(const struct gm_moe_route_params &p, uint32_t score, int group) {
    int before = 0;
#pragma unroll 1
    for (int other = 0; other < p.groups; ++other) {
        const uint32_t theirs = __shfl_sync(ALL_LANES, score, other << p.lanes_log2);
        before += theirs > score || (theirs == score && other < group);
    }
    return before < p.top_groups;
}

/* Takes the experts of all groups but the best. */
static __device__ __forceinline__ void keep_top_groups(const struct gm_moe_route_params &p) {
    const int lanes = 1 << p.lanes_log2, group = lane_index() >> p.lanes_log2;
    __syncwarp();
    const uint32_t score = score_group(p, group, lanes);
    const bool is_top = is_top_group(p, score, group);
#pragma unroll 1
    for (int i = lane_index() % lanes; i < p.group_size && group < p.groups && !is_top; i += lanes)
        warp_keys()[group * p.group_size + i] = TAKEN;
    __syncwarp();
}

/* ---- choice and weights ---------------------------------------------------------------------------- */

/* The k largest keys, of equals the lowest expert first: lane j returns number j. `best`: of the lane's experts. */
static __device__ __forceinline__ struct choice choose(const struct gm_moe_route_params &p, struct choice best) {
    struct choice mine = {TAKEN, 0};
#pragma unroll 1
    for (int slot = 0; slot < p.k; ++slot) {
        const uint32_t largest = __reduce_max_sync(ALL_LANES, best.key);
        const uint32_t offered = best.key == largest ? (uint32_t)best.expert : (uint32_t)EXPERTS;
        const int expert = (int)__reduce_min_sync(ALL_LANES, offered);
        if (lane_index() == slot)
            mine = {largest, expert};
        if (offered == (uint32_t)expert) {
            warp_keys()[expert] = TAKEN;
            best = find_best(p);
        }
    }
    return mine;
}

/* Sum of exp(x - largest) over all experts. */
static __device__ __forceinline__ float softmax_sum(const struct gm_moe_route_params &p, const struct choice &best) {
    const float largest = value_of(__reduce_max_sync(ALL_LANES, best.key));
    float sum = 0;
#pragma unroll 1
    for (int first = lane_index() * UNIT; first < p.experts; first += 32 * UNIT) {
        uint32_t keys[UNIT];
        load_keys(first, keys);
#pragma unroll
        for (int i = 0; i < UNIT; ++i)
            sum += keys[i] == TAKEN ? 0.0f : exponential(value_of(keys[i]) - largest);
    }
    return sum_over_lanes(sum);
}

/* Of lane j's expert; `sum`: that of all experts, where it is wanted. */
static __device__ __forceinline__ float weigh(const struct gm_moe_route_params &p, uint64_t row,
                                              const struct choice &mine, float sum) {
    const bool exists = lane_index() < p.k;
    float weight;
    if (p.is_sigmoid) {
        weight = sigmoid(load_logit(row + mine.expert * ELEM_BYTES, exists));
    } else {
        const float x = value_of(mine.key);
        weight = exponential(x - __shfl_sync(ALL_LANES, x, 0));
    }
    if (p.renormalizes)
        sum = sum_over_lanes(exists ? weight : 0.0f) + (p.is_sigmoid ? 1e-20f : 0.0f);
    return weight / sum * p.scale;
}

static __device__ __forceinline__ void route_token(const struct gm_moe_route_params &p, int64_t token) {
    const uint64_t row = p.logits + token * p.logits_pitch;
    make_keys(p, row);
    if (p.groups > p.top_groups)
        keep_top_groups(p);
    const struct choice best = find_best(p);
    const float sum = p.is_sigmoid || p.renormalizes ? 1.0f : softmax_sum(p, best);
    const struct choice mine = choose(p, best);
    const float weight = weigh(p, row, mine, sum);
    const int64_t at = (token * p.k + lane_index()) * 4;
    if (lane_index() < p.k) {
        st_global_b32(p.ids + at, mine.expert);
        st_global_b32(p.weights + at, __float_as_uint(weight));
    }
}

static __device__ __forceinline__ void moe_route(const struct gm_moe_route_params &p) {
    const int tokens = p.row_count ? min(p.tokens, (int)ld_global_b32(p.row_count)) : p.tokens;
#pragma unroll 1
    for (int64_t token = (int64_t)cta_index() * WARPS + thread_index() / 32; token < tokens;
         token += (int64_t)gridDim.x * WARPS)
        route_token(p, token);
}

#endif
