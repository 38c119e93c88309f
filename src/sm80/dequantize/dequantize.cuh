/* SPDX-License-Identifier: Apache-2.0 */
/* dequantize: out = x * scale of every element, x of 8 bits. One registry row per compilation; dequantize.cu of each
 * architecture is the entry.
 *
 *   a chunk is as many neighbouring elements as fill 16 bytes of out, one store: 8 of 16 bits, 4 of fp32; or one element
 *   the chunks of all rows are numbered row by row
 *   a CTA takes THREADS * p.taken chunks at a time, thread t of it t, t + THREADS, ...
 *   all loads of a thread, of x and of scales, are under way before the first is waited for
 *
 * Types, and who shares a scale, are known when the kernel runs: a chunk has one scale, at a place that two shifts and two
 * products find. A row is a whole number of chunks: other rows have chunks of one element. The numbers have 31 bits, so the
 * rows of large operands come in slabs. Packed operands of one scale are one long row, cut into slabs of one row each; their
 * last elements, fewer than a chunk, come one by one. */
#ifndef GM_SM80_DEQUANTIZE_CUH
#define GM_SM80_DEQUANTIZE_CUH

#include "common/any_type.cuh"
#include "common/dequantize/params.h"
#include "common/fp8.cuh"
#include "common/index.cuh"

enum {
    THREADS = GM_THREADS,
    VECTORS = GM_VECTORS,
    ELEMENTS = GM_ELEMENTS, /* of a chunk at most */
    CTAS = GM_DEQUANTIZE_CTAS(THREADS),
};

/* Where a chunk is. Found anew for its store, which costs no register meanwhile. */
struct place {
    int64_t row;
    int64_t column;
};

template <int COUNT>
static __device__ __forceinline__ struct place place_of(const struct gm_dequantize_params &p, int64_t first_row,
                                                        uint32_t number) {
    const uint32_t row = divide(number, p.row_chunks);
    return {first_row + row, (int64_t)(number - row * p.row_chunks.divisor) * COUNT};
}

/* COUNT elements of x, and their scale as it is stored. */
template <int COUNT> struct chunk {
    uint32_t x[COUNT == 8 ? 2 : 1], scale;
};

template <int COUNT>
static __device__ __forceinline__ void load_x(const struct gm_dequantize_params &p, const struct place &at,
                                              struct chunk<COUNT> &c) {
    const uint64_t x = p.x + at.row * p.x_pitch + at.column;
    if constexpr (COUNT == 8)
        ld_global_v2_b32(x, c.x);
    else if constexpr (COUNT == 4)
        c.x[0] = ld_global_b32(x);
    else
        c.x[0] = ld_global_b8(x);
}

template <int COUNT, bool IS_BYTE>
static __device__ __forceinline__ void load_scale(const struct gm_dequantize_params &p, const struct place &at,
                                                  struct chunk<COUNT> &c) {
    const uint64_t scale =
        p.scales + (at.row >> p.row_shift) * p.scale_down + (at.column >> p.column_shift) * p.scale_across;
    c.scale = IS_BYTE ? ld_global_b8(scale) : ld_global_b32(scale);
}

static __device__ __forceinline__ float scale_of(const struct gm_dequantize_params &p, uint32_t stored) {
    return p.is_e8m0 ? e8m0_to_float(stored) : __uint_as_float(stored);
}

template <int COUNT>
static __device__ __forceinline__ void unpack_x(int type, const uint32_t (&words)[COUNT == 8 ? 2 : 1],
                                                float (&v)[COUNT]) {
    uint32_t all[GM_ANY_WORDS(COUNT)] = {words[0]};
    if constexpr (COUNT == 8)
        all[1] = words[1];
    if (type == GM_TYPE_e4m3)
        unpack_byte<GM_TYPE_e4m3, COUNT>(all, v);
    else if (type == GM_TYPE_e5m2)
        unpack_byte<GM_TYPE_e5m2, COUNT>(all, v);
    else
        unpack_byte<GM_TYPE_int8, COUNT>(all, v);
}

/* Chunks of 4 are of fp32, those of 8 are not. */
template <int COUNT> static __device__ __forceinline__ int out_type(const struct gm_dequantize_params &p) {
    if (COUNT == 4)
        return GM_TYPE_fp32;
    if (COUNT == 8)
        return p.out_type == GM_TYPE_bf16 ? GM_TYPE_bf16 : GM_TYPE_fp16;
    return p.out_type;
}

