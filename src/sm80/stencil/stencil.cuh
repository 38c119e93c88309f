/* SPDX-License-Identifier: Apache-2.0 */
/* Stencils: CTAs march through planes of x, which come into shared memory with their halo, and sums are in registers. One
 * registry row per compilation; stencil.cu of each architecture is the entry, and says how a plane comes.
 *
 *   a march is a tile of x and y, and some planes of out in z; each of its steps has one plane of x
 *   a warp has ROWS rows of 128 columns of the tile, a lane 4 neighbouring columns of them
 *   what a lane has read of a row goes into all sums that want it: of three rows, and of three planes of out
 *   so an output's sum is that of the taps in order: those of the plane ahead, then its own, then the one behind
 *
 * Stencils in two dimensions march one step: a plane of out is of one plane of x. What lies beyond x is put into shared
 * memory as the edge says, so that the sums know of no edge. */
#ifndef GM_SM80_STENCIL_CUH
#define GM_SM80_STENCIL_CUH

#include "common/elements.cuh"
#include "common/index.cuh"
#include "common/quad.cuh"
#include "common/shared.cuh"
#include "common/stencil/params.h"

enum {
    TYPE = GM_TYPE,
    ELEM_BYTES = GM_TYPE_BYTES(TYPE),
    THREADS = GM_THREADS,
    WARPS = THREADS / 32,
    ROWS = GM_ROWS,
    COLUMNS = GM_STENCIL_COLUMNS,
    TILE_WIDTH = GM_STENCIL_TILE_WIDTH,
    TILE_HEIGHT = GM_STENCIL_TILE_HEIGHT(THREADS, ROWS),
    LEAD = 16 / ELEM_BYTES, /* columns of shared memory ahead of the tile's */
    PITCH = GM_STENCIL_PITCH(ELEM_BYTES),
    HALO_ROWS = GM_STENCIL_ROWS(THREADS, ROWS),
    STAGE_BYTES = GM_STENCIL_STAGE_BYTES(ELEM_BYTES, THREADS, ROWS),
};
static_assert(COLUMNS == QUAD, "a lane's columns");

extern __shared__ __align__(128) unsigned char stencil_memory[];

static __device__ __forceinline__ bool is_flat(const struct gm_stencil_params &p) {
    return p.steps == 1;
}

/* The index that row, column or plane i is read from. Of those beyond the first one beyond the edge nobody looks at what is
 * read. */
static __device__ __forceinline__ int inside(int i, const struct gm_stencil_side &side) {
    return i < 0 ? side.before : i < side.extent ? i : side.behind;
}

/* Where a CTA is: a step of a march, and thereafter of its next march. */
struct step {
    uint32_t march;
    int count;   /* of the march's steps that are done */
    int x, y, z; /* first column and row of the tile; the plane of x, which may be beyond the edge */
    int grid;

    __device__ __forceinline__ step(const struct gm_stencil_params &p, uint32_t number) : march(number) { begin(p); }
    __device__ __forceinline__ bool exists(const struct gm_stencil_params &p) const {
        return march < (uint32_t)p.marches;
    }
    __device__ __forceinline__ void begin(const struct gm_stencil_params &p) {
        const uint32_t row = divide(march, p.column_tiles), layer = divide(row, p.row_tiles);
        grid = divide(layer, p.layers);
        count = 0;
        x = (march - row * p.column_tiles.divisor) * TILE_WIDTH;
        y = (row - layer * p.row_tiles.divisor) * TILE_HEIGHT;
        z = (layer - grid * p.layers.divisor) * p.layer - !is_flat(p);
    }
    __device__ __forceinline__ void advance(const struct gm_stencil_params &p) {
        ++z;
        if (++count == p.steps) {
            march += gridDim.x;
            begin(p);
        }
    }
    /* The plane that is read for this one. Nobody wants one behind that beyond the edge. */
    __device__ __forceinline__ int plane(const struct gm_stencil_params &p) const {
        return z > p.planes.extent ? GM_STENCIL_NOWHERE : inside(z, p.planes);
    }
};

