/* SPDX-License-Identifier: Apache-2.0 */
/* Gated linear units whose out is of any type, 8 bits and their scales among them.
 *
 *   a chunk is 8 neighbouring elements of out, of every type. A thread has up to VECTORS of them: all of its loads are under way
 *   before the first is waited for, and what they become stays in registers until it is stored
 *   a CTA takes a tile, neighbouring chunks of a row, thread t of it t, t + threads, ... A scale is given, or of a group, which 4,
 *   8 or 16 neighbouring lanes have
 *   where a row shares a scale, a CTA takes all tiles of it. All but the first one are made twice: for the largest size, and to be
 *   stored
 *
 * Rows that are not whole chunks, or that begin on no multiple of 16 bytes, are loaded and stored element by element. Elements
 * that do not exist are zeros, of which every unit makes zeros. */
#ifndef GM_SM80_GLU_ANY_CUH
#define GM_SM80_GLU_ANY_CUH

#include "common/index.cuh"
#include "common/pairs.cuh"
#include "common/quantized_store.cuh"
#include "sm80/glu/unit.cuh"

typedef struct gm_glu_any_params glu_params;

enum {
    TYPE = GM_TYPE,
    ELEM_BYTES = GM_TYPE_BYTES(TYPE),
    THREADS = GM_THREADS, /* of a CTA, at most */
    CTAS = 1024 / THREADS,
    VECTORS = GM_VECTORS,
    CHUNK = GLU_ANY_CHUNK,
    WORDS = GM_WORDS(TYPE, CHUNK),
};

extern __shared__ uint32_t warp_most[]; /* [2][32] */

/* ---- chunks ---------------------------------------------------------------------------------------- */

static __device__ __forceinline__ bool shares_row(const glu_params &p) {
    return p.store.scaling == SCALE_ROW;
}

/* Columns of a row that a CTA takes at a time, from `first` up to `end`. */
struct tile {
    uint32_t row;
    int first, end;
};

static __device__ __forceinline__ struct tile tile_of(const glu_params &p, uint32_t row, int number) {
    const int columns = cta_threads() * p.vectors * CHUNK, first = number * columns;
    return {row, first, min(p.glu.columns - first, columns) + first};
}

/* A thread's chunk number i: found anew for its store, which costs no register meanwhile. */
struct place {
    int column; /* its first element */
    int count;  /* how many of its elements exist, which may be less than none */
};

static __device__ __forceinline__ struct place place_of(const struct tile &tile, int i) {
    const int column = tile.first + thread_index() * CHUNK + i * (cta_threads() * CHUNK);
    return {column, tile.end - column};
}

/* What a chunk of out is made of. Interleaved, `gate` and `up` are two neighbouring chunks of pairs. */
struct chunk {
    uint32_t gate[WORDS], up[WORDS];
};

/* Of chunk number i. */
static __device__ __forceinline__ uint64_t address_of(uint64_t base, int64_t pitch, const struct tile &tile,
                                                      int column_bytes, int i) {
    const uint32_t first = tile.first + thread_index() * CHUNK;
    return base + tile.row * (uint64_t)pitch + first * (uint64_t)(uint32_t)column_bytes +
           (uint32_t)(i * cta_threads() * CHUNK * column_bytes);
}

static __device__ __forceinline__ void load_wide(uint64_t address, bool exists, uint32_t (&words)[WORDS]) {
    enum { LOADS = WORDS / 4 };
#pragma unroll
    for (int i = 0; i < LOADS; ++i) {
        uint32_t part[4];
        load<TYPE, CHUNK / LOADS>(part, address + i * 16, exists);
#pragma unroll
        for (int j = 0; j < 4; ++j)
            words[i * 4 + j] = part[j];
    }
}

