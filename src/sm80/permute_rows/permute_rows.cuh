/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of rows that begin anywhere in x, into rows that begin on multiples of 16 bytes. One registry row per compilation;
 * permute_rows.cu of each architecture is the entry.
 *
 *   a chunk is 16 bytes of a row of out, or what its end leaves of them
 *   x has it in one or two spans, which are 16 bytes on a multiple of 16
 *   a chunk's thread loads both, although its neighbours load them too: L1 has the second one of most
 *   the words of two spans are shifted by as many bytes as the row lies behind a multiple of 16
 *   a CTA takes THREADS * VECTORS chunks at a time, thread t of it t, t + THREADS, ...
 *   all spans of a thread are under way before the first is waited for
 *
 * A span may have bytes of x beside the row, between it and another; they are not used. The few spans that x's own ends divide
 * are not loaded: their chunks are copied byte by byte. Elements do not matter, but that rows are whole numbers of them. */
#ifndef GM_SM80_PERMUTE_ROWS_CUH
#define GM_SM80_PERMUTE_ROWS_CUH

#include "common/global.cuh"
#include "common/index.cuh"
#include "common/permute/walk.cuh"
#include "common/permute_rows/params.h"

enum {
    THREADS = GM_THREADS,
    VECTORS = GM_VECTORS,
    CTAS = GM_PERMUTE_ROWS_CTAS(THREADS, VECTORS),
    CHUNK = 16,
    SPANS = 2 * CHUNK / 4, /* words of two */
};

/* ---- where chunks are --------------------------------------------------------------------------------- */

template <int COUNT> struct chunks {
    uint64_t x[COUNT], out[COUNT];
    uint32_t bytes[COUNT];
};

/* The chunks first, first + THREADS, ...; one that does not exist lies anywhere, and has no bytes. */
template <int COUNT>
static __device__ __forceinline__ struct chunks<COUNT> chunks_of(const struct gm_permute_rows_params &p,
                                                                 uint32_t first) {
    struct chunks<COUNT> c;
    uint32_t row[COUNT];
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
        const uint32_t number = first + i * THREADS;
        row[i] = divide(number, p.chunks);
        const uint32_t column = number - row[i] * p.chunks.divisor;
        c.bytes[i] = number >= p.count ? 0 : column + 1 == p.chunks.divisor ? p.last_bytes : CHUNK;
        c.x[i] = p.x + (uint64_t)column * CHUNK;
        c.out[i] = p.out + (uint64_t)column * CHUNK;
    }
    walk_to(p.rows, row, c.x, c.out);
    return c;
}

/* ---- one chunk ---------------------------------------------------------------------------------------- */

static __device__ __forceinline__ uint32_t misalignment_of(uint64_t x) {
    return x % CHUNK;
}

/* Whether x has both spans as a whole. One before its beginning is far behind its end as well: the difference has no sign. */
static __device__ __forceinline__ bool has_spans(const struct gm_permute_rows_params &p, uint64_t x) {
    return x - misalignment_of(x) - p.x < (uint64_t)p.inner_bytes;
}

/* The first span is loaded twice where it has the whole chunk. */
static __device__ __forceinline__ void load_spans(uint32_t (&words)[SPANS], uint64_t x, uint32_t bytes) {
    const uint32_t misalignment = misalignment_of(x);
    const uint64_t first = x - misalignment;
    ld_global_v4_b32(first, words);
    ld_global_v4_b32(first + (misalignment + bytes > CHUNK ? CHUNK : 0), words + CHUNK / 4);
}

/* The chunk is then in the first four words: moved by two words, by one, and by bytes. */
static __device__ __forceinline__ void shift(uint32_t (&words)[SPANS], uint32_t misalignment) {
#pragma unroll
    for (int i = 0; i < SPANS - 2; ++i)
        words[i] = misalignment & 8 ? words[i + 2] : words[i];
#pragma unroll
    for (int i = 0; i < SPANS - 3; ++i)
        words[i] = misalignment & 4 ? words[i + 1] : words[i];
#pragma unroll
    for (int i = 0; i < SPANS - 4; ++i)
        words[i] = __funnelshift_r(words[i], words[i + 1], misalignment % 4 * 8);
}

/* In at most four pieces, each aligned to its size. */
static __device__ __forceinline__ void store_part(uint64_t out, const uint32_t (&words)[SPANS], uint32_t bytes) {
    const bool past_8 = bytes & 8, past_4 = bytes & 4, past_2 = bytes & 2;
    const uint32_t word = past_8 ? words[2] : words[0], next = past_8 ? words[3] : words[1];
    const uint32_t last = past_4 ? next : word;
    if (past_8)
        st_global_v2_b32(out, words);
    if (past_4)
        st_global_b32(out + (bytes & 8), word);
    if (past_2)
        st_global_b16(out + (bytes & 12), last);
    if (bytes & 1)
        st_global_b8(out + (bytes & 14), past_2 ? last >> 16 : last);
}

/* A few at a time: from the second time on L1 has them. */
static __device__ __forceinline__ void copy_bytes(uint64_t x, uint64_t out, uint32_t bytes) {
    enum { FEW = 4 };
#pragma unroll 1
    for (uint32_t first = 0; first < bytes; first += FEW) {
        uint32_t byte[FEW];
#pragma unroll
        for (int i = 0; i < FEW; ++i)
            if (first + i < bytes)
                byte[i] = ld_global_b8(x + first + i);
#pragma unroll
        for (int i = 0; i < FEW; ++i)
            if (first + i < bytes)
                st_global_b8(out + first + i, byte[i]);
    }
}

/* ---- all chunks --------------------------------------------------------------------------------------- */

/* The chunks first, first + THREADS, ... */
static __device__ __forceinline__ void move_chunks(const struct gm_permute_rows_params &p, uint32_t first) {
    struct chunks<VECTORS> c = chunks_of<VECTORS>(p, first);
    uint32_t words[VECTORS][SPANS], at_an_end = 0; /* a bit for each chunk */
#pragma unroll
    for (int i = 0; i < VECTORS; ++i) {
        if (has_spans(p, c.x[i]))
            load_spans(words[i], c.x[i], c.bytes[i]);
        else
            at_an_end |= 1 << i;
    }
#pragma unroll
    for (int i = 0; i < VECTORS; ++i) {
        if (at_an_end >> i & 1)
            continue;
        shift(words[i], misalignment_of(c.x[i]));
        if (c.bytes[i] == CHUNK)
            st_global_v4_b32(c.out[i], words[i]);
        else
            store_part(c.out[i], words[i], c.bytes[i]);
    }
#pragma unroll 1
    for (; at_an_end; at_an_end &= at_an_end - 1) {
        const struct chunks<1> one = chunks_of<1>(p, first + (__ffs(at_an_end) - 1) * THREADS);
        copy_bytes(one.x[0], one.out[0], one.bytes[0]);
    }
}

static __device__ __forceinline__ void permute_rows(const struct gm_permute_rows_params &p) {
#pragma unroll 1
    for (uint32_t tile = cta_index(); tile * (THREADS * VECTORS) < p.count; tile += gridDim.x)
        move_chunks(p, tile * (THREADS * VECTORS) + thread_index());
}

#endif
