/* SPDX-License-Identifier: Apache-2.0 */
/* What a token's experts made of it: out = residual + sum of weights * x[inverse]. One registry row per compilation;
 * moe_finalize.cu of each architecture is the entry.
 *
 *   a chunk is VECTOR_BYTES of neighbouring elements of out, one store; the chunks of all rows are numbered row by row
 *   a thread takes a chunk at a time, and adds up its slots in order
 *   SLOTS chunks of x are under way at once, and behind them the numbers of the next SLOTS rows
 *
 * A row is a whole number of chunks: other rows have chunks of one element. The numbers have 31 bits, so large operands
 * come in slabs. */
#ifndef GM_SM80_MOE_FINALIZE_CUH
#define GM_SM80_MOE_FINALIZE_CUH

#include "common/elements.cuh"
#include "common/index.cuh"
#include "common/moe_finalize/params.h"

enum {
    TYPE = GM_TYPE,
    ELEM_BYTES = GM_TYPE_BYTES(TYPE),
    THREADS = GM_THREADS,
    SLOTS = GM_SLOTS, /* at once */
    VECTOR_BYTES = GM_VECTOR_BYTES,
    CHUNK = VECTOR_BYTES / ELEM_BYTES, /* elements */
    WORDS = GM_WORDS(TYPE, CHUNK),
    CTAS = GM_MOE_FINALIZE_CTAS(THREADS),
    NO_ROW = -1, /* of x */
};

/* Some slots of a token: their rows of x, or NO_ROW with weight 0. */
struct slots {
    int rows[SLOTS];
    float weights[SLOTS];
};

/* `first`: number of the first slot among all tokens'; `count`: of the token's that are left. */
static __device__ __forceinline__ void load_slots(const struct gm_moe_finalize_params &p, int64_t first, int count,
                                                  struct slots &s) {
#pragma unroll
    for (int i = 0; i < SLOTS; ++i)
        s.rows[i] = i < count ? (int)ld_global_b32(p.inverse + (first + i) * 4) : NO_ROW;
#pragma unroll
    for (int i = 0; i < SLOTS; ++i)
        s.weights[i] = i < count && p.weights ? __uint_as_float(ld_global_b32(p.weights + (first + i) * 4)) : 1.0f;
}

static __device__ __forceinline__ bool is_row(const struct gm_moe_finalize_params &p, int row) {
    return (uint32_t)row < p.x_rows;
}

/* Of what is no row, weight and elements are 0: it adds nothing, also where its weight is NaN. */
static __device__ __forceinline__ void add_slots(const struct gm_moe_finalize_params &p, const struct slots &s,
                                                 const uint32_t (&words)[SLOTS][WORDS], float (&sum)[CHUNK]) {
#pragma unroll
    for (int slot = 0; slot < SLOTS; ++slot) {
        const float weight = is_row(p, s.rows[slot]) ? s.weights[slot] : 0.0f;
        float x[CHUNK];
        unpack<TYPE, CHUNK>(words[slot], x);
#pragma unroll
        for (int i = 0; i < CHUNK; ++i)
            sum[i] = fmaf(weight, x[i], sum[i]);
    }
}

/* The chunk at `offset` bytes of a token's row. */
static __device__ __forceinline__ void finalize_chunk(const struct gm_moe_finalize_params &p, int64_t token,
                                                      int64_t offset) {
    const int64_t first = token * p.k;
    uint32_t residual[WORDS];
    float sum[CHUNK];
    struct slots s;
    load_slots(p, first, p.k, s);
    load<TYPE, CHUNK>(residual, p.residual + token * p.residual_pitch + offset, p.residual != 0);
    unpack<TYPE, CHUNK>(residual, sum);
#pragma unroll 1
    for (int slot = 0; slot < p.k; slot += SLOTS) {
        const struct slots now = s;
        uint32_t words[SLOTS][WORDS];
#pragma unroll
        for (int i = 0; i < SLOTS; ++i)
            load<TYPE, CHUNK>(words[i], p.x + now.rows[i] * p.x_pitch + offset, is_row(p, now.rows[i]));
        load_slots(p, first + slot + SLOTS, p.k - slot - SLOTS, s);
        add_slots(p, now, words, sum);
    }
    pack<TYPE, CHUNK>(sum, residual);
    store<TYPE, CHUNK>(p.out + token * p.out_pitch + offset, residual);
}

/* A CTA's share of so many chunks of a slab; `slab`: its first row. */
static __device__ __forceinline__ void finalize_slab(const struct gm_moe_finalize_params &p, int64_t slab,
                                                     uint32_t chunks) {
#pragma unroll 1
    for (uint32_t tile = cta_index(); tile * THREADS < chunks; tile += gridDim.x) {
        const uint32_t number = tile * THREADS + thread_index(), row = divide(number, p.row_chunks);
        if (number < chunks)
            finalize_chunk(p, slab + row, (int64_t)(number - row * p.row_chunks.divisor) * VECTOR_BYTES);
    }
}

static __device__ __forceinline__ void moe_finalize(const struct gm_moe_finalize_params &p) {
    const int tokens = p.row_count ? min(p.tokens, (int)ld_global_b32(p.row_count)) : p.tokens;
#pragma unroll 1
    for (int64_t first = 0; first < tokens; first += p.slab_rows)
        finalize_slab(p, first, (uint32_t)min(tokens - first, (int64_t)p.slab_rows) * p.row_chunks.divisor);
}

#endif
