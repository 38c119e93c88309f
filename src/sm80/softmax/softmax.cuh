/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax of every row, or its logarithm: a soft cap and a temperature before it. One registry row per compilation;
 * softmax.cu of each architecture is the entry.
 *
 *   ROW_THREADS threads of a CTA share a row: some lanes of a warp, with several rows in a CTA, or the whole CTA;
 *   ROW_CTAS such CTAs share it, where they are a cluster
 *   a chunk is VECTOR_BYTES of neighbouring elements, one load; neighbouring lanes have neighbouring chunks, and the
 *   VECTORS chunks of each lane make what a warp holds of the row contiguous
 *   a tile is what all threads of a row hold; with PASSES = 1 it is the row, which is read once, else the row is read a tile
 *   at a time: for its maximum, for its sum, and for what is stored
 *
 * The order of the sum is that of the row, whoever adds it up: 16 bytes of elements in a binary tree from neighbours on;
 * GROUP elements, 64 times 16 bytes, in one whose first step is that between its halves; the groups of a block in one from
 * neighbours on; and the blocks one behind the other. What lies behind the row's end is 0. So a row has the same bits in
 * every variant. No byte outside the rows is read or written. */
#ifndef GM_SM80_SOFTMAX_CUH
#define GM_SM80_SOFTMAX_CUH

#include "common/elements.cuh"
#include "common/index.cuh"
#include "common/soft_cap.cuh"
#include "common/softmax/params.h"
#include "common/special.cuh"

/* ---- parameters (the registry row) and what follows from them -------------------------------------- */

enum {
    TYPE = GM_TYPE,
    ELEM_BYTES = GM_TYPE_BYTES(TYPE),
    THREADS = GM_THREADS,
    ROW_THREADS = GM_ROW_THREADS, /* of a CTA */
    ROW_CTAS = GM_ROW_CTAS,
    VECTORS = GM_VECTORS, /* chunks of a thread at a time */
    VECTOR_BYTES = GM_VECTOR_BYTES,
    PASSES = GM_PASSES,
    CHUNK = VECTOR_BYTES / ELEM_BYTES,                          /* elements */
    WORDS = GM_WORDS(TYPE, CHUNK),                              /* 32-bit registers of a chunk */
    PER_WORD = GM_PER_WORD(TYPE, CHUNK),                        /* elements */
    CHUNKS = CHUNK > 1 ? 1 : 4,                                 /* at a time, under one branch, */
    UNIT = CHUNKS * CHUNK,                                      /* and their elements */
    LANES = ROW_THREADS < 32 ? ROW_THREADS : 32,                /* of a warp that share a row */
    WARPS = (ROW_THREADS + 31) / 32,                            /* of a CTA that share a row */
    ROWS = THREADS / ROW_THREADS,                               /* of a CTA, at a time */
    STEP = LANES * CHUNK,                                       /* elements between two chunks of a thread */
    TILE = ROW_CTAS * WARPS * VECTORS * STEP,                   /* elements */
    QUAD = 16 / ELEM_BYTES,                                     /* elements in 16 bytes */
    GROUP = GM_SOFTMAX_GROUP_BYTES / ELEM_BYTES,                /* elements */
    IN_GROUP = GROUP / STEP < VECTORS ? GROUP / STEP : VECTORS, /* chunks of a thread in a group */
    GROUPS = VECTORS / IN_GROUP,                                /* of a warp */
    BLOCK = GM_SOFTMAX_BLOCK,                                   /* elements */
    SLOTS = ROW_CTAS * WARPS,                                   /* warps that share a row */
    BLOCK_SLOTS = PASSES == 1 ? SLOTS : BLOCK / TILE * WARPS,   /* of their sums */
    CAPS = GM_SOFTMAX_CAPS(TYPE, VECTORS, VECTOR_BYTES),
    CTAS = GM_SOFTMAX_CTAS(THREADS, VECTORS, VECTOR_BYTES), /* on an SM */
};
static_assert((ROW_THREADS <= 32 && 32 % ROW_THREADS == 0 && ROW_CTAS == 1) || ROW_THREADS == THREADS,
              "a row is a warp's or whole CTAs'");
static_assert(VECTOR_BYTES == 16 || VECTOR_BYTES == ELEM_BYTES, "chunks of 16 bytes, or of one element");
static_assert(VECTORS % IN_GROUP == 0 && (IN_GROUP & (IN_GROUP - 1)) == 0 && (GROUPS & (GROUPS - 1)) == 0,
              "binary trees");
