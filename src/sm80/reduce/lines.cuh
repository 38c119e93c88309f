/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions of lines: of rows, or of parts of all elements. The threads of a group share a line. */
#ifndef GM_SM80_REDUCE_LINES_CUH
#define GM_SM80_REDUCE_LINES_CUH

#include "common/special.cuh"

#include "sm80/reduce/parts.cuh"

enum { SLAB_CHUNKS = 1 << 30 }; /* of a line, whose numbers have 31 bits */

/* ---- what a thread finds ---------------------------------------------------------------------------- */

/* Of a thread's chunks so far: a value for each element of a chunk; or the largest of all, with the chunk that has it. */
struct found {
    float values[CHUNK];
    float largest;
    uint32_t words[WORDS], number;
};

static __device__ __forceinline__ struct found found_nothing(const struct gm_reduce_params &p, uint32_t first) {
    struct found f;
#pragma unroll
    for (int i = 0; i < CHUNK; ++i)
        f.values[i] = nothing_found(p).value;
#pragma unroll
    for (int i = 0; i < WORDS; ++i)
        f.words[i] = 0;
    f.largest = -GM_INFINITY;
    f.number = first; /* where all are -inf it is the first */
    return f;
}

static __device__ __forceinline__ float largest_of(const float (&v)[CHUNK]) {
    float largest = v[0];
#pragma unroll
    for (int i = 1; i < CHUNK; ++i)
        largest = max_nan(largest, v[i]);
    return largest;
}

static __device__ __forceinline__ void unpack_signed(const struct gm_reduce_params &p, const uint32_t (&words)[WORDS],
                                                     float (&v)[CHUNK]) {
    unpack<TYPE, CHUNK>(words, v);
#pragma unroll
    for (int i = 0; i < CHUNK; ++i)
        v[i] *= p.sign;
}

/* One branch for a chunk: its elements' chains of instructions run beside each other. */
template <bool PLACE>
static __device__ __forceinline__ void find(const struct gm_reduce_params &p, const uint32_t (&words)[WORDS],
                                            uint32_t number, struct found &f) {
    float v[CHUNK];
    if (!PLACE && !keeps_largest(p)) {
        unpack<TYPE, CHUNK>(words, v);
#pragma unroll
        for (int i = 0; i < CHUNK; ++i)
            f.values[i] = fmaf(v[i], factor_of(p, v[i]), f.values[i]);
        return;
    }
    unpack_signed(p, words, v);
    if (!PLACE) {
#pragma unroll
        for (int i = 0; i < CHUNK; ++i)
            f.values[i] = max_nan(f.values[i], v[i]);
        return;
    }
    const float largest = largest_of(v);
    const bool is_new = is_larger(largest, f.largest);
    f.largest = is_new ? largest : f.largest;
    f.number = is_new ? number : f.number;
#pragma unroll
    for (int i = 0; i < WORDS; ++i)
        f.words[i] = is_new ? words[i] : f.words[i];
}

/* Which element of the chunk it was: the first that is no less. */
static __device__ __forceinline__ int place_in_chunk(const struct gm_reduce_params &p, const struct found &f) {
    float v[CHUNK];
    int place = 0;
    unpack_signed(p, f.words, v);
#pragma unroll
    for (int i = CHUNK - 1; i > 0; --i)
        place = !is_larger(f.largest, v[i]) ? i : place;
    return !is_larger(f.largest, v[0]) ? 0 : place;
}

/* The values of a chunk's elements in one. */
static __device__ __forceinline__ float value_of(const struct gm_reduce_params &p, struct found &f) {
#pragma unroll
    for (int step = CHUNK / 2; step > 0; step /= 2)
#pragma unroll
        for (int i = 0; i < step; ++i)
            f.values[i] = together(p, f.values[i], f.values[i + step]);
    return f.values[0];
}

