/* SPDX-License-Identifier: Apache-2.0 */
/* Loads and stores of global memory by 64-bit address, one function per width. */
#ifndef GM_GLOBAL_CUH
#define GM_GLOBAL_CUH

#include <stdint.h>

/* PTX 9.7.9.8 ld. No "memory" clobber: what a kernel loads here it never stores before the load. */
static __device__ __forceinline__ uint32_t ld_global_b8(uint64_t address) {
    uint32_t value;
    asm volatile("ld.global.u8 %0, [%1];" : "=r"(value) : "l"(address));
    return value;
}

static __device__ __forceinline__ uint32_t ld_global_b16(uint64_t address) {
    uint16_t value;
    asm volatile("ld.global.b16 %0, [%1];" : "=h"(value) : "l"(address));
    return value;
}

static __device__ __forceinline__ uint32_t ld_global_b32(uint64_t address) {
    uint32_t value;
    asm volatile("ld.global.b32 %0, [%1];" : "=r"(value) : "l"(address));
    return value;
}

static __device__ __forceinline__ uint64_t ld_global_b64(uint64_t address) {
    uint64_t value;
    asm volatile("ld.global.b64 %0, [%1];" : "=l"(value) : "l"(address));
    return value;
}

static __device__ __forceinline__ void ld_global_v2_b32(uint64_t address, uint32_t *values) {
    asm volatile("ld.global.v2.b32 {%0, %1}, [%2];" : "=r"(values[0]), "=r"(values[1]) : "l"(address));
}

static __device__ __forceinline__ void ld_global_v4_b32(uint64_t address, uint32_t *values) {
    asm volatile("ld.global.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(values[0]), "=r"(values[1]), "=r"(values[2]), "=r"(values[3])
                 : "l"(address));
}

/* On its way to L2, with its neighbours of 32 bytes, and to no register. PTX 9.7.9.15 prefetch */
static __device__ __forceinline__ void prefetch_global_l2(uint64_t address) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
}

/* So many bytes on their way to L2, by one thread: multiples of 16, as the address is. Nothing before 9.0. PTX 9.7.9.25.4.5
 * cp.async.bulk.prefetch */
static __device__ __forceinline__ void prefetch_bulk_l2(uint64_t address, uint32_t bytes) {
#if __CUDA_ARCH__ >= 900
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(address), "r"(bytes));
#endif
}

/* What another CTA has stored; only L2 has it. */
static __device__ __forceinline__ void ld_global_cg_v4_b32(uint64_t address, uint32_t *values) {
    asm volatile("ld.global.cg.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(values[0]), "=r"(values[1]), "=r"(values[2]), "=r"(values[3])
                 : "l"(address)
                 : "memory");
}

static __device__ __forceinline__ void ld_global_cg_v2_b32(uint64_t address, uint32_t *values) {
    asm volatile("ld.global.cg.v2.b32 {%0, %1}, [%2];" : "=r"(values[0]), "=r"(values[1]) : "l"(address) : "memory");
}

/* Nothing that follows is read before it. */
static __device__ __forceinline__ uint64_t ld_acquire_gpu_b64(uint64_t address) {
    uint64_t value;
    asm volatile("ld.acquire.gpu.global.b64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");
    return value;
}

/* PTX 9.7.9.11 st */
static __device__ __forceinline__ void st_global_b8(uint64_t address, uint32_t value) {
    asm volatile("st.global.b8 [%0], %1;" ::"l"(address), "r"(value) : "memory");
}

static __device__ __forceinline__ void st_global_b16(uint64_t address, uint32_t value) {
    asm volatile("st.global.b16 [%0], %1;" ::"l"(address), "h"((uint16_t)value) : "memory");
}

static __device__ __forceinline__ void st_global_b32(uint64_t address, uint32_t value) {
    asm volatile("st.global.b32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
}

static __device__ __forceinline__ void st_global_v2_b32(uint64_t address, const uint32_t *values) {
    asm volatile("st.global.v2.b32 [%0], {%1, %2};" ::"l"(address), "r"(values[0]), "r"(values[1]) : "memory");
}

static __device__ __forceinline__ void st_global_b64(uint64_t address, uint64_t value) {
    asm volatile("st.global.b64 [%0], %1;" ::"l"(address), "l"(value) : "memory");
}

/* All that this thread has stored, or knows of by a barrier, is seen before it. */
static __device__ __forceinline__ void st_release_gpu_b64(uint64_t address, uint64_t value) {
    asm volatile("st.release.gpu.global.b64 [%0], %1;" ::"l"(address), "l"(value) : "memory");
}

/* st_release_gpu_b64() that returns what was there. PTX 9.7.13 atom */
static __device__ __forceinline__ uint64_t atom_exch_release_gpu_b64(uint64_t address, uint64_t value) {
    uint64_t old;
    asm volatile("atom.release.gpu.global.exch.b64 %0, [%1], %2;" : "=l"(old) : "l"(address), "l"(value) : "memory");
    return old;
}

/* Sets bits; in whatever order threads do. PTX 9.7.13 red */
static __device__ __forceinline__ void red_or_gpu_b32(uint64_t address, uint32_t bits) {
    asm volatile("red.relaxed.gpu.global.or.b32 [%0], %1;" ::"l"(address), "r"(bits) : "memory");
}

/* Acquires and releases; the value goes there if `expected` was there. */
static __device__ __forceinline__ uint64_t atom_cas_gpu_b64(uint64_t address, uint64_t expected, uint64_t value) {
    uint64_t old;
    asm volatile("atom.acq_rel.gpu.global.cas.b64 %0, [%1], %2, %3;"
                 : "=l"(old)
                 : "l"(address), "l"(expected), "l"(value)
                 : "memory");
    return old;
}

/* What is there becomes the larger of both. PTX 9.7.13 red */
static __device__ __forceinline__ void red_max_gpu_u32(uint64_t address, uint32_t value) {
    asm volatile("red.relaxed.gpu.global.max.u32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
}

/* Sums, in whatever order threads add to them. */
static __device__ __forceinline__ void red_add_gpu_u32(uint64_t address, uint32_t value) {
    asm volatile("red.relaxed.gpu.global.add.u32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
}

static __device__ __forceinline__ void red_add_gpu_u64(uint64_t address, uint64_t value) {
    asm volatile("red.relaxed.gpu.global.add.u64 [%0], %1;" ::"l"(address), "l"(value) : "memory");
}

/* Acquires and releases; returns what was there. */
static __device__ __forceinline__ uint32_t atom_add_gpu_u32(uint64_t address, uint32_t value) {
    uint32_t old;
    asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], %2;" : "=r"(old) : "l"(address), "r"(value) : "memory");
    return old;
}

static __device__ __forceinline__ void fence_acq_rel_gpu(void) {
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
}

static __device__ __forceinline__ void st_global_v4_f32(uint64_t address, float x, float y, float z, float w) {
    asm volatile("st.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(address), "f"(x), "f"(y), "f"(z), "f"(w) : "memory");
}

static __device__ __forceinline__ void st_global_v4_b32(uint64_t address, const uint32_t *values) {
    asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(address), "r"(values[0]), "r"(values[1]),
                 "r"(values[2]), "r"(values[3])
                 : "memory");
}

#endif
