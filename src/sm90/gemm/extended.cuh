/* SPDX-License-Identifier: Apache-2.0 */
/* Extended epilogues, in the registers that hold the sums:
 *
 *   y = act(alpha * sums * row scale * column scale + beta * C + bias) + residual
 *
 *   extend_tile()      sums -> y, and the largest |y|; stores D element by element where TMA does not
 *   quantize_tile()    y -> words of four elements of 8 bits, and scales of groups
 *   store_extended()   y or words -> D by TMA
 *
 * Variants without one skip all this unread: most of their tiles are no whole blocks.
 * A residual whose rows are aligned is added by straight code, all other steps block by block. A block is
 * EXTENDED_AT_ONCE registers, 32 columns of the N side at most. The loop over blocks stays rolled, for code size: after each
 * of them all registers move on, so that the next block is where the code expects it. */
#ifndef GM_SM90_GEMM_EXTENDED_CUH
#define GM_SM90_GEMM_EXTENDED_CUH

#include "common/activation.cuh"
#include "common/convert.cuh"
#include "common/gemm_sm90/params.h"
#include "common/quantized_store.cuh"
#include "sm90/gemm/constants.cuh"
#include "sm90/gemm/gate.cuh"
#include "sm90/gemm/store.cuh"
#include "sm90/gemm/walk.cuh"

#if GM_EXTENDED

enum {
    D_REGISTERS = ATOM_REGISTERS / (1 + GATED), /* of an atom, that hold y */
    EXTENDED_AT_ONCE = D_REGISTERS < 16 ? (int)D_REGISTERS : 16,
    D_BLOCKS = D_REGISTERS / EXTENDED_AT_ONCE, /* of an atom */
};
static_assert(D_REGISTERS % EXTENDED_AT_ONCE == 0, "atoms are made of whole blocks");
static_assert(SWAPPED || D_REGISTERS == 32 || D_REGISTERS % 64 == 0, "a row of 64 columns, or of whole groups");
static_assert(!BATCHED && !SPLIT_K && CLUSTER_K == 1, "extended epilogues are of whole tiles");

/* The parameters begin with those of every kernel. */
static __device__ __forceinline__ const struct gm_extension_params &extension_of(const struct gm_gemm_sm90_params &p) {
    return reinterpret_cast<const struct gm_gemm_sm90_extended_params &>(p).extension;
}

/* ---- where a block is in D -------------------------------------------------------------------------- */

/* Of register 4 j + 2 h + x of a block: row and column of D. Without swap a pair of registers is two columns of a row. */
struct block_place {
    int row, col;
};
static __device__ __forceinline__ int row_of(struct block_place at, int j, int h, int x) {
    return SWAPPED ? at.row + 8 * j + x : at.row + 8 * h;
}
static __device__ __forceinline__ int column_of(struct block_place at, int j, int h, int x) {
    return SWAPPED ? at.col + 8 * h : at.col + 8 * j + x;
}

/* This thread's place in block number `block` of the consumer's, of a tile that begins at `tile` in D. */
static __device__ __forceinline__ struct block_place place_of(struct store_origin tile, int block, uint32_t thread) {
    const int m_side = block / D_BLOCKS * 64 + thread / 32 * 16 + thread % 32 / 4;
    const int n_side = block % D_BLOCKS * (EXTENDED_AT_ONCE * 2) + thread % 4 * 2;
    return {tile.row + (SWAPPED ? n_side : m_side), tile.col + (SWAPPED ? m_side : n_side)};
}

/* ---- what is read ----------------------------------------------------------------------------------- */

/* A matrix, or a vector for all rows or columns: element (row, col) is row_step * row + column_step * col elements behind
 * the first. */
struct matrix_in {
    uint64_t address;
    int64_t row_step;
    int column_step, type;
};

/* Element by element, 0 outside D. */
template <int COUNT>
static __device__ __forceinline__ void load_elements(const struct matrix_in &in, const struct gm_epilogue_params &e,
                                                     struct block_place at, float (&x)[COUNT]) {
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
        const int row = row_of(at, i / 4, i / 2 % 2, i % 2), col = column_of(at, i / 4, i / 2 % 2, i % 2);
        const bool inside = row < e.m && col < e.n;
        const int64_t index = row * in.row_step + (int64_t)col * in.column_step;
        uint32_t bits = 0;
        if (in.type == GM_TYPE_fp32)
            bits = inside ? ld_global_b32(in.address + index * 4) : 0;
        else
            bits = inside ? ld_global_b16(in.address + index * 2) : 0;
        float ignored;
        if (in.type == GM_TYPE_fp32)
            x[i] = __uint_as_float(bits);
        else if (in.type == GM_TYPE_bf16)
            cvt_f32_bf16x2(bits, x[i], ignored);
        else
            cvt_f32_f16x2(bits, x[i], ignored);
    }
}