static_assert(ROW_THREADS < 32 || IN_GROUP * STEP == GROUP, "a warp has whole groups");
static_assert((SLOTS & (SLOTS - 1)) == 0 && TILE <= BLOCK, "a tile is part of a block");
static_assert(PASSES == 1 || (WARPS > 1 && ROW_CTAS == 1 && BLOCK_SLOTS <= GM_SOFTMAX_BLOCK_SLOTS), "sums of a block");

extern __shared__ uint32_t row_slots[]; /* maxima[SLOTS], sums[BLOCK_SLOTS] */

/* ---- who shares a row ------------------------------------------------------------------------------ */

/* Its warps are one CTA's. sm90's cluster_ctas has the same functions. */
struct lone_cta {
    static __device__ __forceinline__ int rank(void) { return 0; }
    /* A warp's value, for all that share the row. */
    static __device__ __forceinline__ void share(int slot, uint32_t value) {
        if (thread_index() % 32 == 0)
            row_slots[slot] = value;
    }
    static __device__ __forceinline__ void meet(void) { __syncthreads(); }
};

/* How values of a row's threads are merged. */
struct greatest {
    static __device__ __forceinline__ uint32_t nothing(void) { return __float_as_uint(-GM_INFINITY); }
    __device__ __forceinline__ uint32_t operator()(uint32_t a, uint32_t b) const {
        return __float_as_uint(max_nan(__uint_as_float(a), __uint_as_float(b)));
    }
};

/* Sums; or of a greedy row, first columns. */
enum { NO_COLUMN = 0x7fffffff };
struct total {
    bool is_column;
    __device__ __forceinline__ uint32_t nothing(void) const { return is_column ? NO_COLUMN : 0; /* of sums 0.0f */ }
    __device__ __forceinline__ uint32_t operator()(uint32_t a, uint32_t b) const {
        const uint32_t first = min(a, b), sum = __float_as_uint(__uint_as_float(a) + __uint_as_float(b));
        return is_column ? first : sum;
    }
};

/* Merges COUNT values, a power of 2, from neighbours on. */
template <int COUNT, class Merge>
static __device__ __forceinline__ uint32_t merged(uint32_t (&values)[COUNT], const Merge &merge) {
#pragma unroll
    for (int step = 1; step < COUNT; step *= 2)
#pragma unroll
        for (int i = 0; i < COUNT; i += 2 * step)
            values[i] = merge(values[i], values[i + step]);
    return values[0];
}

/* Merges the first `used` of COUNT slots; every lane of every warp does. */
template <int COUNT, class Merge>
static __device__ __forceinline__ uint32_t merged_slots(const uint32_t *slots, int used, const Merge &merge) {
    enum { EACH = COUNT > 32 ? COUNT / 32 : 1, SHARES = COUNT / EACH };
    const int first = thread_index() % SHARES * EACH;
    uint32_t values[EACH];
#pragma unroll
    for (int i = 0; i < EACH; ++i)
        values[i] = first + i < used ? slots[first + i] : merge.nothing();
    uint32_t value = merged<EACH>(values, merge);
#pragma unroll
    for (int bit = 1; bit < SHARES; bit *= 2)
        value = merge(value, __shfl_xor_sync(0xffffffff, value, bit));
    return value;
}

/* ---- one row --------------------------------------------------------------------------------------- */

/* What a row's elements become: exp2((y - shift) * factor), y with the cap applied. */
struct row_terms {
    float shift, factor;
    float inverse_temperature;
    bool is_greedy;
};

/* A flag of enum gm_softmax_flag, looked at anew: else the compiler makes a copy of all chunks for every combination. */
static __device__ __forceinline__ bool asks_for(const struct gm_softmax_params &p, int flag) {
    int flags = p.flags;
    asm volatile("" : "+r"(flags));
    return flags & flag;
}

static __device__ __forceinline__ uint64_t element_of(uint64_t base, int64_t pitch, int row, int at, int bytes) {
    return base + row * pitch + (int64_t)at * bytes;
}

/* The first element of this thread's in a tile. */
template <class Ctas> static __device__ __forceinline__ int first_element(void) {
    const int in_row = thread_index() % ROW_THREADS, warp = Ctas::rank() * WARPS + in_row / 32;
    return warp * VECTORS * STEP + in_row % LANES * CHUNK;
}

