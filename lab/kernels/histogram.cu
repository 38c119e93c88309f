/* SPDX-License-Identifier: Apache-2.0 */
/* The histogram ladder, all steps but the last: adds to bins[b] how many of n values have b as their first byte. Every
 * kernel differs from the one before it by one idea; the last step is histogram_cluster.cu. And the counting of 131072
 * bins with atomics on global memory, to measure that of a cluster by. */
#include <stdint.h>

#include "histogram_copies.cuh"

/* Step 1: one atomic on global memory a value. All of them meet in the 1 KB of L2 where the bins lie. */
extern "C" __global__ void __launch_bounds__(THREADS)
    lab_histogram_global(const uint32_t *__restrict__ from, uint32_t n, uint32_t *bins) {
    for (uint32_t i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS)
        atomicAdd(&bins[HISTOGRAM_BIN(from[i])], 1);
}

/* Step 2: a CTA counts in shared memory, and L2 sees 256 atomics a CTA. What is left are the meetings within a warp, of
 * lanes whose bins differ but share a bank; lanes of one bin share its word. */
extern "C" __global__ void __launch_bounds__(THREADS)
    lab_histogram_shared(const uint32_t *__restrict__ from, uint32_t n, uint32_t *bins) {
    __shared__ uint32_t mine[BINS];
    for (uint32_t i = threadIdx.x; i < BINS; i += THREADS)
        mine[i] = 0;
    __syncthreads();
    for (uint32_t i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS)
        atomicAdd(&mine[HISTOGRAM_BIN(from[i])], 1);
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < BINS; i += THREADS)
        atomicAdd(&bins[i], mine[i]);
}

/* Step 3: a copy of the bins for every warp, so that warps no longer meet in one word. They did not wait for each other
 * there, for shared memory takes one wavefront of one warp at a time, to whatever words. */
extern "C" __global__ void __launch_bounds__(THREADS)
    lab_histogram_warps(const uint32_t *__restrict__ from, uint32_t n, uint32_t *bins) {
    __shared__ struct copies copies;
    clear(copies);
    uint32_t *mine = copies.of_warp[threadIdx.x / 32];
    for (uint32_t i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS)
        atomicAdd(&mine[HISTOGRAM_BIN(from[i])], 1);
    add_up(copies, [&](uint32_t bin, uint32_t count) { atomicAdd(&bins[bin], count); });
}

/* Step 4: the values come 16 bytes at a time, and several such loads are under way before the first is counted. */
extern "C" __global__ void __launch_bounds__(THREADS, HISTOGRAM_CTAS_PER_SM)
    lab_histogram_vectors(const uint32_t *__restrict__ from, uint32_t n, uint32_t *bins) {
    __shared__ struct copies copies;
    count_vectors(from, n, copies);
    add_up(copies, [&](uint32_t bin, uint32_t count) { atomicAdd(&bins[bin], count); });
}

/* 131072 bins: one atomic on global memory a value, 512 KB of L2. */
extern "C" __global__ void __launch_bounds__(HISTOGRAM_LARGE_THREADS)
    lab_histogram_large_global(const uint32_t *__restrict__ from, uint32_t n, uint32_t *bins) {
    walk<VECTOR_LOADS>(from, n, [&](uint32_t value) { atomicAdd(&bins[HISTOGRAM_LARGE_BIN(value)], 1); });
}
