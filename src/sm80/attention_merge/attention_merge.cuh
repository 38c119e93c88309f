/* SPDX-License-Identifier: Apache-2.0 */
/* Two partial states of attention as one: out = (w_a * a + w_b * b) / (w_a + w_b), w = exp(lse - the larger lse). One registry
 * row per compilation; attention_merge.cu of each architecture is the entry.
 *
 *   a row is a head of a token, a chunk VECTOR_BYTES of neighbouring elements of it
 *   2^lanes_log2 lanes of a warp are a group; it takes ROWS rows at a time, lane l of it chunks l, l + lanes, ...
 *   a chunk of a and of b of each of the rows, and their lse, are under way at once; each lane finds the weights itself
 *
 * A row is a whole number of chunks: other rows have chunks of one element. What is written may be what is read: each chunk
 * by the lane that has loaded it, and lse when all lanes of the group have loaded theirs. Rows are numbered with 32 bits,
 * so large operands come in slabs. */
#ifndef GM_SM80_ATTENTION_MERGE_CUH
#define GM_SM80_ATTENTION_MERGE_CUH

#include "common/attention_merge/params.h"
#include "common/elements.cuh"
#include "common/index.cuh"

enum {
    TYPE = GM_TYPE,
    ELEM_BYTES = GM_TYPE_BYTES(TYPE),
    THREADS = GM_THREADS,
    ROWS = GM_HEADS, /* at once */
    VECTOR_BYTES = GM_VECTOR_BYTES,
    CHUNK = VECTOR_BYTES / ELEM_BYTES, /* elements */
    WORDS = GM_WORDS(TYPE, CHUNK),
    CTAS = GM_ATTENTION_MERGE_CTAS(THREADS),
};

/* -0 in every element of a word: added to what is there, it leaves its bits. */
static const uint32_t NOTHING = TYPE == GM_TYPE_fp32 ? 0x80000000u : 0x80008000u;

struct row {
    uint32_t token, head;
    bool exists;
};

static __device__ __forceinline__ uint64_t address_of(const struct gm_attention_merge_operand &o,
                                                      const struct row &row) {
    return o.address + row.token * o.token + row.head * o.head;
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

/* ---- rows ---------------------------------------------------------------------------------------------- */

/* Chunks of a and b. */
struct chunks {
    uint32_t a[ROWS][WORDS], b[ROWS][WORDS];
};

static __device__ __forceinline__ void load_chunks(const struct gm_attention_merge_params &p,
                                                   const struct row (&rows)[ROWS], int chunk, struct chunks &c) {
    const int64_t offset = (int64_t)chunk * VECTOR_BYTES;
#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
        const bool exists = rows[i].exists && chunk < p.row_chunks;
        load<TYPE, CHUNK>(c.a[i], address_of(p.a, rows[i]) + offset, exists);
        load<TYPE, CHUNK>(c.b[i], address_of(p.b, rows[i]) + offset, exists);
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

static __device__ __forceinline__ void merge_chunks(const struct gm_attention_merge_params &p,
                                                    const struct row (&rows)[ROWS], const struct shares (&shares)[ROWS],
                                                    int chunk, struct chunks &c) {
    const int64_t offset = (int64_t)(chunk * CHUNK) << (p.out_type == GM_TYPE_fp32 ? 2 : 1);
#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
        float out[CHUNK];
        merge_words(shares[i], c.a[i], c.b[i], out);
        if (rows[i].exists && chunk < p.row_chunks)
            store_as<CHUNK>(p.out_type, address_of(p.out, rows[i]) + offset, out);
    }
}

/* All lanes of the warp come here: no lane writes an lse that another one has yet to load. */
static __device__ __forceinline__ void find_shares(const struct gm_attention_merge_params &p,
                                                   const struct row (&rows)[ROWS], const float (&lse_a)[ROWS],
                                                   const float (&lse_b)[ROWS], bool writes,
                                                   struct shares (&shares)[ROWS]) {
#pragma unroll
    for (int i = 0; i < ROWS; ++i)
        shares[i] = shares_of(lse_a[i], lse_b[i]);
    __syncwarp();
#pragma unroll
    for (int i = 0; i < ROWS; ++i)
        if (writes && rows[i].exists && p.lse.address)
            st_global_b32(address_of(p.lse, rows[i]), __float_as_uint(shares[i].lse));
}

/* Of a slab that begins with token `slab`, the rows from `first` on. */
static __device__ __forceinline__ void merge_rows(const struct gm_attention_merge_params &p, uint32_t slab,
                                                  uint32_t first, uint32_t count, int lane) {
    struct row rows[ROWS];
    struct shares shares[ROWS];
    struct chunks c;
    float lse_a[ROWS], lse_b[ROWS];
#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
        const uint32_t number = first + i, token = divide(number, p.heads);
        rows[i] = {slab + token, number - token * p.heads.divisor, number < count};
        lse_a[i] = rows[i].exists ? __uint_as_float(ld_global_b32(address_of(p.lse_a, rows[i]))) : 0.0f;
        lse_b[i] = rows[i].exists ? __uint_as_float(ld_global_b32(address_of(p.lse_b, rows[i]))) : 0.0f;
    }
#pragma unroll 1
    for (int part = 0; part < p.parts; ++part) {
        const int chunk = lane + (part << p.lanes_log2);
        load_chunks(p, rows, chunk, c);
        if (part == 0)
            find_shares(p, rows, lse_a, lse_b, lane == 0, shares);
        merge_chunks(p, rows, shares, chunk, c);
    }
}

/* A CTA's share of so many rows of a slab. */
static __device__ __forceinline__ void merge_slab(const struct gm_attention_merge_params &p, uint32_t slab,
                                                  uint32_t count) {
    const int thread = thread_index(), group = thread >> p.lanes_log2;
    const uint32_t taken = (THREADS >> p.lanes_log2) * ROWS; /* rows of a CTA */
#pragma unroll 1
    for (uint32_t tile = cta_index(); tile * taken < count; tile += gridDim.x)
        merge_rows(p, slab, tile * taken + group * ROWS, count, thread & ((1 << p.lanes_log2) - 1));
}

static __device__ __forceinline__ void attention_merge(const struct gm_attention_merge_params &p) {
    const int tokens = p.row_count ? min(p.tokens, (int)ld_global_b32(p.row_count)) : p.tokens;
#pragma unroll 1
    for (int64_t first = 0; first < tokens; first += p.slab_tokens)
        merge_slab(p, (uint32_t)first, (uint32_t)min(tokens - first, (int64_t)p.slab_tokens) * p.heads.divisor);
}

#endif
