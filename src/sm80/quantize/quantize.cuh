/* SPDX-License-Identifier: Apache-2.0 */
/* Quantisers: out = x / scale in 8 bits, with a scale that is given, or is the largest size of those who share it by the
 * largest number of out's type. One registry row per compilation; quantize.cu of each architecture is the entry.
 *
 *   chunks   rows are cut into spans of 4, 8 or 16 chunks, those of a group where there are groups. Neighbouring lanes share a
 *            span, and each has VECTORS chunks of it, as far apart as there are lanes: what is found out for a place or a
 *            scale serves them all. A CTA takes as many spans as its threads, and the spans of all rows are numbered
 *   row      a CTA takes a row. The first VECTORS chunks of a thread stay in registers from the maximum to the store, and x
 *            is read once; the chunks of longer rows are read twice
 *   block    a CTA takes a block of 128 rows and columns, all of which stays in registers
 *
 * All loads of a thread are under way before the first is waited for. A maximum has the same bits in every order. The numbers
 * have 31 bits, so the rows of large operands come in slabs. */
#ifndef GM_SM80_QUANTIZE_CUH
#define GM_SM80_QUANTIZE_CUH

#include "sm80/quantize/chunk.cuh"

extern __shared__ uint32_t warp_most[]; /* [2][WARPS] */

/* The largest of all threads' numbers; all get it. `turn` alternates from call to call. */
static __device__ __forceinline__ uint32_t max_of_cta(uint32_t number, int turn) {
    return most_of_cta(number, warp_most + turn * WARPS, WARPS);
}

/* ---- chunks ---------------------------------------------------------------------------------------- */

/* Where a chunk is. */
struct place {
    int64_t row;
    int chunk; /* its number in the row */
    int count; /* elements from it to the row's end; 0 behind the last row */
};

static __device__ __forceinline__ struct place place_of(const struct gm_quantize_params &p, int64_t first_row,
                                                        uint32_t number, uint32_t chunks) {
    const uint32_t row = divide(number, p.row_units);
    const int chunk = (int)(number - row * p.row_units.divisor);
    return {first_row + row, chunk, number < chunks ? p.columns - chunk * CHUNK : 0};
}

/* The scale of a group, which the first of its lanes stores. Lanes whose chunks do not exist have zeros. */
static __device__ __forceinline__ float scale_group(const struct gm_quantize_params &p, const struct place &at,
                                                    int lane, int lanes, uint32_t most) {
    const float scale = scale_of(p, most_of_lanes(most, lanes));
    if (at.count > 0 && lane == 0)
        store_scale(p, at.row, at.chunk >> p.span_shift, scale);
    return scale;
}

/* `chunks` of the rows from first_row on, a CTA's share of them; returns `most` with their sizes. A scale of the whole tensor
 * is not looked at before x is under way. */
static __device__ __forceinline__ uint32_t quantize_slab(const struct gm_quantize_params &p, int64_t first_row,
                                                         uint32_t chunks, uint32_t given, uint32_t most) {
    const int lanes = (1 << p.span_shift) / VECTORS, lane = thread_index() & (lanes - 1), step = lanes * CHUNK;
#pragma unroll 1
    for (uint32_t tile = cta_index(); tile * (THREADS * VECTORS) < chunks; tile += gridDim.x) {
        const uint32_t span = tile * (THREADS * VECTORS) + (thread_index() - lane) * VECTORS;
        const struct place at = place_of(p, first_row, span + lane, chunks);
        const uint64_t x = p.x + at.row * p.x_pitch + (int64_t)at.chunk * (CHUNK * ELEM_BYTES);
        const uint64_t out = p.out + at.row * p.out_pitch + at.chunk * CHUNK;
        struct chunk c[VECTORS];
        uint32_t of_chunks = 0;
#pragma unroll
        for (int i = 0; i < VECTORS; ++i)
            c[i] = load_chunk(x + i * step * ELEM_BYTES, at.count - i * step);
#pragma unroll
        for (int i = 0; i < VECTORS; ++i)
            of_chunks = add_sizes(of_chunks, c[i]);
        of_chunks = size_bits(of_chunks);
        most = max(most, of_chunks);
        if (p.scaling == SCALE_AMAX_ONLY)
            continue;
        float scale = __uint_as_float(given);
        if (p.scaling == SCALE_GROUP)
            scale = scale_group(p, at, lane, lanes, of_chunks);
        const struct quotient_by by = by_scale(p, scale);
        const bool in_range = are_in_range(p, of_chunks, by);
#pragma unroll COPIES
        for (int i = 0; i < VECTORS; ++i)
            store_chunk(p, out + i * step, at.count - i * step, take(c), by, in_range);
    }
    return most;
}

static __device__ __forceinline__ void quantize_chunks(const struct gm_quantize_params &p, int64_t rows) {
    uint32_t scale = 0, most = 0;
    if (p.scaling == SCALE_STATIC)
        scale = ld_global_b32(p.scales);
#pragma unroll 1
    for (int64_t first = 0; first < rows; first += p.slab_rows)
        most = quantize_slab(p, first, (uint32_t)min(rows - first, (int64_t)p.slab_rows) * p.row_units.divisor, scale,
                             most);
    if (p.scaling != SCALE_AMAX_ONLY || rows <= 0)
        return;
    most = max_of_cta(most, 0);
    if (thread_index() == 0)
        red_max_gpu_u32(p.scales, __float_as_uint(scale_of(p, most)));
}

