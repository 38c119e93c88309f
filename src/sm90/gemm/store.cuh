/* SPDX-License-Identifier: Apache-2.0 */
/* A consumer's store_tile(): accumulators -> staging -> D.
 *
 * A fragment register belongs to one row of wgmma's M side and one column of its N side. With A on the M side that is a
 * row and a column of D; in a swapped variant it is a column and a row, and the fragment is transposed on its way into
 * staging. tile.h says how D is cut into chunks. */
#ifndef GM_SM90_GEMM_STORE_CUH
#define GM_SM90_GEMM_STORE_CUH

#include "common/convert.cuh"
#include "common/gemm/epilogue.cuh"
#include "common/gemm/scaling.cuh"
#include "common/gemm_sm90/params.h"
#include "common/global.cuh"
#include "common/index.cuh"
#include "common/named_barrier.cuh"
#include "sm90/gemm/constants.cuh"
#include "sm90/gemm/walk.cuh"
#include "sm90/stmatrix.cuh"
#include "sm90/swizzle.cuh"
#include "sm90/tma.cuh"

/* What one consumer warpgroup needs to stage chunks of D. */
struct store_context {
    uint32_t staging_addr; /* shared address of its first buffer */
    uint32_t thread;       /* 0..127 */
    uint32_t bar;          /* its named barrier */
    uint32_t buffer;       /* next buffer, 0 or 1 */
};

/* Where D's chunks begin, in units of D: the warpgroup's first atom and this CTA's part of the N side. */
struct store_origin {
    int row, col;
    int matrix; /* of a batch; else 0 */
};

/* Chunks of elements of D_BYTES: the columns of D that one covers, how many lie side by side when it is swapped, and
 * how many share a staging buffer. */
template <int D_BYTES> struct chunk_grid {
    enum { COLS = STORE_SPAN / D_BYTES, ACROSS = SWAPPED ? 64 / COLS : 1, IN_BUFFER = 128 / STORE_SPAN };
};

/* Columns of the N side in a chunk of one atom's part, the chunks of that part, and chunk c's first column. The last
 * one begins early where it would reach too far. */
template <int D_BYTES> static __device__ __forceinline__ constexpr int chunk_size(void) {
    return SWAPPED ? STORE_ROWS : chunk_grid<D_BYTES>::COLS;
}
template <int D_BYTES, int PART> static __device__ __forceinline__ constexpr int chunks_of_atom(void) {
    return GM_CEIL_DIV(part_size(PART), chunk_size<D_BYTES>()) * chunk_grid<D_BYTES>::ACROSS;
}
template <int D_BYTES, int PART> static __device__ __forceinline__ constexpr int chunk_first(int c) {
    constexpr int size = chunk_size<D_BYTES>(), last = part_size(PART) - size;
    const int first = c / chunk_grid<D_BYTES>::ACROSS * size;
    return first < last ? first : last;
}

/* Chunk c of an atom: its first register of the part's, its place in D. */
template <int D_BYTES, int PART> static __device__ __forceinline__ constexpr int chunk_register(int c) {
    return chunk_first<D_BYTES, PART>(c) / 2;
}
template <int D_BYTES, int PART>
static __device__ __forceinline__ struct store_origin chunk_origin(struct store_origin tile, int atom, int c) {
    constexpr int across = chunk_grid<D_BYTES>::ACROSS, cols = chunk_grid<D_BYTES>::COLS;
    if (SWAPPED)
        return {tile.row + chunk_first<D_BYTES, PART>(c), tile.col + atom * 64 + c % across * cols, tile.matrix};
    return {tile.row + atom * 64, tile.col + chunk_first<D_BYTES, PART>(c), tile.matrix};
}

/* Zeroes the elements of a partial sum that lie outside D. They were computed from whatever shared memory held, which
 * no other kernel may see. `first_m` is the consumer's first row on wgmma's M side. */
static __device__ __forceinline__ void clear_outside(const struct gm_epilogue_params &e,
                                                     sum_t (&acc)[ATOMS_M][ATOM_REGISTERS], struct tile_position tile,
                                                     int first_m, uint32_t thread) {
    const int left_m = e.m - tile.m * TILE_M, left_n = e.n * (1 + GATED) - tile.n * TILE_N;
    if (left_m >= TILE_M && left_n >= TILE_N)
        return;
    const int rows = (SWAPPED ? left_n : left_m) - first_m - thread / 32 * 16 - thread % 32 / 4; /* of the M side */
    const int columns = (SWAPPED ? left_m : left_n) - thread % 4 * 2;
#pragma unroll
    for (int i = 0; i < ATOMS_M; ++i)
#pragma unroll
        for (int r = 0; r < ATOM_REGISTERS; ++r)
            if (i * 64 + r / 2 % 2 * 8 >= rows || r / 4 * 8 + r % 2 >= columns)
                acc[i][r] = 0;
}