template <int COUNT>
static __device__ __forceinline__ void store_chunk(const struct gm_dequantize_params &p, const struct place &at,
                                                   const struct chunk<COUNT> &c) {
    const float scale = scale_of(p, c.scale);
    float v[COUNT];
    unpack_x<COUNT>(p.x_type, c.x, v);
#pragma unroll
    for (int i = 0; i < COUNT; ++i)
        v[i] *= scale;
    const int type = out_type<COUNT>(p);
    store_as<COUNT>(type, p.out + at.row * p.out_pitch + at.column * (type == GM_TYPE_fp32 ? 4 : 2), v);
}

/* Copies of what is done with each chunk of a thread. Before sm_89, where conversions are long, one copy takes them in turn. */
#if __CUDA_ARCH__ >= 890
enum { COPIES = VECTORS };
#else
enum { COPIES = 1 };
#endif

/* The first of the chunks; the others move up. */
template <int COUNT> static __device__ __forceinline__ struct chunk<COUNT> take(struct chunk<COUNT> (&c)[VECTORS]) {
    const struct chunk<COUNT> first = c[0];
#pragma unroll
    for (int i = 1; i < VECTORS; ++i)
        c[i - 1] = c[i];
    return first;
}

/* Of all chunks of a thread by one kind of load: where either kind could write a register, the other would wait for it. */
template <int COUNT, bool IS_BYTE>
static __device__ __forceinline__ void load_scales(const struct gm_dequantize_params &p, int64_t first_row,
                                                   uint32_t first, uint32_t chunks, struct chunk<COUNT> (&c)[VECTORS]) {
#pragma unroll
    for (int i = 0; i < VECTORS; ++i)
        if (i < p.taken && first + i * THREADS < chunks)
            load_scale<COUNT, IS_BYTE>(p, place_of<COUNT>(p, first_row, first + i * THREADS), c[i]);
}

/* A CTA's share of so many chunks, from a row's first on. */
template <int COUNT>
static __device__ __forceinline__ void dequantize_slab(const struct gm_dequantize_params &p, int64_t first_row,
                                                       uint32_t chunks) {
#pragma unroll 1
    for (uint32_t tile = cta_index(); tile * (THREADS * p.taken) < chunks; tile += gridDim.x) {
        const uint32_t first = tile * (THREADS * p.taken) + thread_index();
        struct chunk<COUNT> c[VECTORS] = {};
#pragma unroll
        for (int i = 0; i < VECTORS; ++i)
            if (i < p.taken && first + i * THREADS < chunks)
                load_x(p, place_of<COUNT>(p, first_row, first + i * THREADS), c[i]);
        if (p.is_e8m0)
            load_scales<COUNT, true>(p, first_row, first, chunks, c);
        else
            load_scales<COUNT, false>(p, first_row, first, chunks, c);
#pragma unroll COPIES
        for (int i = 0; i < VECTORS; ++i) {
            const struct chunk<COUNT> taken = take(c);
            if (i < p.taken && first + i * THREADS < chunks)
                store_chunk(p, place_of<COUNT>(p, first_row, first + i * THREADS), taken);
        }
    }
}

/* The elements behind the last whole chunk, by the first threads. */
template <int COUNT>
static __device__ __forceinline__ void dequantize_rest(const struct gm_dequantize_params &p, int64_t elements) {
    const int64_t element = elements / COUNT * COUNT + thread_index();
    if (cta_index() > 0 || element >= elements)
        return;
    struct chunk<1> c;
    load_x(p, {0, element}, c);
    load_scale<1, false>(p, {0, element}, c); /* of all: a float */
    store_chunk(p, {0, element}, c);
}

template <int COUNT> static __device__ __forceinline__ void dequantize_as(const struct gm_dequantize_params &p) {
    const int64_t rows = p.row_count ? min(p.rows, (int)ld_global_b32(p.row_count)) : p.rows;
    const int64_t slab_chunks = (int64_t)p.slab_rows * p.row_chunks.divisor;
    int64_t chunks = p.is_packed ? rows * p.columns / COUNT : rows * p.row_chunks.divisor;
#pragma unroll 1
    for (int64_t first = 0; chunks > 0; first += p.slab_rows, chunks -= slab_chunks)
        dequantize_slab<COUNT>(p, first, (uint32_t)min(chunks, slab_chunks));
    if (COUNT > 1 && p.is_packed)
        dequantize_rest<COUNT>(p, rows * p.columns);
}

static __device__ __forceinline__ void dequantize(const struct gm_dequantize_params &p) {
    if (ELEMENTS == 1)
        dequantize_as<1>(p);
    else if (p.chunk == 8)
        dequantize_as<8>(p);
    else
        dequantize_as<4>(p);
}

#endif
