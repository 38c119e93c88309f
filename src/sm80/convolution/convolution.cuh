/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions: tiles of x with their halo in shared memory, sums in registers. One registry row per compilation;
 * convolution.cu of each architecture is the entry, and says how a tile comes.
 *
 *   a warp has ROWS rows of 128 columns of out, a lane 4 neighbouring columns of them
 *   it goes down the rows of x that these need; what it has read of one goes into all sums that want it
 *   so an output's sum is that of the filter's rows in order, each from its first tap to its last
 *   a separable filter: a row of x becomes 4 sums along x in registers, and these go into the sums along y
 *
 * What lies beyond x is put into shared memory as the edge says, so the sums know of no edge. */
#ifndef GM_SM80_CONVOLUTION_CUH
#define GM_SM80_CONVOLUTION_CUH

#include "common/convolution/params.h"
#include "common/elements.cuh"
#include "common/index.cuh"
#include "common/quad.cuh"
#include "common/shared.cuh"

enum {
    TYPE = GM_TYPE,
    ELEM_BYTES = GM_TYPE_BYTES(TYPE),
    THREADS = GM_THREADS,
    WARPS = THREADS / 32,
    ROWS = GM_ROWS,
    COLUMNS = GM_CONVOLUTION_COLUMNS,
    TILE_WIDTH = GM_CONVOLUTION_TILE_WIDTH,
    TILE_HEIGHT = GM_CONVOLUTION_TILE_HEIGHT(THREADS, ROWS),
    BLOCK = 8, /* taps of a row that are read at once, of filters whose width is not compiled in */
    MOST_LANE_COLUMNS = (GM_CONVOLUTION_PITCH(ELEM_BYTES, GM_CONVOLUTION_MOST) + 31) / 32,
    FILTER_PITCH = GM_CONVOLUTION_FILTER_PITCH * 4, /* bytes */
    CTAS = GM_CONVOLUTION_CTAS(ROWS),
    NOWHERE = -1, /* an element that is 0 */
};

#ifndef COMPILED_WIDTHS
#define COMPILED_WIDTHS 1 /* filters of 3, 5 and 7 columns have loops of their own */
#endif

extern __shared__ __align__(128) unsigned char convolution_memory[];

struct tile {
    int x, y, plane; /* first column and row of out */
};

static __device__ __forceinline__ struct tile tile_of(const struct gm_convolution_params &p, uint32_t number) {
    const uint32_t row = divide(number, p.column_tiles), plane = divide(row, p.row_tiles);
    return {(int)(number - row * p.column_tiles.divisor) * TILE_WIDTH,
            (int)(row - plane * p.row_tiles.divisor) * TILE_HEIGHT, (int)plane};
}

static __device__ __forceinline__ uint32_t stage_of(const struct gm_convolution_params &p, uint32_t memory, int stage) {
    return memory + GM_CONVOLUTION_FIRST_STAGE + stage * p.stage_bytes;
}

/* ---- the filter ------------------------------------------------------------------------------------------ */

/* Row i of the filter is at i * FILTER_PITCH; of a separable one the taps along x are row 0, those along y row 1. */
static __device__ __forceinline__ void load_filter(const struct gm_convolution_params &p, uint32_t memory) {
    const int rows = p.separable ? 1 : p.filter_height;
#pragma unroll 1
    for (int i = thread_index(); i < rows * GM_CONVOLUTION_FILTER_PITCH; i += THREADS) {
        const int row = i / GM_CONVOLUTION_FILTER_PITCH, column = i % GM_CONVOLUTION_FILTER_PITCH;
        const int64_t at = row * p.filter_width + column;
        st_shared_b32(memory + i * 4, column < p.filter_width ? ld_global_b32(p.filter + at * 4) : 0);
    }
    if (p.separable && thread_index() < p.filter_height)
        st_shared_b32(memory + FILTER_PITCH + thread_index() * 4, ld_global_b32(p.filter_y + thread_index() * 4));
}

