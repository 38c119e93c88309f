/* SPDX-License-Identifier: Apache-2.0 */
/* The tensor memory accelerator: box copies between global and shared memory. Coordinates are elements, innermost
 * first; shared addresses are 32-bit. [PTX ISA, cp.async.bulk.tensor] */
#ifndef GM_TMA_CUH
#define GM_TMA_CUH

#include <stdint.h>

static __device__ __forceinline__ void prefetch_tensormap(const void *map) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

/* Box at (x, y) -> this CTA's shared memory; its bytes complete on `bar`. `policy` says how L2 is to keep them. */
static __device__ __forceinline__ void tma_load_2d(uint32_t dst, const void *map, int x, int y, uint32_t bar,
                                                   uint64_t policy) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint "
                 "[%0], [%1, {%2, %3}], [%4], %5;" ::"r"(dst),
                 "l"(map), "r"(x), "r"(y), "r"(bar), "l"(policy)
                 : "memory");
}

/* The same in three dimensions, left to L2's own judgement. */
static __device__ __forceinline__ void tma_load_3d(uint32_t dst, const void *map, int x, int y, int z, uint32_t bar) {
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(dst),
                 "l"(map), "r"(x), "r"(y), "r"(z), "r"(bar)
                 : "memory");
}

/* The same, kept by L2 as `policy` says. */
static __device__ __forceinline__ void tma_load_3d_as(uint32_t dst, const void *map, int x, int y, int z, uint32_t bar,
                                                      uint64_t policy) {
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint "
                 "[%0], [%1, {%2, %3, %4}], [%5], %6;" ::"r"(dst),
                 "l"(map), "r"(x), "r"(y), "r"(z), "r"(bar), "l"(policy)
                 : "memory");
}

/* And in four. */
static __device__ __forceinline__ void tma_load_4d(uint32_t dst, const void *map, int x, int y, int z, int w,
                                                   uint32_t bar) {
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3, %4, %5}], [%6];" ::"r"(dst),
                 "l"(map), "r"(x), "r"(y), "r"(z), "r"(w), "r"(bar)
                 : "memory");
}

/* In four, kept by L2 as `policy` says. */
static __device__ __forceinline__ void tma_load_4d_as(uint32_t dst, const void *map, int x, int y, int z, int w,
                                                      uint32_t bar, uint64_t policy) {
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint "
                 "[%0], [%1, {%2, %3, %4, %5}], [%6], %7;" ::"r"(dst),
                 "l"(map), "r"(x), "r"(y), "r"(z), "r"(w), "r"(bar), "l"(policy)
                 : "memory");
}

/* In five. */
static __device__ __forceinline__ void tma_load_5d(uint32_t dst, const void *map, int x, int y, int z, int w, int u,
                                                   uint32_t bar) {
    asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3, %4, %5, %6}], [%7];" ::"r"(dst),
                 "l"(map), "r"(x), "r"(y), "r"(z), "r"(w), "r"(u), "r"(bar)
                 : "memory");
}

/* The box of tma_load_4d to every CTA of the cluster whose bit is set in `mask`, as tma_load_2d_multicast() does it. */
static __device__ __forceinline__ void tma_load_4d_multicast(uint32_t dst, const void *map, int x, int y, int z, int w,
                                                             uint32_t bar, uint16_t mask) {
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
                 "[%0], [%1, {%2, %3, %4, %5}], [%6], %7;" ::"r"(dst),
                 "l"(map), "r"(x), "r"(y), "r"(z), "r"(w), "r"(bar), "h"(mask)
                 : "memory");
}

/* The box of tma_load_2d to every CTA of the cluster whose bit is set in `mask`, at the same shared address, completing
 * on each one's own barrier. */
static __device__ __forceinline__ void tma_load_2d_multicast(uint32_t dst, const void *map, int x, int y, uint32_t bar,
                                                             uint16_t mask, uint64_t policy) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster"
                 ".L2::cache_hint [%0], [%1, {%2, %3}], [%4], %5, %6;" ::"r"(dst),
                 "l"(map), "r"(x), "r"(y), "r"(bar), "h"(mask), "l"(policy)
                 : "memory");
}

/* The same in three dimensions. */
static __device__ __forceinline__ void tma_load_3d_multicast(uint32_t dst, const void *map, int x, int y, int z,
                                                             uint32_t bar, uint16_t mask, uint64_t policy) {
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster"
                 ".L2::cache_hint [%0], [%1, {%2, %3, %4}], [%5], %6, %7;" ::"r"(dst),
                 "l"(map), "r"(x), "r"(y), "r"(z), "r"(bar), "h"(mask), "l"(policy)
                 : "memory");
}

/* `bytes` from global to this CTA's shared memory, both 16-byte aligned; they complete on `bar`. */
static __device__ __forceinline__ void bulk_load(uint32_t dst, uint64_t src, uint32_t bytes, uint32_t bar) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(dst),
                 "l"(src), "r"(bytes), "r"(bar)
                 : "memory");
}

/* The box into L2 only. No one sees a value, so what is still being written may be fetched as well: L2 is where writes
 * go. */
static __device__ __forceinline__ void tma_prefetch_2d(const void *map, int x, int y, uint64_t policy) {
    asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile.L2::cache_hint [%0, {%1, %2}], %3;" ::"l"(map),
                 "r"(x), "r"(y), "l"(policy)
                 : "memory");
}

/* The same in three dimensions. */
static __device__ __forceinline__ void tma_prefetch_3d(const void *map, int x, int y, int z, uint64_t policy) {
    asm volatile("cp.async.bulk.prefetch.tensor.3d.L2.global.tile.L2::cache_hint [%0, {%1, %2, %3}], %4;" ::"l"(map),
                 "r"(x), "r"(y), "r"(z), "l"(policy)
                 : "memory");
}

/* And in four. */
static __device__ __forceinline__ void tma_prefetch_4d(const void *map, int x, int y, int z, int w, uint64_t policy) {
    asm volatile(
        "cp.async.bulk.prefetch.tensor.4d.L2.global.tile.L2::cache_hint [%0, {%1, %2, %3, %4}], %5;" ::"l"(map), "r"(x),
        "r"(y), "r"(z), "r"(w), "l"(policy)
        : "memory");
}

/* Shared memory -> box at (x, y); elements outside the tensor are dropped. */
static __device__ __forceinline__ void tma_store_2d(const void *map, int x, int y, uint32_t src) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map), "r"(x),
                 "r"(y), "r"(src)
                 : "memory");
}

/* The same in three dimensions; `policy` says how L2 is to keep the box. */
static __device__ __forceinline__ void tma_store_3d(const void *map, int x, int y, int z, uint32_t src,
                                                    uint64_t policy) {
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group.L2::cache_hint [%0, {%1, %2, %3}], [%4], "
                 "%5;" ::"l"(map),
                 "r"(x), "r"(y), "r"(z), "r"(src), "l"(policy)
                 : "memory");
}

static __device__ __forceinline__ void bulk_commit_group(void) {
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/* Waits until all but the newest N groups of this thread have read their shared memory. */
template <int N> static __device__ __forceinline__ void bulk_wait_group_read(void) {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory");
}

/* Orders this thread's ordinary shared-memory writes before the async proxy's (TMA, WGMMA) reads. */
static __device__ __forceinline__ void fence_proxy_async(void) {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/* Orders what this thread has acquired of global memory before the async proxy's reads. */
static __device__ __forceinline__ void fence_proxy_async_global(void) {
    asm volatile("fence.proxy.async.global;" ::: "memory");
}

#endif
