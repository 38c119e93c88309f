/* SPDX-License-Identifier: Apache-2.0 */
/* Loads and stores of shared memory by 32-bit address, one function per width. */
#ifndef GM_SHARED_CUH
#define GM_SHARED_CUH

#include <stdint.h>

/* PTX 9.7.9.11 st. An 8-bit or 16-bit value is in the low part of a word. */
static __device__ __forceinline__ void st_shared_b8(uint32_t addr, uint32_t x) {
    asm volatile("st.shared.b8 [%0], %1;" ::"r"(addr), "r"(x) : "memory");
}

static __device__ __forceinline__ void st_shared_b16(uint32_t addr, uint32_t x) {
    asm volatile("st.shared.b16 [%0], %1;" ::"r"(addr), "h"((uint16_t)x) : "memory");
}

static __device__ __forceinline__ void st_shared_v2_b32(uint32_t addr, const uint32_t *words) {
    asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(addr), "r"(words[0]), "r"(words[1]) : "memory");
}

static __device__ __forceinline__ void st_shared(uint32_t addr, float x) {
    asm volatile("st.shared.f32 [%0], %1;" ::"r"(addr), "f"(x) : "memory");
}

static __device__ __forceinline__ void st_shared_v2(uint32_t addr, float x, float y) {
    asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(addr), "f"(x), "f"(y) : "memory");
}

static __device__ __forceinline__ void st_shared_b32(uint32_t addr, uint32_t x) {
    asm volatile("st.shared.b32 [%0], %1;" ::"r"(addr), "r"(x) : "memory");
}

static __device__ __forceinline__ void st_shared_v4(uint32_t addr, float x, float y, float z, float w) {
    asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(addr), "f"(x), "f"(y), "f"(z), "f"(w) : "memory");
}

static __device__ __forceinline__ void st_shared_v4_b32(uint32_t addr, const uint32_t (&words)[4]) {
    asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(addr), "r"(words[0]), "r"(words[1]), "r"(words[2]),
                 "r"(words[3])
                 : "memory");
}

static __device__ __forceinline__ uint32_t ld_shared_b32(uint32_t addr) {
    uint32_t x;
    asm volatile("ld.shared.b32 %0, [%1];" : "=r"(x) : "r"(addr) : "memory");
    return x;
}

static __device__ __forceinline__ float ld_shared_f32(uint32_t addr) {
    return __uint_as_float(ld_shared_b32(addr));
}

static __device__ __forceinline__ void ld_shared_v2(uint32_t addr, float &x, float &y) {
    asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(x), "=f"(y) : "r"(addr) : "memory");
}

static __device__ __forceinline__ void ld_shared_v4(uint32_t addr, float &x, float &y, float &z, float &w) {
    asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(x), "=f"(y), "=f"(z), "=f"(w)
                 : "r"(addr)
                 : "memory");
}

static __device__ __forceinline__ void ld_shared_v4_b32(uint32_t addr, uint32_t (&words)[4]) {
    asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "r"(addr)
                 : "memory");
}

/* PTX 9.7.9.8 ld. The rest of the word is 0. */
static __device__ __forceinline__ uint32_t ld_shared_b8(uint32_t addr) {
    uint32_t x;
    asm volatile("ld.shared.u8 %0, [%1];" : "=r"(x) : "r"(addr) : "memory");
    return x;
}

static __device__ __forceinline__ uint32_t ld_shared_b16(uint32_t addr) {
    uint16_t x;
    asm volatile("ld.shared.b16 %0, [%1];" : "=h"(x) : "r"(addr) : "memory");
    return x;
}

static __device__ __forceinline__ void ld_shared_v2_b32(uint32_t addr, uint32_t *words) {
    asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];" : "=r"(words[0]), "=r"(words[1]) : "r"(addr) : "memory");
}

/* Adds 1. Lanes that do so to one word share its wavefront. No "memory" clobber: loads of global memory may pass it; what was
 * counted is read behind a barrier. PTX 9.7.13 red */
static __device__ __forceinline__ void red_shared_increment(uint32_t addr) {
    asm volatile("red.relaxed.cta.shared.add.u32 [%0], 1;" ::"r"(addr));
}

#endif
