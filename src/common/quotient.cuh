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

/* ---- to 8 bits, in two instructions ------------------------------------------------------------------
 *
 * x / s, rounded to fp32 and then to 8 bits, has the same 8 bits as x * r + RN(x * rest), rounded once, where r is 1/s rounded
 * down and r + rest is 1/s but for 2^-46 of it. For they differ only where a number in the middle of two of 8 bits, T, or rather
 * the middle of T and the next fp32, is closer to x / s than that: with x / s = X / S of 24 bits each, and that middle M of 25
 * bits, X 2^k - M S is then an integer from -11 to 11, and not 0. T has up to 8 bits, so M is a multiple of 2^17 and 1 more or
 * less, and S is within 11 of a multiple of 2^17, and none. Such divisors, those within 16, one of 4000, have `rest` = NaN and
 * take the long way (tests/unit/test_quotient.c tries the x beside each M). r is rounded down so that -0 stays -0. */
struct quotient8_by {
    float factor; /* of x and of s: a power of 2 */
    float divisor, reciprocal, rest;
};

static __device__ __forceinline__ struct quotient8_by quotient8_by(float s, bool is_exact) {
    const struct quotient_by by = quotient_by(s, is_exact);
    const uint32_t bits = __float_as_uint(by.divisor), beside = bits & 0x1ffff;
    float r = by.reciprocal, rest = 0.0f;
    if (is_exact) {
        float missing = fmaf(-by.divisor, r, 1.0f);
        if (missing < 0) {
            r = __uint_as_float(__float_as_uint(r) - 1);
            missing = fmaf(-by.divisor, r, 1.0f);
        }
        rest = missing * by.reciprocal;
    }
    const bool is_close = is_exact && beside != 0 && (beside + 16 & 0x1ffff) <= 32;
    return {by.factor, by.divisor, is_close ? by.reciprocal : r, is_close ? __uint_as_float(0x7fffffff) : rest};
}

/* x times the factor, within 2^17 s: what is more becomes the largest number anyway. NaN stays NaN. */
static __device__ __forceinline__ float bounded(float x, const struct quotient8_by &by) {
    const float most = by.divisor * 0x1p17f;
    return max_nan(min_nan(x, most), -most);
}

/* Of `x` with the factor, within the bounds; where `rest` is a number, and where it is not. In the long way, what is left of x has
 * x's sign turned, and so has the correction: zeros keep theirs. */
static __device__ __forceinline__ float short_quotient(float x, const struct quotient8_by &by) {
    return fmaf(x, by.reciprocal, x * by.rest);
}

static __device__ __forceinline__ float long_quotient(float x, const struct quotient8_by &by) {
    float q = x * by.reciprocal;
    q = fmaf(fmaf(q, by.divisor, -x), -by.reciprocal, q);
    return fmaf(fmaf(q, by.divisor, -x), -by.reciprocal, q);
}

#endif
