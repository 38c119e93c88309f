/* SPDX-License-Identifier: Apache-2.0 */
/* RMSNorm: out = x * rsqrt(mean(x^2) + eps) * (weight_offset + weight) of every row, x + residual instead of x where a
 * residual is given. One registry row per compilation; rms_norm.cu of each architecture is the entry.
 *
 *   ROW_THREADS threads share a row: some lanes of a warp, with several rows in a CTA, or the whole CTA
 *   a chunk is VECTOR_BYTES of neighbouring elements, one load; thread t has chunks t, t + ROW_THREADS, ...
 *   the first VECTORS chunks of a thread stay in registers from the sum of squares to the store: x is read once
 *   the chunks of longer rows are read twice, where PASSES is 2; else no row is longer
 *
 * A row is a whole number of chunks: other rows have chunks of one element.
 * Sums are of fp32, in an order that ROW_THREADS x VECTORS decides, and the type: a thread of more than two chunks keeps
 * CHAINS sums, as many threads with two chunks each would, and adds them up as these would be. So variants that hold as many
 * columns give the same bits, and the planner may choose among them by the number of rows: a row has the same bits whatever
 * rows are beside it. No byte outside the rows is read or written. */
#ifndef GM_SM80_RMS_NORM_CUH
#define GM_SM80_RMS_NORM_CUH

#include "common/elements.cuh"
#include "common/index.cuh"
#include "common/rms_norm/params.h"

/* ---- parameters (the registry row) and what follows from them -------------------------------------- */

enum {
    TYPE = GM_TYPE,
    ELEM_BYTES = GM_TYPE_BYTES(TYPE),
    THREADS = GM_THREADS,
    ROW_THREADS = GM_ROW_THREADS,
    VECTORS = GM_VECTORS, /* chunks of a thread that stay in registers */
    VECTOR_BYTES = GM_VECTOR_BYTES,
    PASSES = GM_PASSES,
    CHUNK = VECTOR_BYTES / ELEM_BYTES,                            /* elements */
    WORDS = GM_WORDS(TYPE, CHUNK),                                /* 32-bit registers of a chunk */
    PER_WORD = GM_PER_WORD(TYPE, CHUNK),                          /* elements */
    STEP = ROW_THREADS * CHUNK,                                   /* elements between two chunks of a thread */
    ROWS = THREADS / ROW_THREADS,                                 /* of a CTA, at a time */
    WARPS = (ROW_THREADS + 31) / 32,                              /* that share a row */
    CHAINS = VECTOR_BYTES == 16 && VECTORS > 2 ? VECTORS / 2 : 1, /* sums of a thread */
    SUMS = WARPS * CHAINS,                                        /* of a row, once the lanes are added up */
    PRELOADS = VECTORS <= 2, /* the weight comes with x; else registers would not hold it */
    CTAS = GM_RMS_NORM_CTAS(THREADS, VECTORS, VECTOR_BYTES), /* on an SM */
};
static_assert((ROW_THREADS <= 32 && 32 % ROW_THREADS == 0) || ROW_THREADS == THREADS, "a row is a warp's or the CTA's");
static_assert(VECTOR_BYTES == 16 || VECTOR_BYTES == ELEM_BYTES, "chunks of 16 bytes, or of one element");
static_assert(WARPS > 1 || CHAINS <= 2, "a warp adds up two sums at most");
static_assert(CHAINS == 1 || VECTORS % 2 == 0, "two chunks of every sum");
static_assert((SUMS & (SUMS - 1)) == 0 && SUMS <= 32, "one warp adds up the sums");

extern __shared__ float row_sums[]; /* [2][SUMS] */

/* ---- one row --------------------------------------------------------------------------------------- */

/* Address of element `at` of a row; found anew wherever it is asked for, which costs no register meanwhile. */
static __device__ __forceinline__ uint64_t element_of(uint64_t base, int64_t pitch, int row, int at) {
    return base + row * pitch + (int64_t)at * ELEM_BYTES;
}

/* The first element of this thread's in a row. */
static __device__ __forceinline__ int first_element(void) {
    return thread_index() % ROW_THREADS * CHUNK;
}

/* The chunk at element `at` as it is normalised: x, or its sum with the residual. */
static __device__ __forceinline__ void combine(const struct gm_rms_norm_params &p, const uint32_t (&x)[WORDS],
                                               const uint32_t (&residual)[WORDS], float (&v)[CHUNK]) {
    unpack<TYPE, CHUNK>(x, v);
    if (p.flags & GM_RMS_NORM_HAS_RESIDUAL) {
        float r[CHUNK];
        unpack<TYPE, CHUNK>(residual, r);
#pragma unroll
        for (int i = 0; i < CHUNK; ++i)
            v[i] += r[i];
#pragma unroll
        for (int i = 0; i < CHUNK && p.flags & GM_RMS_NORM_ROUNDS_SUM; i += PER_WORD)
            round_word<TYPE, CHUNK>(v + i);
    }
}