/* All chunks of a tile are on their way before the first is waited for. Behind the row's end are -inf. */
static __device__ __forceinline__ void load_tile(const struct gm_softmax_params &p, int row, int columns, int at,
                                                 uint32_t (&words)[VECTORS][WORDS]) {
    const uint32_t missing = TYPE == GM_TYPE_fp32 ? 0xff800000u : TYPE == GM_TYPE_bf16 ? 0xff80ff80u : 0xfc00fc00u;
    const uint64_t x = element_of(p.x, p.x_pitch, row, at, ELEM_BYTES);
#pragma unroll
    for (int i = 0; i < VECTORS; ++i)
        load<TYPE, CHUNK>(words[i], x + i * (STEP * ELEM_BYTES), at + i * STEP < columns, missing);
}

/* Behind it elements are unpacked again, and compared with the row's end: neither stays in registers meanwhile. */
static __device__ __forceinline__ void keep_packed(uint32_t (&words)[VECTORS][WORDS], int &at) {
    asm volatile("" : "+r"(at));
#pragma unroll
    for (int i = 0; i < VECTORS; ++i)
#pragma unroll
        for (int j = 0; j < WORDS; ++j)
            asm volatile("" : "+r"(words[i][j]));
}

static __device__ __forceinline__ float largest_of(float largest, const uint32_t (&words)[VECTORS][WORDS]) {
    uint32_t word = words[0][0];
    float v[PER_WORD];
#pragma unroll
    for (int i = 0; i < VECTORS; ++i)
#pragma unroll
        for (int j = 0; j < WORDS; ++j)
            word = max_of_words<TYPE>(word, words[i][j]);
    unpack_word<TYPE, CHUNK>(word, v);
    return max_nan(largest, max_nan(v[0], v[PER_WORD - 1]));
}

/* (y - shift) * factor of the elements of a unit; one branch for all of them. */
static __device__ __forceinline__ void exponents_of(const struct gm_softmax_params &p, const uint32_t (*words)[WORDS],
                                                    const struct row_terms &t, float (&v)[UNIT]) {
#pragma unroll
    for (int i = 0; i < CHUNKS * WORDS; ++i)
        unpack_word<TYPE, CHUNK>(words[i / WORDS][i % WORDS], v + i * PER_WORD);
    if (CAPS && asks_for(p, GM_SOFTMAX_CAPPED)) {
#pragma unroll
        for (int i = 0; i < UNIT; ++i)
            v[i] = soft_cap(v[i], p.cap, p.cap_exponent);
    }
#pragma unroll
    for (int i = 0; i < UNIT; ++i)
        v[i] = (v[i] - t.shift) * t.factor;
}

/* The sums of a unit's chunks. */
static __device__ __forceinline__ void sums_of_unit(const struct gm_softmax_params &p, const uint32_t (*words)[WORDS],
                                                    const struct row_terms &t, uint32_t *sums) {
    float v[UNIT];
    exponents_of(p, words, t, v);
#pragma unroll
    for (int i = 0; i < CHUNKS; ++i) {
        uint32_t powers[CHUNK];
#pragma unroll
        for (int j = 0; j < CHUNK; ++j)
            powers[j] = __float_as_uint(ex2_approx_ftz(v[i * CHUNK + j]));
        sums[i] = merged<CHUNK>(powers, total{false});
    }
}

/* The first column whose element is the row's largest. */
static __device__ __forceinline__ uint32_t column_in_chunk(const uint32_t (&words)[WORDS], float largest, int at) {
    float v[CHUNK];
    uint32_t column = NO_COLUMN;
    unpack<TYPE, CHUNK>(words, v);
#pragma unroll
    for (int i = CHUNK - 1; i >= 0; --i)
        column = v[i] == largest ? at + i : column;
    return column;
}

