/* SPDX-License-Identifier: Apache-2.0 */
/* LayerNorm: out = (x - mean) * rsqrt(variance + eps) * (weight_offset + weight) + bias of every row, x + residual instead of x
 * where a residual is given. One registry row per compilation; layer_norm.cu of each architecture is the entry.
 *
 * sm80/norm/ has who shares a row, its chunks, its sums, weight and bias. The row is summed up twice: for the mean, and then for
 * the squares of the differences to it. What does not stay in registers is read three times: for either sum, and to be stored.
 * No byte outside the rows is read or written. */
#ifndef GM_SM80_LAYER_NORM_CUH
#define GM_SM80_LAYER_NORM_CUH

#include "common/makes_tokens.h"

#if GM_MAKES == GM_MAKES_any

#include "sm80/norm/any.cuh"

typedef struct gm_norm_any_params norm_params;
enum { CTAS = 1024 / THREADS }; /* on an SM, at least */

static __device__ __forceinline__ void layer_norm(const norm_params &p) {
    normalize_rows<true>(p);
}

#else

#include "sm80/norm/row.cuh"
#include "sm80/norm/shape.cuh"
#include "sm80/norm/sums.cuh"
#include "sm80/norm/vector.cuh"

typedef struct gm_norm_params norm_params;
enum { CTAS = GM_NORM_CTAS(THREADS, VECTORS, VECTOR_BYTES, 2) }; /* on an SM */

/* ---- the sums -------------------------------------------------------------------------------------- */

static __device__ __forceinline__ float sum_of(float sum, const float (&v)[CHUNK]) {
#pragma unroll
    for (int i = 0; i < CHUNK; ++i)
        sum += v[i];
    return sum;
}

static __device__ __forceinline__ float sum_of_squares(float sum, const float (&v)[CHUNK]) {
#pragma unroll
    for (int i = 0; i < CHUNK; ++i)
        sum = fmaf(v[i], v[i], sum);
    return sum;
}

/* NOTE: not joined with the product that the mean is, or variants would differ. */
static __device__ __forceinline__ void subtract(float (&v)[CHUNK], float mean) {
#pragma unroll
    for (int i = 0; i < CHUNK; ++i)
        v[i] = __fsub_rn(v[i], mean);
}

/* Of all columns; behind the row's end are zeros, which change no sum. */
static __device__ __forceinline__ float mean_of_row(const struct gm_norm_params &p, int row, int columns,
                                                    const float (&v)[VECTORS][CHUNK]) {
    float sums[CHAINS] = {}, rest[CHUNK];
#pragma unroll
    for (int i = 0; i < VECTORS; ++i)
        sums[i % CHAINS] = sum_of(sums[i % CHAINS], v[i]);
#pragma unroll 1
    for (int at = first_element() + VECTORS * step_of(p); PASSES == 2 && at < columns; at += step_of(p)) {
        load_sum(p, p.x, row, at, rest);
        sums[0] = sum_of(sums[0], rest);
    }
    return __fmul_rn(reduce_row(p, sums, 0), p.inverse_columns);
}

/* Subtracts the mean from what stays in registers. The sum of squares is that of the columns: zeros behind the row's end
 * would count here. */
static __device__ __forceinline__ float squares_of_row(const struct gm_norm_params &p, int row, int columns,
                                                       float (&v)[VECTORS][CHUNK], float mean) {
    float sums[CHAINS] = {}, rest[CHUNK];
#pragma unroll
    for (int i = 0; i < VECTORS; ++i) {
        subtract(v[i], mean);
        if (first_element() + i * step_of(p) < columns)
            sums[i % CHAINS] = sum_of_squares(sums[i % CHAINS], v[i]);
    }
#pragma unroll 1
    for (int at = first_element() + VECTORS * step_of(p); PASSES == 2 && at < columns; at += step_of(p)) {
        load_sum(p, p.x, row, at, rest);
        subtract(rest, mean);
        sums[0] = sum_of_squares(sums[0], rest);
    }
    return reduce_row(p, sums, 1);
}

/* ---- weight, bias and the result ------------------------------------------------------------------- */

/* A chunk's part of the weight and of the bias; zeros of what there is not. */
struct vectors {
    uint32_t weight[WORDS], bias[WORDS];
};

static __device__ __forceinline__ void load_weight(const struct gm_norm_params &p, int at, int columns,
                                                   struct vectors &chunk) {
    load_vector(p.weight, p.weight && !(p.flags & GM_NORM_WIDE_WEIGHT), at, columns, chunk.weight);
}

static __device__ __forceinline__ void load_bias(const struct gm_norm_params &p, int at, int columns,
                                                 struct vectors &chunk) {
    load_vector(p.bias, p.bias && !(p.flags & GM_NORM_WIDE_BIAS), at, columns, chunk.bias);
}