/* Multiplies the accumulators by alpha, which a gate has done already. The branch is the same in all threads. */
static __device__ __forceinline__ void scale(sum_t (&acc)[ATOMS_M][ATOM_REGISTERS], float alpha) {
    if (!GATED && !IS_INT && alpha != 1.0f)
#pragma unroll
        for (int i = 0; i < ATOMS_M * ATOM_REGISTERS; ++i)
            acc[i / ATOM_REGISTERS][i % ATOM_REGISTERS] *= alpha;
}

/* Pair i of 16-bit elements, in the operands' type, of accumulators or of elements that are packed already. */
static __device__ __forceinline__ uint32_t packed_pair(const float *acc, int i) {
    return GM_TYPE == GM_TYPE_bf16 ? cvt_rn_bf16x2_f32(acc[2 * i], acc[2 * i + 1])
                                   : cvt_rn_f16x2_f32(acc[2 * i], acc[2 * i + 1]);
}
static __device__ __forceinline__ uint32_t packed_pair(const int32_t *, int) {
    return 0; /* sums of int8 are not packed as they are */
}
static __device__ __forceinline__ uint32_t packed_pair(const uint32_t *packed, int i) {
    return packed[i];
}

/* Stages a chunk of 16-bit elements. Matrix m of a stmatrix holds the warp's M-side rows 8 (m % 2) .. + 7 and N-side
 * columns 8 (m / 2) .. + 7 of 16. */
template <typename REGISTER>
static __device__ __forceinline__ void stage_chunk_16(uint32_t chunk_addr, const REGISTER *registers, uint32_t thread) {
    constexpr int columns = SWAPPED ? STORE_ROWS : STORE_SPAN / 2; /* of the N side */
    const uint32_t warp = thread / 32, lane = thread % 32;
#pragma unroll
    for (int j = 0; j < columns; j += 16) {
        uint32_t matrix[4];
#pragma unroll
        for (int i = 0; i < (j + 16 <= columns ? 4 : 2); ++i)
            matrix[i] = packed_pair(registers, j / 4 + i);
        if (SWAPPED) {
            const uint32_t row = j + lane / 16 * 8 + lane % 8, col = warp * 16 + lane / 8 % 2 * 8;
            const uint32_t addr = chunk_addr + swizzle_offset<STORE_SPAN>(row * STORE_SPAN + col * 2);
            if (j + 16 <= columns)
                stmatrix_x4_trans(addr, matrix[0], matrix[1], matrix[2], matrix[3]);
            else
                stmatrix_x2_trans(addr, matrix[0], matrix[1]);
        } else {
            const uint32_t row = warp * 16 + lane % 16, col = j + lane / 16 * 8;
            stmatrix_x4(chunk_addr + swizzle_offset<STORE_SPAN>(row * STORE_SPAN + col * 2), matrix[0], matrix[1],
                        matrix[2], matrix[3]);
        }
    }
}

/* Stages a chunk of elements of 32 bits. A swapped chunk is half an atom wide, so half of the warps have nothing in it. */
static __device__ __forceinline__ void stage_chunk_32(uint32_t chunk_addr, const sum_t *acc, int half,
                                                      uint32_t thread) {
    constexpr int columns = SWAPPED ? STORE_ROWS : STORE_SPAN / 4;
    const uint32_t warp = thread / 32, m = warp * 16 + thread % 32 / 4, n = thread % 4 * 2;
    if (SWAPPED && warp / 2 != half)
        return;
#pragma unroll
    for (int j = 0; j < columns; j += 8)
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            const float x = sum_copied(acc[j / 2 + 2 * h]), y = sum_copied(acc[j / 2 + 2 * h + 1]);
            if (SWAPPED) {
                const uint32_t row = j + n, col = m % 32 + 8 * h;
                st_shared(chunk_addr + swizzle_offset<STORE_SPAN>(row * STORE_SPAN + col * 4), x);
                st_shared(chunk_addr + swizzle_offset<STORE_SPAN>((row + 1) * STORE_SPAN + col * 4), y);
            } else {
                st_shared_v2(chunk_addr + swizzle_offset<STORE_SPAN>((m + 8 * h) * STORE_SPAN + (j + n) * 4), x, y);
            }
        }
}

/* Stages a chunk of elements of 8 bits: word 4 s + 2 h + w has row h's columns of 8 (2 w) and 8 (2 w + 1) of strip s of 32. */
static __device__ __forceinline__ void stage_chunk_8(uint32_t chunk_addr, const uint32_t *words, uint32_t thread) {
    const uint32_t m = thread / 32 * 16 + thread % 32 / 4, n = thread % 4 * 2;
#pragma unroll
    for (int i = 0; i < STORE_SPAN / 8; ++i) {
        const uint32_t row = m + i / 2 % 2 * 8, col = i / 4 * 32 + i % 2 * 16 + n;
        st_shared_b16(chunk_addr + swizzle_offset<STORE_SPAN>(row * STORE_SPAN + col), words[i]);
        st_shared_b16(chunk_addr + swizzle_offset<STORE_SPAN>(row * STORE_SPAN + col + 8), words[i] >> 16);
    }
}