/* ---- what becomes of a block ------------------------------------------------------------------------ */

/* The epilogue in its order, as bits. With a gate scales and the bias are of gates and ups, done before; so are scales and
 * alpha of fp8. */
enum {
    BY_ROW_SCALES = 1,
    BY_COLUMN_SCALES = 2,
    BY_ALPHA = 4,
    PLUS_C = 8,
    PLUS_BIAS = 16,
    ACTIVATED = 32,
    PLUS_RESIDUAL = 64
};

static __device__ __forceinline__ int steps_of(const struct gm_gemm_sm90_params &p) {
    const struct gm_epilogue_params &e = p.epilogue;
    if (GATED)
        return 0;
    const int factors = (p.scaling.row_scales ? BY_ROW_SCALES : 0) | (p.scaling.column_scales ? BY_COLUMN_SCALES : 0) |
                        (e.alpha != 1 ? BY_ALPHA : 0);
    return (IS_FP8 ? 0 : factors) | (e.beta != 0 ? PLUS_C : 0) | (e.bias_mode ? PLUS_BIAS : 0) |
           (e.activation ? ACTIVATED : 0) | (extension_of(p).residual ? PLUS_RESIDUAL : 0);
}

static __device__ __forceinline__ struct matrix_in residual_of(const struct gm_gemm_sm90_params &p) {
    const struct gm_extension_params &x = extension_of(p);
    return {x.residual, x.ldr, 1, x.residual_type};
}
/* Whether its pairs of columns are aligned. */
static __device__ __forceinline__ bool residual_has_pairs(const struct gm_gemm_sm90_params &p) {
    const struct gm_extension_params &x = extension_of(p);
    return x.residual_vector >= (x.residual_type == GM_TYPE_fp32 ? 8 : 4);
}

/* What a step reads; an address of 0: nothing. */
static __device__ __forceinline__ struct matrix_in matrix_of(const struct gm_gemm_sm90_params &p, int step) {
    const struct gm_epilogue_params &e = p.epilogue;
    const bool along_n = e.bias_mode == EPILOGUE_BIAS_N;
    if (step == BY_ROW_SCALES)
        return {p.scaling.row_scales, p.scaling.row_step, 0, GM_TYPE_fp32};
    if (step == BY_COLUMN_SCALES)
        return {p.scaling.column_scales, 0, p.scaling.column_step, GM_TYPE_fp32};
    if (step == PLUS_C)
        return {e.c, e.ldc, 1, extension_of(p).c_type};
    if (step == PLUS_BIAS)
        return {e.bias, !along_n, along_n, e.bias_type};
    if (step == PLUS_RESIDUAL)
        return residual_of(p);
    return {0, 0, 0, GM_TYPE_fp32};
}

template <int ACTIVATION, int COUNT> static __device__ __forceinline__ void activate_as(float (&v)[COUNT]) {
#pragma unroll
    for (int i = 0; i < COUNT; ++i)
        v[i] = act_by<ACTIVATION>(v[i], -0.72134752f);
}
template <int COUNT> static __device__ __forceinline__ void activate(int activation, float (&v)[COUNT]) {
    if (activation == ACT_SILU)
        activate_as<ACT_SILU>(v);
    else if (activation == ACT_GELU_TANH)
        activate_as<ACT_GELU_TANH>(v);
    else if (activation == ACT_GELU_ERF)
        activate_as<ACT_GELU_ERF>(v);
    else
        activate_as<ACT_RELU>(v);
}

/* One step of a block: factor * x * v, or v + factor * x, or an activation. */
template <int COUNT>
static __device__ __forceinline__ void extend_step(const struct gm_gemm_sm90_params &p, int step, struct block_place at,
                                                   float (&v)[COUNT]) {
    const struct matrix_in in = matrix_of(p, step);
    const bool multiplies = step <= BY_ALPHA;
    const float factor = step == BY_ALPHA ? p.epilogue.alpha : step == PLUS_C ? p.epilogue.beta : 1;
    float x[COUNT];
#pragma unroll
    for (int i = 0; i < COUNT; ++i)
        x[i] = 1;
    if (step == ACTIVATED) {
        activate(p.epilogue.activation, v);
        return;
    }
    if (in.address)
        load_elements(in, p.epilogue, at, x);
#pragma unroll
    for (int i = 0; i < COUNT; ++i)
        v[i] = multiplies ? v[i] * (factor * x[i]) : fmaf(factor, x[i], v[i]);
}

