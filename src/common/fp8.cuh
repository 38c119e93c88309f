/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions between fp32 and packed pairs of e4m3 / e5m2: round to nearest even, what is too large or infinite becomes
 * the largest number of its sign (448, 57344), NaN becomes 0x7f, zeros keep their sign. The element with the lower index is
 * in the low byte, and the upper half of a result is 0. From sm_89 on they are instructions; before, the same bits are made
 * of fp32 and integer arithmetic. And scales of ue8m0. */
#ifndef GM_FP8_CUH
#define GM_FP8_CUH

#include "common/convert.cuh"

/* An 8-bit float by arithmetic: its largest number and its smallest normal one as bits of an fp32, and how many bits of an
 * fp32's mantissa it lacks. */
struct fp8_format {
    uint32_t most, least, shift;
};
#define FP8_E4M3 {0x43e00000, 0x3c800000, 20} /* 448, 2^-6 */
#define FP8_E5M2 {0x47600000, 0x38800000, 21} /* 57344, 2^-14 */

/* An addition rounds to a multiple of the last bit of what is added, 2^shift times the power of 2 below the number, or below
 * the smallest normal one: the multiple is the mantissa with its leading 1, which a denormal lacks. Where it is rounded up to
 * the next power of 2, it carries into the exponent. */
static __device__ __forceinline__ uint32_t round_to_fp8(float x, const struct fp8_format &format) {
    const uint32_t bits = __float_as_uint(x), size = bits & 0x7fffffff, finite = min(size, format.most);
    const uint32_t power = max(finite & 0x7f800000, format.least), added = power + (format.shift << 23);
    const uint32_t multiple = __float_as_uint(__uint_as_float(finite) + __uint_as_float(added)) - added;
    const uint32_t rounded = multiple + ((power - format.least) >> format.shift);
    return size > 0x7f800000 ? 0x7f : (bits >> 24 & 0x80) | rounded;
}

static __device__ __forceinline__ uint32_t round_to_fp8x2(float low, float high, const struct fp8_format &format) {
    return round_to_fp8(low, format) | round_to_fp8(high, format) << 8;
}

/* PTX 9.7.9.21 cvt: the first source goes to the upper half. */
static __device__ __forceinline__ uint32_t cvt_rn_satfinite_e4m3x2_f32(float low, float high) {
#if __CUDA_ARCH__ >= 890
    uint16_t packed;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(packed) : "f"(high), "f"(low));
    return packed;
#else
    return round_to_fp8x2(low, high, FP8_E4M3);
#endif
}

#if __CUDA_ARCH__ >= 890
/* Four elements. PTX 9.7.9.21 cvt: the first source goes to the upper half. */
#define CVT_RN_SATFINITE_X4_F32(type, word, v)                                                                         \
    asm("{\n\t.reg .b16 low, high;\n\t"                                                                                \
        "cvt.rn.satfinite." type "x2.f32 low, %2, %1;\n\t"                                                             \
        "cvt.rn.satfinite." type "x2.f32 high, %4, %3;\n\t"                                                            \
        "mov.b32 %0, {low, high};\n\t}"                                                                                \
        : "=r"(word)                                                                                                   \
        : "f"((v)[0]), "f"((v)[1]), "f"((v)[2]), "f"((v)[3]))
#endif

/* COUNT elements as words, of either type, chosen when the kernel runs. */
template <int COUNT>
static __device__ __forceinline__ void cvt_rn_satfinite_fp8_f32(const float (&v)[COUNT], uint32_t (&words)[COUNT / 4],
                                                                bool is_e4m3) {
#if __CUDA_ARCH__ >= 890
    if (is_e4m3)
#pragma unroll
        for (int i = 0; i < COUNT; i += 4)
            CVT_RN_SATFINITE_X4_F32("e4m3", words[i / 4], v + i);
    else
#pragma unroll
        for (int i = 0; i < COUNT; i += 4)
            CVT_RN_SATFINITE_X4_F32("e5m2", words[i / 4], v + i);
#else
    const struct fp8_format e4m3 = FP8_E4M3, e5m2 = FP8_E5M2, format = is_e4m3 ? e4m3 : e5m2;
#pragma unroll
    for (int i = 0; i < COUNT; i += 4)
        words[i / 4] = round_to_fp8x2(v[i], v[i + 1], format) | round_to_fp8x2(v[i + 2], v[i + 3], format) << 16;
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

/* A scale of ue8m0: 2^(byte - 127), which is a denormal where the byte is 0; NaN where it is 0xff. */
static __device__ __forceinline__ float e8m0_to_float(uint32_t byte) {
    return __uint_as_float(byte == 0xff ? 0x7fffffff : byte ? byte << 23 : 0x00400000);
}

/* What e4m3_as_f16x2() gives is to be multiplied by. */
#if __CUDA_ARCH__ >= 890
#define GM_E4M3_AS_F16_UNIT 1.0f
#else
#define GM_E4M3_AS_F16_UNIT 256.0f
#endif

/* Bytes LOW and HIGH of a word, neighbours or every second one, as fp16, exact. Before sm_89 they are moved to fp16's place of
 * exponent and mantissa, where they are 2^8 times too small, also where they are denormal; of NaN alone an addition reaches the
 * exponent's first bit. */
template <int LOW, int HIGH> static __device__ __forceinline__ uint32_t e4m3_as_f16x2(uint32_t word) {
    static_assert((LOW % 2 == 0 && HIGH == LOW + 1) || (LOW < 2 && HIGH == LOW + 2), "two of four bytes");
#if __CUDA_ARCH__ >= 890
    uint32_t halves;
    const uint32_t pairs = HIGH == LOW + 1 ? word : __byte_perm(word, 0, 0x3120);
    const bool is_high = HIGH == LOW + 1 ? LOW == 2 : LOW == 1;
    if (is_high)
        asm("{\n\t.reg .b16 l, h;\n\tmov.b32 {l, h}, %1;\n\tcvt.rn.f16x2.e4m3x2 %0, h;\n\t}"
            : "=r"(halves)
            : "r"(pairs));
    else
        asm("{\n\t.reg .b16 l, h;\n\tmov.b32 {l, h}, %1;\n\tcvt.rn.f16x2.e4m3x2 %0, l;\n\t}"
            : "=r"(halves)
            : "r"(pairs));
    return halves;
#else
    const uint32_t upper = __byte_perm(word, 0, 0x0404 | LOW << 4 | HIGH << 12);
    const uint32_t size = (upper & 0x7f007f00) >> 1, nan = (size + 0x00800080) & 0x40004000;
    return (upper & 0x80008000) | size | nan;
#endif
}

/* Exact: an e5m2 is the upper half of an fp16. */
static __device__ __forceinline__ void cvt_f32_e5m2x2(uint32_t packed, float &low, float &high) {
    cvt_f32_f16x2((packed & 0xff) << 8 | (packed & 0xff00) << 16, low, high);
}

#endif