/* Syncs the threads that stage and store together: a warp its 16 rows; in a swapped variant, whose rows of D run across
 * the warps, all four warps. */
static __device__ __forceinline__ void store_sync(const struct store_context &s) {
    if (SWAPPED)
        bar_sync(s.bar, 128);
    else
        __syncwarp();
}
static __device__ __forceinline__ bool store_issues(uint32_t thread) {
    return SWAPPED ? thread == 0 : thread % 32 == 0;
}

/* Stages as many chunks as a buffer holds, from the tile's chunk `first` on, at `buffer_addr`, and stores them by TMA.
 * D has D_BYTES an element; a register is an accumulator, or two of them packed. */
template <int D_BYTES, int PART, typename REGISTER, int OF_ATOM>
static __device__ __forceinline__ void store_buffer(const struct gm_gemm_sm90_params &p, const struct store_context &s,
                                                    const REGISTER (&registers)[ATOMS_M][OF_ATOM],
                                                    struct store_origin tile, uint32_t buffer_addr, int first) {
    constexpr int of_atom = chunks_of_atom<D_BYTES, PART>(), in_register = ATOM_REGISTERS / OF_ATOM;
    const int count = min(chunk_grid<D_BYTES>::IN_BUFFER, ATOMS_M * of_atom - first);
    const uint32_t share = SWAPPED ? 0 : s.thread / 32 * 16; /* first row of this warp's share of a chunk */
#pragma unroll
    for (int i = 0; i < count; ++i) {
        const int atom = (first + i) / of_atom, c = (first + i) % of_atom;
        const REGISTER *chunk_registers =
            &registers[atom][(part_first(PART) / 2 + chunk_register<D_BYTES, PART>(c)) / in_register];
        if constexpr (D_BYTES == 4)
            stage_chunk_32(buffer_addr + i * CHUNK_BYTES, chunk_registers, c % 2, s.thread);
        else if constexpr (D_BYTES == 1)
            stage_chunk_8(buffer_addr + i * CHUNK_BYTES, chunk_registers, s.thread);
        else
            stage_chunk_16(buffer_addr + i * CHUNK_BYTES, chunk_registers, s.thread);
    }
    fence_proxy_async();
    store_sync(s);
    if (store_issues(s.thread)) {
#pragma unroll
        for (int i = 0; i < count; ++i) {
            const struct store_origin at =
                chunk_origin<D_BYTES, PART>(tile, (first + i) / of_atom, (first + i) % of_atom);
            if (BATCHED)
                tma_store_3d(&p.d, at.col, at.row + share, at.matrix,
                             buffer_addr + i * CHUNK_BYTES + share * STORE_SPAN, p.d_policy);
            else
                tma_store_2d(&p.d, at.col, at.row + share, buffer_addr + i * CHUNK_BYTES + share * STORE_SPAN);
        }
        bulk_commit_group();
    }
}

/* How many buffers a tile of D takes. */
template <int D_BYTES, int PART> static __device__ __forceinline__ constexpr int buffers_of_tile(void) {
    constexpr int chunks = ATOMS_M * chunks_of_atom<D_BYTES, PART>(), in_buffer = chunk_grid<D_BYTES>::IN_BUFFER;
    return GM_CEIL_DIV(chunks, in_buffer);
}

/* Stores buffer `number` of a tile, through two staging buffers: one is staged while TMA reads the other. */
template <int D_BYTES, int PART, typename REGISTER, int OF_ATOM>
static __device__ __forceinline__ void store_staged(const struct gm_gemm_sm90_params &p, struct store_context &s,
                                                    const REGISTER (&registers)[ATOMS_M][OF_ATOM],
                                                    struct store_origin tile, int number) {
    if (store_issues(s.thread))
        bulk_wait_group_read<GM_SM90_STORE_BUFFERS - 1>();
    store_sync(s);
    store_buffer<D_BYTES, PART>(p, s, registers, tile, s.staging_addr + s.buffer * BUFFER_BYTES,
                                number * chunk_grid<D_BYTES>::IN_BUFFER);
    s.buffer ^= 1;
}

/* Stores a tile that is D already, in accumulators or packed. */
template <int D_BYTES, int PART, typename REGISTER, int OF_ATOM>
static __device__ __forceinline__ void store_plain(const struct gm_gemm_sm90_params &p, struct store_context &s,
                                                   const REGISTER (&registers)[ATOMS_M][OF_ATOM],
                                                   struct store_origin tile) {
#pragma unroll
    for (int i = 0; i < buffers_of_tile<D_BYTES, PART>(); ++i)
        store_staged<D_BYTES, PART>(p, s, registers, tile, i);
}

/* Stores the 16-bit elements of a chunk that this warp has staged, 16 bytes a thread: 16 rows of the chunk, or,
 * swapped, 16 columns of all its rows. */
