/* SPDX-License-Identifier: Apache-2.0 */
/* Rotary embedding of the heads of q and k, a norm of each before it, and the append of k and v to a cache, as far as a
 * call asks for them. One registry row per compilation; rope.cu of each architecture is the entry.
 *
 *   a chunk is VECTOR_BYTES of neighbouring elements, one load; an item is two chunks of a head
 *   a rotated item holds both elements of its pairs: chunks half of rotary_dim apart, or interleaved, side by side
 *   a block is HEADS heads of q, k or v of one token; it belongs to 2^lanes_log2 lanes of a warp, lane i has item i of
 *   each head, then item i + 2^lanes_log2, where a head has more items than a warp lanes
 *   all loads of a lane's first items are under way before the first is waited for; all heads of a block share cosines
 *   and sines
 *
 * Where chunks are 16 bytes, a lane has one item of a head. The blocks of all tokens are numbered token by token, with
 * 31 bits, so the tokens of large operands come in slabs. The sum of a norm has an order that head_dim, type and the
 * chunks decide. */
#ifndef GM_SM80_ROPE_CUH
#define GM_SM80_ROPE_CUH

#include "common/elements.cuh"
#include "common/fp8.cuh"
#include "common/index.cuh"
#include "common/pairs.cuh"
#include "common/rope/params.h"
#include "common/special.cuh"

enum {
    TYPE = GM_TYPE,
    ELEM_BYTES = GM_TYPE_BYTES(TYPE),
    THREADS = GM_THREADS,
    HEADS = GM_HEADS,
    VECTOR_BYTES = GM_VECTOR_BYTES,
    CHUNK = VECTOR_BYTES / ELEM_BYTES, /* elements */
    WORDS = GM_WORDS(TYPE, CHUNK),     /* 32-bit registers of a chunk */
    CTAS = GM_ROPE_CTAS(THREADS, HEADS),
};

/* The heads of q, k or v that some lanes have. */
struct block {
    const struct gm_rope_heads &heads;
    int64_t token;
    int first, count;    /* heads; none where there is no such block */
    bool is_v, is_first; /* of v; the first of its token */
};

/* Where an item lies in a head, in elements. */
struct item {
    int first, second; /* its chunks */
    bool exists, has_second, rotates;
};

struct chunks {
    uint32_t first[WORDS], second[WORDS];
};

/* A token's angles of one item. */
struct angles {
    float cosine[CHUNK], sine[CHUNK];
};

/* ---- where things are ------------------------------------------------------------------------------- */

/* Element number `rest` of those that are not rotated. */
static __device__ __forceinline__ int beside_rotary(const struct gm_rope_params &p, int rest) {
    return rest < p.rotary_offset ? rest : rest + p.rotary_dim;
}

static __device__ __forceinline__ struct item item_of(const struct gm_rope_params &p, int number) {
    const bool rotates = number < p.rotary_items;
    const int first = p.rotary_offset + number * p.pair_step, rest = (number - p.rotary_items) * 2 * CHUNK;
    if (rotates)
        return {first, first + p.pair_distance, true, true, true};
    return {beside_rotary(p, rest), beside_rotary(p, rest + CHUNK), number < p.items,
            rest + CHUNK < p.head_dim - p.rotary_dim, false};
}

/* This lane's number among those that share a head. */
static __device__ __forceinline__ int lane_of_head(const struct gm_rope_params &p) {
    return thread_index() & ((1 << p.lanes_log2) - 1);
}

/* COUNT floats. */
template <int COUNT> static __device__ __forceinline__ void load_floats(uint64_t address, float (&values)[COUNT]) {
    enum { AT_ONCE = COUNT < 4 ? 1 : 4 };
#pragma unroll
    for (int i = 0; i < COUNT; i += AT_ONCE) {
        uint32_t words[AT_ONCE];
        load<GM_TYPE_fp32, AT_ONCE>(words, address + i * 4, true);
#pragma unroll
        for (int j = 0; j < AT_ONCE; ++j)
            values[i + j] = __uint_as_float(words[j]);
    }
}

