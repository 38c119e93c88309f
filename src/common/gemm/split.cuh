/* SPDX-License-Identifier: Apache-2.0 */
/* tf32x3: an element of fp32 as two of tf32, and what multiplies fp32 by three products of tf32.
 *
 *   x = big + small    big: x rounded to 10 bits of mantissa; small: what is left, at most 2^-11 of x
 *
 * Tensor cores drop the low 13 bits of an operand, so of `small` they take 10 bits too, and miss x by 2^-21 of it at
 * most. */
#ifndef GM_GEMM_SPLIT_CUH
#define GM_GEMM_SPLIT_CUH

#include <stdint.h>

/* The two halves. The big one is finite: an infinite x is in the small one alone, so that no product of halves is that of
 * infinity and a 0 which only stands for nothing left. NaN is in the small half as well. */
static __device__ __forceinline__ void split(uint32_t bits, uint32_t &big, uint32_t &small) {
    const float x = __uint_as_float(bits), largest = 0x1.ffcp127f;
    big = (__float_as_uint(fminf(fmaxf(x, -largest), largest)) + 0x1000) & 0xffffe000;
    small = __float_as_uint(x - __uint_as_float(big));
}

#endif