static __device__ __forceinline__ void store_rows(const struct gm_epilogue_params &e, uint32_t chunk_addr,
                                                  struct store_origin at, uint32_t thread) {
    constexpr int across = SWAPPED ? 2 : STORE_SPAN / 16; /* pieces of 16 bytes side by side */
    constexpr int pieces = across * (SWAPPED ? STORE_ROWS : 16);
    const uint32_t warp = thread / 32, lane = thread % 32;
#pragma unroll
    for (int first = 0; first < pieces; first += 32) {
        const uint32_t i = first + lane;
        if (pieces % 32 != 0 && i >= pieces)
            break;
        /* Eight lanes read eight rows, or one row: no two of them from one bank. */
        const uint32_t row = SWAPPED ? i / 16 * 8 + i % 8 : warp * 16 + i / across;
        const uint32_t col = SWAPPED ? warp * 16 + i / 8 % 2 * 8 : i % across * 8;
        uint32_t words[4];
        ld_shared_v4_b32(chunk_addr + swizzle_offset<STORE_SPAN>(row * STORE_SPAN + col * 2), words);
        if (at.row + row < e.m && at.col + col < e.n)
            st_global_v4_b32(e.d + ((at.row + row) * e.ldd + at.col + col) * 2, words);
    }
}

/* Stores a CTA's last tile as 16-bit elements, when nothing is left to hide the store behind. If a consumer has one
 * chunk, every warp stores its rows itself as soon as they are staged: TMA would take 600 clocks longer. Several chunks
 * go through the ring at `ring_addr`, which is drained for good and has room for all, so that none waits for
 * another. */
template <int PART>
static __device__ __forceinline__ void store_last(const struct gm_gemm_sm90_params &p, const struct store_context &s,
                                                  const sum_t (&acc)[ATOMS_M][ATOM_REGISTERS], struct store_origin tile,
                                                  uint32_t ring_addr) {
    if (LAST_TILE_IN_RING) {
        constexpr int buffers = buffers_of_tile<2, PART>();
        static_assert(buffers * BUFFER_BYTES <= RING_PART_BYTES, "the ring holds a tile of D");
        const uint32_t room_addr = ring_part_addr(ring_addr, s.bar - BAR_STAGING);
#pragma unroll
        for (int i = 0; i < buffers; ++i)
            store_buffer<2, PART>(p, s, acc, tile, room_addr + i * BUFFER_BYTES, i * chunk_grid<2>::IN_BUFFER);
        return;
    }
    if (store_issues(s.thread))
        bulk_wait_group_read<0>(); /* of the tile before */
    store_sync(s);
    stage_chunk_16(s.staging_addr, &acc[0][part_first(PART) / 2], s.thread);
    __syncwarp();
    struct gm_epilogue_params own; /* of a batch: the epilogue of the tile's matrix */
    if (BATCHED)
        own = batch_epilogue(p.epilogue, p.batch, tile.matrix);
    store_rows(BATCHED ? own : p.epilogue, s.staging_addr, tile, s.thread);
}

/* Whether the accumulators leave no register even for the thread's number; rows of D that are read from staging before
 * the first of them is stored, for which they leave registers. */
enum { CROWDED = !PINGPONG && FLOATS > 160, ROWS_AHEAD = FLOATS > 160 ? 1 : FLOATS > 128 ? 2 : 4 };

/* Applies the epilogue to a staged chunk, without its first `done` rows or columns, 8 columns of a row a thread, and
 * stores what it yields; to a D that takes no vectors, back to staging. The thread's number is computed anew, here and
 * below: the accumulators leave no register to keep it in. */
static __device__ __forceinline__ void finish_chunk(const struct gm_scaling_params &scaling,
                                                    const struct gm_epilogue_params &e, uint32_t chunk_addr,
                                                    struct store_origin at, int done) {
    constexpr int groups = chunk_grid<4>::COLS / 8;
#pragma unroll 1
    for (uint32_t i = thread_index() % 128; i < STORE_ROWS * groups; i += 128) {
        const uint32_t row = i / groups, col = i % groups * 8;
        const uint32_t addr = chunk_addr + swizzle_offset<STORE_SPAN>(row * STORE_SPAN + col * 4);
        if ((int)(SWAPPED ? row : col) < done) /* C may be D: each element is read and written once */
            continue;
        float v[8];
#pragma unroll
        for (int h = 0; h < 2; ++h)
            ld_shared_v4(addr ^ h * 16, v[4 * h], v[4 * h + 1], v[4 * h + 2], v[4 * h + 3]);
        sum_epilogue8(scaling, e, v, at.row + row, at.col + col);
        if (e.d_vector)
            epilogue_store8(e, v, at.row + row, at.col + col);
        else
#pragma unroll
            for (int h = 0; h < 2; ++h)
                st_shared_v4(addr ^ h * 16, v[4 * h], v[4 * h + 1], v[4 * h + 2], v[4 * h + 3]);
    }
}

/* What a lane stores of a row of D that may begin on any element: an aligned word, which is element i of a staged row
 * and, of 16 bits, i + 1. Where the row begins in the middle of a word, the last lane has the row's last element too. */
template <int D_BYTES, int COLS> struct row_word {
    bool low, high, last; /* whether D has the element, and it is to be stored */
    int i;
    uint32_t x, y, z;
    uint64_t address; /* of element i */
};