static __device__ __forceinline__ void load_chunk(const glu_params &p, const struct tile &tile, int i, bool is_wide,
                                                  struct chunk &c) {
    const uint64_t gate = address_of(p.glu.gate, p.glu.gate_pitch, tile, p.column_bytes, i);
    const uint64_t up = address_of(p.glu.up, p.glu.up_pitch, tile, p.column_bytes, i);
    const int count = place_of(tile, i).count;
    if (is_wide) {
        load_wide(gate, count > 0, c.gate);
        load_wide(up, count > 0 && p.glu.layout != GLU_NO_UP, c.up);
        return;
    }
    const bool is_interleaved = p.glu.layout == GLU_INTERLEAVED;
    const int elements = is_interleaved ? 2 * max(count, 0) : count;
    load_some<TYPE, CHUNK>(c.gate, gate, elements, false);
    load_some<TYPE, CHUNK>(c.up, up, is_interleaved ? elements - CHUNK : p.glu.layout == GLU_APART ? count : 0, false);
}

static __device__ __forceinline__ void make_chunk(const glu_params &p, const struct chunk &c, float (&v)[CHUNK]) {
    float up[CHUNK];
    unpack<TYPE, CHUNK>(c.gate, v);
    unpack<TYPE, CHUNK>(c.up, up);
    make_unit(p.glu, v, up);
    if (p.rounds_out)
        round_elements<TYPE, CHUNK>(v);
}

/* ---- out ------------------------------------------------------------------------------------------- */

static __device__ __forceinline__ bool has_8_bits(const glu_params &p) {
    return p.store.out_type > GM_TYPE_fp32;
}

/* The elements of another type, or v / scale of 8 bits. */
static __device__ __forceinline__ void store_chunk(const glu_params &p, const struct tile &tile, int i,
                                                   float (&v)[CHUNK], const struct quotient_by &by, bool in_range) {
    const int count = place_of(tile, i).count;
    const uint64_t out = address_of(p.glu.out, p.glu.out_pitch, tile, p.out_bytes, i);
    if (count <= 0)
        return;
    if (has_8_bits(p)) {
        uint32_t words[CHUNK / 4] = {};
        quantize_each(p.store, v, by, in_range, words);
        store_some(out, words, count, p.is_wide);
        return;
    }
    if (p.is_wide)
        store_as(p.store.out_type, out, v);
    else
        store_some_as(p.store.out_type, out, v, count);
}

/* ---- scales ---------------------------------------------------------------------------------------- */

/* What a lane's chunk turned(lane), or the row, is divided by. Its scale is the one that is given, or made of the largest
 * size of its group or of the row, of which `most` are the bits of a thread's, and stored. `turn` alternates from row to row. */
static __device__ __forceinline__ struct quotient_by find_scale(const glu_params &p, const struct tile &tile,
                                                                const float (&v)[VECTORS][CHUNK], float given,
                                                                uint32_t most, int turn) {
    const int lane = thread_index() % 32, columns = 1 << p.store.group_shift, lanes = columns / CHUNK;
    float scale = given;
    if (p.store.scaling != SCALE_STATIC) {
        const struct place mine = place_of(tile, turned<VECTORS>(lane));
        bool stores = (lane & (lanes - 1)) < VECTORS && mine.count + (mine.column & (columns - 1)) > 0;
        if (shares_row(p)) {
            most = most_of_cta(most, warp_most + turn * 32, cta_threads() / 32);
            stores = thread_index() == 0;
        } else {
            most = most_of_group(v, lanes);
        }
        scale = scale_of(p.store, most);
        if (stores)
            store_scale(p.store, tile.row, shares_row(p) ? 0 : mine.column >> p.store.group_shift, scale);
    }
    return by_scale(p.store, scale);
}

/* ---- a tile ---------------------------------------------------------------------------------------- */