/* ---- D element by element --------------------------------------------------------------------------- */

static __device__ __forceinline__ float static_scale(const struct gm_quantized_store &store) {
    return __uint_as_float(ld_global_b32(store.scales));
}

/* A block, of any type, to a D that TMA does not store. */
template <int COUNT>
static __device__ __forceinline__ void store_elements(const struct gm_gemm_sm90_params &p, struct block_place at,
                                                      const float (&v)[COUNT]) {
    const struct gm_epilogue_params &e = p.epilogue;
    const struct gm_quantized_store &store = extension_of(p).store;
    const bool quantizes = e.d_type >= GM_TYPE_e4m3;
    uint32_t words[COUNT / 4];
    if (quantizes) {
        float q[COUNT];
#pragma unroll
        for (int i = 0; i < COUNT; ++i)
            q[i] = v[i];
        const struct quotient_by by = by_scale(store, static_scale(store));
        quantize_each(store, q, by, are_in_range(store, largest_size(v), by), words);
    }
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
        const int row = row_of(at, i / 4, i / 2 % 2, i % 2), col = column_of(at, i / 4, i / 2 % 2, i % 2);
        if (row >= e.m || col >= e.n)
            continue;
        const int64_t index = row * e.ldd + col;
        if (quantizes)
            st_global_b8(e.d + index, words[i / 4] >> i % 4 * 8);
        else if (e.d_type == GM_TYPE_fp32)
            st_global_b32(e.d + index * 4, __float_as_uint(v[i]));
        else
            st_global_b16(e.d + index * 2,
                          e.d_type == GM_TYPE_bf16 ? cvt_rn_bf16x2_f32(v[i], 0) : cvt_rn_f16x2_f32(v[i], 0));
    }
}

/* ---- a tile ----------------------------------------------------------------------------------------- */

/* With a gate: scales of gates and ups, which are registers 8 j .. 8 j + 3 and the four behind them. */
static __device__ __forceinline__ void scale_gates(const struct gm_gemm_sm90_params &p,
                                                   float (&acc)[ATOMS_M][ATOM_REGISTERS], struct store_origin tile,
                                                   uint32_t thread) {
    const struct gm_scaling_params &s = p.scaling;
    const int row = tile.row + thread / 32 * 16 + thread % 32 / 4, column = tile.col + thread % 4 * 2;
    const struct side_scales rows = {s.row_scales, row, p.epilogue.m, s.row_step};
    float of_row[2 * ATOMS_M];
    if (!s.row_scales && !s.column_scales)
        return;
#pragma unroll
    for (int i = 0; i < 2 * ATOMS_M; ++i)
        of_row[i] = side_scale(rows, i / 2 * 64 + i % 2 * 8);
#pragma unroll
    for (int j = 0; j < ATOM_REGISTERS / 4; ++j)
#pragma unroll
        for (int x = 0; x < 2; ++x) {
            const int of_d = column + j / 2 * 8 + x, of_b = p.gate.gate_step * of_d + j % 2 * p.gate.up_first;
            const struct side_scales columns = {of_d < p.epilogue.n ? s.column_scales : 0, of_b, of_b + 1,
                                                s.column_step};
            const float of_column = side_scale(columns, 0);
#pragma unroll
            for (int i = 0; i < 2 * ATOMS_M; ++i)
                acc[i / 2][4 * j + i % 2 * 2 + x] = acc[i / 2][4 * j + i % 2 * 2 + x] * of_row[i] * of_column;
        }
}

/* Zeroes sums outside D, which were computed from whatever shared memory held: 0 stays 0, and counts for no maximum. */
static __device__ __forceinline__ void clear_outside_d(const struct gm_gemm_sm90_params &p,
                                                       float (&acc)[ATOMS_M][ATOM_REGISTERS], struct store_origin tile,
                                                       uint32_t thread) {
    const struct block_place at = place_of(tile, 0, thread);
#pragma unroll
    for (int i = 0; i < ATOMS_M; ++i)
#pragma unroll
        for (int r = 0; r < D_REGISTERS; ++r) {
            const int row = row_of(at, r / 4, r / 2 % 2, r % 2) + (SWAPPED ? 0 : i * 64);
            const int col = column_of(at, r / 4, r / 2 % 2, r % 2) + (SWAPPED ? i * 64 : 0);
            acc[i][r] = row < p.epilogue.m && col < p.epilogue.n ? acc[i][r] : 0;
        }
}