static __device__ __forceinline__ void load_sum(const struct gm_rms_norm_params &p, int row, int at,
                                                float (&v)[CHUNK]) {
    uint32_t x[WORDS], residual[WORDS] = {};
    load<TYPE, CHUNK>(x, element_of(p.x, p.x_pitch, row, at), true);
    if (p.flags & GM_RMS_NORM_HAS_RESIDUAL)
        load<TYPE, CHUNK>(residual, element_of(p.residual, p.residual_pitch, row, at), true);
    combine(p, x, residual, v);
}

/* Loads the chunks that stay in registers: all of them are on their way before the first is waited for. */
static __device__ __forceinline__ void load_held(const struct gm_rms_norm_params &p, int row, int columns,
                                                 float (&v)[VECTORS][CHUNK]) {
    uint32_t x[VECTORS][WORDS], residual[VECTORS][WORDS] = {};
#pragma unroll
    for (int i = 0; i < VECTORS; ++i) {
        const int at = first_element() + i * STEP;
        load<TYPE, CHUNK>(x[i], element_of(p.x, p.x_pitch, row, at), at < columns);
    }
    if (p.flags & GM_RMS_NORM_HAS_RESIDUAL) {
#pragma unroll
        for (int i = 0; i < VECTORS; ++i) {
            const int at = first_element() + i * STEP;
            load<TYPE, CHUNK>(residual[i], element_of(p.residual, p.residual_pitch, row, at), at < columns);
        }
    }
#pragma unroll
    for (int i = 0; i < VECTORS; ++i)
        combine(p, x[i], residual[i], v[i]);
}

static __device__ __forceinline__ float sum_of_squares(float sum, const float (&v)[CHUNK]) {
#pragma unroll
    for (int i = 0; i < CHUNK; ++i)
        sum = fmaf(v[i], v[i], sum);
    return sum;
}

/* Adds up over the threads of the row; all get the same sum. `turn` alternates from row to row, so that nobody still reads
 * the sums that a warp writes. */
static __device__ __forceinline__ float reduce_row(float (&sums)[CHAINS], int turn) {
#pragma unroll
    for (int bit = (ROW_THREADS < 32 ? ROW_THREADS : 32) / 2; bit > 0; bit /= 2)
#pragma unroll
        for (int i = 0; i < CHAINS; ++i)
            sums[i] += __shfl_xor_sync(0xffffffff, sums[i], bit);
    if (SUMS == 1)
        return sums[0];
    if (WARPS == 1) /* no more than two chains */
        return sums[0] + sums[CHAINS - 1];
    float *const all = row_sums + turn * SUMS;
    const int lane = thread_index() % 32;
#pragma unroll
    for (int i = 0; i < CHAINS; ++i)
        if (lane == 0)
            all[thread_index() / 32 + i * WARPS] = sums[i];
    __syncthreads();
    float sum = all[lane % SUMS];
#pragma unroll
    for (int bit = SUMS / 2; bit > 0; bit /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, bit);
    return sum;
}

/* ---- the weight and the result --------------------------------------------------------------------- */

/* weight_offset + weight of a word's elements, the first of which is number `at`. An fp32 weight beside a 16-bit type is
 * loaded here; `word` has any other. */
static __device__ __forceinline__ void factors_of(const struct gm_rms_norm_params &p, uint32_t word, int at,
                                                  float *factors) {
    uint32_t wide[2];
    if (!(p.flags & GM_RMS_NORM_WIDE_WEIGHT)) {
        unpack_word<TYPE, CHUNK>(word, factors);
    } else if (PER_WORD == 2) {
        ld_global_v2_b32(p.weight + (int64_t)at * 4, wide);
        factors[0] = __uint_as_float(wide[0]);
        factors[PER_WORD - 1] = __uint_as_float(wide[1]);
    } else {
        factors[0] = __uint_as_float(ld_global_b32(p.weight + (int64_t)at * 4));
    }
#pragma unroll
    for (int i = 0; i < PER_WORD; ++i)
        factors[i] += p.weight_offset;
}

static __device__ __forceinline__ void load_weight(const struct gm_rms_norm_params &p, int at, int columns,
                                                   uint32_t (&words)[WORDS]) {
    load<TYPE, CHUNK>(words, p.weight + (int64_t)at * ELEM_BYTES, !(p.flags & GM_RMS_NORM_WIDE_WEIGHT) && at < columns);
}