template <bool PLACE>
static __device__ __forceinline__ struct total total_of(const struct gm_reduce_params &p, struct found &f, bool has_any,
                                                        int64_t slab) {
    if (!PLACE)
        return {value_of(p, f), NOWHERE};
    return {f.largest, has_any ? (slab + f.number) * CHUNK + place_in_chunk(p, f) : NOWHERE};
}

/* ---- lines ------------------------------------------------------------------------------------------- */

/* Chunks in their order, as the rows at `base` have them; a thread has the first of them that is its own, and every
 * step-th. */
struct line {
    uint64_t base;
    int64_t chunks;
    uint32_t first, step;
    bool is_cut; /* into rows, which lie p.pitch apart */
};

/* A slab of a line: chunk number n is at base + n * VECTOR_BYTES, or, cut into rows, at chunk start + n of the row there. */
struct slab {
    uint64_t base;
    uint32_t start, count;
    bool is_cut;
};

static __device__ __forceinline__ struct slab slab_of(const struct gm_reduce_params &p, const struct line &line,
                                                      int64_t first) {
    const uint32_t count = (uint32_t)min(line.chunks - first, (int64_t)SLAB_CHUNKS);
    if (!line.is_cut)
        return {line.base + first * VECTOR_BYTES, 0, count, false};
    const int64_t row = first / p.chunks;
    return {line.base + row * p.pitch, (uint32_t)(first - row * p.chunks), count, true};
}

static __device__ __forceinline__ uint64_t chunk_at(const struct gm_reduce_params &p, const struct slab &slab,
                                                    uint32_t number) {
    if (!slab.is_cut)
        return slab.base + (uint64_t)number * VECTOR_BYTES;
    const uint32_t row = divide(slab.start + number, p.by_chunks);
    return slab.base + row * p.pitch + (uint64_t)(slab.start + number - row * p.by_chunks.divisor) * VECTOR_BYTES;
}

template <bool PLACE>
static __device__ __forceinline__ struct found find_in_slab(const struct gm_reduce_params &p, const struct slab &slab,
                                                            uint32_t first, uint32_t step) {
    struct found f = found_nothing(p, first);
    uint32_t number = first, next = first;
#pragma unroll 1
    while (number < slab.count) {
        uint32_t words[AT_ONCE(PLACE)][WORDS];
#pragma unroll
        for (int i = 0; i < AT_ONCE(PLACE); ++i, next += step)
            load<TYPE, CHUNK>(words[i], chunk_at(p, slab, next), next < slab.count);
#pragma unroll
        for (int i = 0; i < AT_ONCE(PLACE); ++i, number += step)
            if (number < slab.count)
                find<PLACE>(p, words[i], number, f);
    }
    return f;
}

/* What this thread finds in a line: in its first chunk, and every step-th from there. */
template <bool PLACE>
static __device__ __forceinline__ struct total find_in_line(const struct gm_reduce_params &p, const struct line &line) {
    struct total t = nothing_found(p);
#pragma unroll 1
    for (int64_t at = 0; at < line.chunks; at += SLAB_CHUNKS) {
        const struct slab slab = slab_of(p, line, at);
        struct found f = find_in_slab<PLACE>(p, slab, line.first, line.step);
        t = together<PLACE>(p, t, total_of<PLACE>(p, f, line.first < slab.count, at));
    }
    return t;
}

/* ---- all elements ------------------------------------------------------------------------------------ */

/* Those behind the last whole chunk, an element for each of the first threads. */
static __device__ __forceinline__ struct total find_rest(const struct gm_reduce_params &p, int64_t elements) {
    const int64_t at = elements / CHUNK * CHUNK + thread_index();
    uint32_t word[1];
    float v[1];
    if (at >= elements)
        return nothing_found(p);
    load<TYPE, 1>(word, p.x + at * ELEM_BYTES, true);
    unpack<TYPE, 1>(word, v);
    return {v[0] * (keeps_largest(p) ? p.sign : factor_of(p, v[0])), at};
}

