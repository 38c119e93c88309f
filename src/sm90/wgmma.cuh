/* SPDX-License-Identifier: Apache-2.0 */
/* Warpgroup matrix multiply: ordering, and the 64-bit descriptor of an operand in shared memory. The instruction
 * itself, one wrapper per N, is in wgmma_shapes.cuh. [PTX ISA, wgmma] */
#ifndef GM_WGMMA_CUH
#define GM_WGMMA_CUH

#include <stdint.h>

/* Before the first wgmma, and after the warpgroup's registers were touched: orders them for the tensor core. */
static __device__ __forceinline__ void wgmma_fence(void) {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

static __device__ __forceinline__ void wgmma_commit_group(void) {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/* Waits until at most the newest N groups are pending. */
template <int N> static __device__ __forceinline__ void wgmma_wait_group(void) {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}

/* The same, behind the computation of `value`, which is not negative; `addr` is any of shared memory.
 * NOTE: ptxas moves a wait ahead of the arithmetic before it, and nothing is left to run beside the wgmmas. A store that
 * never happens holds it back. */
template <int N> static __device__ __forceinline__ void wgmma_wait_group_behind(float value, uint32_t addr) {
    asm volatile("{.reg .pred hold; setp.lt.f32 hold, %0, 0f00000000; "
                 "@hold st.shared.f32 [%1], %0; "
                 "wgmma.wait_group.sync.aligned %2;}" ::"f"(value),
                 "r"(addr), "n"(N)
                 : "memory");
}

/* Keeps the compiler from moving accumulator accesses across this point. */
template <int COUNT> static __device__ __forceinline__ void wgmma_fence_operand(float (&d)[COUNT]) {
#pragma unroll
    for (int i = 0; i < COUNT; ++i)
        asm volatile("" : "+f"(d[i])::"memory");
}

template <int COUNT> static __device__ __forceinline__ void wgmma_fence_operand(int32_t (&d)[COUNT]) {
#pragma unroll
    for (int i = 0; i < COUNT; ++i)
        asm volatile("" : "+r"(d[i])::"memory");
}

/* The descriptor: start address, leading and stride byte offsets in units of 16 bytes, swizzle span. Moving the
 * start address by a compile-time number of bytes is an addition to the low word (wgmma_descriptor_advance).
 *
 *   bits  0-13  start address >> 4          span   swizzle field
 *        16-29  leading byte offset >> 4     128        1
 *        32-45  stride byte offset >> 4       64        2
 *        62-63  swizzle                       32        3                                                     */
static __device__ __forceinline__ uint64_t wgmma_descriptor(uint32_t addr, uint32_t leading_bytes,
                                                            uint32_t stride_bytes, uint32_t span_bytes) {
    const uint64_t swizzle = span_bytes == 128 ? 1 : span_bytes == 64 ? 2 : 3;
    return (uint64_t)((addr & 0x3FFFF) >> 4) | (uint64_t)(leading_bytes >> 4) << 16 |
           (uint64_t)(stride_bytes >> 4) << 32 | swizzle << 62;
}

static __device__ __forceinline__ uint64_t wgmma_descriptor_advance(uint64_t descriptor, uint32_t bytes) {
    return descriptor + (bytes >> 4);
}

#endif