/* Stores a chunk: what is normalised to the residual, if there is one, and its product with scale and weight to out. */
static __device__ __forceinline__ void store_normalized(const struct gm_rms_norm_params &p, int row, int at,
                                                        float (&v)[CHUNK], float scale,
                                                        const uint32_t (&weight)[WORDS]) {
    uint32_t words[WORDS];
    if (p.flags & GM_RMS_NORM_HAS_RESIDUAL) {
        pack<TYPE, CHUNK>(v, words);
        store<TYPE, CHUNK>(element_of(p.residual, p.residual_pitch, row, at), words);
    }
#pragma unroll
    for (int i = 0; i < WORDS; ++i) {
        float *const pair = v + i * PER_WORD, factors[PER_WORD];
        factors_of(p, weight[i], at + i * PER_WORD, factors);
#pragma unroll
        for (int j = 0; j < PER_WORD; ++j)
            pair[j] *= scale;
        if (p.flags & GM_RMS_NORM_ROUNDS_NORMALIZED)
            round_word<TYPE, CHUNK>(pair);
#pragma unroll
        for (int j = 0; j < PER_WORD; ++j)
            pair[j] *= factors[j];
        words[i] = pack_word<TYPE, CHUNK>(pair);
    }
    store<TYPE, CHUNK>(element_of(p.out, p.out_pitch, row, at), words);
}

/* The chunks that stay in registers, with their part of the weight. */
struct held {
    float v[VECTORS][CHUNK];
    uint32_t weight[VECTORS][WORDS];
};

static __device__ __forceinline__ void store_held(const struct gm_rms_norm_params &p, int row, int columns,
                                                  struct held &held, float scale) {
#pragma unroll
    for (int i = 0; i < VECTORS; ++i) {
        const int at = first_element() + i * STEP;
        if (at >= columns)
            break;
        if (!PRELOADS && i == 0)
            load_weight(p, at, columns, held.weight[0]);
        if (!PRELOADS && i + 1 < VECTORS) /* under way while this chunk is stored */
            load_weight(p, at + STEP, columns, held.weight[i + 1]);
        store_normalized(p, row, at, held.v[i], scale, held.weight[i]);
    }
}

/* Sum of squares of what does not stay in registers. */
static __device__ __forceinline__ float sum_rest(const struct gm_rms_norm_params &p, int row, int columns, float sum) {
    float v[CHUNK];
#pragma unroll 1
    for (int at = first_element() + VECTORS * STEP; at < columns; at += STEP) {
        load_sum(p, row, at, v);
        sum = sum_of_squares(sum, v);
    }
    return sum;
}

static __device__ __forceinline__ void store_rest(const struct gm_rms_norm_params &p, int row, int columns,
                                                  float scale) {
    float v[CHUNK];
    uint32_t weight[WORDS];
#pragma unroll 1
    for (int at = first_element() + VECTORS * STEP; at < columns; at += STEP) {
        load_sum(p, row, at, v);
        load_weight(p, at, columns, weight);
        store_normalized(p, row, at, v, scale, weight);
    }
}

static __device__ __forceinline__ void normalize_row(const struct gm_rms_norm_params &p, int row, int columns,
                                                     int turn) {
    struct held held;
    float sums[CHAINS] = {};
    load_held(p, row, columns, held.v);
#pragma unroll
    for (int i = 0; i < VECTORS && PRELOADS; ++i)
        load_weight(p, first_element() + i * STEP, columns, held.weight[i]);
#pragma unroll
    for (int i = 0; i < VECTORS; ++i)
        sums[i % CHAINS] = sum_of_squares(sums[i % CHAINS], held.v[i]);
    if (PASSES == 2)
        sums[0] = sum_rest(p, row, columns, sums[0]);
    const float scale = rsqrtf(fmaf(reduce_row(sums, turn), p.inverse_columns, p.eps));
    store_held(p, row, columns, held, scale);
    if (PASSES == 2)
        store_rest(p, row, columns, scale);
}

/* All rows, a CTA's share of them with a grid of fewer CTAs than would take a row each. The lanes of a warp stay together:
 * beyond the last row they have rows of no columns. */
static __device__ __forceinline__ void rms_norm(const struct gm_rms_norm_params &p) {
    const int in_cta = thread_index() / ROW_THREADS, in_warp = in_cta % (ROW_THREADS < 32 ? 32 / ROW_THREADS : 1);
    const int rows = p.row_count ? min(p.rows, (int)ld_global_b32(p.row_count)) : p.rows;
    int turn = 0;
#pragma unroll 1
    for (int64_t row = (int64_t)cta_index() * ROWS + in_cta; row - in_warp < rows; row += (int64_t)gridDim.x * ROWS) {
        normalize_row(p, (int)row, ROW_THREADS < 32 && row >= rows ? 0 : p.columns, turn);
        turn ^= 1;
    }
}

#endif