/* What this warp, or the lanes of it that share the row, have of the row's total. */
static __device__ __forceinline__ uint32_t total_of_tile(const struct gm_softmax_params &p, int columns, int at,
                                                         const uint32_t (&words)[VECTORS][WORDS], float largest,
                                                         const struct row_terms &t) {
    const struct total merge = {t.is_greedy};
    uint32_t totals[VECTORS] = {}, groups[GROUPS];
    if (t.is_greedy) {
#pragma unroll
        for (int i = 0; i < VECTORS; ++i)
            totals[i] = column_in_chunk(words[i], largest, at + i * STEP);
    } else {
#pragma unroll
        for (int i = 0; i < VECTORS; i += CHUNKS)
            if (at + i * STEP < columns)
                sums_of_unit(p, words + i, t, totals + i);
#pragma unroll
        for (int i = 0; i < VECTORS && CHUNKS > 1; ++i)
            totals[i] = at + i * STEP < columns ? totals[i] : 0;
    }
#pragma unroll
    for (int bit = 1; bit < (CHUNK == 1 ? QUAD : 1); bit *= 2)
#pragma unroll
        for (int i = 0; i < VECTORS; ++i)
            totals[i] = merge(totals[i], __shfl_xor_sync(0xffffffff, totals[i], bit));
#pragma unroll
    for (int g = 0; g < GROUPS; ++g) {
#pragma unroll
        for (int half = IN_GROUP / 2; half > 0; half /= 2)
#pragma unroll
            for (int i = g * IN_GROUP; i < g * IN_GROUP + half; ++i)
                totals[i] = merge(totals[i], totals[i + half]);
        groups[g] = totals[g * IN_GROUP];
    }
#pragma unroll
    for (int bit = LANES / 2; bit >= (CHUNK == 1 ? QUAD : 1); bit /= 2)
#pragma unroll
        for (int g = 0; g < GROUPS; ++g)
            groups[g] = merge(groups[g], __shfl_xor_sync(0xffffffff, groups[g], bit));
    return merged<GROUPS>(groups, merge);
}

/* The largest element of the row, of what each thread has found. */
template <class Ctas> static __device__ __forceinline__ float largest_in_row(float largest) {
#pragma unroll
    for (int bit = LANES / 2; bit > 0; bit /= 2)
        largest = max_nan(largest, __shfl_xor_sync(0xffffffff, largest, bit));
    if (SLOTS == 1)
        return largest;
    Ctas::share(Ctas::rank() * WARPS + thread_index() / 32, __float_as_uint(largest));
    Ctas::meet();
    return __uint_as_float(merged_slots<SLOTS>(row_slots, SLOTS, greatest{}));
}

/* 1 / x to the last bit, in three instructions; NaN of 0 and infinity. */
static __device__ __forceinline__ float inverse_of(float x) {
    const float y = rcp_approx_ftz(x);
    return fmaf(y, fmaf(-x, y, 1.0f), y);
}

static __device__ __forceinline__ struct row_terms terms_of(const struct gm_softmax_params &p, float temperature,
                                                            float largest) {
    const float y = CAPS && asks_for(p, GM_SOFTMAX_CAPPED) ? soft_cap(largest, p.cap, p.cap_exponent) : largest;
    const float inverse = inverse_of(temperature);
    /* A row of -inf: all its powers are 0, their sum too, and what is divided by it is NaN. */
    return {y == -GM_INFINITY ? 0.0f : y, inverse * 1.44269504f, inverse, temperature < 0x1p-126f};
}

/* ---- what is stored -------------------------------------------------------------------------------- */

/* Stores so many chunks from element `at` on. */
template <int COUNT>
static __device__ __forceinline__ void store_values(const struct gm_softmax_params &p, int row, int columns, int at,
                                                    const float (&v)[COUNT]) {
    if (TYPE != GM_TYPE_fp32 && asks_for(p, GM_SOFTMAX_WIDE_OUT)) {
        enum { WIDE = CHUNK < 4 ? 1 : 4 };
        const uint64_t out = element_of(p.out, p.out_pitch, row, at, 4);
#pragma unroll
        for (int i = 0; i < COUNT; i += WIDE) {
            uint32_t bits[WIDE];
#pragma unroll
            for (int j = 0; j < WIDE; ++j)
                bits[j] = __float_as_uint(v[i + j]);
            if (at + i / CHUNK * STEP < columns)
                store<GM_TYPE_fp32, WIDE>(out + (i / CHUNK * STEP + i % CHUNK) * 4, bits);
        }
        return;
    }
    const uint64_t out = element_of(p.out, p.out_pitch, row, at, ELEM_BYTES);
#pragma unroll
    for (int i = 0; i < COUNT / CHUNK; ++i) {
        uint32_t words[WORDS];
#pragma unroll
        for (int j = 0; j < WORDS; ++j)
            words[j] = pack_word<TYPE, CHUNK>(v + i * CHUNK + j * PER_WORD);
        if (at + i * STEP < columns)
            store<TYPE, CHUNK>(out + i * (STEP * ELEM_BYTES), words);
    }
}