/* `l` counts the lanes of the row, of which columns `from` to `to` - 1 are stored. */
template <int D_BYTES, int COLS, typename ELEMENT>
static __device__ __forceinline__ void load_word(struct row_word<D_BYTES, COLS> &w, uint64_t address, int l, int from,
                                                 int to, ELEMENT element_of) {
    const int shift = D_BYTES == 2 ? address / 2 % 2 : 0;
    w.i = D_BYTES == 2 ? 2 * l - shift : l;
    w.low = w.i >= from && w.i < to;
    w.high = D_BYTES == 2 && w.i + 1 >= from && w.i + 1 < to;
    w.last = shift && l == COLS / 2 - 1 && COLS <= to;
    w.x = w.low ? element_of(w.i) : 0;
    w.y = w.high ? element_of(w.i + 1) : 0;
    w.z = w.last ? element_of(COLS - 1) : 0;
    w.address = address + w.i * D_BYTES;
}

template <int D_BYTES, int COLS>
static __device__ __forceinline__ void store_word(const struct row_word<D_BYTES, COLS> &w) {
    if (D_BYTES == 4) {
        if (w.low)
            st_global_b32(w.address, w.x);
        return;
    }
    if (w.low && w.high)
        st_global_b32(w.address, w.x | w.y << 16);
    else if (w.low || w.high)
        st_global_b16(w.address + (w.low ? 0 : 2), w.low ? w.x : w.y);
    if (w.last)
        st_global_b16(w.address + 4, w.z);
}

/* Stores the rows of a staged chunk of COLS columns, without its first `done` rows or columns. A warp's lanes lie along
 * the rows, so that an instruction stores whole pieces of rows, whatever their alignment. element_of(row, col) reads an
 * element, of D's type. */
template <int D_BYTES, int COLS, typename ELEMENT>
static __device__ __forceinline__ void store_along_rows(const struct gm_epilogue_params &e, struct store_origin at,
                                                        int done, ELEMENT element_of) {
    constexpr int lanes = COLS * D_BYTES / 4, step = 128 / lanes;
    const int thread = thread_index() % 128, end = min((int)STORE_ROWS, e.m - at.row);
    const int from = SWAPPED ? 0 : done, first_row = SWAPPED ? done : 0;
    uint64_t address = e.d + ((at.row + thread / lanes) * e.ldd + at.col) * D_BYTES;
#pragma unroll 1
    for (int row = thread / lanes; row < end; row += step, address += step * e.ldd * D_BYTES) {
        struct row_word<D_BYTES, COLS> word;
        load_word(word, address, thread % lanes, from, row >= first_row ? e.n - at.col : 0,
                  [&](int col) { return element_of(row, col); });
        store_word(word);
    }
}

/* The same of a finished chunk of fp32, for a D of any type. */
static __device__ __forceinline__ void store_finished(const struct gm_epilogue_params &e, uint32_t chunk_addr,
                                                      struct store_origin at, int done) {
    constexpr int cols = chunk_grid<4>::COLS;
    const auto value_of = [&](int row, int col) {
        return ld_shared_f32(chunk_addr + swizzle_offset<STORE_SPAN>(row * STORE_SPAN + col * 4));
    };
    if (e.d_type == GM_TYPE_fp32)
        store_along_rows<4, cols>(e, at, done, [&](int row, int col) { return __float_as_uint(value_of(row, col)); });
    else
        store_along_rows<2, cols>(e, at, done, [&](int row, int col) {
            const float v = value_of(row, col);
            return e.d_type == GM_TYPE_bf16 ? cvt_rn_bf16x2_f32(v, 0) : cvt_rn_f16x2_f32(v, 0);
        });
}

/* Stores a tile with any epilogue, to a D of any alignment. Accumulators go through staging as fp32, so that a thread
 * has 8 columns of a row of C, bias and D. The loop over chunks stays rolled, for code size: only the writes need
 * compile-time register numbers. */
template <int PART>
static __device__ __forceinline__ void store_general(const struct gm_gemm_sm90_params &p, struct store_context &s,
                                                     const sum_t (&acc)[ATOMS_M][ATOM_REGISTERS],
                                                     struct store_origin tile) {
    struct gm_epilogue_params own; /* of a batch: the epilogue of the tile's matrix */
    if (BATCHED)
        own = batch_epilogue(p.epilogue, p.batch, tile.matrix);
    constexpr int of_atom = chunks_of_atom<4, PART>(), chunks = ATOMS_M * of_atom;
    constexpr int size = chunk_size<4>();
    constexpr bool even = part_size(PART) % size == 0;
#pragma unroll 1
    for (int chunk = 0; chunk < chunks; ++chunk) {
        const uint32_t chunk_addr = s.staging_addr + s.buffer * BUFFER_BYTES;
        const uint32_t thread = CROWDED ? thread_index() % 128 : s.thread;
#pragma unroll
        for (int c = 0; c < chunks; ++c)
            if (c == chunk)
                stage_chunk_32(chunk_addr,
                               &acc[c / of_atom][part_first(PART) / 2 + chunk_register<4, PART>(c % of_atom)], c % 2,
                               thread);
        bar_sync(s.bar, 128);
        const int c = chunk % of_atom;
        const int done = even ? 0 : c / chunk_grid<4>::ACROSS * size - chunk_first<4, PART>(c);
        const struct store_origin at = chunk_origin<4, PART>(tile, chunk / of_atom, c);
        finish_chunk(p.scaling, BATCHED ? own : p.epilogue, chunk_addr, at, done);
        if (!p.epilogue.d_vector) {
            bar_sync(s.bar, 128);
            store_finished(BATCHED ? own : p.epilogue, chunk_addr, at, done);
        }
        s.buffer ^= 1;
    }
}

