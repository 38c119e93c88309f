/* SPDX-License-Identifier: Apache-2.0 */
/* Two kernels that want the same memory for opposite uses: one reads 96 KB again and again, which a cache of that size
 * would keep; the other lives in shared memory, and more of its blocks fit where there is more of it. */
#include <stdint.h>

#include "carve_out.h"

static __device__ __forceinline__ uint4 load_cached(const uint4 *from) {
    uint4 v;
    asm volatile("ld.global.ca.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(__cvta_generic_to_global(from)));
    return v;
}

/* sums[thread of the grid]: of all words that it has read, `rounds` times its part of the block's own set. */
static __device__ __forceinline__ void read_again(uint32_t *sums, const uint4 *from, uint32_t rounds) {
    const uint4 *set = from + blockIdx.x * (CARVE_OUT_SET / 16) + threadIdx.x;
    uint32_t sum = 0;
#pragma unroll 1
    for (; rounds > 0; rounds--) {
#pragma unroll
        for (int i = 0; i < CARVE_OUT_VECTORS; i++) {
            const uint4 v = load_cached(set + i * CARVE_OUT_READERS);
            sum += v.x + v.y + v.z + v.w;
        }
        __syncthreads(); /* ptxas would take the loads out of the loop, as nothing else says that the words may change */
    }
    sums[blockIdx.x * CARVE_OUT_READERS + threadIdx.x] = sum;
}

/* Every thread follows a chain of `words` words through the block's shared memory; ends[thread of the grid] is where it
 * stands after `hops`. most[sm] is how many blocks there were on the SM at once. */
static __device__ __forceinline__ void share(uint32_t *present, uint32_t *most, uint32_t *ends, uint32_t words,
                                             uint32_t hops) {
    extern __shared__ uint32_t chain[];
    uint32_t sm, at = threadIdx.x;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    if (threadIdx.x == 0) {
        atomicMax(most + sm, atomicAdd(present + sm, 1) + 1);
    }
    for (uint32_t i = threadIdx.x; i < words; i += blockDim.x) {
        chain[i] = (i + CARVE_OUT_STEP) % words;
    }
    __syncthreads();
#pragma unroll 1
    for (; hops > 0; hops--) {
        at = chain[at];
    }
    ends[blockIdx.x * blockDim.x + threadIdx.x] = at;
    __syncthreads();
    /* Waits for what it takes away, so that no block comes before this one is off the books. */
    if (threadIdx.x == 0 && atomicSub(present + sm, 1) == 0) {
        ends[blockIdx.x * blockDim.x] = words;
    }
}

#define KERNELS(percent)                                                                                               \
    extern "C" __global__ void __launch_bounds__(CARVE_OUT_READERS)                                                    \
        lab_carve_out_read_##percent(uint32_t *sums, const uint4 *from, uint32_t rounds) {                             \
        read_again(sums, from, rounds);                                                                                \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(256, 8) lab_carve_out_share_##percent(                                \
        uint32_t *present, uint32_t *most, uint32_t *ends, uint32_t words, uint32_t hops) {                            \
        share(present, most, ends, words, hops);                                                                       \
    }

CARVE_OUT_PERCENTS(KERNELS)
