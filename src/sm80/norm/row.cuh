/* SPDX-License-Identifier: Apache-2.0 */
/* The chunks of a row as they are normalised: x, or its sum with the residual. */
#ifndef GM_SM80_NORM_ROW_CUH
#define GM_SM80_NORM_ROW_CUH

#include "sm80/norm/shape.cuh"

static __device__ __forceinline__ void combine(const struct gm_norm_params &p, const uint32_t (&x)[WORDS],
                                               const uint32_t (&residual)[WORDS], float (&v)[CHUNK]) {
    unpack<TYPE, CHUNK>(x, v);
    if (p.flags & GM_NORM_HAS_RESIDUAL) {
        float r[CHUNK];
        unpack<TYPE, CHUNK>(residual, r);
#pragma unroll
        for (int i = 0; i < CHUNK; ++i)
            v[i] += r[i];
#pragma unroll
        for (int i = 0; i < CHUNK && p.flags & GM_NORM_ROUNDS_SUM; i += PER_WORD)
            round_word<TYPE, CHUNK>(v + i);
    }
}

/* The chunk at element `at` of a row of x, the first of which is at `x_base`. */
static __device__ __forceinline__ void load_sum(const struct gm_norm_params &p, uint64_t x_base, int row, int at,
                                                float (&v)[CHUNK]) {
    uint32_t x[WORDS], residual[WORDS] = {};
    load<TYPE, CHUNK>(x, element_of(x_base, p.x_pitch, row, at), true);
    if (p.flags & GM_NORM_HAS_RESIDUAL)
        load<TYPE, CHUNK>(residual, element_of(p.residual, p.residual_pitch, row, at), true);
    combine(p, x, residual, v);
}

/* The chunks that stay in registers: all of them are on their way before the first is waited for. Behind the row's end are
 * zeros. */
static __device__ __forceinline__ void load_held(const struct gm_norm_params &p, uint64_t x_base, int row, int columns,
                                                 float (&v)[VECTORS][CHUNK]) {
    uint32_t x[VECTORS][WORDS], residual[VECTORS][WORDS] = {};
#pragma unroll
    for (int i = 0; i < VECTORS; ++i) {
        const int at = first_element() + i * step_of(p);
        load<TYPE, CHUNK>(x[i], element_of(x_base, p.x_pitch, row, at), at < columns);
    }
    if (p.flags & GM_NORM_HAS_RESIDUAL) {
#pragma unroll
        for (int i = 0; i < VECTORS; ++i) {
            const int at = first_element() + i * step_of(p);
            load<TYPE, CHUNK>(residual[i], element_of(p.residual, p.residual_pitch, row, at), at < columns);
        }
    }
#pragma unroll
    for (int i = 0; i < VECTORS; ++i)
        combine(p, x[i], residual[i], v[i]);
}

/* A row that another CTA has later comes to L2, by one thread. */
static __device__ __forceinline__ void prefetch_row(const struct gm_norm_params &p, int row) {
    const int64_t next = (int64_t)row + p.rows_ahead;
    if (!IS_OPEN || p.rows_ahead == 0 || next >= p.rows || thread_index() != 0)
        return;
    prefetch_bulk_l2(element_of(p.x, p.x_pitch, (int)next, 0), p.columns * ELEM_BYTES);
    if (p.flags & GM_NORM_HAS_RESIDUAL)
        prefetch_bulk_l2(element_of(p.residual, p.residual_pitch, (int)next, 0), p.columns * ELEM_BYTES);
}

/* What does not stay in registers comes to L2 meanwhile: then it is read from there, a chunk at a time. */
static __device__ __forceinline__ void prefetch_rest(const struct gm_norm_params &p, int row, int columns) {
#pragma unroll 1
    for (int at = first_element() + VECTORS * step_of(p); at < columns; at += step_of(p)) {
        prefetch_global_l2(element_of(p.x, p.x_pitch, row, at));
        if (p.flags & GM_NORM_HAS_RESIDUAL)
            prefetch_global_l2(element_of(p.residual, p.residual_pitch, row, at));
    }
}

/* Stores what is normalised to the residual, if there is one. */
static __device__ __forceinline__ void store_sum(const struct gm_norm_params &p, int row, int at,
                                                 const float (&v)[CHUNK]) {
    uint32_t words[WORDS];
    if (p.flags & GM_NORM_HAS_RESIDUAL) {
        pack<TYPE, CHUNK>(v, words);
        store<TYPE, CHUNK>(element_of(p.residual, p.residual_pitch, row, at), words);
    }
}

#endif
