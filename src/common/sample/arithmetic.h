/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic of sampling, for host and device: the same bits on both. It is of integers, and of IEEE additions,
 * multiplications and fused ones in a written order; nothing here is approximated by an instruction. */
#ifndef GM_SAMPLE_ARITHMETIC_H
#define GM_SAMPLE_ARITHMETIC_H

#include "common/fixed_width.h"

#ifdef __CUDACC__
#define GM_BOTH              static __device__ __forceinline__
#define sample_bits_of(x)    __float_as_uint(x)
#define sample_float_of(x)   __uint_as_float(x)
#define sample_product(x, y) __fmul_rn(x, y) /* which is not contracted */
#define sample_sum(x, y)     __fadd_rn(x, y)
#define SAMPLE_INFINITY      __uint_as_float(0x7f800000u)
#else
#include <math.h>
#include <string.h>
#define GM_BOTH              static inline
GM_BOTH uint32_t sample_bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, 4);
    return bits;
}
GM_BOTH float sample_float_of(uint32_t bits) {
    float x;
    memcpy(&x, &bits, 4);
    return x;
}
#define sample_product(x, y) ((x) * (y))
#define sample_sum(x, y)     ((x) + (y))
#define SAMPLE_INFINITY      INFINITY
#endif

/* ---- logits ------------------------------------------------------------------------------------------- */

/* NaN counts as -inf, and -0 as +0. */
GM_BOTH float sample_canonical(float logit) {
    return sample_sum(fmaxf(logit, -SAMPLE_INFINITY), 0.0f);
}

/* Unsigned numbers in the order of floats. */
#define SAMPLE_KEY_OF_NOTHING 0x007fffffu /* of -inf */
GM_BOTH uint32_t sample_key(float x) {
    const uint32_t bits = sample_bits_of(x);
    return bits ^ (bits >> 31 ? 0xffffffffu : 0x80000000u);
}
GM_BOTH float sample_value(uint32_t key) {
    return sample_float_of(key ^ (key >> 31 ? 0x80000000u : 0xffffffffu));
}

/* (logit - largest) / temperature; finite, and 0 of the largest itself. */
GM_BOTH float sample_shifted(float logit, float largest, float inverse_temperature) {
    return fmaxf(sample_product(logit - largest, inverse_temperature), -3.40282347e38f);
}
GM_BOTH float sample_inverse(float temperature) {
    return fminf(1.0f / temperature, 3.40282347e38f);
}

/* ---- logarithm, power, masses ------------------------------------------------------------------------- */

/* ln(x) of a positive normal x, within 2 units in the last place of the result: x = 2^e (1 + f) with f from sqrt(1/2) - 1 to
 * sqrt(2) - 1, and ln(1 + f) = f - f^2 / 2 + f^3 P(f). */
GM_BOTH float sample_ln(float x) {
    const int32_t exponent = (int32_t)(sample_bits_of(x) - 0x3f3504f3u) >> 23;
    const float f = sample_float_of(sample_bits_of(x) - ((uint32_t)exponent << 23)) - 1.0f;
    float p = -7.902743771e-02f;
    p = fmaf(p, f, 1.262231985e-01f);
    p = fmaf(p, f, -1.299818376e-01f);
    p = fmaf(p, f, 1.421449592e-01f);
    p = fmaf(p, f, -1.664128146e-01f);
    p = fmaf(p, f, 2.000104509e-01f);
    p = fmaf(p, f, -2.500030642e-01f);
    p = fmaf(p, f, 3.333333073e-01f);
    const float tail = fmaf(p, f, -0.5f);
    return fmaf((float)exponent, 6.931471825e-01f, fmaf(sample_product(f, f), tail, f));
}

/* floor(2^40 exp(x)) of an x of 0 or less, exp(x) = 2^n (1 + f P(f)) of 24 bits. Integers, so that a sum of them has one value
 * in any order. */
