/* SPDX-License-Identifier: Apache-2.0 */
/* Many quotients by one divisor, each x / s rounded to nearest even like a division, in eight instructions without a branch:
 * the special function unit and the range checks of a division would set the pace of a kernel that does little else.
 *
 * q = x * (1/s) is off by less than 2 units in the last place. x - q * s is exact, so one correction makes it off by less
 * than one, and the second one rounds it correctly (Markstein: 1/s is rounded correctly). Where s is very small or large,
 * both are multiplied by a power of 2 first. Zeros keep their sign, and NaN stays NaN. */
#ifndef GM_QUOTIENT_CUH
#define GM_QUOTIENT_CUH

#include "common/special.cuh"

#include <stdint.h>

/* x / s of x >= 0, where the correction is the reciprocal, and neither is so small or large that a step underflows or overflows. */
static __device__ __forceinline__ float quotient_of_sizes(float x, float s, float reciprocal, float correction) {
    float q = x * reciprocal;
    q = fmaf(fmaf(-q, s, x), correction, q);
    return fmaf(fmaf(-q, s, x), correction, q);
}

/* 1 / s rounded to nearest even, of s from 2^-100 to 2^100. It is what rcp.rn is made of, without its checks of the range. */
static __device__ __forceinline__ float reciprocal_of(float s) {
    const float r = rcp_approx_ftz(s);
    return fmaf(r, fmaf(-s, r, 1.0f), r);
}

struct quotient_by {
    float factor; /* of x and of s: a power of 2 */
    float divisor, reciprocal, most;
    float correction; /* the reciprocal; 0: x * (1 / s), rounded twice, is what is wanted */
};

/* For quotients that become 8 bits: those above 2^17, infinities too, become that, and those below 2^-20 may be inexact. A
 * divisor that is not positive and finite makes every quotient NaN. */
static __device__ __forceinline__ struct quotient_by quotient_by(float s, bool is_exact) {
    struct quotient_by by;
    by.factor = s < 0x1p-60f ? 0x1p100f : s > 0x1p60f ? 0x1p-64f : 1.0f;
    by.divisor = s * by.factor;
    by.most = by.divisor * 0x1p17f;
    by.reciprocal = s > 0 && s < GM_INFINITY ? reciprocal_of(by.divisor) : __uint_as_float(0x7fffffff);
    by.correction = is_exact ? by.reciprocal : 0.0f;
    return by;
}

static __device__ __forceinline__ float quotient(float x, const struct quotient_by &by) {
    const float size = min_nan(fabsf(x) * by.factor, by.most);
    const float q = quotient_of_sizes(size, by.divisor, by.reciprocal, by.correction);
    return __uint_as_float(__float_as_uint(q) | (__float_as_uint(x) & 0x80000000u));
}

#endif
