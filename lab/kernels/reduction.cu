/* SPDX-License-Identifier: Apache-2.0 */
/* The reduction ladder: the sum of n fp32. In steps 1 to 4 a thread brings one element, a CTA of 512 adds up its own in
 * a tree, and one atomic a CTA adds that to `sum`, which starts as 0. Every kernel differs from the one before it by
 * one idea. What the trees cost in bank conflicts is predicted by lab/ladders.c from the same loops; they stay
 * rolled, or the compiler would join the accesses of the first round and so answer a question that was not asked. */
#include <stdint.h>

#include "reduction.h"

enum { THREADS = REDUCTION_THREADS, WARPS = THREADS / 32, LOADS = REDUCTION_LOADS };

static __device__ __forceinline__ float element_of(const float *__restrict__ from, uint32_t n) {
    const uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    return i < n ? from[i] : 0;
}

/* Step 1: neighbours first. Every second thread adds its right neighbour's element, then every fourth that of two
 * further on, ... The working lanes lie scattered, so all warps keep running for ever fewer of them. */
extern "C" __global__ void __launch_bounds__(THREADS)
    lab_reduction_modulo(const float *__restrict__ from, uint32_t n, float *sum) {
    __shared__ float part[THREADS];
    const uint32_t thread = threadIdx.x;
    part[thread] = element_of(from, n);
    __syncthreads();
#pragma unroll 1
    for (uint32_t step = 1; step < THREADS; step *= 2) {
        if (thread % (2 * step) == 0)
            part[thread] += part[thread + step];
        __syncthreads();
    }
    if (thread == 0)
        atomicAdd(sum, part[0]);
}

/* Step 2: the same additions by the first threads, so that whole warps fall idle. But their words now lie 2, 4, 8 ...
 * apart, and a stride of 2^k words is a 2^k-way bank conflict. */
extern "C" __global__ void __launch_bounds__(THREADS)
    lab_reduction_strided(const float *__restrict__ from, uint32_t n, float *sum) {
    __shared__ float part[THREADS];
    const uint32_t thread = threadIdx.x;
    part[thread] = element_of(from, n);
    __syncthreads();
#pragma unroll 1
    for (uint32_t step = 1; step < THREADS; step *= 2) {
        const uint32_t at = 2 * step * thread;
        if (at < THREADS)
            part[at] += part[at + step];
        __syncthreads();
    }
    if (thread == 0)
        atomicAdd(sum, part[0]);
}

/* Step 3: the far half is added to the near half, so that the words of a warp are always neighbours: no conflicts. */
extern "C" __global__ void __launch_bounds__(THREADS)
    lab_reduction_sequential(const float *__restrict__ from, uint32_t n, float *sum) {
    __shared__ float part[THREADS];
    const uint32_t thread = threadIdx.x;
    part[thread] = element_of(from, n);
    __syncthreads();
#pragma unroll 1
    for (uint32_t step = THREADS / 2; step > 0; step /= 2) {
        if (thread < step)
            part[thread] += part[thread + step];
        __syncthreads();
    }
    if (thread == 0)
        atomicAdd(sum, part[0]);
}

/* In lane 0, the sum over the warp. */
static __device__ __forceinline__ float sum_of_warp(float value) {
#pragma unroll
    for (int step = 16; step > 0; step /= 2)
        value += __shfl_down_sync(0xffffffff, value, step);
    return value;
}

/* In thread 0, the sum over the CTA: one word of shared memory a warp, one barrier. */
static __device__ __forceinline__ float sum_of_cta(float value) {
    __shared__ float of_warp[WARPS];
    const uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    value = sum_of_warp(value);
    if (lane == 0)
        of_warp[warp] = value;
    __syncthreads();
    return warp == 0 ? sum_of_warp(lane < WARPS ? of_warp[lane] : 0) : 0;
}

/* Step 4: the lanes of a warp pass their sums from register to register; shared memory and barriers are left for one
 * exchange between warps. */
extern "C" __global__ void __launch_bounds__(THREADS)
    lab_reduction_shuffle(const float *__restrict__ from, uint32_t n, float *sum) {
    const float total = sum_of_cta(element_of(from, n));
    if (threadIdx.x == 0)
        atomicAdd(sum, total);
}

static __device__ __forceinline__ float4 plus(float4 a, float4 b) {
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

/* What this thread sums up of n elements that the whole grid shares: 4 loads of 16 bytes are under way before the first
 * is used. 2048 threads keep 128 KB in flight on every SM, where 4.6 TB/s x 0.8 us over 132 SMs asks for 28 KB. */
static __device__ __forceinline__ float sum_of_thread(const float *__restrict__ from, uint32_t n) {
    const float4 *vectors = (const float4 *)from;
    const uint32_t count = n / 4, stride = gridDim.x * THREADS, thread = blockIdx.x * THREADS + threadIdx.x;
    float4 sum = make_float4(0, 0, 0, 0);
    uint32_t i = thread;
#pragma unroll 1
    for (uint32_t trip = count / (LOADS * stride); trip > 0; trip--, i += LOADS * stride) {
        float4 vector[LOADS];
#pragma unroll
        for (int k = 0; k < LOADS; k++)
            vector[k] = vectors[i + k * stride];
#pragma unroll
        for (int k = 0; k < LOADS; k++)
            sum = plus(sum, vector[k]);
    }
    for (; i < count; i += stride)
        sum = plus(sum, vectors[i]);
    if (thread < n % 4)
        sum.x += from[n - n % 4 + thread];
    return sum.x + sum.y + sum.z + sum.w;
}

/* Step 5: as many CTAs as the GPU holds at once, each reading vectors until all is read; so the tree is paid once a CTA
 * and not once in 512 elements. The last CTA to finish adds up the CTAs' sums in their order: the same bits every time.
 * `finished` starts as 0, and atomicInc leaves it so. */
extern "C" __global__ void __launch_bounds__(THREADS)
    lab_reduction_vector(const float *__restrict__ from, uint32_t n, float *sum, float *of_cta, uint32_t *finished) {
    __shared__ bool last;
    const float total = sum_of_cta(sum_of_thread(from, n));
    if (threadIdx.x == 0) {
        of_cta[blockIdx.x] = total;
        __threadfence(); /* this CTA's sum before its tick; below, the ticks before all sums */
        last = atomicInc(finished, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last)
        return;
    __threadfence();
    float mine = 0;
    for (uint32_t i = threadIdx.x; i < gridDim.x; i += THREADS)
        mine += __ldcg(of_cta + i);
    const float all = sum_of_cta(mine);
    if (threadIdx.x == 0)
        *sum = all;
}

/* Not a reduction: reads `trips` times 4 vectors a thread and folds them into one word, which is stored when it is a
 * value that it never is. What a kernel can read at best. */
extern "C" __global__ void __launch_bounds__(THREADS)
    lab_reduction_read(const uint4 *__restrict__ from, uint32_t trips, uint32_t *never) {
    const uint32_t stride = gridDim.x * THREADS;
    uint32_t folded = 0, i = blockIdx.x * THREADS + threadIdx.x;
#pragma unroll 1
    for (; trips > 0; trips--, i += LOADS * stride) {
        uint4 vector[LOADS];
#pragma unroll
        for (int k = 0; k < LOADS; k++)
            vector[k] = from[i + k * stride];
#pragma unroll
        for (int k = 0; k < LOADS; k++)
            folded ^= vector[k].x ^ vector[k].y ^ vector[k].z ^ vector[k].w;
    }
    if (folded == 0x9e3779b9)
        *never = folded;
}
