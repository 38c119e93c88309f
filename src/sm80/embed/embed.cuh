/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a table by ids: out[token] = scale * table[ids[token]]. One registry row per compilation; embed.cu of each
 * architecture is the entry.
 *
 *   a chunk is VECTOR_BYTES of neighbouring elements of a row, one load and one store; the chunks of all rows of out are
 *   numbered row by row
 *   a CTA takes THREADS * VECTORS chunks at a time, thread t of it t, t + THREADS, ...
 *   a thread's ids are under way at once, and then its chunks of the table
 *
 * A row is a whole number of chunks: other rows have chunks of one element. The numbers have 31 bits, so large operands
 * come in slabs. */
#ifndef GM_SM80_EMBED_CUH
#define GM_SM80_EMBED_CUH

#include "common/elements.cuh"
#include "common/embed/params.h"
#include "common/index.cuh"

enum {
    TYPE = GM_TYPE,
    ELEM_BYTES = GM_TYPE_BYTES(TYPE),
    THREADS = GM_THREADS,
    VECTORS = GM_VECTORS,
    VECTOR_BYTES = GM_VECTOR_BYTES,
    CHUNK = VECTOR_BYTES / ELEM_BYTES, /* elements */
    WORDS = GM_WORDS(TYPE, CHUNK),
    CTAS = GM_EMBED_CTAS(THREADS, VECTORS),
    NO_ROW = -1, /* of the table */
};

/* Where a chunk of out is. Found anew for its store, which costs no register meanwhile. */
struct place {
    int64_t row;
    int64_t offset; /* bytes from the row's start */
};

/* `first`: the slab's first row. */
static __device__ __forceinline__ struct place place_of(const struct gm_embed_params &p, int64_t first,
                                                        uint32_t number) {
    const uint32_t row = divide(number, p.row_chunks);
    return {first + row, (int64_t)(number - row * p.row_chunks.divisor) * VECTOR_BYTES};
}

/* A token's row of the table, or NO_ROW. */
static __device__ __forceinline__ int table_row(const struct gm_embed_params &p, int64_t token) {
    uint32_t id[2] = {0, 0};
    if (p.int64_ids)
        ld_global_v2_b32(p.ids + token * 8, id);
    else
        id[0] = ld_global_b32(p.ids + token * 4);
    return id[1] == 0 && id[0] < p.vocabulary ? (int)id[0] : NO_ROW;
}

static __device__ __forceinline__ void store_chunk(const struct gm_embed_params &p, const struct place &at,
                                                   uint32_t (&words)[WORDS]) {
    if (p.has_scale) {
        float x[CHUNK];
        unpack<TYPE, CHUNK>(words, x);
#pragma unroll
        for (int i = 0; i < CHUNK; ++i)
            x[i] *= p.scale;
        pack<TYPE, CHUNK>(x, words);
    }
    store<TYPE, CHUNK>(p.out + at.row * p.out_pitch + at.offset, words);
}

/* A CTA's share of so many chunks of a slab. */
static __device__ __forceinline__ void embed_slab(const struct gm_embed_params &p, int64_t slab, uint32_t chunks) {
#pragma unroll 1
    for (uint32_t tile = cta_index(); tile * (THREADS * VECTORS) < chunks; tile += gridDim.x) {
        const uint32_t first = tile * (THREADS * VECTORS) + thread_index();
        int rows[VECTORS];
        uint32_t words[VECTORS][WORDS];
#pragma unroll
        for (int i = 0; i < VECTORS; ++i) {
            const bool exists = first + i * THREADS < chunks;
            rows[i] = exists ? table_row(p, place_of(p, slab, first + i * THREADS).row) : NO_ROW;
        }
#pragma unroll
        for (int i = 0; i < VECTORS; ++i) {
            const int64_t offset = place_of(p, slab, first + i * THREADS).offset;
            load<TYPE, CHUNK>(words[i], p.table + rows[i] * p.table_pitch + offset, rows[i] != NO_ROW);
        }
#pragma unroll
        for (int i = 0; i < VECTORS; ++i) {
            const bool exists = first + i * THREADS < chunks;
            if (exists)
                store_chunk(p, place_of(p, slab, first + i * THREADS), words[i]);
            if (exists && rows[i] == NO_ROW && p.error_flag)
                st_global_b32(p.error_flag, 1);
        }
    }
}

static __device__ __forceinline__ void embed(const struct gm_embed_params &p) {
    const int tokens = p.row_count ? min(p.tokens, (int)ld_global_b32(p.row_count)) : p.tokens;
#pragma unroll 1
    for (int64_t first = 0; first < tokens; first += p.slab_rows)
        embed_slab(p, first, (uint32_t)min(tokens - first, (int64_t)p.slab_rows) * p.row_chunks.divisor);
}

#endif