/* What every element of a row is finished with: the sum's inverse, or minus its logarithm. */
static __device__ __forceinline__ void store_unit(const struct gm_softmax_params &p, int row, int columns, int at,
                                                  const uint32_t (*words)[WORDS], const struct row_terms &t,
                                                  float finish) {
    float v[UNIT];
    exponents_of(p, words, t, v);
    if (asks_for(p, GM_SOFTMAX_LOG)) {
#pragma unroll
        for (int i = 0; i < UNIT; ++i)
            v[i] = __fadd_rn(v[i], finish);
    } else {
#pragma unroll
        for (int i = 0; i < UNIT; ++i)
            v[i] = ex2_approx_ftz(v[i]) * finish;
    }
    store_values<UNIT>(p, row, columns, at, v);
}

static __device__ __forceinline__ void store_tile(const struct gm_softmax_params &p, int row, int columns, int at,
                                                  const uint32_t (&words)[VECTORS][WORDS], const struct row_terms &t,
                                                  float finish) {
#pragma unroll
    for (int i = 0; i < VECTORS; i += CHUNKS)
        if (at + i * STEP < columns)
            store_unit(p, row, columns, at + i * STEP, words + i, t, finish);
}

/* A greedy row: 1 in one column, 0 in all others, or NaN where the largest element is NaN. */
template <class Ctas>
static __device__ __forceinline__ void store_one_hot(const struct gm_softmax_params &p, int row, int columns,
                                                     float largest, int column) {
    const bool is_log = asks_for(p, GM_SOFTMAX_LOG);
    const float hit = is_log ? 0.0f : 1.0f, rest = largest != largest ? largest : is_log ? -GM_INFINITY : 0.0f;
#pragma unroll 1
    for (int tile = first_element<Ctas>(); tile < columns; tile += TILE)
#pragma unroll 1
        for (int at = tile; at < tile + VECTORS * STEP && at < columns; at += STEP) {
            float v[CHUNK];
#pragma unroll
            for (int i = 0; i < CHUNK; ++i)
                v[i] = at + i == column ? hit : rest;
            store_values<CHUNK>(p, row, columns, at, v);
        }
}

/* The logarithm of the sum of all exponentials: of an infinite maximum it is that, as torch.logsumexp has it. */
template <class Ctas>
static __device__ __forceinline__ void store_lse(const struct gm_softmax_params &p, int row, int columns,
                                                 const struct row_terms &t, float largest, float log_sum) {
    if (!p.lse || columns == 0 || Ctas::rank() != 0 || thread_index() % ROW_THREADS != 0)
        return;
    float lse = t.is_greedy ? t.shift : fmaf(t.shift, t.inverse_temperature, log_sum);
    if (fabsf(largest) == GM_INFINITY && !(CAPS && asks_for(p, GM_SOFTMAX_CAPPED)))
        lse = largest;
    st_global_b32(p.lse + (int64_t)row * 4, __float_as_uint(lse));
}

/* What the second half of a row needs of the first. */
template <class Ctas>
static __device__ __forceinline__ float finish_row(const struct gm_softmax_params &p, int row, int columns,
                                                   float largest, uint32_t in_total, struct row_terms &t) {
    const float sum = __uint_as_float(in_total), log_sum = logf(sum);
    store_lse<Ctas>(p, row, columns, t, largest, log_sum);
    if (t.is_greedy)
        store_one_hot<Ctas>(p, row, columns, largest, (int)in_total);
    if (asks_for(p, GM_SOFTMAX_LOG))
        t.factor = t.inverse_temperature;
    return asks_for(p, GM_SOFTMAX_LOG) ? -log_sum : inverse_of(sum);
}

/* ---- rows that stay in registers --------------------------------------------------------------------- */

/* The CTA's part of a row that another CTA has later comes to L2 while this one is reduced. */
template <class Ctas> static __device__ __forceinline__ void prefetch_row(const struct gm_softmax_params &p, int row) {
    const int first = Ctas::rank() * WARPS * VECTORS * STEP, count = min(p.columns - first, WARPS * VECTORS * STEP);
    const int next = row + p.rows_ahead;
    if (WARPS > 1 && VECTOR_BYTES == 16 && thread_index() == 0 && next > row && next < p.rows && count > 0)
        prefetch_bulk_l2(element_of(p.x, p.x_pitch, next, first, ELEM_BYTES), count * ELEM_BYTES);
}

