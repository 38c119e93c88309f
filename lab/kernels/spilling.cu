/* SPDX-License-Identifier: Apache-2.0 */
/* One kernel, compiled for 1, 2, 4 and 8 blocks an SM, so with at most 255, 128, 64 and 32 registers a thread. It needs all
 * of its sums in every round; those that have no register live in local memory, which is memory behind the L1. */
#include <stdint.h>

#include "spilling.h"

enum { SUMS = SPILLING_SUMS, THREADS = SPILLING_THREADS };

/* Sum i starts as thread + i and becomes x sum + i for every x of `in`; out[thread] is all of them by XOR. */
static __device__ __forceinline__ void keep_sums(uint32_t *out, const uint32_t *in, uint32_t rounds) {
    const uint32_t thread = blockIdx.x * THREADS + threadIdx.x;
    uint32_t sums[SUMS], folded = 0;
#pragma unroll
    for (int i = 0; i < SUMS; i++) {
        sums[i] = thread + i;
    }
#pragma unroll 1
    for (uint32_t round = 0; round < rounds; round++) {
        const uint32_t x = in[round];
#pragma unroll
        for (int i = 0; i < SUMS; i++) {
            sums[i] = sums[i] * x + i;
        }
    }
#pragma unroll
    for (int i = 0; i < SUMS; i++) {
        folded ^= sums[i];
    }
    out[thread] = folded;
}

#define KERNEL(registers, blocks)                                                                                      \
    extern "C" __global__ void __launch_bounds__(THREADS, blocks)                                                      \
        lab_spilling_##registers(uint32_t *out, const uint32_t *in, uint32_t rounds) {                                 \
        keep_sums(out, in, rounds);                                                                                    \
    }

KERNEL(255, 1)
KERNEL(128, 2)
KERNEL(64, 4)
KERNEL(32, 8)
