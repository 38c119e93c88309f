/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions along rows. A strip is the columns of a chunk, one thread wide; p.group strips lie side by side in a CTA, whose
 * other threads have other rows of them. */
#ifndef GM_SM80_REDUCE_STRIPS_CUH
#define GM_SM80_REDUCE_STRIPS_CUH

#include "sm80/reduce/parts.cuh"

enum { STRIP_WORDS = GM_REDUCE_STRIP_BYTES(CHUNK) / 4 };

/* Strips of the threads that another thread adds to its own. */
static __shared__ float strip_values[CHUNK][THREADS / 2];
static __shared__ int32_t strip_rows[CHUNK][THREADS / 2];

/* Of each column of a strip: what was found, and in which row, if PLACE. */
struct strip {
    float values[CHUNK];
    int32_t rows[CHUNK];
};

/* Where all are -inf it is the first row. */
static __device__ __forceinline__ struct strip empty_strip(const struct gm_reduce_params &p, int first_row) {
    struct strip s;
#pragma unroll
    for (int i = 0; i < CHUNK; ++i) {
        s.values[i] = nothing_found(p).value;
        s.rows[i] = first_row;
    }
    return s;
}

template <bool PLACE>
static __device__ __forceinline__ void add_row(const struct gm_reduce_params &p, const uint32_t (&words)[WORDS],
                                               int row, struct strip &s) {
    float v[CHUNK];
    unpack<TYPE, CHUNK>(words, v);
    if (!PLACE && !keeps_largest(p)) {
#pragma unroll
        for (int i = 0; i < CHUNK; ++i)
            s.values[i] = fmaf(v[i], factor_of(p, v[i]), s.values[i]);
        return;
    }
#pragma unroll
    for (int i = 0; i < CHUNK; ++i) {
        const float x = v[i] * p.sign;
        const bool is_new = PLACE && is_larger(x, s.values[i]);
        s.values[i] = !PLACE ? max_nan(s.values[i], x) : is_new ? x : s.values[i];
        s.rows[i] = is_new ? row : s.rows[i];
    }
}

template <bool PLACE>
static __device__ __forceinline__ void add_strip(const struct gm_reduce_params &p, struct strip &s,
                                                 const struct strip &other) {
#pragma unroll
    for (int i = 0; i < CHUNK; ++i) {
        const struct total t = together<PLACE>(p, {s.values[i], s.rows[i]}, {other.values[i], other.rows[i]});
        s.values[i] = t.value;
        s.rows[i] = (int32_t)t.at;
    }
}

/* Every step-th row from `first` to before `last`, of the strip at `base`. */
template <bool PLACE>
static __device__ __forceinline__ struct strip add_rows(const struct gm_reduce_params &p, uint64_t base, uint32_t first,
                                                        uint32_t last, int step) {
    struct strip s = empty_strip(p, first < last ? (int)first : NO_ROW);
    const int64_t pitch = step * p.pitch;
    uint64_t address = base + first * p.pitch;
    uint32_t row = first, next = first;
#pragma unroll 1
    while (row < last) {
        uint32_t words[AT_ONCE(PLACE)][WORDS];
#pragma unroll
        for (int i = 0; i < AT_ONCE(PLACE); ++i, next += step, address += pitch)
            load<TYPE, CHUNK>(words[i], address, next < last);
#pragma unroll
        for (int i = 0; i < AT_ONCE(PLACE); ++i, row += step)
            if (row < last)
                add_row<PLACE>(p, words[i], (int)row, s);
    }
    return s;
}

template <bool PLACE> static __device__ __forceinline__ void share_strip(const struct strip &s, int place) {
#pragma unroll
    for (int i = 0; i < CHUNK; ++i) {
        strip_values[i][place] = s.values[i];
        if (PLACE)
            strip_rows[i][place] = s.rows[i];
    }
}

/* Adds up the strips of the threads that have the same columns: the upper half of them to the lower half, until the first
 * p.group threads have all. */
template <bool PLACE>
static __device__ __forceinline__ void add_threads(const struct gm_reduce_params &p, struct strip &s) {
    const int thread = thread_index();
#pragma unroll 1
    for (int half = THREADS / 2; half >= p.group; half /= 2) {
        __syncthreads();
        if (thread >= half && thread < 2 * half)
            share_strip<PLACE>(s, thread - half);
        __syncthreads();
        if (thread < half) {
            struct strip other;
#pragma unroll
            for (int i = 0; i < CHUNK; ++i) {
                other.values[i] = strip_values[i][thread];
                other.rows[i] = PLACE ? strip_rows[i][thread] : 0;
            }
            add_strip<PLACE>(p, s, other);
        }
    }
}

/* ---- parts ------------------------------------------------------------------------------------------ */

