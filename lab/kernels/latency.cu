/* SPDX-License-Identifier: Apache-2.0 */
/* One thread that follows a chain: every load's result is the address of the next, so nothing but the latency is left.
 * A chain is walked `warm` loads far first, so that its words are where they will be, and then `hops` by the clock. */
#include <stdint.h>

enum { UNROLL = 16, SHARED_WORDS = 1024 };

static __device__ __forceinline__ uint32_t next_shared(uint32_t at) {
    asm volatile("ld.shared.u32 %0, [%0];" : "+r"(at));
    return at;
}

/* Through the L1. */
static __device__ __forceinline__ uint64_t next_cached(uint64_t at) {
    asm volatile("ld.global.ca.u64 %0, [%0];" : "+l"(at));
    return at;
}

/* Past it. */
static __device__ __forceinline__ uint64_t next_global(uint64_t at) {
    asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(at));
    return at;
}

/* `hops` is a multiple of UNROLL. */
template <class WORD, WORD (*NEXT)(WORD)> static __device__ __forceinline__ WORD walk(WORD at, uint32_t hops) {
#pragma unroll 1
    for (; hops > 0; hops -= UNROLL) {
#pragma unroll
        for (int i = 0; i < UNROLL; i++) {
            at = NEXT(at);
        }
    }
    return at;
}

template <class WORD, WORD (*NEXT)(WORD)>
static __device__ __forceinline__ WORD walk_by_the_clock(WORD at, uint32_t warm, uint32_t hops, uint64_t *clock) {
    at = walk<WORD, NEXT>(at, warm);
    const long long start = clock64();
    at = walk<WORD, NEXT>(at, hops);
    *clock = (uint64_t)(clock64() - start);
    return at;
}

/* The chain is made here: word i leads to word i + step, round and round. *end is the word that the walk ends at. */
extern "C" __global__ void __launch_bounds__(32)
    lab_latency_shared(uint64_t *end, uint64_t *clock, uint32_t step, uint32_t warm, uint32_t hops) {
    __shared__ uint32_t chain[SHARED_WORDS];
    const uint32_t first = (uint32_t)__cvta_generic_to_shared(chain);
    for (uint32_t i = threadIdx.x; i < SHARED_WORDS; i += 32) {
        chain[i] = first + (i + step) % SHARED_WORDS * 4;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        *end = (walk_by_the_clock<uint32_t, next_shared>(first, warm, hops, clock) - first) / 4;
    }
}

extern "C" __global__ void __launch_bounds__(32)
    lab_latency_cached(uint64_t *end, uint64_t *clock, uint64_t first, uint32_t warm, uint32_t hops) {
    if (threadIdx.x == 0) {
        *end = walk_by_the_clock<uint64_t, next_cached>(first, warm, hops, clock);
    }
}

extern "C" __global__ void __launch_bounds__(32)
    lab_latency_global(uint64_t *end, uint64_t *clock, uint64_t first, uint32_t warm, uint32_t hops) {
    if (threadIdx.x == 0) {
        *end = walk_by_the_clock<uint64_t, next_global>(first, warm, hops, clock);
    }
}