/* ---- loads ------------------------------------------------------------------------------------------ */

static __device__ __forceinline__ void load_chunks(const struct block &b, const struct item &at,
                                                   struct chunks (&c)[HEADS]) {
#pragma unroll
    for (int i = 0; i < HEADS; ++i) {
        const uint64_t head = b.heads.in + b.token * b.heads.in_token + (b.first + i) * b.heads.in_head;
        const bool exists = i < b.count && at.exists;
        load<TYPE, CHUNK>(c[i].first, head + at.first * ELEM_BYTES, exists);
        load<TYPE, CHUNK>(c[i].second, head + at.second * ELEM_BYTES, exists && at.has_second);
    }
}

/* The same heads of a token that another CTA has later come to L2, by one lane: they follow each other without a gap. */
static __device__ __forceinline__ void prefetch_heads(const struct gm_rope_params &p, const struct block &b) {
    const int64_t token = b.token + p.tokens_ahead;
    if (VECTOR_BYTES == 16 && p.tokens_ahead && token < p.tokens && b.count > 0 && lane_of_head(p) == 0)
        prefetch_bulk_l2(b.heads.in + token * b.heads.in_token + b.first * b.heads.in_head,
                         b.count * (uint32_t)b.heads.in_head);
}

static __device__ __forceinline__ int64_t load_int64(uint64_t address) {
    uint32_t words[2];
    ld_global_v2_b32(address, words);
    return (int64_t)((uint64_t)words[1] << 32 | words[0]);
}

static __device__ __forceinline__ int64_t position_of(const struct gm_rope_params &p, int64_t token) {
    if (p.flags & GM_ROPE_WIDE_POSITIONS)
        return load_int64(p.positions + token * 8);
    return (int)ld_global_b32(p.positions + token * 4);
}

/* Of a block that exists and is rotated; else 0. */
static __device__ __forceinline__ int64_t load_position(const struct gm_rope_params &p, const struct block &b) {
    return b.count <= 0 || b.is_v ? 0 : position_of(p, b.token);
}

/* Of the token that another CTA has later, by one lane of this one's; else -1. Its slot comes to L2. */
static __device__ __forceinline__ int64_t load_later_position(const struct gm_rope_params &p, const struct block &b) {
    const int64_t token = b.token + p.tokens_ahead;
    const bool is_among_many = HEADS > 1 && VECTOR_BYTES == 16 && p.tokens_ahead;
    if (!is_among_many || token >= p.tokens || !b.is_first || lane_of_head(p) != 0)
        return -1;
    if (p.slots)
        prefetch_global_l2(p.slots + token * 8);
    return position_of(p, token);
}

/* What such a token's position asks for comes to L2: otherwise it is two trips to DRAM away, the position being one. */
static __device__ __forceinline__ void prefetch_angles(const struct gm_rope_params &p, int64_t position) {
    if (position >= 0 && position < p.max_position)
        prefetch_bulk_l2(p.table + position * p.rotary_dim * 4, (uint32_t)p.rotary_dim * 4);
}

/* Of a block that is appended; else -1: none. */
static __device__ __forceinline__ int64_t load_slot(const struct gm_rope_params &p, const struct block &b) {
    return b.count > 0 && b.heads.cache ? load_int64(p.slots + b.token * 8) : -1;
}

static __device__ __forceinline__ void load_angles(const struct gm_rope_params &p, int64_t position, int number,
                                                   struct angles &a) {
    const uint64_t row = p.table + position * p.rotary_dim * 4 + number * (CHUNK * 4);
    load_floats<CHUNK>(row, a.cosine);
    load_floats<CHUNK>(row + p.rotary_dim * 2, a.sine);
#pragma unroll
    for (int i = 0; i < CHUNK; ++i)
        a.sine[i] = p.flags & GM_ROPE_IS_INVERSE ? -a.sine[i] : a.sine[i];
    if (p.flags & GM_ROPE_ROUNDS) {
        round_elements<TYPE, CHUNK>(a.cosine);
        round_elements<TYPE, CHUNK>(a.sine);
    }
}

