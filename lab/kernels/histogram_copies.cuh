/* SPDX-License-Identifier: Apache-2.0 */
/* The bins of a CTA in a copy for every warp: what the last three steps of the histogram ladder share. */
#ifndef LAB_HISTOGRAM_COPIES_CUH
#define LAB_HISTOGRAM_COPIES_CUH

#include "histogram.h"
#include "histogram_walk.cuh"

enum {
    THREADS = HISTOGRAM_THREADS,
    WARPS = THREADS / 32,
    BINS = HISTOGRAM_BINS,
    VECTOR_LOADS = 4, /* of a trip: 2048 threads have 128 KB on their way to an SM */
};

struct copies {
    uint32_t of_warp[WARPS][BINS];
};

static __device__ __forceinline__ void clear(struct copies &copies) {
    for (uint32_t i = threadIdx.x; i < WARPS * BINS; i += THREADS)
        copies.of_warp[i / BINS][i % BINS] = 0;
    __syncthreads();
}

/* Calls with_sum(bin, count) for every bin of the CTA. */
template <class WITH_SUM>
static __device__ __forceinline__ void add_up(const struct copies &copies, WITH_SUM with_sum) {
    __syncthreads();
    for (uint32_t bin = threadIdx.x; bin < BINS; bin += THREADS) {
        uint32_t sum = 0;
        for (uint32_t warp = 0; warp < WARPS; warp++)
            sum += copies.of_warp[warp][bin];
        with_sum(bin, sum);
    }
}

/* Counts this CTA's share of n values. The constant 1 and no result make the atomics increments (ATOMS.POPC.INC), in
 * which lanes share words: 32 equal values take one wavefront, as 32 in different banks do. */
static __device__ __forceinline__ void count_vectors(const uint32_t *from, uint32_t n, struct copies &copies) {
    clear(copies);
    uint32_t *mine = copies.of_warp[threadIdx.x / 32];
    walk<VECTOR_LOADS>(from, n, [&](uint32_t value) { atomicAdd(&mine[HISTOGRAM_BIN(value)], 1); });
}

#endif