/* ---- a tile of x by elements ----------------------------------------------------------------------------- */

/* Where an element beyond an extent comes from. */
static __device__ __forceinline__ int from(int i, int extent, int edge) {
    if ((uint32_t)i < (uint32_t)extent)
        return i;
    if (edge == GM_CONVOLUTION_EDGE_zero)
        return NOWHERE;
    if (edge == GM_CONVOLUTION_EDGE_clamp)
        return i < 0 ? 0 : extent - 1;
    const int rest = i % extent;
    return rest < 0 ? rest + extent : rest;
}

/* A warp loads every WARPS-th row, as far as rows of out need it. */
static __device__ __forceinline__ void load_elements(const struct gm_convolution_params &p, const struct tile &t,
                                                     uint32_t stage) {
    const int lane = thread_index() % 32, lanes = (p.pitch - lane + 31) / 32;
    const int wanted = min(TILE_HEIGHT, (p.height - t.y + ROWS - 1) / ROWS * ROWS) + p.filter_height - 1;
    int columns[MOST_LANE_COLUMNS];
#pragma unroll
    for (int i = 0; i < MOST_LANE_COLUMNS; ++i)
        columns[i] = from(t.x - p.origin_x + lane + 32 * i, p.width, p.edge);
#pragma unroll 1
    for (int row = thread_index() / 32; row < wanted; row += WARPS) {
        const int y = from(t.y - p.origin_y + row, p.height, p.edge);
        const uint64_t address = p.x + t.plane * p.x_plane + y * p.x_pitch;
        const uint32_t to = stage + (row * p.pitch + lane) * ELEM_BYTES;
        uint32_t words[MOST_LANE_COLUMNS][1];
#pragma unroll
        for (int i = 0; i < MOST_LANE_COLUMNS; ++i)
            load<TYPE, 1>(words[i], address + (int64_t)columns[i] * ELEM_BYTES,
                          i < lanes && y != NOWHERE && columns[i] != NOWHERE);
#pragma unroll
        for (int i = 0; i < MOST_LANE_COLUMNS; ++i)
            if (i < lanes && ELEM_BYTES == 4)
                st_shared_b32(to + i * 32 * ELEM_BYTES, words[i][0]);
            else if (i < lanes)
                st_shared_b16(to + i * 32 * ELEM_BYTES, words[i][0]);
    }
}

/* ---- sums ------------------------------------------------------------------------------------------------ */

/* Elements of x that so many taps of COLUMNS outputs need, in whole loads of 4. */
#define WINDOW(taps) ((COLUMNS + (taps) + 2) / 4 * 4)
/* Of loads of 4, the elements ahead of the first tap of a filter whose width is compiled in, if its anchor is the middle. */
#define LEAD(width) ((4 - (width) / 2 % 4) % 4)

template <int COUNT> static __device__ __forceinline__ void load_window(uint32_t address, float (&window)[COUNT]) {
#pragma unroll
    for (int i = 0; i < COUNT; i += QUAD)
        load_quad<TYPE>(address + i * ELEM_BYTES, window + i);
}

/* So many elements on, at most 3. */
template <int COUNT> static __device__ __forceinline__ void shift_window(float (&window)[COUNT], int by) {
    if (by & 1)
#pragma unroll
        for (int i = 0; i < COUNT - 1; ++i)
            window[i] = window[i + 1];
    if (by & 2)
#pragma unroll
        for (int i = 0; i < COUNT - 2; ++i)
            window[i] = window[i + 2];
}

