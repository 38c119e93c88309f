/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions between fp32 and packed pairs of e4m3 / e5m2: round to nearest even, what is too large or infinite becomes
 * the largest number of its sign (448, 57344), NaN becomes 0x7f, zeros keep their sign. The element with the lower index is
 * in the low byte, and the upper half of a result is 0. From sm_89 on they are instructions; before, the same bits are made
 * of fp32 and integer arithmetic. */
#ifndef GM_FP8_CUH
#define GM_FP8_CUH

#include "common/convert.cuh"

/* An 8-bit float of MANTISSA bits, by arithmetic: MOST is its largest number and LEAST its smallest normal one, as fp32.
 * A float that is DENORMAL has the format's smallest number as its last bit, so that an addition to it rounds. */
template <int MANTISSA, uint32_t MOST, uint32_t LEAST, uint32_t DENORMAL>
static __device__ __forceinline__ uint32_t round_to_8_bits(float x) {
    const uint32_t bits = __float_as_uint(x), sign = bits >> 24 & 0x80, size = bits & 0x7fffffff;
    const uint32_t finite = min(size, MOST), odd = finite >> (23 - MANTISSA) & 1;
    const uint32_t normal = (finite + ((1u << (22 - MANTISSA)) - 1) + odd - LEAST >> (23 - MANTISSA)) + (1 << MANTISSA);
    const uint32_t denormal = __float_as_uint(__uint_as_float(finite) + __uint_as_float(DENORMAL)) - DENORMAL;
    return size > 0x7f800000 ? 0x7f : sign | (finite < LEAST ? denormal : normal);
}

static __device__ __forceinline__ uint32_t round_to_e4m3(float x) {
    return round_to_8_bits<3, 0x43e00000, 0x3c800000, 0x46800000>(x); /* 448, 2^-6, 2^14 */
}

static __device__ __forceinline__ uint32_t round_to_e5m2(float x) {
    return round_to_8_bits<2, 0x47600000, 0x38800000, 0x43000000>(x); /* 57344, 2^-14, 2^7 */
}

/* PTX 9.7.9.21 cvt: the first source goes to the upper half. */
static __device__ __forceinline__ uint32_t cvt_rn_satfinite_e4m3x2_f32(float low, float high) {
#if __CUDA_ARCH__ >= 890
    uint16_t packed;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(packed) : "f"(high), "f"(low));
    return packed;
#else
    return round_to_e4m3(low) | round_to_e4m3(high) << 8;
#endif
}

static __device__ __forceinline__ uint32_t cvt_rn_satfinite_e5m2x2_f32(float low, float high) {
#if __CUDA_ARCH__ >= 890
    uint16_t packed;
    asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(packed) : "f"(high), "f"(low));
    return packed;
#else
    return round_to_e5m2(low) | round_to_e5m2(high) << 8;
#endif
}

/* An e4m3 moved to fp32's place of exponent and mantissa is 2^120 times too small, also where it is denormal. */
static __device__ __forceinline__ float e4m3_to_float(uint32_t bits) {
    const float size = __uint_as_float((bits & 0x7f) << 20) * 0x1p120f;
    const uint32_t finite = __float_as_uint(size) | (bits & 0x80) << 24;
    return __uint_as_float((bits & 0x7f) == 0x7f ? 0x7fffffff : finite);
}

/* Exact. */
static __device__ __forceinline__ void cvt_f32_e4m3x2(uint32_t packed, float &low, float &high) {
#if __CUDA_ARCH__ >= 890
    uint32_t halves;
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"((uint16_t)packed));
    cvt_f32_f16x2(halves, low, high);
#else
    low = e4m3_to_float(packed);
    high = e4m3_to_float(packed >> 8);
#endif
}

/* Exact: an e5m2 is the upper half of an fp16. */
static __device__ __forceinline__ void cvt_f32_e5m2x2(uint32_t packed, float &low, float &high) {
    cvt_f32_f16x2((packed & 0xff) << 8 | (packed & 0xff00) << 16, low, high);
}

#endif