/* The weights of a norm; those of fp32 beside a 16-bit type are loaded where they are used. */
static __device__ __forceinline__ void load_weights(const struct gm_rope_params &p, const struct block &b,
                                                    const struct item &at, struct chunks &weights) {
    const bool exists = p.flags & GM_ROPE_HAS_NORM && !(p.flags & GM_ROPE_WIDE_WEIGHT) && !b.is_v && at.exists;
    load<TYPE, CHUNK>(weights.first, b.heads.weight + at.first * ELEM_BYTES, exists);
    load<TYPE, CHUNK>(weights.second, b.heads.weight + at.second * ELEM_BYTES, exists && at.has_second);
}

/* ---- the norm --------------------------------------------------------------------------------------- */

static __device__ __forceinline__ float sum_of_squares(float sum, const uint32_t (&words)[WORDS]) {
    float v[CHUNK];
    unpack<TYPE, CHUNK>(words, v);
#pragma unroll
    for (int i = 0; i < CHUNK; ++i)
        sum = fmaf(v[i], v[i], sum);
    return sum;
}

static __device__ __forceinline__ void add_squares(const struct chunks (&c)[HEADS], float (&sums)[HEADS]) {
#pragma unroll
    for (int i = 0; i < HEADS; ++i)
        sums[i] = sum_of_squares(sum_of_squares(sums[i], c[i].first), c[i].second);
}

/* 1 / rms of each head; all lanes of a warp come here. `c` has the first items already. */
static __device__ __forceinline__ void find_scales(const struct gm_rope_params &p, const struct block &b,
                                                   const struct chunks (&c)[HEADS], float (&scales)[HEADS]) {
    float sums[HEADS] = {};
    add_squares(c, sums);
#pragma unroll 1
    for (int part = 1; CHUNK == 1 && part < p.parts; ++part) {
        struct chunks more[HEADS];
        load_chunks(b, item_of(p, lane_of_head(p) + (part << p.lanes_log2)), more);
        add_squares(more, sums);
    }
#pragma unroll 1
    for (int bit = 1 << p.lanes_log2 >> 1; bit > 0; bit >>= 1)
#pragma unroll
        for (int i = 0; i < HEADS; ++i)
            sums[i] += __shfl_xor_sync(0xffffffff, sums[i], bit);
#pragma unroll
    for (int i = 0; i < HEADS; ++i)
        scales[i] = rsqrtf(fmaf(sums[i], p.inverse_head_dim, p.eps));
}

/* A chunk, by 1 / rms and the weight. */
static __device__ __forceinline__ void normalize(const struct gm_rope_params &p, float (&v)[CHUNK], float scale,
                                                 const uint32_t (&weight)[WORDS], uint64_t wide_weight) {
    float factors[CHUNK];
    if (p.flags & GM_ROPE_WIDE_WEIGHT)
        load_floats<CHUNK>(wide_weight, factors);
    else
        unpack<TYPE, CHUNK>(weight, factors);
#pragma unroll
    for (int i = 0; i < CHUNK; ++i)
        v[i] *= scale;
    if (p.flags & GM_ROPE_ROUNDS_NORMALIZED)
        round_elements<TYPE, CHUNK>(v);
#pragma unroll
    for (int i = 0; i < CHUNK; ++i)
        v[i] *= factors[i] + p.weight_offset;
    if (p.flags & GM_ROPE_ROUNDS)
        round_elements<TYPE, CHUNK>(v);
}

/* ---- the rotation ----------------------------------------------------------------------------------- */