template <class Ctas>
static __device__ __forceinline__ void hold_row(const struct gm_softmax_params &p, int row, int columns,
                                                float temperature) {
    int at = first_element<Ctas>();
    uint32_t words[VECTORS][WORDS];
    load_tile(p, row, columns, at, words);
    prefetch_row<Ctas>(p, row);
    const float largest = largest_in_row<Ctas>(largest_of(-GM_INFINITY, words));
    keep_packed(words, at);
    struct row_terms t = terms_of(p, temperature, largest);
    uint32_t all = total_of_tile(p, columns, at, words, largest, t);
    if (SLOTS > 1) {
        Ctas::share(SLOTS + Ctas::rank() * WARPS + thread_index() / 32, all);
        Ctas::meet();
        all = merged_slots<SLOTS>(row_slots + SLOTS, SLOTS, total{t.is_greedy});
    }
    const float finish = finish_row<Ctas>(p, row, columns, largest, all, t);
    keep_packed(words, at);
    if (!t.is_greedy)
        store_tile(p, row, columns, at, words, t, finish);
}

/* ---- rows that are read three times ------------------------------------------------------------------ */

static __device__ __forceinline__ float largest_of_tiles(const struct gm_softmax_params &p, int row, int columns) {
    uint32_t words[VECTORS][WORDS];
    float largest = -GM_INFINITY;
#pragma unroll 1
    for (int at = first_element<struct lone_cta>(); at < columns; at += TILE) {
        load_tile(p, row, columns, at, words);
        largest = largest_of(largest, words);
    }
    return largest_in_row<struct lone_cta>(largest);
}

/* The tiles of a block become slots; all are added up when they are there. */
static __device__ __forceinline__ uint32_t total_of_block(const struct gm_softmax_params &p, int row, int columns,
                                                          int block, float largest, const struct row_terms &t) {
    const int tiles = (min(columns - block, (int)BLOCK) + TILE - 1) / TILE;
    uint32_t words[VECTORS][WORDS];
#pragma unroll 1
    for (int tile = 0; tile < tiles; ++tile) {
        const int at = block + tile * TILE + first_element<struct lone_cta>();
        load_tile(p, row, columns, at, words);
        const uint32_t warp = total_of_tile(p, columns, at, words, largest, t);
        lone_cta::share(SLOTS + tile * WARPS + thread_index() / 32, warp);
    }
    __syncthreads();
    return merged_slots<BLOCK_SLOTS>(row_slots + SLOTS, tiles * WARPS, total{t.is_greedy});
}

static __device__ __forceinline__ void stream_row(const struct gm_softmax_params &p, int row, int columns,
                                                  float temperature) {
    const float largest = largest_of_tiles(p, row, columns);
    struct row_terms t = terms_of(p, temperature, largest);
    const struct total merge = {t.is_greedy};
    uint32_t words[VECTORS][WORDS], all = merge.nothing();
#pragma unroll 1
    for (int block = 0; block < columns; block += BLOCK) {
        if (block > 0)
            __syncthreads(); /* the slots of the block before are read */
        all = merge(all, total_of_block(p, row, columns, block, largest, t));
    }
    const float finish = finish_row<struct lone_cta>(p, row, columns, largest, all, t);
#pragma unroll 1
    for (int at = first_element<struct lone_cta>(); at < columns && !t.is_greedy; at += TILE) {
        load_tile(p, row, columns, at, words);
        store_tile(p, row, columns, at, words, t, finish);
    }
}

/* All rows, a CTA's share of them with a grid of fewer CTAs than would take a row each. The lanes of a warp stay together:
 * beyond the last row they have rows of no columns. */
template <class Ctas> static __device__ __forceinline__ void softmax(const struct gm_softmax_params &p) {
    const int in_cta = thread_index() / ROW_THREADS, in_warp = in_cta % (ROW_THREADS < 32 ? 32 / ROW_THREADS : 1);
    const int rows = p.row_count ? min(p.rows, (int)ld_global_b32(p.row_count)) : p.rows;
    const int64_t step = (int64_t)(gridDim.x / ROW_CTAS) * ROWS;
#pragma unroll 1
    for (int64_t row = (int64_t)(cta_index() / ROW_CTAS) * ROWS + in_cta; row - in_warp < rows; row += step) {
        const bool exists = ROW_THREADS >= 32 || row < rows;
        float temperature = p.temperature;
        if (p.temperatures && exists)
            temperature = __uint_as_float(ld_global_b32(p.temperatures + row * 4));
        if (PASSES == 1)
            hold_row<Ctas>(p, (int)row, exists ? p.columns : 0, temperature);
        else
            stream_row(p, (int)row, p.columns, temperature);
    }
}

#endif