/* Stores a chunk of out, of differences to the mean. */
static __device__ __forceinline__ void store_normalized(const struct gm_norm_params &p, int row, int at,
                                                        float (&v)[CHUNK], float scale, const struct vectors &chunk) {
    uint32_t words[WORDS];
#pragma unroll
    for (int i = 0; i < WORDS; ++i) {
        float *const pair = v + i * PER_WORD, factors[PER_WORD], biases[PER_WORD];
        vector_of(p.weight, p.flags & GM_NORM_WIDE_WEIGHT, chunk.weight[i], at + i * PER_WORD, factors);
        vector_of(p.bias, p.flags & GM_NORM_WIDE_BIAS, chunk.bias[i], at + i * PER_WORD, biases);
#pragma unroll
        for (int j = 0; j < PER_WORD; ++j)
            pair[j] *= scale;
        if (p.flags & GM_NORM_ROUNDS_NORMALIZED)
            round_word<TYPE, CHUNK>(pair);
#pragma unroll
        for (int j = 0; j < PER_WORD; ++j)
            pair[j] = fmaf(pair[j], factors[j] + p.weight_offset, biases[j]);
        words[i] = pack_word<TYPE, CHUNK>(pair);
    }
    store<TYPE, CHUNK>(element_of(p.out, p.out_pitch, row, at), words);
}

/* The chunks that stay in registers, with their part of the vectors. */
struct held {
    float v[VECTORS][CHUNK];
    struct vectors vectors[VECTORS];
};

/* What is normalised goes to the residual before the mean is subtracted: the sums are made while it is on its way. */
static __device__ __forceinline__ void store_held_sums(const struct gm_norm_params &p, int row, int columns,
                                                       const float (&v)[VECTORS][CHUNK]) {
#pragma unroll
    for (int i = 0; i < VECTORS && p.flags & GM_NORM_HAS_RESIDUAL; ++i) {
        const int at = first_element() + i * step_of(p);
        if (at < columns)
            store_sum(p, row, at, v[i]);
    }
}

static __device__ __forceinline__ void store_held(const struct gm_norm_params &p, int row, int columns,
                                                  struct held &held, float scale) {
#pragma unroll
    for (int i = 0; i < VECTORS; ++i) {
        const int at = first_element() + i * step_of(p);
        if (at >= columns)
            break;
        if (!PRELOADS && (IS_OPEN || i == 0))
            load_weight(p, at, columns, held.vectors[i]);
        if (!PRELOADS)
            load_bias(p, at, columns, held.vectors[i]);
        /* Under way while this chunk is stored, where registers hold it. */
        if (!PRELOADS && !IS_OPEN && i + 1 < VECTORS)
            load_weight(p, at + step_of(p), columns, held.vectors[i + 1]);
        store_normalized(p, row, at, held.v[i], scale, held.vectors[i]);
    }
}

static __device__ __forceinline__ void store_rest(const struct gm_norm_params &p, int row, int columns, float mean,
                                                  float scale) {
    float v[CHUNK];
    struct vectors vectors;
#pragma unroll 1
    for (int at = first_element() + VECTORS * step_of(p); at < columns; at += step_of(p)) {
        load_sum(p, p.x, row, at, v);
        load_weight(p, at, columns, vectors);
        load_bias(p, at, columns, vectors);
        store_sum(p, row, at, v);
        subtract(v, mean);
        store_normalized(p, row, at, v, scale, vectors);
    }
}

/* The two reductions of a row take turns: their sums lie apart. */
static __device__ __forceinline__ void normalize_row(const struct gm_norm_params &p, int row, int columns) {
    struct held held;
    if (PASSES == 2 && IS_OPEN)
        prefetch_rest(p, row, columns);
    prefetch_row(p, row);
    load_held(p, p.x, row, columns, held.v);
#pragma unroll
    for (int i = 0; i < VECTORS && PRELOADS; ++i) {
        load_weight(p, first_element() + i * step_of(p), columns, held.vectors[i]);
        load_bias(p, first_element() + i * step_of(p), columns, held.vectors[i]);
    }
    store_held_sums(p, row, columns, held.v);
    const float mean = mean_of_row(p, row, columns, held.v);
    const float squares = squares_of_row(p, row, columns, held.v, mean);
    const float scale = rsqrtf(fmaf(squares, p.inverse_columns, p.eps));
    store_held(p, row, columns, held, scale);
    if (PASSES == 2)
        store_rest(p, row, columns, mean, scale);
}

static __device__ __forceinline__ void layer_norm(const struct gm_norm_params &p) {
    int turn = 0;
    for_each_row(p, turn, [&](int row, int columns, int turn) { normalize_row(p, row, columns); });
}

#endif

#endif