/* The largest |y| of the consumer's part of D, of all of which there is one number. */
static __device__ __forceinline__ void publish_most(const struct gm_gemm_sm90_params &p,
                                                    const float (&acc)[ATOMS_M][ATOM_REGISTERS]) {
    float most = 0;
#pragma unroll
    for (int i = 0; i < ATOMS_M * D_REGISTERS; ++i)
        most = max_nan(most, fabsf(acc[i / D_REGISTERS][i % D_REGISTERS]));
    const uint32_t of_warp = __reduce_max_sync(0xffffffff, __float_as_uint(most));
    if (thread_index() % 32 == 0)
        red_max_gpu_u32(extension_of(p).amax, of_warp);
}

/* The steps block by block, and the store where TMA does none. */
static __device__ __forceinline__ void extend_blocks(const struct gm_gemm_sm90_params &p,
                                                     float (&acc)[ATOMS_M][ATOM_REGISTERS], struct store_origin tile,
                                                     int steps, bool by_elements, uint32_t thread) {
#pragma unroll 1
    for (int block = 0; block < ATOMS_M * D_BLOCKS; ++block) {
        float v[EXTENDED_AT_ONCE];
#pragma unroll
        for (int i = 0; i < EXTENDED_AT_ONCE; ++i)
            v[i] = acc[0][i];
        const struct block_place at = place_of(tile, block, thread);
#pragma unroll 1
        for (int rest = steps; rest; rest &= rest - 1)
            extend_step(p, rest & -rest, at, v);
        if (by_elements)
            store_elements(p, at, v);
#pragma unroll
        for (int i = 0; i < ATOMS_M * D_REGISTERS - EXTENDED_AT_ONCE; ++i) {
            const int from = i + EXTENDED_AT_ONCE;
            acc[i / D_REGISTERS][i % D_REGISTERS] = acc[from / D_REGISTERS][from % D_REGISTERS];
        }
#pragma unroll
        for (int i = 0; i < EXTENDED_AT_ONCE; ++i)
            acc[ATOMS_M - 1][D_REGISTERS - EXTENDED_AT_ONCE + i] = v[i];
    }
}

/* Two neighbours of a row. */
template <int TYPE> static __device__ __forceinline__ void load_pair(uint64_t address, float &x, float &y) {
    uint32_t words[2];
    if (TYPE == GM_TYPE_fp32) {
        ld_global_v2_b32(address, words);
        x = __uint_as_float(words[0]), y = __uint_as_float(words[1]);
    } else if (TYPE == GM_TYPE_bf16) {
        cvt_f32_bf16x2(ld_global_b32(address), x, y);
    } else {
        cvt_f32_f16x2(ld_global_b32(address), x, y);
    }
}

/* Adds a residual whose pairs of columns are aligned, of a tile that has no column outside D. Rows outside get the last one's. */
template <int TYPE>
static __device__ __forceinline__ void add_pairs(const struct matrix_in &in, int m,
                                                 float (&acc)[ATOMS_M][ATOM_REGISTERS], struct block_place at) {
    constexpr int bytes = GM_TYPE_BYTES(TYPE);
#pragma unroll
    for (int i = 0; i < 2 * ATOMS_M; ++i) {
        const int row = min(at.row + i / 2 * 64 + i % 2 * 8, m - 1);
        const uint64_t address = in.address + (row * in.row_step + at.col) * bytes;
#pragma unroll
        for (int j = 0; j < D_REGISTERS / 4; ++j) {
            float x, y;
            load_pair<TYPE>(address + j * 8 * bytes, x, y);
            acc[i / 2][4 * j + i % 2 * 2] += x;
            acc[i / 2][4 * j + i % 2 * 2 + 1] += y;
        }
    }
}