/* Where the taps of a row begin in memory, with `lead` elements ahead of them, to where they begin in registers. */
template <int WIDTH>
static __device__ __forceinline__ void load_taps(uint32_t address, int lead,
                                                 float (&window)[WIDTH ? WINDOW(WIDTH) : WINDOW(BLOCK)]) {
    enum { COUNT = WIDTH ? WINDOW(WIDTH) : WINDOW(BLOCK), AHEAD = WIDTH ? LEAD(WIDTH) : 0 };
    float loaded[WIDTH ? WINDOW(WIDTH + LEAD(WIDTH)) : WINDOW(BLOCK + 3)];
    load_window(address, loaded);
    if (!WIDTH)
        shift_window(loaded, lead);
#pragma unroll
    for (int i = 0; i < COUNT && i + AHEAD < (int)(sizeof loaded / sizeof *loaded); ++i)
        window[i] = loaded[i + AHEAD];
}

/* So many taps, or of a BLOCK the first `taps`: sum[c] = sum[c] + filter[0] * window[c] + ..., one after the other. */
template <int WIDTH, int COUNT>
static __device__ __forceinline__ void add_taps(uint32_t filter, int taps, const float (&window)[COUNT],
                                                float (&sum)[COLUMNS]) {
#pragma unroll
    for (int first = 0; first < (WIDTH ? WIDTH : BLOCK); first += 4) {
        float f[4];
        if (!WIDTH && first >= taps)
            break;
        ld_shared_v4(filter + first * 4, f[0], f[1], f[2], f[3]);
#pragma unroll
        for (int tap = first; tap < first + 4 && tap < (WIDTH ? WIDTH : BLOCK); ++tap)
            if (WIDTH || tap < taps)
#pragma unroll
                for (int c = 0; c < COLUMNS; ++c)
                    sum[c] = fmaf(f[tap - first], window[tap + c], sum[c]);
    }
}

/* Which row of a filter a row of x is for, of an output's row: where that is known ahead, the filter's HEIGHT is. */
template <int HEIGHT>
static __device__ __forceinline__ bool wants(const struct gm_convolution_params &p, int row, int i) {
    return (uint32_t)(row - i) < (uint32_t)(HEIGHT ? HEIGHT : p.filter_height);
}

/* Outputs of a lane; `x`: what their first row needs first, and `lead` elements ahead. WIDTH and HEIGHT: of the filter, or 0
 * for any. */
template <int WIDTH, int HEIGHT>
static __device__ __forceinline__ void sum_rows(const struct gm_convolution_params &p, uint32_t filter, uint32_t x,
                                                int lead, float (&sum)[ROWS][COLUMNS]) {
    enum { STEP = WIDTH ? WIDTH : BLOCK, COPIES = HEIGHT ? HEIGHT + ROWS - 1 : 1 };
#pragma unroll COPIES
    for (int row = 0; row < (HEIGHT ? HEIGHT : p.filter_height) + ROWS - 1; ++row, x += p.pitch * ELEM_BYTES) {
#pragma unroll 1
        for (int first = 0; first < (WIDTH ? WIDTH : p.filter_width); first += STEP) {
            float window[WINDOW(STEP)];
            load_taps<WIDTH>(x + first * ELEM_BYTES, lead, window);
#pragma unroll
            for (int i = 0; i < ROWS; ++i)
                if (wants<HEIGHT>(p, row, i))
                    add_taps<WIDTH>(filter + (row - i) * FILTER_PITCH + first * 4, p.filter_width - first, window,
                                    sum[i]);
        }
    }
}

template <int WIDTH, int HEIGHT>
static __device__ __forceinline__ void sum_separable(const struct gm_convolution_params &p, uint32_t filter, uint32_t x,
                                                     int lead, float (&sum)[ROWS][COLUMNS]) {
    enum { STEP = WIDTH ? WIDTH : BLOCK, COPIES = HEIGHT ? HEIGHT + ROWS - 1 : 1 };
#pragma unroll COPIES
    for (int row = 0; row < (HEIGHT ? HEIGHT : p.filter_height) + ROWS - 1; ++row, x += p.pitch * ELEM_BYTES) {
        float along_x[COLUMNS] = {};
#pragma unroll 1
        for (int first = 0; first < (WIDTH ? WIDTH : p.filter_width); first += STEP) {
            float window[WINDOW(STEP)];
            load_taps<WIDTH>(x + first * ELEM_BYTES, lead, window);
            add_taps<WIDTH>(filter + first * 4, p.filter_width - first, window, along_x);
        }
#pragma unroll
        for (int i = 0; i < ROWS; ++i)
            if (wants<HEIGHT>(p, row, i)) {
                const float tap = ld_shared_f32(filter + FILTER_PITCH + (row - i) * 4);
#pragma unroll
                for (int c = 0; c < COLUMNS; ++c)
                    sum[i][c] = fmaf(tap, along_x[c], sum[i][c]);
            }
    }
}

