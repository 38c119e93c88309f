/* SPDX-License-Identifier: Apache-2.0 */
/* A chunk of a quantiser, eight neighbouring elements of x: loaded, its largest size, its scale, and what is stored. */
#ifndef GM_SM80_QUANTIZE_CHUNK_CUH
#define GM_SM80_QUANTIZE_CHUNK_CUH

#include "common/elements.cuh"
#include "common/index.cuh"
#include "common/quantize/params.h"
#include "common/quantized_store.cuh"

/* ---- parameters (the registry row) and what follows from them -------------------------------------- */

enum {
    TYPE = GM_TYPE,
    ELEM_BYTES = GM_TYPE_BYTES(TYPE),
    SHARE = GM_SHARE,
    THREADS = GM_THREADS,
    VECTORS = GM_VECTORS,
    VECTOR_BYTES = GM_VECTOR_BYTES, /* of a load: 16, or one element */
    CHUNK = QUANTIZE_CHUNK,         /* elements */
    WORDS = GM_WORDS(TYPE, CHUNK),  /* 32-bit registers of a chunk */
    WARPS = THREADS / 32,
    CTAS = GM_QUANTIZE_CTAS(THREADS, VECTORS *WORDS), /* on an SM */
};
static_assert(VECTOR_BYTES == 16 || VECTOR_BYTES == ELEM_BYTES, "loads of 16 bytes, or of one element");
static_assert(WARPS <= 32 && (WARPS & (WARPS - 1)) == 0, "one warp finds the largest of all");

/* ---- loads ----------------------------------------------------------------------------------------- */

struct chunk {
    uint32_t words[WORDS];
};

/* Copies of what is done with each chunk of a thread. Before sm_89, where conversions are long, one copy takes them in turn. */
#if __CUDA_ARCH__ >= 890
enum { COPIES = VECTORS > 1 ? VECTORS : 2 };
#else
enum { COPIES = 1 };
#endif

/* The first of the chunks; the others move up. */
static __device__ __forceinline__ struct chunk take(struct chunk (&c)[VECTORS]) {
    const struct chunk first = c[0];
#pragma unroll
    for (int i = 1; i < VECTORS; ++i)
        c[i - 1] = c[i];
    return first;
}

/* Of a chunk's elements `count` exist, as load_some() has it. */
static __device__ __forceinline__ struct chunk load_chunk(uint64_t address, int count) {
    struct chunk c;
    load_some<TYPE, CHUNK>(c.words, address, count, VECTOR_BYTES == 16);
    return c;
}

/* ---- the largest size ------------------------------------------------------------------------------ */

/* Sizes of elements, as a word of them. */
static __device__ __forceinline__ uint32_t add_sizes(uint32_t most, const struct chunk &c) {
#pragma unroll
    for (int i = 0; i < WORDS; ++i)
        most = max_of_words<TYPE>(most, c.words[i] & (ELEM_BYTES == 4 ? 0x7fffffff : 0x7fff7fff));
    return most;
}

/* The largest size of a word's elements as the bits of a float, which are ordered as floats are: NaN is above infinity. */
static __device__ __forceinline__ uint32_t size_bits(uint32_t most) {
    float sizes[2] = {};
    unpack_word<TYPE, CHUNK>(most, sizes);
    return __float_as_uint(max_nan(sizes[0], sizes[1]));
}

/* ---- stores ---------------------------------------------------------------------------------------- */

/* `in_range`: all elements are (common/quotient.cuh). */
static __device__ __forceinline__ void store_chunk(const struct gm_quantize_params &p, uint64_t address, int count,
                                                   const struct chunk &c, const struct quotient_by &by, bool in_range) {
    float q[CHUNK];
    uint32_t words[CHUNK / 4] = {};
    if (count <= 0)
        return;
    unpack<TYPE, CHUNK>(c.words, q);
    quantize_each(p, q, by, in_range, words);
    store_some(address, words, count, VECTOR_BYTES == 16);
}

#endif