static __device__ __forceinline__ void add_residual(const struct gm_gemm_sm90_params &p,
                                                    float (&acc)[ATOMS_M][ATOM_REGISTERS], struct block_place at) {
    const struct matrix_in in = residual_of(p);
    if (in.type == GM_TYPE_fp32)
        add_pairs<GM_TYPE_fp32>(in, p.epilogue.m, acc, at);
    else if (in.type == GM_TYPE_bf16)
        add_pairs<GM_TYPE_bf16>(in, p.epilogue.m, acc, at);
    else
        add_pairs<GM_TYPE_fp16>(in, p.epilogue.m, acc, at);
}

/* Makes y of the consumer's sums, in the first D_REGISTERS of each atom, and stores it where TMA does not. */
static __device__ __forceinline__ void extend_tile(const struct gm_gemm_sm90_params &p,
                                                   float (&acc)[ATOMS_M][ATOM_REGISTERS], struct store_origin tile) {
    const uint32_t thread = thread_index() % 128;
    const bool rows_whole = tile.row + (SWAPPED ? WGMMA_N : ROWS) <= p.epilogue.m;
    const bool columns_whole = tile.col + (SWAPPED ? ROWS : D_REGISTERS * 2) <= p.epilogue.n;
    const bool by_elements = p.plain != GM_SM90_BY_TMA;
    const int all = steps_of(p);
    const bool last_apart =
        !SWAPPED && !GATED && columns_whole && !by_elements && all & PLUS_RESIDUAL && residual_has_pairs(p);
    const int steps = last_apart ? all & ~PLUS_RESIDUAL : all;
    if (!rows_whole || !columns_whole)
        clear_outside_d(p, acc, tile, thread);
    if (steps || by_elements)
        extend_blocks(p, acc, tile, steps, by_elements, thread);
    if (last_apart)
        add_residual(p, acc, place_of(tile, 0, thread));
    if (extension_of(p).amax) {
        if (!rows_whole && last_apart)
            clear_outside_d(p, acc, tile, thread);
        publish_most(p, acc);
    }
}

/* ---- 8 bits ----------------------------------------------------------------------------------------- */

enum {
    GROUP_COLUMNS = 128, /* of the groups that have scales here */
    CHUNK_COLUMNS = D_REGISTERS * 2 < GROUP_COLUMNS ? D_REGISTERS * 2 : (int)GROUP_COLUMNS,
    CHUNK_ELEMENTS = CHUNK_COLUMNS / 4 > 4 ? CHUNK_COLUMNS / 4 : 4, /* of a thread, in one row */
    CHUNKS = 2 * (D_REGISTERS * 2 / CHUNK_COLUMNS), /* of an atom: number c is of row c % 2 of the thread's two */
};

static __device__ __forceinline__ void load_chunk(const float (&atom)[ATOM_REGISTERS], int c,
                                                  float (&v)[CHUNK_ELEMENTS]) {
#pragma unroll
    for (int i = 0; i < CHUNK_ELEMENTS; ++i)
        v[i] = atom[c / 2 * (CHUNK_ELEMENTS * 2) + i / 2 * 4 + c % 2 * 2 + i % 2];
}

/* Divides a chunk. Word 4 s + 2 h + w has row h's columns of 8 (2 w) and 8 (2 w + 1) of strip s of 32 columns. */
static __device__ __forceinline__ void quantize_chunk(const struct gm_quantized_store &store,
                                                      const struct quotient_by &by, bool in_range, int c,
                                                      float (&v)[CHUNK_ELEMENTS],
                                                      uint32_t (&packed)[ATOM_REGISTERS / 4]) {
    uint32_t words[CHUNK_ELEMENTS / 4];
    quantize_each(store, v, by, in_range, words);
#pragma unroll
    for (int i = 0; i < CHUNK_ELEMENTS / 4; ++i)
        packed[(c / 2 * (CHUNK_ELEMENTS / 8) + i / 2) * 4 + c % 2 * 2 + i % 2] = words[i];
}

