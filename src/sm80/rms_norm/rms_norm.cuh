/* SPDX-License-Identifier: Apache-2.0 */
/* RMSNorm: out = x * rsqrt(mean(x^2) + eps) * (weight_offset + weight) of every head of every row, x + residual instead of x
 * where a residual is given. One registry row per compilation; rms_norm.cu of each architecture is the entry.
 *
 * sm80/norm/ has who shares a row, its chunks, its sums and the weight. What does not stay in registers is read twice: for the
 * sum of squares, and to be stored. No byte outside the rows is read or written. */
#ifndef GM_SM80_RMS_NORM_CUH
#define GM_SM80_RMS_NORM_CUH

#include "common/makes_tokens.h"

#if GM_MAKES == GM_MAKES_any

#include "sm80/norm/any.cuh"

typedef struct gm_norm_any_params norm_params;
enum { CTAS = 1024 / THREADS }; /* on an SM, at least */

static __device__ __forceinline__ void rms_norm(const norm_params &p) {
    normalize_rows<false>(p);
}

#else

#include "sm80/norm/row.cuh"
#include "sm80/norm/shape.cuh"
#include "sm80/norm/sums.cuh"
#include "sm80/norm/vector.cuh"

typedef struct gm_norm_params norm_params;
enum {
    CTAS = GM_NORM_CTAS(THREADS, VECTORS, VECTOR_BYTES, 1), /* on an SM */
    TAKES_HEADS = GM_NORM_TAKES_HEADS(ROW_THREADS, VECTORS, VECTOR_BYTES),
};

/* A head of the first row; found anew wherever it is asked for. The pitch is not negative: signs would take registers. */
static __device__ __forceinline__ uint64_t head_of(uint64_t base, int64_t head_pitch, int head) {
    return TAKES_HEADS ? base + (uint32_t)head * (uint64_t)head_pitch : base;
}

static __device__ __forceinline__ float sum_of_squares(float sum, const float (&v)[CHUNK]) {
#pragma unroll
    for (int i = 0; i < CHUNK; ++i)
        sum = fmaf(v[i], v[i], sum);
    return sum;
}

static __device__ __forceinline__ void load_weight(const struct gm_norm_params &p, int at, int columns,
                                                   uint32_t (&words)[WORDS]) {
    load_vector(p.weight, !(p.flags & GM_NORM_WIDE_WEIGHT), at, columns, words);
}

/* Stores a chunk: what is normalised to the residual, if there is one, and its product with scale and weight to out. */
static __device__ __forceinline__ void store_normalized(const struct gm_norm_params &p, int head, int row, int at,
                                                        float (&v)[CHUNK], float scale,
                                                        const uint32_t (&weight)[WORDS]) {
    uint32_t words[WORDS];
    store_sum(p, row, at, v);
#pragma unroll
    for (int i = 0; i < WORDS; ++i) {
        float *const pair = v + i * PER_WORD, factors[PER_WORD];
        vector_of(p.weight, p.flags & GM_NORM_WIDE_WEIGHT, weight[i], at + i * PER_WORD, factors);
#pragma unroll
        for (int j = 0; j < PER_WORD; ++j)
            factors[j] += p.weight_offset;
#pragma unroll
        for (int j = 0; j < PER_WORD; ++j)
            pair[j] *= scale;
        if (p.flags & GM_NORM_ROUNDS_NORMALIZED)
            round_word<TYPE, CHUNK>(pair);
#pragma unroll
        for (int j = 0; j < PER_WORD; ++j)
            pair[j] *= factors[j];
        words[i] = pack_word<TYPE, CHUNK>(pair);
    }
    store<TYPE, CHUNK>(element_of(head_of(p.out, p.out_head_pitch, head), p.out_pitch, row, at), words);
}

/* The chunks that stay in registers, with their part of the weight. */
struct held {
    float v[VECTORS][CHUNK];
    uint32_t weight[VECTORS][WORDS];
};

static __device__ __forceinline__ void store_held(const struct gm_norm_params &p, int head, int row, int columns,
                                                  struct held &held, float scale) {
#pragma unroll
    for (int i = 0; i < VECTORS; ++i) {
        const int at = first_element() + i * step_of(p);
        if (at >= columns)
            break;
        if (!PRELOADS && i == 0)
            load_weight(p, at, columns, held.weight[0]);
        if (!PRELOADS && i + 1 < VECTORS) /* under way while this chunk is stored */
            load_weight(p, at + step_of(p), columns, held.weight[i + 1]);
        store_normalized(p, head, row, at, held.v[i], scale, held.weight[i]);
    }
}

/* Sum of squares of what does not stay in registers. */
static __device__ __forceinline__ float sum_rest(const struct gm_norm_params &p, int head, int row, int columns,
                                                 float sum) {
    float v[CHUNK];
#pragma unroll 1
    for (int at = first_element() + VECTORS * step_of(p); at < columns; at += step_of(p)) {
        load_sum(p, head_of(p.x, p.x_head_pitch, head), row, at, v);
        sum = sum_of_squares(sum, v);
    }
    return sum;
}

static __device__ __forceinline__ void store_rest(const struct gm_norm_params &p, int head, int row, int columns,
                                                  float scale) {
    float v[CHUNK];
    uint32_t weight[WORDS];
#pragma unroll 1
    for (int at = first_element() + VECTORS * step_of(p); at < columns; at += step_of(p)) {
        load_sum(p, head_of(p.x, p.x_head_pitch, head), row, at, v);
        load_weight(p, at, columns, weight);
        store_normalized(p, head, row, at, v, scale, weight);
    }
}

static __device__ __forceinline__ void normalize_row(const struct gm_norm_params &p, int head, int row, int columns,
                                                     int turn) {
    struct held held;
    float sums[CHAINS] = {};
    if (PASSES == 2 && IS_OPEN)
        prefetch_rest(p, row, columns);
    prefetch_row(p, row);
    load_held(p, head_of(p.x, p.x_head_pitch, head), row, columns, held.v);
#pragma unroll
    for (int i = 0; i < VECTORS && PRELOADS; ++i)
        load_weight(p, first_element() + i * step_of(p), columns, held.weight[i]);
#pragma unroll
    for (int i = 0; i < VECTORS; ++i)
        sums[i % CHAINS] = sum_of_squares(sums[i % CHAINS], held.v[i]);
    if (PASSES == 2)
        sums[0] = sum_rest(p, head, row, columns, sums[0]);
    const float scale = rsqrtf(fmaf(reduce_row(p, sums, turn), p.inverse_columns, p.eps));
    store_held(p, head, row, columns, held, scale);
    if (PASSES == 2)
        store_rest(p, head, row, columns, scale);
}

/* The heads of the rows are the second dimension of the grid, or a CTA takes several. */
static __device__ __forceinline__ void rms_norm(const struct gm_norm_params &p) {
    const int first = TAKES_HEADS ? blockIdx.y : 0, heads = TAKES_HEADS ? p.heads : 1;
    int turn = 0;
#pragma unroll 1
    for (int head = first; head < heads; head += TAKES_HEADS ? gridDim.y : 1)
        for_each_row(p, turn, [&](int row, int columns, int turn) { normalize_row(p, head, row, columns, turn); });
}

#endif

#endif