/* Stores the rows of a chunk of 16-bit elements all of which D has, so that no lane asks which. */
template <int COLS>
static __device__ __forceinline__ void store_whole_rows(const struct gm_epilogue_params &e, uint32_t chunk_addr,
                                                        struct store_origin at) {
    constexpr int lanes = COLS / 2, step = 128 / lanes, rows = STORE_ROWS / step;
    constexpr int ahead = rows % ROWS_AHEAD == 0 ? (int)ROWS_AHEAD : rows % 2 == 0 ? 2 : 1;
    static_assert(STORE_ROWS % step == 0, "every lane has as many rows");
    const int thread = thread_index() % 128, l = thread % lanes, before = max(l - 1, 0);
    const uint64_t pitch = step * e.ldd * 2;
    uint64_t address = e.d + ((at.row + thread / lanes) * e.ldd + at.col) * 2 + l * 4;
    const auto word_of = [&](int i, int number) {
        return ld_shared_b32(chunk_addr +
                             swizzle_offset<STORE_SPAN>((thread / lanes + i * step) * STORE_SPAN + number * 4));
    };
#pragma unroll 1
    for (int first = 0; first < rows; first += ahead) {
        uint32_t own[ahead], other[ahead];
#pragma unroll
        for (int j = 0; j < ahead; ++j) {
            own[j] = word_of(first + j, l);
            other[j] = word_of(first + j, before);
        }
#pragma unroll
        for (int j = 0; j < ahead; ++j, address += pitch) {
            const bool shift = address & 2;
            if (!shift || l > 0)
                st_global_b32(address - 2 * shift, shift ? __byte_perm(other[j], own[j], 0x5432) : own[j]);
            if (shift && (l == 0 || l == lanes - 1))
                st_global_b16(address + (l == 0 ? 0 : 2), l == 0 ? own[j] : own[j] >> 16);
        }
    }
}

/* Stores a tile whose epilogue is alpha alone, to a D that TMA cannot store. The loop over chunks stays rolled, for
 * code size. */
template <int PART>
static __device__ __forceinline__ void store_unaligned(const struct gm_gemm_sm90_params &p, struct store_context &s,
                                                       const sum_t (&acc)[ATOMS_M][ATOM_REGISTERS],
                                                       struct store_origin tile) {
    struct gm_epilogue_params own; /* of a batch: the epilogue of the tile's matrix */
    if (BATCHED)
        own = batch_epilogue(p.epilogue, p.batch, tile.matrix);
    constexpr int of_atom = chunks_of_atom<2, PART>(), chunks = ATOMS_M * of_atom, cols = chunk_grid<2>::COLS;
#pragma unroll 1
    for (int chunk = 0; chunk < chunks; ++chunk) {
        const uint32_t chunk_addr = s.staging_addr + s.buffer * BUFFER_BYTES;
        const uint32_t thread = CROWDED ? thread_index() % 128 : s.thread;
#pragma unroll
        for (int c = 0; c < chunks; ++c)
            if (c == chunk)
                stage_chunk_16(chunk_addr,
                               &acc[c / of_atom][part_first(PART) / 2 + chunk_register<2, PART>(c % of_atom)], thread);
        bar_sync(s.bar, 128);
        const struct store_origin at = chunk_origin<2, PART>(tile, chunk / of_atom, chunk % of_atom);
        if (at.row + STORE_ROWS <= p.epilogue.m && at.col + cols <= p.epilogue.n)
            store_whole_rows<cols>(BATCHED ? own : p.epilogue, chunk_addr, at);
        else
            store_along_rows<2, cols>(BATCHED ? own : p.epilogue, at, 0, [&](int row, int col) {
                return ld_shared_b16(chunk_addr + swizzle_offset<STORE_SPAN>(row * STORE_SPAN + col * 2));
            });
        s.buffer ^= 1;
    }
}

/* The scales of rows first, first + 1, ... of wgmma's M side, or of columns of its N side: 1 where there are none. */
struct side_scales {
    uint64_t values;
    int first, end, step;
};
static __device__ __forceinline__ float side_scale(const struct side_scales &s, int i) {
    const int at = s.first + i;
    return s.values && at < s.end ? __uint_as_float(ld_global_b32(s.values + (int64_t)at * s.step * 4)) : 1;
}