/* Returns the scale that is given, 1 where nothing has one: it is on its way with the chunks. */
static __device__ __forceinline__ float make_tile(const glu_params &p, const struct tile &tile,
                                                  float (&v)[VECTORS][CHUNK]) {
    const bool is_given = p.store.scaling == SCALE_STATIC && has_8_bits(p);
    struct chunk c[VECTORS];
    if (p.is_wide) {
#pragma unroll
        for (int i = 0; i < VECTORS; ++i)
            load_chunk(p, tile, i, true, c[i]);
    } else {
#pragma unroll
        for (int i = 0; i < VECTORS; ++i)
            load_chunk(p, tile, i, false, c[i]);
    }
    const float given = is_given ? __uint_as_float(ld_global_b32(p.store.scales)) : 1;
    /* One branch for all of 16 bits: for each chunk, every layout would choose between two for every element. */
#pragma unroll
    for (int i = 0; i < VECTORS && ELEM_BYTES == 2 && p.glu.layout == GLU_INTERLEAVED; ++i)
        part_pairs_of_words<CHUNK / WORDS>(c[i].gate, c[i].up);
#pragma unroll
    for (int i = 0; i < VECTORS; ++i) {
        if (ELEM_BYTES == 4 && p.glu.layout == GLU_INTERLEAVED)
            part_pairs_of_words<CHUNK / WORDS>(c[i].gate, c[i].up);
#pragma unroll
        for (int j = 0; j < CHUNK; ++j)
            v[i][j] = 0;
        if (VECTORS == 1 || i < p.vectors)
            make_chunk(p, c[i], v[i]);
    }
    return given;
}

static __device__ __forceinline__ void store_tile(const glu_params &p, const struct tile &tile,
                                                  float (&v)[VECTORS][CHUNK], const struct quotient_by &by) {
    const bool is_group = VECTORS > 1 && p.store.scaling == SCALE_GROUP;
    bool in_range = true;
    if (p.store.scaling == SCALE_STATIC && has_8_bits(p)) {
        uint32_t most = 0;
#pragma unroll
        for (int i = 0; i < VECTORS; ++i)
            most = max(most, largest_size(v[i]));
        in_range = are_in_range(p.store, most, by);
    }
#pragma unroll
    for (int i = 0; i < VECTORS; ++i)
        store_chunk(p, tile, i, v[i], is_group ? of_chunk<VECTORS>(by, i) : by, in_range);
}

/* A tile of a row; or all of them, where it shares a scale: down to the first one for the largest size, and up again to be
 * stored. */
static __device__ __forceinline__ void glu_unit(const glu_params &p, uint32_t row, int number, int turn) {
    const int tiles = shares_row(p) ? p.row_tiles : 0;
    struct quotient_by by = {};
    float v[VECTORS][CHUNK], given = 1;
    uint32_t most = 0;
#pragma unroll 1
    for (int visit = -tiles; visit < max(tiles, 1); ++visit) {
        const struct tile tile = tile_of(p, row, tiles == 0 ? number : visit < 0 ? ~visit : visit);
        if (visit != 0 || tiles == 0)
            given = make_tile(p, tile, v);
        if (visit < 0) {
#pragma unroll
            for (int i = 0; i < VECTORS; ++i)
                most = max(most, largest_size(v[i]));
            continue;
        }
        if (visit == 0)
            by = find_scale(p, tile, v, given, most, turn);
        store_tile(p, tile, v, by);
    }
}

/* A CTA's share of the rows, or of their tiles, which are numbered with 31 bits. */
static __device__ __forceinline__ void glu(const glu_params &p) {
    const int64_t rows = p.glu.row_count ? min(p.glu.rows, (int)ld_global_b32(p.glu.row_count)) : p.glu.rows;
    int turn = 0;
#pragma unroll 1
    for (int64_t first = 0; first < rows; first += p.glu.slab_rows) {
        const uint32_t units = (uint32_t)min(rows - first, (int64_t)p.glu.slab_rows) * p.glu.row_chunks.divisor;
#pragma unroll 1
        for (uint32_t unit = cta_index(); unit < units; unit += gridDim.x) {
            const uint32_t row = divide(unit, p.glu.row_chunks);
            glu_unit(p, (uint32_t)first + row, (int)(unit - row * p.glu.row_chunks.divisor), turn);
            turn ^= 1;
        }
    }
}

#endif
