/* SPDX-License-Identifier: Apache-2.0 */
/* Histograms of all elements of x [rows, columns], or of each row. One registry row per compilation; histogram.cu of each
 * architecture is the entry.
 *
 *   a slice    the bins whose counts one CTA keeps in its shared memory; all of them, up to what that holds
 *   a part     the elements that one CTA counts; every slice's CTAs read all parts, at the same time, from L2
 *   counts.cuh has the counts, walk.cuh the elements, results.cuh what becomes of the counts
 *
 * The grid has p.row_blocks histograms at a time, each of p.parts parts of p.slices slices. Counts are of 32 bits within a
 * slab, and then added to those in global memory. */
#ifndef GM_SM80_HISTOGRAM_CUH
#define GM_SM80_HISTOGRAM_CUH

#include "sm80/histogram/results.cuh"
#include "sm80/histogram/walk.cuh"

/* Rows of some bytes at an address: those of one histogram. */
struct extent {
    uint64_t base;
    int64_t rows, row_bytes;
    int slab_rows;
};

static __device__ __forceinline__ struct extent extent_of(const struct gm_histogram_params &p, int row, int rows) {
    if (p.of_rows)
        return {p.x + row * p.pitch, 1, p.row_bytes, 1};
    if (p.is_packed)
        return {p.x, 1, rows * p.row_bytes, 1};
    return {p.x, rows, p.row_bytes, p.slab_rows};
}

#define SLAB_BYTES ((int64_t)GM_HISTOGRAM_SLAB * CHUNK_BYTES)

/* A CTA's part and slice of one histogram, slab by slab. */
static __device__ __forceinline__ void count_extent(const struct gm_histogram_params &p, const struct extent &e,
                                                    const struct slice &s, const struct place &place,
                                                    struct result &r) {
    int64_t row = 0, byte = 0;
#pragma unroll 1
    for (;;) {
        const uint32_t rows = (uint32_t)min(e.rows - row, (int64_t)e.slab_rows);
        count_slab(p, slab_of(p, e.base + row * p.pitch + byte, min(e.row_bytes - byte, SLAB_BYTES), rows), s, place);
        byte += SLAB_BYTES;
        if (byte >= e.row_bytes) {
            byte = 0;
            row += e.slab_rows;
        }
        if (r.is_awaited)
            await_cleared(p, r);
        give_counts(p, s, r);
        __syncthreads();
        if (row >= e.rows)
            return;
        r.is_stored = false;
        clear_counts(p);
    }
}

static __device__ __forceinline__ void count_part(const struct gm_histogram_params &p, int row, int rows, int part,
                                                  int slice) {
    const struct slice s = slice_of(p, slice);
    const struct place place = {(uint32_t)(part * thread_count() + thread_index()),
                                (uint32_t)(p.parts * thread_count())};
    struct result r = result_of(p, s, row, slice);
    const bool is_shared = r.is_awaited;
    if (is_shared && part == 0)
        clear_result(p, s, r);
    count_extent(p, extent_of(p, row, rows), s, place, r);
    if (is_shared)
        pass_turn(p, r);
}

/* Its counts are clear when it begins. */
static __device__ __forceinline__ void histogram(const struct gm_histogram_params &p) {
    const int rows = p.row_count ? max(0, min(p.rows, (int)ld_global_b32(p.row_count))) : p.rows;
    const int slice = cta_index() % p.slices, part = cta_index() / p.slices % p.parts;
    const int64_t first = cta_index() / p.slices / p.parts, results = p.of_rows ? rows : 1;
#pragma unroll 1
    for (int64_t row = first; row < results; row += p.row_blocks) {
        if (row != first)
            clear_counts(p);
        count_part(p, (int)row, rows, part, slice);
    }
}

#endif
