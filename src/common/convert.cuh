/* SPDX-License-Identifier: Apache-2.0 */
/* Packed pairs of bf16 / fp16, to and from fp32, and their products: round to nearest even, NaN stays NaN. The element
 * with the lower index is in the low half. */
#ifndef GM_CONVERT_CUH
#define GM_CONVERT_CUH

#include <stdint.h>

/* PTX 9.7.9.21 cvt: the first source goes to the upper half. */
static __device__ __forceinline__ uint32_t cvt_rn_bf16x2_f32(float low, float high) {
    uint32_t packed;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
    return packed;
}

static __device__ __forceinline__ uint32_t cvt_rn_f16x2_f32(float low, float high) {
    uint32_t packed;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
    return packed;
}

/* The fp32 number that has the 10 bits of mantissa of tf32; ties go away from zero. */
static __device__ __forceinline__ uint32_t cvt_rna_tf32_f32(float x) {
    uint32_t bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
    return bits;
}

/* cvt.f32.f16 of both halves: exact. */
static __device__ __forceinline__ void cvt_f32_f16x2(uint32_t packed, float &low, float &high) {
    asm("{\n\t.reg .b16 l, h;\n\t"
        "mov.b32 {l, h}, %2;\n\t"
        "cvt.f32.f16 %0, l;\n\t"
        "cvt.f32.f16 %1, h;\n\t}"
        : "=f"(low), "=f"(high)
        : "r"(packed));
}

/* A bf16 is the upper half of a float: exact. */
static __device__ __forceinline__ void cvt_f32_bf16x2(uint32_t packed, float &low, float &high) {
    low = __uint_as_float(packed << 16);
    high = __uint_as_float(packed & 0xffff0000u);
}

/* PTX 9.7.4.3 mul, of both halves, and 9.7.4.1 add; of bf16 from sm_90 on. */
static __device__ __forceinline__ uint32_t mul_rn_bf16x2(uint32_t x, uint32_t y) {
    uint32_t z;
    asm("mul.rn.bf16x2 %0, %1, %2;" : "=r"(z) : "r"(x), "r"(y));
    return z;
}

static __device__ __forceinline__ uint32_t mul_rn_f16x2(uint32_t x, uint32_t y) {
    uint32_t z;
    asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(z) : "r"(x), "r"(y));
    return z;
}

static __device__ __forceinline__ uint32_t add_rn_bf16x2(uint32_t x, uint32_t y) {
    uint32_t z;
    asm("add.rn.bf16x2 %0, %1, %2;" : "=r"(z) : "r"(x), "r"(y));
    return z;
}

static __device__ __forceinline__ uint32_t add_rn_f16x2(uint32_t x, uint32_t y) {
    uint32_t z;
    asm("add.rn.f16x2 %0, %1, %2;" : "=r"(z) : "r"(x), "r"(y));
    return z;
}

#endif
