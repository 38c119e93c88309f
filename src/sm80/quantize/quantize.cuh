/* SPDX-License-Identifier: Apache-2.0 */
/* Quantisers: out = x / scale in 8 bits, with a scale that is given, or is the largest size of those who share it by the
 * largest number of out's type. One registry row per compilation; quantize.cu of each architecture is the entry.
 *
 *   chunks   the chunks of all rows are numbered row by row, and a CTA takes THREADS * VECTORS at a time, thread t of it t,
 *            t + THREADS, ... A scale is of the whole tensor, or of a group, which 4, 8 or 16 neighbouring lanes have: rows
 *            are numbered as whole groups
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

/* Where a chunk is, found anew for its store, which costs no register meanwhile. */
struct place {
    int64_t row;
    int chunk, column; /* of the row: the chunk's number, its first element */
    int count;         /* elements that exist */
};

static __device__ __forceinline__ struct place place_of(const struct gm_quantize_params &p, int64_t first_row,
                                                        uint32_t number, uint32_t chunks) {
    const uint32_t row = divide(number, p.row_units);
    const int chunk = (int)(number - row * p.row_units.divisor), column = chunk * CHUNK;
    return {first_row + row, chunk, column, number < chunks ? p.columns - column : 0};
}

/* The scale of a group, which its first lane stores. Lanes whose chunk does not exist have zeros. */
static __device__ __forceinline__ float scale_group(const struct gm_quantize_params &p, const struct place &at,
                                                    const struct chunk &c) {
    uint32_t most = size_bits(add_sizes(0, c));
#pragma unroll
    for (int shift = 0; shift < 4; ++shift)
        if (shift < p.group_shift)
            most = max(most, __shfl_xor_sync(0xffffffff, most, 1 << shift));
    const float scale = scale_of(p, most);
    if (at.count > 0 && (at.chunk & ((1 << p.group_shift) - 1)) == 0)
        store_scale(p, at.row, at.chunk >> p.group_shift, scale);
    return scale;
}

/* `chunks` of the rows from first_row on, a CTA's share of them; returns `most` with their sizes. A scale of the whole tensor
 * is not looked at before x is under way. */
static __device__ __forceinline__ uint32_t quantize_slab(const struct gm_quantize_params &p, int64_t first_row,
                                                         uint32_t chunks, uint32_t scale, uint32_t most) {
#pragma unroll 1
    for (uint32_t tile = cta_index(); tile * (THREADS * VECTORS) < chunks; tile += gridDim.x) {
        const uint32_t first = tile * (THREADS * VECTORS) + thread_index();
        struct chunk c[VECTORS];
#pragma unroll
        for (int i = 0; i < VECTORS; ++i) {
            const struct place at = place_of(p, first_row, first + i * THREADS, chunks);
            c[i] = load_chunk(p, at.row, at.column, at.count);
        }
        struct quotient_by by = by_scale(p, __uint_as_float(scale));
#pragma unroll COPIES
        for (int i = 0; i < VECTORS; ++i) {
            const struct place at = place_of(p, first_row, first + i * THREADS, chunks);
            const struct chunk taken = take(c);
            if (p.scaling == SCALE_GROUP)
                by = by_scale(p, scale_group(p, at, taken));
            if (p.scaling == SCALE_AMAX_ONLY)
                most = add_sizes(most, taken);
            else
                store_chunk(p, at.row, at.column, at.count, taken, by);
        }
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
    most = max_of_cta(size_bits(most), 0);
    if (thread_index() == 0)
        red_max_gpu_u32(p.scales, __float_as_uint(scale_of(p, most)));
}

/* ---- a row ----------------------------------------------------------------------------------------- */

static __device__ __forceinline__ void quantize_row(const struct gm_quantize_params &p, int64_t row, int turn) {
    enum { STEP = THREADS * CHUNK, HELD = VECTORS * STEP };
    const int first = thread_index() * CHUNK;
    struct chunk c[VECTORS];
    uint32_t most = 0;
#pragma unroll
    for (int i = 0; i < VECTORS; ++i)
        c[i] = load_chunk(p, row, first + i * STEP, p.columns - first - i * STEP);
#pragma unroll
    for (int i = 0; i < VECTORS; ++i)
        most = add_sizes(most, c[i]);
#pragma unroll 1
    for (int at = first + HELD; at < p.columns; at += STEP)
        most = add_sizes(most, load_chunk(p, row, at, p.columns - at));
    const float scale = scale_of(p, max_of_cta(size_bits(most), turn));
    const struct quotient_by by = by_scale(p, scale);
    if (thread_index() == 0)
        store_scale(p, row, 0, scale);
#pragma unroll
    for (int i = 0; i < VECTORS && COPIES > 1; ++i)
        store_chunk(p, row, first + i * STEP, p.columns - first - i * STEP, c[i], by);
#pragma unroll 1
    for (int at = COPIES > 1 ? first + HELD : first; at < p.columns; at += STEP) {
        struct chunk next = {};
        if (COPIES == 1)
            next = take(c);
        if (COPIES > 1 || at >= HELD)
            next = load_chunk(p, row, at, p.columns - at);
        store_chunk(p, row, at, p.columns - at, next, by);
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
    struct chunk c[VECTORS];
    uint32_t most = 0;
#pragma unroll
    for (int i = 0; i < VECTORS; ++i)
        c[i] = load_chunk(p, first + i * STEP, column, first + i * STEP < rows ? left : 0);
#pragma unroll
    for (int i = 0; i < VECTORS; ++i)
        most = add_sizes(most, c[i]);
    const float scale = scale_of(p, max_of_cta(size_bits(most), turn));
    const struct quotient_by by = by_scale(p, scale);
    if (thread_index() == 0)
        store_scale(p, down, across, scale);
#pragma unroll COPIES
    for (int i = 0; i < VECTORS; ++i)
        store_chunk(p, first + i * STEP, column, first + i * STEP < rows ? left : 0, take(c), by);
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