#define SAMPLE_MASS_BITS 40
GM_BOTH uint64_t sample_mass(float x) {
    const float rounded = fmaf(x, 1.442695022e+00f, 12582912.0f); /* n in its low bits */
    const float n = rounded - 12582912.0f;
    const float f = fmaf(n, -1.428606765e-06f, fmaf(n, -6.931457520e-01f, x));
    float p = 1.393373072e-03f;
    p = fmaf(p, f, 8.369220292e-03f);
    p = fmaf(p, f, 4.166646420e-02f);
    p = fmaf(p, f, 1.666650461e-01f);
    p = fmaf(p, f, 5.000000014e-01f);
    p = fmaf(p, f, 1.0f);
    const uint32_t power = sample_bits_of(fmaf(p, f, 1.0f));
    const int32_t whole = (int32_t)(sample_bits_of(rounded) - 0x4b400000u);
    const uint64_t digits = (power & 0x7fffffu) | 0x800000u;
    const int32_t shift = SAMPLE_MASS_BITS - 23 + (int32_t)(power >> 23) - 127 + whole;
    if (x < -28.0f)
        return 0;
    return shift >= 0 ? digits << shift : digits >> -shift;
}

/* The least mass that is top_p of all, and 1 at least. top_p below 1; its digits from 2^-32 on count. */
GM_BOTH uint64_t sample_quota(float top_p, uint64_t all) {
    if (!(top_p > 0.0f))
        return 1;
    const uint64_t share = (uint32_t)sample_product(top_p, 4294967296.0f);
    const uint64_t low = (all & 0xffffffffu) * share, high = (all >> 32) * share;
    const uint64_t quota = high + (low >> 32) + ((low & 0xffffffffu) != 0);
    return quota > 0 ? quota : 1;
}

/* What sample_shifted() is at least where min_p keeps it. */
GM_BOTH float sample_least(float min_p) {
    if (!(min_p > 0.0f))
        return -SAMPLE_INFINITY;
    return min_p < 1.0f ? sample_ln(fmaxf(min_p, 1.17549435e-38f)) : 0.0f;
}

/* ---- noise -------------------------------------------------------------------------------------------- */

/* Philox4x32-10 of a counter, in its place (Salmon et al., Parallel random numbers: as easy as 1, 2, 3). */
GM_BOTH void sample_philox(uint64_t key, uint32_t words[4]) {
    uint32_t a = words[0], b = words[1], c = words[2], d = words[3];
    uint32_t key0 = (uint32_t)key, key1 = (uint32_t)(key >> 32);
#ifdef __CUDACC__
#pragma unroll
#endif
    for (int round = 0; round < 10; round++) {
        const uint64_t first = (uint64_t)a * 0xd2511f53u, second = (uint64_t)c * 0xcd9e8d57u;
        a = (uint32_t)(second >> 32) ^ b ^ key0;
        c = (uint32_t)(first >> 32) ^ d ^ key1;
        b = (uint32_t)second;
        d = (uint32_t)first;
        key0 += 0x9e3779b9u;
        key1 += 0xbb67ae85u;
    }
    words[0] = a, words[1] = b, words[2] = c, words[3] = d;
}

/* The words of columns 4 column4 to 4 column4 + 3. */
GM_BOTH void sample_noise(uint64_t seed, uint32_t column4, int64_t step, uint32_t words[4]) {
    words[0] = column4;
    words[1] = 0;
    words[2] = (uint32_t)step;
    words[3] = (uint32_t)((uint64_t)step >> 32);
    sample_philox(seed, words);
}

/* -ln(-ln(1 - v)). 1 - v = u + rest exactly, so that -ln of it keeps its digits where v is small. */
GM_BOTH float sample_gumbel(uint32_t word) {
    const float v = fminf(fmaf((float)word, 0x1p-32f, 0x1p-33f), 0x1.fffffep-1f);
    const float u = 1.0f - v, rest = (1.0f - u) - v;
    return -sample_ln(-sample_sum(sample_ln(u), rest));
}

#endif