/* ---- stages ---------------------------------------------------------------------------------------------- */

static __device__ __forceinline__ uint32_t plane_of(uint32_t memory, int stage) {
    return memory + GM_STENCIL_FIRST_STAGE + stage * STAGE_BYTES;
}

template <int STAGES> static __device__ __forceinline__ int before(int stage) {
    return stage ? stage - 1 : STAGES - 1;
}

/* ---- a plane by elements --------------------------------------------------------------------------------- */

/* A step's plane of x. Rows of it count from the one above the tile, columns from the tile's first. */
struct source {
    const struct gm_stencil_params &p;
    const struct step &s;
    uint64_t plane; /* 0: it is zeros, as a row is */

    __device__ __forceinline__ source(const struct gm_stencil_params &params, const struct step &step)
        : p(params), s(step) {
        const int z = s.plane(p);
        plane = z < 0 ? 0 : p.x + s.grid * p.x_grid + z * p.x_plane;
    }
    __device__ __forceinline__ uint64_t row(int number) const {
        const int y = inside(s.y - 1 + number, p.rows);
        return plane == 0 || y < 0 ? 0 : plane + y * p.x_pitch;
    }
    __device__ __forceinline__ int column(int number) const { return inside(s.x + number, p.columns); }
};

static __device__ __forceinline__ void get(uint32_t (&word)[1], uint64_t row, int x) {
    load<TYPE, 1>(word, row + (uint32_t)x * (uint64_t)ELEM_BYTES, row && x >= 0);
}

static __device__ __forceinline__ void put(uint32_t stage, int row, int column, const uint32_t (&word)[1]) {
    const uint32_t to = stage + (row * PITCH + LEAD + column) * ELEM_BYTES;
    if (ELEM_BYTES == 4)
        st_shared_b32(to, word[0]);
    else
        st_shared_b16(to, word[0]);
}

/* Elements of a thread on their way to shared memory: a whole plane, of which it has every WARPS-th row, or what a box lacks
 * of it, which is beyond the edge. Half of the threads have a whole row each time, `row`, and a column is of every other
 * one, `side`. */
struct staged {
    static_assert(2 * TILE_WIDTH == THREADS && 2 * HALO_ROWS <= THREADS, "an element for each thread");
    uint32_t body[ROWS][COLUMNS][1], row[1], side[1];

    static __device__ __forceinline__ int half(void) { return thread_index() / TILE_WIDTH; }
    static __device__ __forceinline__ int row_column(void) { return thread_index() % TILE_WIDTH; }
    static __device__ __forceinline__ int side_row(void) { return thread_index() / 2; }
    static __device__ __forceinline__ int side_column(void) { return thread_index() % 2 ? TILE_WIDTH : -1; }

    /* Rows 32 and 33 of 34, beside those of the warps. */
    static __device__ __forceinline__ int last_row(void) { return TILE_HEIGHT + half(); }
    static __device__ __forceinline__ bool has_side(void) { return side_row() < HALO_ROWS; }

    __device__ __forceinline__ void load(const struct gm_stencil_params &p, const struct step &s) {
        const int warp = thread_index() / 32, lane = thread_index() % 32;
        const struct source from(p, s);
        int columns[COLUMNS];
#pragma unroll
        for (int j = 0; j < COLUMNS; ++j)
            columns[j] = from.column(lane + j * 32);
#pragma unroll
        for (int i = 0; i < ROWS; ++i) {
            const uint64_t address = from.row(warp + i * WARPS);
#pragma unroll
            for (int j = 0; j < COLUMNS; ++j)
                get(body[i][j], address, columns[j]);
        }
        get(row, from.row(last_row()), from.column(row_column()));
        if (has_side())
            get(side, from.row(side_row()), from.column(side_column()));
    }
    __device__ __forceinline__ void store(uint32_t stage) const {
        const int warp = thread_index() / 32, lane = thread_index() % 32;
#pragma unroll
        for (int i = 0; i < ROWS; ++i)
#pragma unroll
            for (int j = 0; j < COLUMNS; ++j)
                put(stage, warp + i * WARPS, lane + j * 32, body[i][j]);
        put(stage, last_row(), row_column(), row);
        if (has_side())
            put(stage, side_row(), side_column(), side);
    }

