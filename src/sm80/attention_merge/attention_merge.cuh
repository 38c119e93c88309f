/* SPDX-License-Identifier: Apache-2.0 */
/* Two partial states of attention as one: out = (w_a * a + w_b * b) / (w_a + w_b), w = exp(lse - the larger lse). One registry
 * row per compilation; attention_merge.cu of each architecture is the entry.
 *
 *   a chunk is VECTOR_BYTES of neighbouring elements of a head
 *   2^lanes_log2 lanes of a warp are a group; it takes a head of TOKENS neighbouring tokens at a time, lane l of it chunks l,
 *   l + lanes, ...; the tokens' addresses follow from the first one's by a stride
 *   a chunk of a and of b of each of the tokens, and their lse, are under way at once; each lane finds the weights itself
 *
 * A head is a whole number of chunks: other heads have chunks of one element. What is written may be what is read: each chunk
 * by the lane that has loaded it, and lse when all lanes of the group have loaded theirs. Groups' turns are numbered with 32
 * bits, so large operands come in slabs. */
#ifndef GM_SM80_ATTENTION_MERGE_CUH
#define GM_SM80_ATTENTION_MERGE_CUH

#include "common/attention_merge/params.h"
#include "common/elements.cuh"
#include "common/index.cuh"

enum {
    TYPE = GM_TYPE,
    ELEM_BYTES = GM_TYPE_BYTES(TYPE),
    THREADS = GM_THREADS,
    TOKENS = GM_TOKENS, /* at once */
    VECTOR_BYTES = GM_VECTOR_BYTES,
    CHUNK = VECTOR_BYTES / ELEM_BYTES, /* elements */
    WORDS = GM_WORDS(TYPE, CHUNK),
    CTAS = GM_ATTENTION_MERGE_CTAS(THREADS),
};

/* -0 in every element of a word: added to what is there, it leaves its bits. */
static const uint32_t NOTHING = TYPE == GM_TYPE_fp32 ? 0x80000000u : 0x80008000u;

/* A head of some tokens. */
struct place {
    uint32_t token, head; /* the first token */
    uint32_t end;         /* the first one that does not exist */
};

/* Of the first token; the others' are o.token bytes apart. */
static __device__ __forceinline__ uint64_t address_of(const struct gm_attention_merge_operand &o,
                                                      const struct place &at) {
    return o.address + at.token * o.token + at.head * o.head;
}

static __device__ __forceinline__ bool exists(const struct place &at, int i) {
    return at.token + i < at.end;
}

/* ---- weights ------------------------------------------------------------------------------------------- */

/* Shares of a and b: their sum is 1, or 0 where neither side has keys. */
struct shares {
    float a, b, lse;
    uint32_t nothing; /* in the place of a, where it has no share */
};

/* `unit` * e^(lse - largest), 0 below 2^-126; equal infinities have no difference. */
static __device__ __forceinline__ float weight_of(float lse, float largest, float unit) {
    const float log2_e = 1.44269504f;
    return lse == largest ? unit : ex2_approx_ftz((lse - largest) * log2_e);
}

/* A sum of 1 is that of one side, or none: its share and lse are exact. */
static __device__ __forceinline__ struct shares shares_of(float lse_a, float lse_b) {
    const float largest = max_nan(lse_a, lse_b), ln_2 = 0.693147181f;
    const bool is_none = largest == -GM_INFINITY;
    const float unit = is_none ? 0.0f : 1.0f;
    const float a = weight_of(lse_a, largest, unit), b = weight_of(lse_b, largest, unit), sum = max_nan(a + b, 1);
    const float inverse = sum == 1 ? 1.0f : rcp_approx_ftz(sum);
    const float lse = sum == 1 ? largest : fmaf(lg2_approx_ftz(sum), ln_2, largest);
    return {a * inverse, b * inverse, lse, is_none ? 0 : NOTHING};
}

/* ---- heads --------------------------------------------------------------------------------------------- */

/* Chunks of a and b. */
struct chunks {
    uint32_t a[TOKENS][WORDS], b[TOKENS][WORDS];
};

static __device__ __forceinline__ void load_chunks(const struct gm_attention_merge_params &p, const struct place &at,
                                                   int chunk, struct chunks &c) {
    const int64_t offset = (int64_t)chunk * VECTOR_BYTES;
    const uint64_t a = address_of(p.a, at) + offset, b = address_of(p.b, at) + offset;
#pragma unroll
    for (int i = 0; i < TOKENS; ++i) {
        const bool is_there = exists(at, i) && chunk < p.head_chunks;
        load<TYPE, CHUNK>(c.a[i], a + i * p.a.token, is_there);
        load<TYPE, CHUNK>(c.b[i], b + i * p.b.token, is_there);
    }
}

