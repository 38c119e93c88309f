/* SPDX-License-Identifier: Apache-2.0 */
/* How a grid goes through n values in vectors of 16 bytes, several of them on their way. */
#ifndef LAB_HISTOGRAM_WALK_CUH
#define LAB_HISTOGRAM_WALK_CUH

#include "common/global.cuh"

/* Calls each(value) for this thread's share of n values, in trips of LOADS vectors; then the vectors that make no whole
 * trip, fewer than LOADS of them, and of the last n % 4 values one at most. The grid's vectors lie side by side. */
template <int LOADS, class EACH>
static __device__ __forceinline__ void walk(const uint32_t *from, uint32_t n, EACH each) {
    const uint4 *vectors = (const uint4 *)from;
    const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x, count = n / 4;
    const auto each_of = [&](uint4 vector) {
        each(vector.x);
        each(vector.y);
        each(vector.z);
        each(vector.w);
    };
    uint32_t i = thread;
#pragma unroll 1
    for (uint32_t trip = count / (LOADS * stride); trip > 0; trip--, i += LOADS * stride) {
        uint4 vector[LOADS];
#pragma unroll
        for (int k = 0; k < LOADS; k++)
            ld_global_v4_b32((uint64_t)(vectors + i + k * stride), &vector[k].x);
        __syncwarp(); /* NOTE: without it ptxas saves registers: it loads each vector just before it is needed */
#pragma unroll
        for (int k = 0; k < LOADS; k++)
            each_of(vector[k]);
    }
    for (; i < count; i += stride)
        each_of(vectors[i]);
    if (thread < n % 4)
        each(from[n - n % 4 + thread]);
}

#endif