/* Filters as high as they are wide have code of their own, without a branch. */
template <int WIDTH>
static __device__ __forceinline__ void sum_tile(const struct gm_convolution_params &p, uint32_t filter, uint32_t x,
                                                int lead, float (&sum)[ROWS][COLUMNS]) {
    const bool is_square = WIDTH && p.filter_height == WIDTH;
    if (is_square && p.separable)
        sum_separable<WIDTH, WIDTH>(p, filter, x, lead, sum);
    else if (is_square)
        sum_rows<WIDTH, WIDTH>(p, filter, x, lead, sum);
    else if (p.separable)
        sum_separable<WIDTH, 0>(p, filter, x, lead, sum);
    else
        sum_rows<WIDTH, 0>(p, filter, x, lead, sum);
}

/* ---- a tile of out --------------------------------------------------------------------------------------- */

static __device__ __forceinline__ void compute_tile(const struct gm_convolution_params &p, const struct tile &t,
                                                    uint32_t filter, uint32_t stage) {
    const int column = thread_index() % 32 * COLUMNS, first = thread_index() / 32 * ROWS;
    const int lead = p.lead % 4;
    const uint32_t x = stage + (first * p.pitch + column + p.lead - lead) * ELEM_BYTES;
    float sum[ROWS][COLUMNS] = {};
    if (t.y + first >= p.height)
        return;
    if (COMPILED_WIDTHS && p.filter_width == 3 && lead == LEAD(3))
        sum_tile<3>(p, filter, x, lead, sum);
    else if (COMPILED_WIDTHS && p.filter_width == 5 && lead == LEAD(5))
        sum_tile<5>(p, filter, x, lead, sum);
    else if (COMPILED_WIDTHS && p.filter_width == 7 && lead == LEAD(7))
        sum_tile<7>(p, filter, x, lead, sum);
    else
        sum_tile<0>(p, filter, x, lead, sum);
    const uint64_t out = p.out + t.plane * p.out_plane + (int64_t)(t.y + first) * p.out_pitch;
#pragma unroll
    for (int i = 0; i < ROWS; ++i)
        if (t.y + first + i < p.height)
            store_quad<TYPE>(out + i * p.out_pitch + (int64_t)(t.x + column) * ELEM_BYTES, p.width - t.x - column,
                             p.vectors, sum[i]);
}

/* A CTA's tiles. The loader begins to load the next one before this one is awaited. */
template <class Loader> static __device__ __forceinline__ void convolve(const struct gm_convolution_params &p) {
    const uint32_t memory = (uint32_t)__cvta_generic_to_shared(convolution_memory);
    Loader loader(p, memory);
    int stage = 0;
    load_filter(p, memory);
    __syncthreads();
    loader.begin(tile_of(p, cta_index()), 0);
#pragma unroll 1
    for (uint32_t number = cta_index(); number < (uint32_t)p.tiles; number += gridDim.x) {
        const struct tile t = tile_of(p, number);
        const int next = stage + 1 < Loader::STAGES ? stage + 1 : 0;
        if (number + gridDim.x < (uint32_t)p.tiles)
            loader.begin(tile_of(p, number + gridDim.x), next);
        loader.finish(t, stage);
        compute_tile(p, t, memory, stage_of(p, memory, stage));
        __syncthreads(); /* the tile after the next takes this one's place */
        stage = next;
    }
}

#endif