    /* The rows right above and below x, and the columns left and right of it, as far as the tile's halo has them; of the
     * columns left and right of the tile, where they are x's, the ends of those rows. */
    static __device__ __forceinline__ int rim_row(const struct gm_stencil_params &p, const struct step &s) {
        return half() ? p.rows.extent - s.y + 1 : 0;
    }
    static __device__ __forceinline__ bool has_rim_row(const struct gm_stencil_params &p, const struct step &s) {
        return (half() ? rim_row(p, s) < HALO_ROWS : s.y == 0) && s.x + row_column() < p.columns.extent;
    }
    static __device__ __forceinline__ int rim_column(const struct gm_stencil_params &p, const struct step &s) {
        return thread_index() % 2 ? min(p.columns.extent - s.x, TILE_WIDTH) : -1;
    }
    static __device__ __forceinline__ bool has_rim_column(const struct gm_stencil_params &p, const struct step &s) {
        const bool is_beyond_x = (uint32_t)(s.x + rim_column(p, s)) >= (uint32_t)p.columns.extent;
        const bool is_beyond_y = (uint32_t)(s.y - 1 + side_row()) >= (uint32_t)p.rows.extent;
        return has_side() && (is_beyond_x || is_beyond_y);
    }
    __device__ __forceinline__ void load_rim(const struct gm_stencil_params &p, const struct step &s) {
        const struct source from(p, s);
        if (has_rim_row(p, s))
            get(row, from.row(rim_row(p, s)), from.column(row_column()));
        if (has_rim_column(p, s))
            get(side, from.row(side_row()), from.column(rim_column(p, s)));
    }
    __device__ __forceinline__ void store_rim(const struct gm_stencil_params &p, const struct step &s,
                                              uint32_t stage) const {
        if (has_rim_row(p, s))
            put(stage, rim_row(p, s), row_column(), row);
        if (has_rim_column(p, s))
            put(stage, side_row(), rim_column(p, s), side);
    }
};

/* ---- sums ------------------------------------------------------------------------------------------------ */

/* The number of a tap; -1: the stencil has none there. */
template <int POINTS> static __device__ constexpr int tap_of(int dz, int dy, int dx) {
    if (POINTS == 27)
        return dz * 9 + dy * 3 + dx + 13;
    if ((POINTS == 5 || POINTS == 9) && dz != 0)
        return -1;
    if (POINTS == 9)
        return dy * 3 + dx + 4;
    return dz * dz + dy * dy + dx * dx > 1 ? -1 : dz * 3 + dy * 2 + dx + POINTS / 2;
}

/* The taps of a row of a plane, one after the other. A lane's column c is window[c + 1]. */
template <int POINTS>
static __device__ __forceinline__ void add_row(const struct gm_stencil_params &p, int dz, int dy,
                                               const float (&window)[COLUMNS + 2], float (&sum)[COLUMNS]) {
#pragma unroll
    for (int dx = -1; dx <= 1; ++dx)
        if (tap_of<POINTS>(dz, dy, dx) >= 0)
#pragma unroll
            for (int c = 0; c < COLUMNS; ++c)
                sum[c] = fmaf(p.coefficients[tap_of<POINTS>(dz, dy, dx)], window[c + 1 + dx], sum[c]);
}

static __device__ __forceinline__ float load_one(uint32_t address) {
    float element;
    unpack_word<TYPE, 1>(ELEM_BYTES == 4 ? ld_shared_b32(address) : ld_shared_b16(address), &element);
    return element;
}

/* Sums of a lane that lack the taps of the plane to come, and of the two to come. */
struct sums {
    float one[ROWS][COLUMNS], two[ROWS][COLUMNS];
};

