/* SPDX-License-Identifier: Apache-2.0 */
/* Permutations chunk by chunk: out[place in out] = x[place in x]. One registry row per compilation; permute.cu of each
 * architecture is the entry.
 *
 *   a chunk is ELEMENTS neighbours on both sides, one element where the sides have no neighbours in common
 *   the chunks are numbered as they follow each other in out, whose stores are then neighbours as far as out has any
 *   a CTA takes THREADS * VECTORS chunks at a time, thread t of it t, t + THREADS, ...
 *   all loads of a thread are under way before the first is waited for
 *
 * Whatever keeps elements together is one larger element here: the host joins them (src/host/permute/simplify.c). */
#ifndef GM_SM80_PERMUTE_CUH
#define GM_SM80_PERMUTE_CUH

#include "common/index.cuh"
#include "common/permute/elements.cuh"
#include "common/permute/params.h"
#include "common/permute/walk.cuh"

enum {
    X_BYTES = GM_X_BYTES,
    OUT_BYTES = GM_OUT_BYTES,
    THREADS = GM_THREADS,
    VECTORS = GM_VECTORS,
    ELEMENTS = GM_ELEMENTS,
    X_CHUNK = ELEMENTS * X_BYTES,
    OUT_CHUNK = ELEMENTS * OUT_BYTES,
    CTAS = GM_PERMUTE_CTAS(THREADS, VECTORS),
};

struct slab {
    uint64_t x, out;
    uint32_t chunks;
};

static __device__ __forceinline__ struct slab slab_of(const struct gm_permute_params &p, int64_t number) {
    const struct gm_permute_walk &w = p.walk;
    const int last = w.rank - 1;
    const int64_t first = number % p.pieces * p.slab_extent;
    const int64_t extent = min(w.extent[last].divisor - first, (int64_t)p.slab_extent);
    struct slab slab = {p.x + first * w.x_pitch[last], p.out + first * w.out_pitch[last],
                        (uint32_t)(extent * p.inner_chunks)};
    int64_t rest = number / p.pieces;
#pragma unroll 1
    for (int d = w.rank; d < GM_PERMUTE_DIMENSIONS; ++d) {
        const int64_t index = rest % w.extent[d].divisor;
        slab.x += index * w.x_pitch[d];
        slab.out += index * w.out_pitch[d];
        rest /= w.extent[d].divisor;
    }
    return slab;
}

/* The chunks first, first + THREADS, ... of a slab. */
static __device__ __forceinline__ void move_chunks(const struct gm_permute_params &p, const struct slab &slab,
                                                   uint32_t first) {
    uint32_t number[VECTORS], chunk[VECTORS][GM_PERMUTE_WORDS(X_CHUNK)];
    uint64_t x[VECTORS], out[VECTORS];
#pragma unroll
    for (int i = 0; i < VECTORS; ++i) {
        number[i] = first + i * THREADS;
        x[i] = slab.x;
        out[i] = slab.out;
    }
    walk_to(p.walk, number, x, out);
#pragma unroll
    for (int i = 0; i < VECTORS; ++i)
        if (first + i * THREADS < slab.chunks)
            load_global<X_CHUNK>(chunk[i], x[i]);
#pragma unroll
    for (int i = 0; i < VECTORS; ++i) {
        uint32_t converted[GM_PERMUTE_WORDS(OUT_CHUNK)];
        if (first + i * THREADS >= slab.chunks)
            break;
        convert<X_BYTES, OUT_BYTES, ELEMENTS>(p.from, p.to, chunk[i], converted);
        store_global<OUT_CHUNK>(out[i], converted);
    }
}

static __device__ __forceinline__ void permute(const struct gm_permute_params &p) {
#pragma unroll 1
    for (int64_t number = 0; number < p.slabs; ++number) {
        const struct slab slab = slab_of(p, number);
#pragma unroll 1
        for (uint32_t tile = cta_index(); tile * (THREADS * VECTORS) < slab.chunks; tile += gridDim.x)
            move_chunks(p, slab, tile * (THREADS * VECTORS) + thread_index());
    }
}

#endif
