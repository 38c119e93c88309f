/* SPDX-License-Identifier: Apache-2.0 */
/* fp8 -> fp16 in registers, for mma.sync of fp16: exact, but e4m3 times 1 / GM_E4M3_AS_F16_UNIT (common/fp8.cuh), or beside
 * e5m2 times 1 / GM_MOVED_E4M3_UNIT. */
#ifndef GM_SM80_GEMM_DECODE_CUH
#define GM_SM80_GEMM_DECODE_CUH

#include "common/fp8.cuh"
#include <stdint.h>

/* x, or NaN where `size`, which is |x|, is e4m3's NaN: 1.875. The largest number is 1.75. So the first sum is infinite of
 * NaN alone, and 0 times it is NaN. Integer instructions would do it in as many; but decoding is bound by these, and has
 * FMAs to spare. */
static __device__ __forceinline__ uint32_t keep_nan(uint32_t x, uint32_t size) {
    const uint32_t largest = 0x7bff7bff, less_49152 = 0xfa00fa00, zero = 0;
    uint32_t beyond, kept;
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(beyond) : "r"(size), "r"(largest), "r"(less_49152));
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(kept) : "r"(beyond), "r"(zero), "r"(x));
    return kept;
}

/* Bytes 0 and 2 of a word, and bytes 1 and 3, as pairs of fp16. -0 may become 0. */
static __device__ __forceinline__ void decode_word(uint32_t word, uint32_t &even, uint32_t &odd) {
#if __CUDA_ARCH__ >= 890
    even = e4m3_as_f16x2<0, 2>(word);
    odd = e4m3_as_f16x2<1, 3>(word);
#else
    const uint32_t even_size = (word & 0x007f007f) << 7, odd_size = (word & 0x7f007f00) >> 1;
    even = keep_nan((word << 8 & 0x80008000) | even_size, even_size);
    odd = keep_nan((word & 0x80008000) | odd_size, odd_size);
#endif
}

/* ---- e5m2 and e4m3 by the same instructions ------------------------------------------------------------- */

#define GM_MOVED_E4M3_UNIT 256.0f

/* Which bits of fp8 in a pair's upper bytes fp16 has in the same place, and which one place lower: e5m2 is the upper byte of
 * an fp16, e4m3 has a bit more of mantissa. */
struct fp8_bits {
    uint32_t kept, moved;
};

static __device__ __forceinline__ struct fp8_bits fp8_bits_of(bool is_e5m2) {
    return {is_e5m2 ? 0xff00ff00 : 0x80008000, is_e5m2 ? 0u : 0x7f007f00};
}

/* keep_nan() leaves e5m2 as it is, its NaN and infinities too. */
static __device__ __forceinline__ uint32_t decode_upper(uint32_t word, struct fp8_bits bits) {
    const uint32_t size = (word & bits.moved) >> 1;
    return keep_nan((word & bits.kept) | size, size);
}

/* The same as of e4m3 alone. */
static __device__ __forceinline__ void decode_word(uint32_t word, struct fp8_bits bits, uint32_t &even, uint32_t &odd) {
    even = decode_upper(word << 8, bits);
    odd = decode_upper(word, bits);
}

#endif