/* Adds the plane of x in `stage` to the sums, and stores those that are complete: of the plane before it. */
template <int POINTS>
static __device__ __forceinline__ void compute(const struct gm_stencil_params &p, const struct step &s, uint32_t stage,
                                               struct sums &sums) {
    constexpr bool FLAT = POINTS == 5 || POINTS == 9;
    const int first = thread_index() / 32 * ROWS, column = thread_index() % 32 * COLUMNS, z = FLAT ? s.z : s.z - 1;
    const bool is_complete = FLAT || (s.count >= 2 && z < p.planes.extent);
    const int rows = is_complete ? p.rows.extent - s.y - first : 0;
    const uint32_t from = stage + (first * PITCH + LEAD + column) * ELEM_BYTES;
    const uint64_t out = p.out + s.grid * p.out_grid + z * p.out_plane + (int64_t)(s.y + first) * p.out_pitch +
                         (int64_t)(s.x + column) * ELEM_BYTES;
    float sum[ROWS][COLUMNS];
#pragma unroll
    for (int row = 0; row < ROWS + 2; ++row) {
        const uint32_t at = from + row * PITCH * ELEM_BYTES;
        float window[COLUMNS + 2];
        load_quad<TYPE>(at, window + 1);
        window[0] = load_one(at - ELEM_BYTES);
        window[COLUMNS + 1] = load_one(at + COLUMNS * ELEM_BYTES);
#pragma unroll
        for (int dy = 1; dy >= -1; --dy) {
            const int i = row - 1 - dy;
            if (i < 0 || i >= ROWS)
                continue;
#pragma unroll
            for (int c = 0; c < COLUMNS && dy == -1; ++c) { /* the first row of these sums */
                sum[i][c] = FLAT ? 0 : sums.one[i][c];
                if (FLAT)
                    continue;
                sums.one[i][c] = sums.two[i][c];
                sums.two[i][c] = 0;
            }
            add_row<POINTS>(p, FLAT ? 0 : 1, dy, window, sum[i]);
            if (!FLAT) {
                add_row<POINTS>(p, 0, dy, window, sums.one[i]);
                add_row<POINTS>(p, -1, dy, window, sums.two[i]);
            }
        }
        if (row >= 2 && row - 2 < rows)
            store_quad<TYPE>(out + (row - 2) * p.out_pitch, p.columns.extent - s.x - column, p.vectors, sum[row - 2]);
    }
}

static __device__ __forceinline__ void compute_step(const struct gm_stencil_params &p, const struct step &s,
                                                    uint32_t stage, struct sums &sums) {
    if (s.y + thread_index() / 32 * ROWS >= p.rows.extent)
        return;
    if (p.points == 7)
        compute<7>(p, s, stage, sums);
    else if (p.points == 27)
        compute<27>(p, s, stage, sums);
    else if (p.points == 5)
        compute<5>(p, s, stage, sums);
    else
        compute<9>(p, s, stage, sums);
}

/* A CTA's steps. Behind finish() a step's plane is there, and all threads have left the step before it; in whose place the
 * next begin() may let another plane come. */
template <class Loader> static __device__ __forceinline__ void march(const struct gm_stencil_params &p) {
    const uint32_t memory = (uint32_t)__cvta_generic_to_shared(stencil_memory);
    struct step here(p, cta_index()), next = here;
    struct sums sums = {};
    Loader loader(p, memory);
    bool is_here = false;
    int stage = 0; /* of the next step */
#pragma unroll 1
    while (true) {
        loader.begin(next, stage);
        if (is_here)
            compute_step(p, here, plane_of(memory, before<Loader::STAGES>(stage)), sums);
        if (!next.exists(p))
            return;
        loader.finish(next, stage);
        is_here = true;
        here = next;
        next.advance(p);
        stage = stage + 1 < Loader::STAGES ? stage + 1 : 0;
    }
}

#endif