/* No product is fused with the sum where both are rounded. */
static __device__ __forceinline__ void rotate_rounding(const struct angles &a, float (&x)[CHUNK], float (&y)[CHUNK]) {
    float xc[CHUNK], ys[CHUNK], yc[CHUNK], xs[CHUNK];
#pragma unroll
    for (int i = 0; i < CHUNK; ++i) {
        xc[i] = __fmul_rn(x[i], a.cosine[i]);
        ys[i] = __fmul_rn(y[i], a.sine[i]);
        yc[i] = __fmul_rn(y[i], a.cosine[i]);
        xs[i] = __fmul_rn(x[i], a.sine[i]);
    }
    round_elements<TYPE, CHUNK>(xc);
    round_elements<TYPE, CHUNK>(ys);
    round_elements<TYPE, CHUNK>(yc);
    round_elements<TYPE, CHUNK>(xs);
#pragma unroll
    for (int i = 0; i < CHUNK; ++i) {
        x[i] = __fsub_rn(xc[i], ys[i]);
        y[i] = __fadd_rn(yc[i], xs[i]);
    }
}

static __device__ __forceinline__ void rotate_late(const struct angles &a, float (&x)[CHUNK], float (&y)[CHUNK]) {
#pragma unroll
    for (int i = 0; i < CHUNK; ++i) {
        const float first = fmaf(x[i], a.cosine[i], -__fmul_rn(y[i], a.sine[i]));
        y[i] = fmaf(y[i], a.cosine[i], __fmul_rn(x[i], a.sine[i]));
        x[i] = first;
    }
}

static __device__ __forceinline__ void rotate(const struct gm_rope_params &p, const struct angles &a, float (&x)[CHUNK],
                                              float (&y)[CHUNK]) {
    if (p.flags & GM_ROPE_IS_INTERLEAVED)
        part_pairs(x, y);
    if (p.flags & GM_ROPE_ROUNDS)
        rotate_rounding(a, x, y);
    else
        rotate_late(a, x, y);
    if (p.flags & GM_ROPE_IS_INTERLEAVED)
        join_pairs(x, y);
}

/* ---- the cache -------------------------------------------------------------------------------------- */

/* Where a token's heads go in the cache, and what they are divided by. */
struct cache_slot {
    bool exists;
    uint64_t address;
    float scale, reciprocal;
};

static __device__ __forceinline__ struct cache_slot slot_of(const struct gm_rope_params &p, const struct block &b,
                                                            int64_t slot) {
    struct cache_slot s = {slot >= 0 && slot < p.slot_count, 0, 1, 1};
    if (!s.exists)
        return s;
    const uint32_t page = divide((uint32_t)slot, p.page), token = (uint32_t)slot - page * p.page.divisor;
    s.address = b.heads.cache + page * b.heads.cache_page + token * b.heads.cache_token + b.first * b.heads.cache_head;
    if (p.flags & GM_ROPE_CACHES_E4M3) {
        s.scale = __uint_as_float(ld_global_b32(b.heads.scale));
        s.reciprocal = __frcp_rn(s.scale);
    }
    return s;
}

/* v / scale, rounded as a division is, of scales from 2^-60 to 2^60: two steps of Newton's, without a branch. Beyond
 * +-512 it is +-512, which e4m3 has no longer; below 2^-11 it may be wrong, which e4m3 rounds to 0. */
static __device__ __forceinline__ float divide_by_scale(float v, const struct cache_slot &s) {
    const float limit = 512 * s.scale, clamped = max_nan(min_nan(v, limit), -limit);
    float quotient = clamped * s.reciprocal;
    quotient = fmaf(fmaf(-quotient, s.scale, clamped), s.reciprocal, quotient);
    quotient = fmaf(fmaf(-quotient, s.scale, clamped), s.reciprocal, quotient);
    return copysignf(quotient, v);
}