/* By a scale for each group of a row. Of the four lanes that have the row, each makes one of the scales and stores it. */
static __device__ __forceinline__ void quantize_groups(const struct gm_gemm_sm90_params &p,
                                                       const float (&atom)[ATOM_REGISTERS], int row, int col,
                                                       uint32_t (&packed)[ATOM_REGISTERS / 4]) {
    const struct gm_quantized_store &store = extension_of(p).store;
    float v[CHUNKS][CHUNK_ELEMENTS];
#pragma unroll
    for (int c = 0; c < CHUNKS; ++c)
        load_chunk(atom, c, v[c]);
    const uint32_t most = most_of_group<CHUNKS>(v, 4);
    const float scale = scale_of(store, most);
    const int lane = thread_index() % 4, own = turned<CHUNKS>(lane);
    const int own_row = row + own % 2 * 8, own_col = col + own / 2 * GROUP_COLUMNS;
    if (lane < CHUNKS && own_row < p.epilogue.m && own_col < p.epilogue.n)
        store_scale(store, own_row, own_col / GROUP_COLUMNS, scale);
    const struct quotient_by by = by_scale(store, scale);
#pragma unroll
    for (int c = 0; c < CHUNKS; ++c)
        quantize_chunk(store, of_chunk<CHUNKS>(by, c), true, c, v[c], packed);
}

static __device__ __forceinline__ void quantize_static(const struct gm_gemm_sm90_params &p,
                                                       const float (&atom)[ATOM_REGISTERS],
                                                       uint32_t (&packed)[ATOM_REGISTERS / 4]) {
    const struct gm_quantized_store &store = extension_of(p).store;
    const struct quotient_by by = by_scale(store, static_scale(store));
#pragma unroll
    for (int c = 0; c < CHUNKS; ++c) {
        float v[CHUNK_ELEMENTS];
        load_chunk(atom, c, v);
        quantize_chunk(store, by, are_in_range(store, largest_size(v), by), c, v, packed);
    }
}

/* y as 8 bits. */
static __device__ __forceinline__ void quantize_tile(const struct gm_gemm_sm90_params &p,
                                                     const float (&acc)[ATOMS_M][ATOM_REGISTERS],
                                                     struct store_origin tile,
                                                     uint32_t (&packed)[ATOMS_M][ATOM_REGISTERS / 4]) {
    const int thread = thread_index() % 128, row = tile.row + thread / 32 * 16 + thread % 32 / 4;
#pragma unroll
    for (int i = 0; i < ATOMS_M; ++i)
        if (CHUNK_COLUMNS < GROUP_COLUMNS || extension_of(p).store.scaling == SCALE_STATIC)
            quantize_static(p, acc[i], packed[i]);
        else
            quantize_groups(p, acc[i], row + i * 64, tile.col, packed[i]);
}

/* ---- the store -------------------------------------------------------------------------------------- */

/* By TMA, of whatever type; swapped, D has been stored element by element. */
template <bool STAGED>
static __device__ __forceinline__ void store_finished_tile(const struct gm_gemm_sm90_params &p, struct store_context &s,
                                                           const float (&acc)[ATOMS_M][ATOM_REGISTERS],
                                                           struct store_origin tile) {
    const int type = p.epilogue.d_type;
    if constexpr (STAGED) {
        if (type == GM_TYPE_fp32) {
            store_plain<4, 0>(p, s, acc, tile);
        } else if (type < GM_TYPE_e4m3) {
            uint32_t packed[ATOMS_M][ATOM_REGISTERS / 2];
            pack_pairs<D_REGISTERS>(type, acc, packed);
            store_plain<2, 0>(p, s, packed, tile);
        } else {
            uint32_t packed[ATOMS_M][ATOM_REGISTERS / 4];
            quantize_tile(p, acc, tile, packed);
            store_plain<1, 0>(p, s, packed, tile);
        }
    }
}

/* Makes D of the consumer's sums, or of what a gate has made of them, and stores it. */
static __device__ __forceinline__ void store_extended(const struct gm_gemm_sm90_params &p, struct store_context &s,
                                                      float (&acc)[ATOMS_M][ATOM_REGISTERS], struct tile_position at,
                                                      int first_m) {
    const struct store_origin tile = store_origin_of<0>(at, first_m);
    if (IS_FP8 && !GATED)
        scale_sums(p, acc, tile_scales_of(p, at, first_m, thread_index() % 128));
    extend_tile(p, acc, tile);
    if (p.plain == GM_SM90_BY_TMA)
        store_finished_tile<!SWAPPED>(p, s, acc, tile);
}

#else

static __device__ __forceinline__ void scale_gates(const struct gm_gemm_sm90_params &,
                                                   const sum_t (&)[ATOMS_M][ATOM_REGISTERS], struct store_origin,
                                                   uint32_t) {}
static __device__ __forceinline__ void store_extended(const struct gm_gemm_sm90_params &, struct store_context &,
                                                      const sum_t (&)[ATOMS_M][ATOM_REGISTERS], struct tile_position,
                                                      int) {}

#endif
#endif