/* The scales of a tile's sums, of this thread's rows and columns, on wgmma's sides. */
struct tile_scales {
    struct side_scales side_m, side_n;
};
/* `first_m` is the consumer's first row on the M side. */
static __device__ __forceinline__ struct tile_scales
tile_scales_of(const struct gm_gemm_sm90_params &p, struct tile_position tile, int first_m, uint32_t thread) {
    const struct gm_scaling_params &s = p.scaling;
    const int row = tile.m * TILE_M, column = tile.n * TILE_N;
    const int m = first_m + thread / 32 * 16 + thread % 32 / 4, n = thread % 4 * 2;
    const struct side_scales rows = {s.row_scales, row + (SWAPPED ? n : m), p.epilogue.m, s.row_step};
    const struct side_scales columns = {s.column_scales, column + (SWAPPED ? m : n), p.epilogue.n, s.column_step};
    return {SWAPPED ? columns : rows, SWAPPED ? rows : columns};
}

/* Scales a tile's sums by alpha, rows and columns: store(i, j, x, y) gets pair i % 2 of atom i / 2, of columns 8 j on the
 * N side. */
template <typename SUM, typename STORE>
static __device__ __forceinline__ void for_scaled_pairs(const struct gm_gemm_sm90_params &p,
                                                        const SUM (&acc)[ATOMS_M][ATOM_REGISTERS],
                                                        const struct tile_scales &scales, STORE store) {
    float of_m[ATOMS_M][2];
#pragma unroll
    for (int i = 0; i < 2 * ATOMS_M; ++i)
        of_m[i / 2][i % 2] = p.epilogue.alpha * side_scale(scales.side_m, i / 2 * 64 + i % 2 * 8);
#pragma unroll
    for (int j = 0; j < ATOM_REGISTERS / 4; ++j) {
        const float of_n[2] = {side_scale(scales.side_n, j * 8), side_scale(scales.side_n, j * 8 + 1)};
#pragma unroll
        for (int i = 0; i < 2 * ATOMS_M; ++i) {
            const SUM *pair = &acc[i / 2][4 * j + i % 2 * 2];
            store(i, j, (float)pair[0] * of_m[i / 2][i % 2] * of_n[0], (float)pair[1] * of_m[i / 2][i % 2] * of_n[1]);
        }
    }
}

/* Makes 16-bit elements of a tile's sums, scaled by rows and columns: pairs along the N side, as packed_pair() has them. */
static __device__ __forceinline__ void pack_scaled(const struct gm_gemm_sm90_params &p,
                                                   const int32_t (&acc)[ATOMS_M][ATOM_REGISTERS],
                                                   uint32_t (&packed)[ATOMS_M][ATOM_REGISTERS / 2],
                                                   const struct tile_scales &scales) {
    const bool is_bf16 = p.epilogue.d_type == GM_TYPE_bf16;
    for_scaled_pairs(p, acc, scales, [&](int i, int j, float x, float y) {
        packed[i / 2][2 * j + i % 2] = is_bf16 ? cvt_rn_bf16x2_f32(x, y) : cvt_rn_f16x2_f32(x, y);
    });
}

/* Scales a tile's sums by rows and columns, and by alpha. */
static __device__ __forceinline__ void scale_sums(const struct gm_gemm_sm90_params &p,
                                                  float (&acc)[ATOMS_M][ATOM_REGISTERS],
                                                  const struct tile_scales &scales) {
    for_scaled_pairs(p, acc, scales, [&](int i, int j, float x, float y) {
        acc[i / 2][4 * j + i % 2 * 2] = x;
        acc[i / 2][4 * j + i % 2 * 2 + 1] = y;
    });
}

/* The first REGISTERS of each atom as pairs of 16-bit elements of either type. */
template <int REGISTERS>
static __device__ __forceinline__ void pack_pairs(int type, const float (&acc)[ATOMS_M][ATOM_REGISTERS],
                                                  uint32_t (&packed)[ATOMS_M][ATOM_REGISTERS / 2]) {
#pragma unroll
    for (int i = 0; i < ATOMS_M; ++i)
#pragma unroll
        for (int r = 0; r < REGISTERS / 2; ++r) {
            const float low = acc[i][2 * r], high = acc[i][2 * r + 1];
            packed[i][r] = type == GM_TYPE_bf16 ? cvt_rn_bf16x2_f32(low, high) : cvt_rn_f16x2_f32(low, high);
        }
}