/* A chunk in e4m3. */
static __device__ __forceinline__ void store_e4m3(uint64_t address, const uint32_t (&words)[WORDS],
                                                  const struct cache_slot &s) {
    float v[CHUNK];
    uint32_t packed[(CHUNK + 3) / 4] = {};
    unpack<TYPE, CHUNK>(words, v);
#pragma unroll
    for (int i = 0; i < CHUNK; ++i)
        v[i] = divide_by_scale(v[i], s);
#pragma unroll
    for (int i = 0; i < CHUNK; i += 2)
        packed[i / 4] |= cvt_rn_satfinite_e4m3x2_f32(v[i], CHUNK > 1 ? v[(i + 1) % CHUNK] : 0) << i % 4 * 8;
    if (CHUNK == 8)
        st_global_b64(address, (uint64_t)packed[(CHUNK - 1) / 4] << 32 | packed[0]);
    else if (CHUNK == 4)
        st_global_b32(address, packed[0]);
    else
        st_global_b8(address, packed[0]);
}

static __device__ __forceinline__ void append(const struct gm_rope_params &p, const struct cache_slot &s, uint64_t head,
                                              const struct item &at, const struct chunks &c) {
    if (p.flags & GM_ROPE_CACHES_E4M3) {
        struct chunks left = c; /* one piece of code for both */
#pragma unroll 1
        for (int i = 0; i < 1 + at.has_second; ++i) {
            store_e4m3(head + (i ? at.second : at.first), left.first, s);
#pragma unroll
            for (int j = 0; j < WORDS; ++j)
                left.first[j] = left.second[j];
        }
        return;
    }
    store<TYPE, CHUNK>(head + at.first * ELEM_BYTES, c.first);
    if (at.has_second)
        store<TYPE, CHUNK>(head + at.second * ELEM_BYTES, c.second);
}

/* ---- blocks ----------------------------------------------------------------------------------------- */

/* An item of a head of q or k: normalised and rotated. What is neither keeps its bits. */
static __device__ __forceinline__ void compute(const struct gm_rope_params &p, const struct block &b,
                                               const struct item &at, const struct angles &a,
                                               const struct chunks &weights, float scale, struct chunks &c) {
    float x[CHUNK], y[CHUNK];
    if (!at.rotates && !(p.flags & GM_ROPE_HAS_NORM))
        return;
    unpack<TYPE, CHUNK>(c.first, x);
    unpack<TYPE, CHUNK>(c.second, y);
    if (p.flags & GM_ROPE_HAS_NORM) {
        normalize(p, x, scale, weights.first, b.heads.weight + at.first * 4);
        normalize(p, y, scale, weights.second, b.heads.weight + (at.has_second ? at.second : at.first) * 4);
    }
    if (at.rotates)
        rotate(p, a, x, y);
    pack<TYPE, CHUNK>(x, c.first);
    pack<TYPE, CHUNK>(y, c.second);
}

static __device__ __forceinline__ void store_head(const struct gm_rope_params &p, const struct block &b, int i,
                                                  const struct item &at, const struct cache_slot &s,
                                                  const struct chunks &c) {
    if (b.heads.out) {
        const uint64_t head = b.heads.out + b.token * b.heads.out_token + (b.first + i) * b.heads.out_head;
        store<TYPE, CHUNK>(head + at.first * ELEM_BYTES, c.first);
        if (at.has_second)
            store<TYPE, CHUNK>(head + at.second * ELEM_BYTES, c.second);
    }
    if (s.exists)
        append(p, s, s.address + i * b.heads.cache_head, at, c);
}

/* Lets the next head be the first: one piece of code does for all heads, whose registers have no index. */
static __device__ __forceinline__ void shift(struct chunks (&c)[HEADS], float (&left)[HEADS]) {
#pragma unroll
    for (int i = 0; i + 1 < HEADS; ++i) {
        c[i] = c[i + 1];
        left[i] = left[i + 1];
    }
}