/* This thread's share: the CTAs take turns, so that all of them read from the same pages of memory. */
static __device__ __forceinline__ struct line share_of(const struct gm_reduce_params &p, int rows) {
    const int64_t chunks = p.is_packed ? (int64_t)rows * p.columns / CHUNK : (int64_t)rows * p.chunks;
    return {p.x, chunks, (uint32_t)(cta_index() * THREADS + thread_index()), (uint32_t)(p.parts * THREADS),
            !p.is_packed};
}

static __device__ __forceinline__ void store_total(const struct gm_reduce_params &p, const struct total &t) {
    const uint32_t words[4] = {__float_as_uint(t.value), 0, (uint32_t)t.at, (uint32_t)(t.at >> 32)};
    if (thread_index() == 0)
        st_global_v4_b32(p.slots + (uint64_t)cta_index() * GM_REDUCE_TOTAL_BYTES, words);
}

/* The totals of all parts, by all threads. */
template <bool PLACE>
static __device__ __forceinline__ struct total collect_totals(const struct gm_reduce_params &p, int &turn) {
    struct total t = nothing_found(p);
    await_parts(p, 0);
#pragma unroll 1
    for (int part = thread_index(); part < p.parts; part += THREADS) {
        uint32_t words[4];
        ld_global_cg_v4_b32(p.slots + (uint64_t)part * GM_REDUCE_TOTAL_BYTES, words);
        t = together<PLACE>(p, t, {__uint_as_float(words[0]), (int64_t)((uint64_t)words[3] << 32 | words[2])});
    }
    return total_of_group<PLACE>(p, t, THREADS, turn);
}

/* Of all parts, from what this CTA has found in its own: in the last CTA. */
template <bool PLACE>
static __device__ __forceinline__ struct total total_of_parts(const struct gm_reduce_params &p, const struct total &t,
                                                              int &turn) {
    store_total(p, t);
    if (cta_index() == p.parts - 1)
        return collect_totals<PLACE>(p, turn);
    publish(p, cta_index());
    return t;
}

/* ---- lines of a CTA ---------------------------------------------------------------------------------- */

/* This thread's share of a row. */
static __device__ __forceinline__ struct line row_of(const struct gm_reduce_params &p, uint32_t row, bool exists) {
    return {p.x + row * p.pitch, exists ? p.chunks : 0, (uint32_t)(thread_index() & (p.group - 1)), (uint32_t)p.group,
            false};
}

/* THREADS / p.group rows at a time; or its part of all elements, once. */
template <bool PLACE> static __device__ __forceinline__ void reduce_lines(const struct gm_reduce_params &p, int rows) {
    const bool of_all = p.along == REDUCE_ALL;
    const uint32_t in_cta = THREADS >> p.group_shift, lines = of_all ? gridDim.x : rows;
    const int64_t elements = (int64_t)rows * p.columns;
    int turn = 0;
#pragma unroll 1
    for (uint32_t first = cta_index() * in_cta; first < lines; first += gridDim.x * in_cta) {
        const uint32_t row = first + (thread_index() >> p.group_shift);
        const struct line line = of_all ? share_of(p, rows) : row_of(p, row, row < lines);
        struct total t = find_in_line<PLACE>(p, line);
        if (CHUNK > 1 && of_all && p.is_packed && cta_index() == p.parts - 1)
            t = together<PLACE>(p, t, find_rest(p, elements));
        t = total_of_group<PLACE>(p, t, p.group, turn);
        if (of_all && p.parts > 1)
            t = total_of_parts<PLACE>(p, t, turn);
        const bool stores = of_all ? cta_index() == p.parts - 1 : row < lines;
        if (stores && (thread_index() & (p.group - 1)) == 0)
            store_result<PLACE>(p, of_all ? 0 : row, t, of_all ? elements : p.columns);
    }
}

#endif
