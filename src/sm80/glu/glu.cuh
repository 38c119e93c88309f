/* SPDX-License-Identifier: Apache-2.0 */
/* Gated linear units: out = act(min(gate, limit)) * (clamp(up) + up_offset) of every element. One registry row per
 * compilation; glu.cu of each architecture is the entry.
 *
 *   a chunk is VECTOR_BYTES of neighbouring elements of out, one store; the chunks of all rows are numbered row by row
 *   a CTA takes THREADS * VECTORS chunks at a time, thread t of it t, t + THREADS, ...
 *   all loads of a thread are under way before the first is waited for
 *
 * A row is a whole number of chunks: other rows have chunks of one element. The numbers have 31 bits, so the rows of large
 * operands come in slabs. */
#ifndef GM_SM80_GLU_CUH
#define GM_SM80_GLU_CUH

#include "common/activation.cuh"
#include "common/elements.cuh"
#include "common/glu/params.h"
#include "common/index.cuh"

enum {
    TYPE = GM_TYPE,
    ELEM_BYTES = GM_TYPE_BYTES(TYPE),
    THREADS = GM_THREADS,
    VECTORS = GM_VECTORS,
    VECTOR_BYTES = GM_VECTOR_BYTES,
    CHUNK = VECTOR_BYTES / ELEM_BYTES, /* elements */
    WORDS = GM_WORDS(TYPE, CHUNK),     /* 32-bit registers of a chunk */
    CTAS = GM_GLU_CTAS(THREADS, VECTORS),
};

/* Where a chunk of out is. Found anew for its store, which costs no register meanwhile. */
struct place {
    int64_t row;
    int64_t offset; /* bytes from the row's start */
};

static __device__ __forceinline__ struct place place_of(const struct gm_glu_params &p, int64_t first_row,
                                                        uint32_t number) {
    const uint32_t row = divide(number, p.row_chunks);
    return {first_row + row, (int64_t)(number - row * p.row_chunks.divisor) * VECTOR_BYTES};
}

/* What a chunk of out is made of. Interleaved, `gate` and `up` are two neighbouring chunks of pairs. */
struct chunk {
    uint32_t gate[WORDS], up[WORDS];
};

static __device__ __forceinline__ void load_chunk(const struct gm_glu_params &p, const struct place &at, bool exists,
                                                  struct chunk &c) {
    if (p.layout == GLU_INTERLEAVED) {
        const uint64_t pairs = p.gate + at.row * p.gate_pitch + at.offset * 2;
        load<TYPE, CHUNK>(c.gate, pairs, exists);
        load<TYPE, CHUNK>(c.up, pairs + VECTOR_BYTES, exists);
        return;
    }
    load<TYPE, CHUNK>(c.gate, p.gate + at.row * p.gate_pitch + at.offset, exists);
    load<TYPE, CHUNK>(c.up, p.up + at.row * p.up_pitch + at.offset, exists && p.layout == GLU_APART);
}

/* Two chunks of pairs, gate first, become one of gates and one of ups. */
static __device__ __forceinline__ void part_pairs(float (&gate)[CHUNK], float (&up)[CHUNK]) {
    float pairs[2 * CHUNK];
#pragma unroll
    for (int i = 0; i < CHUNK; ++i) {
        pairs[i] = gate[i];
        pairs[CHUNK + i] = up[i];
    }
#pragma unroll
    for (int i = 0; i < CHUNK; ++i) {
        gate[i] = pairs[2 * i];
        up[i] = pairs[2 * i + 1];
    }
}

template <int ACTIVATION> static __device__ __forceinline__ float activated(const struct gm_glu_params &p, float x) {
    if (ACTIVATION == ACT_SILU)
        return act_gate(x, act_size(x), act_size(x) * p.silu_exponent);
    if (ACTIVATION == ACT_GELU_TANH)
        return act_gelu_tanh(x);
    return ACTIVATION == ACT_GELU_ERF ? act_gelu_erf(x) : act_relu(x);
}