/* The items of one part of the heads. A position of -1 is a bad one. */
static __device__ __forceinline__ void finish_part(const struct gm_rope_params &p, const struct block &b, int number,
                                                   int64_t position, const struct cache_slot &s,
                                                   const float (&scales)[HEADS], struct chunks (&c)[HEADS]) {
    const struct item at = item_of(p, number);
    float left[HEADS]; /* scales */
    struct angles a = {};
    struct chunks weights;
    if (b.count <= 0 || !at.exists)
        return;
    if (at.rotates && !b.is_v && position >= 0)
        load_angles(p, position, number, a);
    load_weights(p, b, at, weights);
#pragma unroll
    for (int i = 0; i < HEADS; ++i)
        left[i] = scales[i];
#pragma unroll 1
    for (int i = 0; i < b.count; ++i) {
        if (position < 0)
            c[0] = {};
        else if (!b.is_v)
            compute(p, b, at, a, weights, left[0], c[0]);
        store_head(p, b, i, at, s, c[0]);
        shift(c, left);
    }
}

static __device__ __forceinline__ void report(const struct gm_rope_params &p, int error) {
    if (p.error_flag && lane_of_head(p) == 0)
        red_or_gpu_b32(p.error_flag, error);
}

/* A block, by its lanes. All lanes of a warp come here. */
static __device__ __forceinline__ void rope_block(const struct gm_rope_params &p, const struct block &b) {
    struct chunks c[HEADS];
    float scales[HEADS] = {};
    int64_t position = load_position(p, b);
    const int64_t slot = load_slot(p, b);
    load_chunks(b, item_of(p, lane_of_head(p)), c);
    prefetch_heads(p, b);
    const int64_t later = load_later_position(p, b);
    if (position < 0 || position >= p.max_position) {
        report(p, ROPE_ERROR_POSITION);
        position = -1;
    }
    if (slot >= p.slot_count)
        report(p, ROPE_ERROR_SLOT);
    const struct cache_slot s = slot_of(p, b, slot);
    if (p.flags & GM_ROPE_HAS_NORM)
        find_scales(p, b, c, scales);
#pragma unroll 1
    for (int part = 0;;) {
        finish_part(p, b, lane_of_head(p) + (part << p.lanes_log2), position, s, scales, c);
        if (CHUNK > 1 || ++part == p.parts)
            break;
        load_chunks(b, item_of(p, lane_of_head(p) + (part << p.lanes_log2)), c);
    }
    prefetch_angles(p, later);
}

/* `blocks` of the tokens from first_token on; a CTA's share of them. */
static __device__ __forceinline__ void rope_slab(const struct gm_rope_params &p, int64_t first_token, uint32_t blocks) {
    const uint32_t together = THREADS >> p.lanes_log2;
#pragma unroll 1
    for (uint32_t tile = cta_index(); tile * together < blocks; tile += gridDim.x) {
        const uint32_t number = tile * together + (thread_index() >> p.lanes_log2), token = divide(number, p.blocks);
        const int of_token = (int)(number - token * p.blocks.divisor);
        const bool is_v = of_token >= p.heads[ROPE_V].first_block, is_q = of_token < p.heads[ROPE_K].first_block;
        const struct gm_rope_heads &heads = p.heads[is_v ? ROPE_V : is_q ? ROPE_Q : ROPE_K];
        const int first = (of_token - heads.first_block) * HEADS;
        rope_block(p, {heads, first_token + token, first, number < blocks ? min(heads.count - first, (int)HEADS) : 0,
                       is_v, of_token == 0});
    }
}

static __device__ __forceinline__ void rope(const struct gm_rope_params &p) {
    int64_t tokens = p.tokens;
    if (p.row_count)
        tokens = min(p.tokens, (int)ld_global_b32(p.row_count));
#pragma unroll 1
    for (int64_t first = 0; first < tokens; first += p.slab_tokens)
        rope_slab(p, first, (uint32_t)min(tokens - first, (int64_t)p.slab_tokens) * p.blocks.divisor);
}

#endif
