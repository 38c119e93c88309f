/* SPDX-License-Identifier: Apache-2.0 */
/* A warp adds up a value of each lane, again and again: through shared memory with barriers of the block or of the warp, or
 * by shuffles. In a step each lane adds what the lane with one other bit has; the first barrier keeps a lane from storing
 * over what another still has to read, the second from reading what another has not stored yet. */
#include <stdint.h>

#include "warp_sum.h"

enum { THREADS = WARP_SUM_THREADS };

template <class barrier>
static __device__ __forceinline__ uint32_t sum_by_memory(uint32_t value, uint32_t *part, const barrier &wait) {
    const uint32_t lane = threadIdx.x % 32;
    part[lane] = value;
    wait();
#pragma unroll
    for (uint32_t step = 16; step > 0; step /= 2) {
        const uint32_t other = part[lane ^ step];
        wait();
        value += other;
        if (step > 1)
            part[lane] = value;
        wait();
    }
    return value;
}

static __device__ __forceinline__ uint32_t sum_by_shuffles(uint32_t value) {
#pragma unroll
    for (uint32_t step = 16; step > 0; step /= 2)
        value += __shfl_xor_sync(0xffffffff, value, step);
    return value;
}

/* `rounds` sums, one of the other, and how long all of them took. */
template <class method>
static __device__ __forceinline__ void run(uint32_t *sums, uint64_t *clock, uint32_t rounds, const method &add_up) {
    uint32_t sum = 0;
    __syncthreads();
    const uint64_t start = clock64();
#pragma unroll 1
    for (uint32_t round = 0; round < rounds; round++)
        sum = add_up(WARP_SUM_VALUE(sum, threadIdx.x));
    __syncthreads();
    const uint64_t cycles = clock64() - start;
    sums[threadIdx.x] = sum;
    if (threadIdx.x == 0)
        *clock = cycles;
}

extern "C" __global__ void __launch_bounds__(THREADS)
    lab_warp_sum_block(uint32_t *sums, uint64_t *clock, uint32_t rounds) {
    __shared__ uint32_t part[THREADS];
    uint32_t *mine = part + threadIdx.x / 32 * 32;
    run(sums, clock, rounds, [&](uint32_t value) { return sum_by_memory(value, mine, [] { __syncthreads(); }); });
}

extern "C" __global__ void __launch_bounds__(THREADS)
    lab_warp_sum_warp(uint32_t *sums, uint64_t *clock, uint32_t rounds) {
    __shared__ uint32_t part[THREADS];
    uint32_t *mine = part + threadIdx.x / 32 * 32;
    run(sums, clock, rounds, [&](uint32_t value) { return sum_by_memory(value, mine, [] { __syncwarp(); }); });
}

extern "C" __global__ void __launch_bounds__(THREADS)
    lab_warp_sum_shuffle(uint32_t *sums, uint64_t *clock, uint32_t rounds) {
    run(sums, clock, rounds, [](uint32_t value) { return sum_by_shuffles(value); });
}