template <int ACTIVATION>
static __device__ __forceinline__ void activate_as(const struct gm_glu_params &p, float (&x)[CHUNK]) {
#pragma unroll
    for (int i = 0; i < CHUNK; ++i)
        x[i] = activated<ACTIVATION>(p, x[i]);
}

/* One branch for a chunk: its elements' chains of instructions run beside each other. */
static __device__ __forceinline__ void activate(const struct gm_glu_params &p, float (&x)[CHUNK]) {
    if (p.activation == ACT_SILU)
        activate_as<ACT_SILU>(p, x);
    else if (p.activation == ACT_GELU_TANH)
        activate_as<ACT_GELU_TANH>(p, x);
    else if (p.activation == ACT_GELU_ERF)
        activate_as<ACT_GELU_ERF>(p, x);
    else if (p.activation == ACT_RELU)
        activate_as<ACT_RELU>(p, x);
}

/* NaN stays NaN. */
static __device__ __forceinline__ void limit(const struct gm_glu_params &p, float (&gate)[CHUNK], float (&up)[CHUNK]) {
#pragma unroll
    for (int i = 0; i < CHUNK; ++i) {
        gate[i] = min_nan(gate[i], p.limit);
        up[i] = max_nan(min_nan(up[i], p.limit), -p.limit);
    }
}

static __device__ __forceinline__ void multiply(const struct gm_glu_params &p, float (&gate)[CHUNK],
                                                float (&up)[CHUNK]) {
#pragma unroll
    for (int i = 0; i < CHUNK; ++i)
        up[i] += p.up_offset;
    if (p.rounds_early) {
        round_elements<TYPE, CHUNK>(gate);
        round_elements<TYPE, CHUNK>(up);
    }
#pragma unroll
    for (int i = 0; i < CHUNK; ++i)
        gate[i] *= up[i];
}

static __device__ __forceinline__ void store_chunk(const struct gm_glu_params &p, const struct place &at,
                                                   const struct chunk &c) {
    float gate[CHUNK], up[CHUNK];
    uint32_t words[WORDS];
    unpack<TYPE, CHUNK>(c.gate, gate);
    unpack<TYPE, CHUNK>(c.up, up);
    if (p.layout == GLU_INTERLEAVED)
        part_pairs(gate, up);
    if (p.has_limit)
        limit(p, gate, up);
    activate(p, gate);
    if (p.layout != GLU_NO_UP)
        multiply(p, gate, up);
    pack<TYPE, CHUNK>(gate, words);
    store<TYPE, CHUNK>(p.out + at.row * p.out_pitch + at.offset, words);
}

/* `chunks` of the rows from first_row on; a CTA's share of them. */
static __device__ __forceinline__ void glu_slab(const struct gm_glu_params &p, int64_t first_row, uint32_t chunks) {
#pragma unroll 1
    for (uint32_t tile = cta_index(); tile * (THREADS * VECTORS) < chunks; tile += gridDim.x) {
        const uint32_t first = tile * (THREADS * VECTORS) + thread_index();
        struct chunk c[VECTORS];
#pragma unroll
        for (int i = 0; i < VECTORS; ++i)
            load_chunk(p, place_of(p, first_row, first + i * THREADS), first + i * THREADS < chunks, c[i]);
#pragma unroll
        for (int i = 0; i < VECTORS; ++i)
            if (first + i * THREADS < chunks)
                store_chunk(p, place_of(p, first_row, first + i * THREADS), c[i]);
    }
}

static __device__ __forceinline__ void glu(const struct gm_glu_params &p) {
    int64_t rows = p.rows;
    if (p.row_count)
        rows = min(p.rows, (int)ld_global_b32(p.row_count));
#pragma unroll 1
    for (int64_t first = 0; first < rows; first += p.slab_rows)
        glu_slab(p, first, (uint32_t)min(rows - first, (int64_t)p.slab_rows) * p.row_chunks.divisor);
}

#endif