/* Stores a tile of sums scaled by rows and columns, of int8 into 16 bits, of fp8 into 16 bits or fp32. */
template <int PART>
static __device__ __forceinline__ void store_scaled(const struct gm_gemm_sm90_params &p, struct store_context &s,
                                                    const int32_t (&acc)[ATOMS_M][ATOM_REGISTERS],
                                                    struct tile_position tile, int first_m, struct store_origin at) {
    uint32_t packed[ATOMS_M][ATOM_REGISTERS / 2];
    pack_scaled(p, acc, packed, tile_scales_of(p, tile, first_m, s.thread));
    store_plain<2, PART>(p, s, packed, at);
}
template <int PART>
static __device__ __forceinline__ void store_scaled(const struct gm_gemm_sm90_params &p, struct store_context &s,
                                                    float (&acc)[ATOMS_M][ATOM_REGISTERS], struct tile_position tile,
                                                    int first_m, struct store_origin at) {
    scale_sums(p, acc, tile_scales_of(p, tile, first_m, s.thread));
    if (p.epilogue.d_type == GM_TYPE_fp32) {
        store_plain<4, PART>(p, s, acc, at);
        return;
    }
    uint32_t packed[ATOMS_M][ATOM_REGISTERS / 2];
    pack_pairs<ATOM_REGISTERS>(p.epilogue.d_type, acc, packed);
    store_plain<2, PART>(p, s, packed, at);
}

/* How a tile is stored: the last tile of a CTA with 16-bit elements; 2 or 4 bytes an element with alpha alone; 2 bytes
 * with alpha alone where TMA cannot store D; or any epilogue; or sums scaled by rows and columns; or an extended epilogue. */
enum store_kind {
    STORE_LAST,
    STORE_PLAIN_16,
    STORE_PLAIN_32,
    STORE_UNALIGNED,
    STORE_GENERAL,
    STORE_SCALED,
    STORE_EXTENDED
};

/* Where in D the consumer's part of the tile at `tile` begins; `first_m` is its first row on the M side. */
template <int PART>
static __device__ __forceinline__ struct store_origin store_origin_of(struct tile_position tile, int first_m) {
    return {tile.m * TILE_M + (SWAPPED ? part_first(PART) : first_m),
            tile.n * (TILE_N / (1 + GATED)) + (SWAPPED ? first_m : part_first(PART)), tile.matrix};
}

/* Stores the consumer's part of a tile; with cluster-k, of part `k_rank` of it. */
template <int PART = 0>
static __device__ __forceinline__ void store_tile(const struct gm_gemm_sm90_params &p, struct store_context &s,
                                                  sum_t (&acc)[ATOMS_M][ATOM_REGISTERS], struct tile_position tile,
                                                  int first_m, int k_rank, enum store_kind kind, uint32_t ring_addr) {
    if (CLUSTER_K == 1 || PART == k_rank) {
        const struct store_origin at = store_origin_of<PART>(tile, first_m);
        if (SCALES && kind == STORE_SCALED) {
            store_scaled<PART>(p, s, acc, tile, first_m, at);
            return;
        }
        if (kind != STORE_GENERAL)
            scale(acc, p.epilogue.alpha);
        if (IS_HALF && kind == STORE_LAST)
            store_last<PART>(p, s, acc, at, ring_addr);
        else if (IS_HALF && kind == STORE_PLAIN_16)
            store_plain<2, PART>(p, s, acc, at);
        else if (!GATED && kind == STORE_PLAIN_32)
            store_plain<4, PART>(p, s, acc, at);
        else if (IS_HALF && kind == STORE_UNALIGNED)
            store_unaligned<PART>(p, s, acc, at);
        else if (!GATED)
            store_general<PART>(p, s, acc, at);
    }
    if constexpr (PART + 1 < CLUSTER_K)
        store_tile<PART + 1>(p, s, acc, tile, first_m, k_rank, kind, ring_addr);
}

/* Cooperative consumers have no other consumer that keeps the tensor cores busy while they store. So they defer the
 * store of a STORE_PLAIN_16 tile: they pack its elements, and store them beside the first k-blocks of the next tile.
 *
 *   tensor cores   | tile 0: ... last k-block |      | tile 1: k-block 0 | 1 | 2 | 3 | ...
 *   consumer                                  | pack |   store a buffer, | one | one | one
 */
enum {
    DEFERS_STORE = GM_SM90_DEFERS_STORE(TILE_M, TILE_N, ROLES, GM_TYPE),
    DEFERRED_BUFFERS = buffers_of_tile<2, 0>()
};
struct deferred_tile {
    uint32_t packed[ATOMS_M][ATOM_REGISTERS / 2];
    struct store_origin at;
    bool any;
};

/* Packs a tile whose store is deferred.
 * NOTE: it packs the accumulators of a tile that has been stored, too. If a branch led around it to the next tile, the
 * elements packed before would stay alive on that branch, and spill. */
static __device__ __forceinline__ void defer_tile(const struct gm_gemm_sm90_params &p,
                                                  sum_t (&acc)[ATOMS_M][ATOM_REGISTERS], struct tile_position tile,
                                                  int first_m, struct deferred_tile &deferred) {
    constexpr int of_atom = ATOM_REGISTERS / 2;
    deferred.at = store_origin_of<0>(tile, first_m);
    scale(acc, p.epilogue.alpha);
#pragma unroll
    for (int i = 0; i < ATOMS_M * of_atom; ++i)
        deferred.packed[i / of_atom][i % of_atom] = packed_pair(acc[i / of_atom], i % of_atom);
}

#endif