/* What has no share adds -0, whatever it holds; where neither has one, a adds 0. */
static __device__ __forceinline__ void merge_words(const struct shares &share, uint32_t (&a)[WORDS],
                                                   uint32_t (&b)[WORDS], float (&out)[CHUNK]) {
    float of_a[CHUNK], of_b[CHUNK];
#pragma unroll
    for (int i = 0; i < WORDS; ++i) {
        a[i] = share.a == 0 ? share.nothing : a[i];
        b[i] = share.b == 0 ? NOTHING : b[i];
    }
    unpack<TYPE, CHUNK>(a, of_a);
    unpack<TYPE, CHUNK>(b, of_b);
#pragma unroll
    for (int i = 0; i < CHUNK; ++i)
        out[i] = fmaf(share.a, of_a[i], share.b * of_b[i]);
}

static __device__ __forceinline__ void merge_chunks(const struct gm_attention_merge_params &p, const struct place &at,
                                                    const struct shares (&shares)[TOKENS], int chunk,
                                                    struct chunks &c) {
    const int64_t offset = (int64_t)(chunk * CHUNK) << (p.out_type == GM_TYPE_fp32 ? 2 : 1);
    const uint64_t address = address_of(p.out, at) + offset;
#pragma unroll
    for (int i = 0; i < TOKENS; ++i) {
        float out[CHUNK];
        merge_words(shares[i], c.a[i], c.b[i], out);
        if (exists(at, i) && chunk < p.head_chunks)
            store_as<CHUNK>(p.out_type, address + i * p.out.token, out);
    }
}

static __device__ __forceinline__ void load_lse(const struct gm_attention_merge_operand &o, const struct place &at,
                                                float (&lse)[TOKENS]) {
    const uint64_t address = address_of(o, at);
#pragma unroll
    for (int i = 0; i < TOKENS; ++i)
        lse[i] = exists(at, i) ? __uint_as_float(ld_global_b32(address + i * o.token)) : 0.0f;
}

/* All lanes of the warp come here: no lane writes an lse that another one has yet to load. */
static __device__ __forceinline__ void find_shares(const struct gm_attention_merge_params &p, const struct place &at,
                                                   const float (&lse_a)[TOKENS], const float (&lse_b)[TOKENS],
                                                   bool writes, struct shares (&shares)[TOKENS]) {
#pragma unroll
    for (int i = 0; i < TOKENS; ++i)
        shares[i] = shares_of(lse_a[i], lse_b[i]);
    __syncwarp();
    if (!writes || !p.lse.address)
        return;
    const uint64_t address = address_of(p.lse, at);
#pragma unroll
    for (int i = 0; i < TOKENS; ++i)
        if (exists(at, i))
            st_global_b32(address + i * p.lse.token, __float_as_uint(shares[i].lse));
}

/* By a lane of its group. */
static __device__ __forceinline__ void merge_heads(const struct gm_attention_merge_params &p, const struct place &at,
                                                   int lane) {
    struct shares shares[TOKENS];
    struct chunks c;
    float lse_a[TOKENS], lse_b[TOKENS];
    load_lse(p.lse_a, at, lse_a);
    load_lse(p.lse_b, at, lse_b);
#pragma unroll 1
    for (int part = 0; part < p.parts; ++part) {
        const int chunk = lane + (part << p.lanes_log2);
        load_chunks(p, at, chunk, c);
        if (part == 0)
            find_shares(p, at, lse_a, lse_b, lane == 0, shares);
        merge_chunks(p, at, shares, chunk, c);
    }
}

/* A CTA's share of the tokens of a slab, from the first one to before `end`. */
static __device__ __forceinline__ void merge_slab(const struct gm_attention_merge_params &p, uint32_t first,
                                                  uint32_t end) {
    const uint32_t turns = (end - first + TOKENS - 1) / TOKENS * p.heads.divisor, taken = THREADS >> p.lanes_log2;
    const int thread = thread_index(), lane = thread & ((1 << p.lanes_log2) - 1);
#pragma unroll 1
    for (uint32_t tile = cta_index(); tile * taken < turns; tile += gridDim.x) {
        const uint32_t turn = tile * taken + (thread >> p.lanes_log2), block = divide(turn, p.heads);
        merge_heads(p, {first + block * TOKENS, turn - block * p.heads.divisor, end}, lane);
    }
}

static __device__ __forceinline__ void attention_merge(const struct gm_attention_merge_params &p) {
    const int tokens = p.row_count ? min(p.tokens, (int)ld_global_b32(p.row_count)) : p.tokens;
#pragma unroll 1
    for (int64_t first = 0; first < tokens; first += p.slab_tokens)
        merge_slab(p, (uint32_t)first, (uint32_t)min((int64_t)tokens, first + p.slab_tokens));
}

#endif
