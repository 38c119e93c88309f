/* SPDX-License-Identifier: Apache-2.0 */
/* Shared memory at its full rate: loads, stores, or both, of 32 warps that never wait for one another, so many of them
 * under way that what they wait for is the banks; and loads from L2 beside them. Lane i is `lane_bytes` from lane i - 1.
 * A round lasts from a barrier to a barrier; the last one's cycles are kept. Accesses are in assembly, so that the
 * compiler neither joins nor drops any. */
#include <stdint.h>

#include "shared_rate.h"

enum { THREADS = RATE_THREADS, ACCESSES = RATE_ACCESSES };

template <int words> struct access;

template <> struct access<1> {
    uint32_t value[1];
    __device__ __forceinline__ void load(uint32_t at) {
        asm volatile("ld.shared.b32 %0, [%1];" : "=r"(value[0]) : "r"(at));
    }
    static __device__ __forceinline__ void store(uint32_t at, uint32_t value) {
        asm volatile("st.volatile.shared.b32 [%0], %1;" ::"r"(at), "r"(value) : "memory");
    }
};

template <> struct access<4> {
    uint32_t value[4];
    __device__ __forceinline__ void load(uint32_t at) {
        asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(value[0]), "=r"(value[1]), "=r"(value[2]), "=r"(value[3])
                     : "r"(at));
    }
    static __device__ __forceinline__ void store(uint32_t at, uint32_t value) {
        asm volatile("st.volatile.shared.v4.b32 [%0], {%1, %1, %1, %1};" ::"r"(at), "r"(value) : "memory");
    }
};

template <int words> static __device__ __forceinline__ uint32_t sum_of(const struct access<words> &access) {
    uint32_t sum = 0;
#pragma unroll
    for (int i = 0; i < words; i++)
        sum += access.value[i];
    return sum;
}

/* 16 accesses, of which as many are under way as 16 registers hold. */
template <int words, bool loads, bool stores>
static __device__ __forceinline__ uint32_t trip_of(uint32_t at, uint32_t own) {
    constexpr int group = ACCESSES / words;
    uint32_t sum = 0;
#pragma unroll
    for (int first = 0; first < ACCESSES; first += group) {
        struct access<words> access[group];
#pragma unroll
        for (int i = 0; i < group; i++) {
            if (loads)
                access[i].load(at + (first + i) * RATE_STEP);
            if (stores)
                access[i].store(own, RATE_STORED(threadIdx.x));
        }
#pragma unroll
        for (int i = 0; loads && i < group; i++)
            sum += sum_of(access[i]);
    }
    return sum;
}

template <int words, bool loads, bool stores>
static __device__ __forceinline__ void run(uint32_t *sums, uint64_t *clock, uint32_t lane_bytes, uint32_t trips,
                                           uint32_t rounds) {
    extern __shared__ __align__(16) uint32_t memory[];
    const uint32_t base = (uint32_t)__cvta_generic_to_shared(memory), home = base + threadIdx.x % 32 * lane_bytes;
    const uint32_t own = base + RATE_IMAGE_BYTES + threadIdx.x * lane_bytes;
    uint64_t cycles = 0;
    uint32_t sum = 0;
    for (uint32_t w = threadIdx.x; loads && w < RATE_IMAGE_BYTES / 4; w += THREADS)
        memory[w] = RATE_WORD(w);
#pragma unroll 1
    for (uint32_t round = 0; round < rounds; round++) {
        __syncthreads();
        const uint64_t start = clock64();
        sum = 0;
#pragma unroll 1
        for (uint32_t trip = 0; trip < trips; trip++)
            sum += trip_of<words, loads, stores>(home + trip % 2 * RATE_TRIP_STEP, own);
        __syncthreads();
        cycles = clock64() - start;
    }
    if (stores) {
        struct access<words> last;
        last.load(own);
        sum += sum_of(last);
    }
    sums[blockIdx.x * THREADS + threadIdx.x] = sum;
    if (blockIdx.x == 0 && threadIdx.x == 0)
        *clock = cycles;
}

#define KERNEL(name, words, loads, stores)                                                                             \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                              \
        name(uint32_t *sums, uint64_t *clock, uint32_t lane_bytes, uint32_t trips, uint32_t rounds) {                  \
        run<words, loads, stores>(sums, clock, lane_bytes, trips, rounds);                                             \
    }

KERNEL(lab_rate_b32_loads, 1, true, false)
KERNEL(lab_rate_b32_stores, 1, false, true)
KERNEL(lab_rate_b32_both, 1, true, true)
KERNEL(lab_rate_v4_loads, 4, true, false)
KERNEL(lab_rate_v4_stores, 4, false, true)
KERNEL(lab_rate_v4_both, 4, true, true)

/* Every CTA reads `trips` x 128 KB of a buffer of `vectors`, a power of two, that L2 holds; each begins elsewhere. */
extern "C" __global__ void __launch_bounds__(THREADS)
    lab_rate_global(const uint4 *__restrict__ from, uint32_t *sums, uint32_t vectors, uint32_t trips) {
    uint32_t sum = 0, at = blockIdx.x * (vectors / 128) + threadIdx.x;
#pragma unroll 1
    for (uint32_t trip = 0; trip < trips; trip++) {
        uint4 part[RATE_GLOBAL_LOADS];
#pragma unroll
        for (int i = 0; i < RATE_GLOBAL_LOADS; i++, at += THREADS)
            part[i] = __ldcg(&from[at % vectors]);
#pragma unroll
        for (int i = 0; i < RATE_GLOBAL_LOADS; i++)
            sum += part[i].x + part[i].y + part[i].z + part[i].w;
    }
    sums[blockIdx.x * THREADS + threadIdx.x] = sum;
}
