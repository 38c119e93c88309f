/* SPDX-License-Identifier: Apache-2.0 */
/* Gated linear units: out = act(min(gate, limit)) * (clamp(up) + up_offset) of every element. One registry row per
 * compilation; glu.cu of each architecture is the entry.
 *
 *   a chunk is VECTOR_BYTES of neighbouring elements of out, one store; the chunks of all rows are numbered row by row
 *   a CTA takes THREADS * VECTORS chunks at a time, thread t of it t, t + THREADS, ...
 *   all loads of a thread are under way before the first is waited for
 *
 * A row is a whole number of chunks: other rows have chunks of one element. The numbers have 31 bits, so the rows of large
 * operands come in slabs. Packed operands are one long row, cut into slabs of one row each; their last elements, fewer than
 * a chunk, come one by one. any.cuh has out of any type. */
#ifndef GM_SM80_GLU_CUH
#define GM_SM80_GLU_CUH

#include "common/makes_tokens.h"

#if GM_MAKES == GM_MAKES_any

#include "sm80/glu/any.cuh"

#else

#include "common/index.cuh"
#include "common/pairs.cuh"
#include "sm80/glu/unit.cuh"

typedef struct gm_glu_params glu_params;
enum {
    TYPE = GM_TYPE,
    ELEM_BYTES = GM_TYPE_BYTES(TYPE),
    THREADS = GM_THREADS,
    VECTORS = GM_VECTORS,
    VECTOR_BYTES = GM_VECTOR_BYTES,
    CHUNK = VECTOR_BYTES / ELEM_BYTES, /* elements */
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

/* What COUNT elements of out are made of. Interleaved, `gate` and `up` are two neighbouring chunks of pairs. */
template <int COUNT> struct chunk {
    uint32_t gate[GM_WORDS(TYPE, COUNT)], up[GM_WORDS(TYPE, COUNT)];
};

template <int COUNT>
static __device__ __forceinline__ void load_chunk(const struct gm_glu_params &p, const struct place &at, bool exists,
                                                  struct chunk<COUNT> &c) {
    if (p.layout == GLU_INTERLEAVED) {
        const uint64_t pairs = p.gate + at.row * p.gate_pitch + at.offset * 2;
        load<TYPE, COUNT>(c.gate, pairs, exists);
        load<TYPE, COUNT>(c.up, pairs + COUNT * ELEM_BYTES, exists);
        return;
    }
    load<TYPE, COUNT>(c.gate, p.gate + at.row * p.gate_pitch + at.offset, exists);
    load<TYPE, COUNT>(c.up, p.up + at.row * p.up_pitch + at.offset, exists && p.layout == GLU_APART);
}

template <int COUNT>
static __device__ __forceinline__ void store_chunk(const struct gm_glu_params &p, const struct place &at,
                                                   const struct chunk<COUNT> &c) {
    float gate[COUNT], up[COUNT];
    uint32_t words[GM_WORDS(TYPE, COUNT)];
    unpack<TYPE, COUNT>(c.gate, gate);
    unpack<TYPE, COUNT>(c.up, up);
    if (p.layout == GLU_INTERLEAVED)
        part_pairs(gate, up);
    make_unit(p, gate, up);
    pack<TYPE, COUNT>(gate, words);
    store<TYPE, COUNT>(p.out + at.row * p.out_pitch + at.offset, words);
}

/* A CTA's share of so many chunks, from a row's first on. */
static __device__ __forceinline__ void glu_slab(const struct gm_glu_params &p, int64_t first_row, uint32_t chunks) {
#pragma unroll 1
    for (uint32_t tile = cta_index(); tile * (THREADS * VECTORS) < chunks; tile += gridDim.x) {
        const uint32_t first = tile * (THREADS * VECTORS) + thread_index();
        struct chunk<CHUNK> c[VECTORS];
#pragma unroll
        for (int i = 0; i < VECTORS; ++i)
            load_chunk(p, place_of(p, first_row, first + i * THREADS), first + i * THREADS < chunks, c[i]);
#pragma unroll
        for (int i = 0; i < VECTORS; ++i)
            if (first + i * THREADS < chunks)
                store_chunk(p, place_of(p, first_row, first + i * THREADS), c[i]);
    }
}

/* The elements behind the last whole chunk, by the first threads. */
static __device__ __forceinline__ void glu_rest(const struct gm_glu_params &p, int64_t elements) {
    const int64_t element = elements / CHUNK * CHUNK + thread_index();
    if (cta_index() > 0 || element >= elements)
        return;
    const struct place at = {0, element * ELEM_BYTES};
    struct chunk<1> c;
    load_chunk(p, at, true, c);
    store_chunk(p, at, c);
}

static __device__ __forceinline__ void glu(const struct gm_glu_params &p) {
    const int64_t rows = p.row_count ? min(p.rows, (int)ld_global_b32(p.row_count)) : p.rows;
    const int64_t slab_chunks = (int64_t)p.slab_rows * p.row_chunks.divisor;
    int64_t chunks = p.is_packed ? rows * p.columns / CHUNK : rows * p.row_chunks.divisor;
#pragma unroll 1
    for (int64_t first = 0; chunks > 0; first += p.slab_rows, chunks -= slab_chunks)
        glu_slab(p, first, (uint32_t)min(chunks, slab_chunks));
    if (CHUNK > 1 && p.is_packed)
        glu_rest(p, rows * p.columns);
}

#endif

#endif