static __device__ __forceinline__ uint64_t strip_slot(const struct gm_reduce_params &p, int cta, int strip) {
    return p.slots + ((uint64_t)cta * p.group + strip) * GM_REDUCE_STRIP_BYTES(CHUNK);
}

/* The words of a slot that are used: values, and where they are. */
template <bool PLACE> struct slot_words {
    enum { COUNT = CHUNK == 1 ? 4 : PLACE ? STRIP_WORDS : CHUNK };
    uint32_t words[COUNT];
};

template <bool PLACE> static __device__ __forceinline__ void store_strip(uint64_t slot, const struct strip &s) {
    struct slot_words<PLACE> w = {};
#pragma unroll
    for (int i = 0; i < CHUNK; ++i) {
        w.words[i] = __float_as_uint(s.values[i]);
        if (PLACE)
            w.words[CHUNK + i] = (uint32_t)s.rows[i];
    }
#pragma unroll
    for (int i = 0; i < w.COUNT; i += 4)
        st_global_v4_b32(slot + i * 4, w.words + i);
}

template <bool PLACE> static __device__ __forceinline__ struct strip load_strip(uint64_t slot) {
    struct slot_words<PLACE> w;
    struct strip s;
#pragma unroll
    for (int i = 0; i < w.COUNT; i += 4)
        ld_global_cg_v4_b32(slot + i * 4, w.words + i);
#pragma unroll
    for (int i = 0; i < CHUNK; ++i) {
        s.values[i] = __uint_as_float(w.words[i]);
        s.rows[i] = PLACE ? (int32_t)w.words[CHUNK + i] : 0;
    }
    return s;
}

/* Of all parts of these columns, of which CTA `first` has the first. */
template <bool PLACE>
static __device__ __forceinline__ struct strip collect_strips(const struct gm_reduce_params &p, int first) {
    const int strip = thread_index() & (p.group - 1), step = THREADS >> p.group_shift;
    struct strip s = empty_strip(p, NO_ROW);
    await_parts(p, first);
#pragma unroll 1
    for (int part = thread_index() >> p.group_shift; part < p.parts; part += step)
        add_strip<PLACE>(p, s, load_strip<PLACE>(strip_slot(p, first + part, strip)));
    add_threads<PLACE>(p, s);
    return s;
}

/* ---- results ---------------------------------------------------------------------------------------- */

/* Stores the results of a tile, one for each of the first threads, from the strips of the first p.group. */
template <bool PLACE>
static __device__ __forceinline__ void store_tile(const struct gm_reduce_params &p, int tile, const struct strip &s,
                                                  int rows) {
    const int thread = thread_index(), column = thread % CHUNK, strip = thread / CHUNK;
    const int64_t first = (int64_t)tile * p.group * CHUNK;
    __syncthreads();
    if (thread < p.group)
        share_strip<PLACE>(s, thread);
    __syncthreads();
    if (strip >= p.group || first + thread >= p.columns)
        return;
    const int row = PLACE ? strip_rows[column][strip] : 0;
    store_result<PLACE>(p, first + thread, {strip_values[column][strip], row == NO_ROW ? NOWHERE : row}, rows);
}

template <bool PLACE>
static __device__ __forceinline__ void reduce_tile(const struct gm_reduce_params &p, int rows, int tile, int part) {
    const int thread = thread_index(), chunk = tile * p.group + (thread & (p.group - 1));
    const uint32_t from = (uint32_t)min(part * p.part_size, (int64_t)rows);
    const uint32_t to = (uint32_t)min(from + p.part_size, (int64_t)rows);
    const int cta = tile * p.parts + part, step = THREADS >> p.group_shift;
    struct strip s = add_rows<PLACE>(p, p.x + (int64_t)chunk * VECTOR_BYTES, from + (thread >> p.group_shift),
                                     chunk < p.chunks ? to : 0, step);
    add_threads<PLACE>(p, s);
    if (p.parts > 1) {
        if (thread < p.group)
            store_strip<PLACE>(strip_slot(p, cta, thread), s);
        if (part < p.parts - 1) {
            publish(p, cta);
            return;
        }
        s = collect_strips<PLACE>(p, cta - part);
    }
    store_tile<PLACE>(p, tile, s, rows);
}

/* Tiles of p.group strips, each in p.parts parts: numbered tile by tile. */
template <bool PLACE> static __device__ __forceinline__ void reduce_strips(const struct gm_reduce_params &p, int rows) {
    const int tiles = (p.chunks + p.group - 1) >> p.group_shift;
#pragma unroll 1
    for (uint32_t i = cta_index(); i < (uint32_t)(tiles * p.parts); i += gridDim.x) {
        const uint32_t tile = divide(i, p.by_parts);
        reduce_tile<PLACE>(p, rows, (int)tile, (int)(i - tile * p.by_parts.divisor));
    }
}

#endif