/* ---- a row ----------------------------------------------------------------------------------------- */

static __device__ __forceinline__ void quantize_row(const struct gm_quantize_params &p, int64_t row, int turn) {
    enum { STEP = THREADS * CHUNK, HELD = VECTORS * STEP };
    const int first = thread_index() * CHUNK;
    const uint64_t x = p.x + row * p.x_pitch, out = p.out + row * p.out_pitch;
    struct chunk c[VECTORS];
    uint32_t most = 0;
#pragma unroll
    for (int i = 0; i < VECTORS; ++i)
        c[i] = load_chunk(x + (first + i * STEP) * ELEM_BYTES, p.columns - first - i * STEP);
#pragma unroll
    for (int i = 0; i < VECTORS; ++i)
        most = add_sizes(most, c[i]);
#pragma unroll 1
    for (int at = first + HELD; at < p.columns; at += STEP)
        most = add_sizes(most, load_chunk(x + (int64_t)at * ELEM_BYTES, p.columns - at));
    const float scale = scale_of(p, max_of_cta(size_bits(most), turn));
    const struct quotient_by by = by_scale(p, scale);
    if (thread_index() == 0)
        store_scale(p, row, 0, scale);
#pragma unroll
    for (int i = 0; i < VECTORS && COPIES > 1; ++i)
        store_chunk(p, out + first + i * STEP, p.columns - first - i * STEP, c[i], by, true);
#pragma unroll 1
    for (int at = COPIES > 1 ? first + HELD : first; at < p.columns; at += STEP) {
        struct chunk next = {};
        if (COPIES == 1)
            next = take(c);
        if (COPIES > 1 || at >= HELD)
            next = load_chunk(x + (int64_t)at * ELEM_BYTES, p.columns - at);
        store_chunk(p, out + at, p.columns - at, next, by, true);
    }
}

static __device__ __forceinline__ void quantize_rows(const struct gm_quantize_params &p, int64_t rows) {
    int turn = 0;
#pragma unroll 1
    for (int64_t row = cta_index(); row < rows; row += gridDim.x) {
        quantize_row(p, row, turn);
        turn ^= 1;
    }
}

/* ---- a block --------------------------------------------------------------------------------------- */

/* `down` and `across`: the number of the block in its column and in its row. */
static __device__ __forceinline__ void quantize_block(const struct gm_quantize_params &p, int64_t rows, int64_t down,
                                                      int across, int turn) {
    enum { ROW_CHUNKS = QUANTIZE_BLOCK / CHUNK, STEP = THREADS / ROW_CHUNKS };
    const int64_t first = down * QUANTIZE_BLOCK + thread_index() / ROW_CHUNKS;
    const int column = across * QUANTIZE_BLOCK + thread_index() % ROW_CHUNKS * CHUNK, left = p.columns - column;
    const uint64_t x = p.x + first * p.x_pitch + (int64_t)column * ELEM_BYTES;
    const uint64_t out = p.out + first * p.out_pitch + column;
    struct chunk c[VECTORS];
    uint32_t most = 0;
#pragma unroll
    for (int i = 0; i < VECTORS; ++i)
        c[i] = load_chunk(x + i * STEP * p.x_pitch, first + i * STEP < rows ? left : 0);
#pragma unroll
    for (int i = 0; i < VECTORS; ++i)
        most = add_sizes(most, c[i]);
    const float scale = scale_of(p, max_of_cta(size_bits(most), turn));
    const struct quotient_by by = by_scale(p, scale);
    if (thread_index() == 0)
        store_scale(p, down, across, scale);
#pragma unroll COPIES
    for (int i = 0; i < VECTORS; ++i)
        store_chunk(p, out + i * STEP * p.out_pitch, first + i * STEP < rows ? left : 0, take(c), by, true);
}

static __device__ __forceinline__ void quantize_blocks(const struct gm_quantize_params &p, int64_t rows) {
    const int64_t block_rows = (rows + QUANTIZE_BLOCK - 1) / QUANTIZE_BLOCK;
    int turn = 0;
#pragma unroll 1
    for (int64_t first = 0; first < block_rows; first += p.slab_rows) {
        const uint32_t blocks = (uint32_t)min(block_rows - first, (int64_t)p.slab_rows) * p.row_units.divisor;
#pragma unroll 1
        for (uint32_t number = cta_index(); number < blocks; number += gridDim.x) {
            const uint32_t down = divide(number, p.row_units);
            quantize_block(p, rows, first + down, (int)(number - down * p.row_units.divisor), turn);
            turn ^= 1;
        }
    }
}
static_assert(SHARE != GM_SHARE_chunks || VECTORS <= 4, "the least spans have 4 chunks");
static_assert(SHARE != GM_SHARE_block || THREADS * VECTORS * CHUNK == QUANTIZE_BLOCK * QUANTIZE_BLOCK,
              "a CTA holds a block");

static __device__ __forceinline__ void quantize(const struct gm_quantize_params &p) {
    const int rows = p.row_count ? min(p.rows, (int)ld_global_b32(p.row_count)) : p.rows;
    if (SHARE == GM_SHARE_chunks)
        quantize_chunks(p, rows);
    else if (SHARE == GM_SHARE_row)
        quantize_rows(p, rows);
    else
        quantize_blocks(p, rows);
}

#endif
