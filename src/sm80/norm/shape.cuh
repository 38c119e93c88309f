/* SPDX-License-Identifier: Apache-2.0 */
/* How threads share the rows that they normalise: parameters (the registry row) and what follows from them.
 *
 *   ROW_THREADS threads share a row: some lanes of a warp, with several rows in a CTA, or the whole CTA; CTAs of 16-byte
 *   chunks are launched with as many threads as the row has chunks for, ROW_THREADS at most: row_threads()
 *   a chunk is VECTOR_BYTES of neighbouring elements, one load; thread t has chunks t, t + row_threads(), ...
 *   the first VECTORS chunks of a thread stay in registers from the first sum to the store: x is read once
 *   the chunks of longer rows are read again by every pass over the row, where PASSES is 2; else no row is longer
 *
 * A row is a whole number of chunks: other rows have chunks of one element. */
#ifndef GM_SM80_NORM_SHAPE_CUH
#define GM_SM80_NORM_SHAPE_CUH

#include "common/elements.cuh"
#include "common/index.cuh"
#include "common/norm.h"
#include "common/makes_tokens.h"

enum {
    TYPE = GM_TYPE,
    ELEM_BYTES = GM_TYPE_BYTES(TYPE),
    THREADS = GM_THREADS,
    ROW_THREADS = GM_ROW_THREADS,
    VECTORS = GM_VECTORS, /* chunks of a thread that stay in registers */
    VECTOR_BYTES = GM_VECTOR_BYTES,
    PASSES = GM_PASSES,
    CHUNK = VECTOR_BYTES / ELEM_BYTES,   /* elements */
    WORDS = GM_WORDS(TYPE, CHUNK),       /* 32-bit registers of a chunk */
    PER_WORD = GM_PER_WORD(TYPE, CHUNK), /* elements */
    ROWS = THREADS / ROW_THREADS,        /* of a CTA, at a time */
    IS_OPEN = GM_NORM_IS_OPEN(ROW_THREADS, VECTOR_BYTES),
};
static_assert((ROW_THREADS <= 32 && 32 % ROW_THREADS == 0) || ROW_THREADS == THREADS, "a row is a warp's or the CTA's");
static_assert(VECTOR_BYTES == 16 || VECTOR_BYTES == ELEM_BYTES, "chunks of 16 bytes, or of one element");

/* Read anew wherever it is asked for, as the number of the thread is. */
static __device__ __forceinline__ int row_threads(const struct gm_norm_params &p) {
    return GM_MAKES == GM_MAKES_any ? p.row_threads : IS_OPEN ? cta_threads() : ROW_THREADS;
}

/* Elements between two chunks of a thread. */
static __device__ __forceinline__ int step_of(const struct gm_norm_params &p) {
    return row_threads(p) * CHUNK;
}

/* Address of element `at` of a row; found anew wherever it is asked for, which costs no register meanwhile. */
static __device__ __forceinline__ uint64_t element_of(uint64_t base, int64_t pitch, int row, int at) {
    return base + row * pitch + (int64_t)at * ELEM_BYTES;
}

/* The first element of this thread's in a row. */
static __device__ __forceinline__ int first_element(void) {
    return thread_index() % ROW_THREADS * CHUNK;
}

/* Numbers a row and those a grid behind it. Where a CTA has one row, 32 bits hold the last one and a grid more. */
#if GM_THREADS == GM_ROW_THREADS
typedef uint32_t row_number;
static_assert(ROWS == 1, "32 bits hold a row and a grid of CTAs");
#else
typedef int64_t row_number;
#endif

/* All rows, a CTA's share of them with a grid of fewer CTAs than would take a row each. The lanes of a warp stay together:
 * beyond the last row they have rows of no columns. `turn` alternates from row to row, and goes on where it was. */
template <class NormalizeRow>
static __device__ __forceinline__ void for_each_row(const struct gm_norm_params &p, int &turn,
                                                    NormalizeRow normalize_row) {
    const int in_cta = VECTOR_BYTES < 16 ? 0 : thread_index() / ROW_THREADS;
    const int in_warp = in_cta % (ROW_THREADS < 32 ? 32 / ROW_THREADS : 1);
    const int rows = p.row_count ? min(p.rows, (int)ld_global_b32(p.row_count)) : p.rows;
#pragma unroll 1
    for (row_number row = (row_number)cta_index() * ROWS + in_cta; (int64_t)row - in_warp < rows;
         row += (row_number)gridDim.x * ROWS) {
        normalize_row((int)row, ROW_THREADS < 32 && row >= rows ? 0 : p.columns, turn);
        turn ^= 1;
    }
}

#endif
