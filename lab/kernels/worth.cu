/* SPDX-License-Identifier: Apache-2.0 */
/* One conflict in two kinds of kernels. An array of structures of 4 words lies in shared memory, and a warp reads a field of
 * 32 of them: 4-way, unless the structures are padded or their fields swizzled. `split` does so once and waits for
 * memory; `sum` does so again and again. */
#include <stdint.h>

#include "worth.h"

enum { THREADS = WORTH_THREADS, FIELDS = WORTH_FIELDS, SMALL = WORTH_SMALL, CTAS = 2048 / THREADS /* of an SM */ };

/* A word of shared memory; volatile, or the compilers would join the fields of a structure into a load of 16 bytes, which
 * has no conflict. */
static __device__ __forceinline__ float load_word(const float *memory, uint32_t word) {
    float value;
    asm volatile("ld.volatile.shared.f32 %0, [%1];"
                 : "=f"(value)
                 : "r"((uint32_t)__cvta_generic_to_shared(memory) + 4 * word));
    return value;
}

struct plain {
    enum { WORDS = 4 };
    static __device__ __forceinline__ uint32_t word(uint32_t s, uint32_t f) { return WORTH_PLAIN(s, f); }
};

struct padded {
    enum { WORDS = 5 };
    static __device__ __forceinline__ uint32_t word(uint32_t s, uint32_t f) { return WORTH_PADDED(s, f); }
};

struct swizzled {
    enum { WORDS = 4 };
    static __device__ __forceinline__ uint32_t word(uint32_t s, uint32_t f) { return WORTH_SWIZZLED(s, f); }
};

/* A tile of structures, as they lie in memory, neighbouring words by neighbouring threads. */
template <class layout>
static __device__ __forceinline__ void fill(float *memory, const float *__restrict__ from, uint32_t structures) {
#pragma unroll 4
    for (uint32_t i = threadIdx.x; i < structures * FIELDS; i += THREADS)
        memory[layout::word(i / FIELDS, i % FIELDS)] = from[i];
}

/* Array of structures -> structure of arrays: field f of structure s goes to[f * count + s]. A CTA has `tile` of them; both
 * numbers are multiples of the threads. */
template <class layout>
static __device__ __forceinline__ void split(const float *__restrict__ from, float *__restrict__ to, uint32_t count,
                                             uint32_t tile) {
    extern __shared__ float memory[];
    const uint32_t base = blockIdx.x * tile;
    fill<layout>(memory, from + (size_t)base * FIELDS, tile);
    __syncthreads();
    for (uint32_t s = threadIdx.x; s < tile; s += THREADS) {
#pragma unroll
        for (uint32_t f = 0; f < FIELDS; f++)
            to[(size_t)f * count + base + s] = load_word(memory, layout::word(s, f));
    }
}

/* Every thread adds up the fields of `rounds` structures of the tile, `ffmas` times each; scale is 1. */
template <class layout, int ffmas>
static __device__ __forceinline__ void sum(const float *__restrict__ from, float *__restrict__ to, uint32_t rounds,
                                           float scale) {
    __shared__ float memory[SMALL * layout::WORDS];
    float sum = 0;
    fill<layout>(memory, from, SMALL);
    __syncthreads();
#pragma unroll 2
    for (uint32_t round = 0; round < rounds; round++) {
        const uint32_t s = (threadIdx.x + 32 * round) % SMALL;
#pragma unroll
        for (uint32_t f = 0; f < FIELDS; f++) {
            const float value = load_word(memory, layout::word(s, f));
#pragma unroll
            for (int i = 0; i < ffmas; i++)
                sum = __fmaf_rn(value, scale, sum);
        }
    }
    to[blockIdx.x * THREADS + threadIdx.x] = sum;
}

#define SPLIT(layout)                                                                                                  \
    extern "C" __global__ void __launch_bounds__(THREADS, CTAS) lab_worth_split_##layout(                              \
        const float *__restrict__ from, float *__restrict__ to, uint32_t count, uint32_t tile) {                       \
        split<layout>(from, to, count, tile);                                                                          \
    }

#define SUM(name, layout, ffmas)                                                                                       \
    extern "C" __global__ void __launch_bounds__(THREADS, CTAS)                                                        \
        name(const float *__restrict__ from, float *__restrict__ to, uint32_t rounds, float scale) {                   \
        sum<layout, ffmas>(from, to, rounds, scale);                                                                   \
    }

SPLIT(plain)
SPLIT(padded)
SPLIT(swizzled)
SUM(lab_worth_much_plain, plain, WORTH_FFMAS)
SUM(lab_worth_much_padded, padded, WORTH_FFMAS)
SUM(lab_worth_much_swizzled, swizzled, WORTH_FFMAS)
SUM(lab_worth_little_plain, plain, 1)
SUM(lab_worth_little_padded, padded, 1)
SUM(lab_worth_little_swizzled, swizzled, 1)
