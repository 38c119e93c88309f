/* SPDX-License-Identifier: Apache-2.0 */
/* Quotients, each x / s rounded to nearest even like a division: the special function unit and the range checks of a division
 * would set the pace of a kernel that does little else. */
#ifndef GM_QUOTIENT_CUH
#define GM_QUOTIENT_CUH

#include "common/special.cuh"

#include <stdint.h>

/* x / s, where neither is so small or large that a step underflows or overflows. `correction`: -1 / s; -0: x * (1 / s), rounded
 * twice, is what is wanted.
 *
 * q = x * (1/s) is off by less than 2 units in the last place. q * s - x is exact, so one correction makes it off by less
 * than one, and the second one rounds it correctly (Markstein: 1/s is rounded correctly). Zeros keep their sign. */
static __device__ __forceinline__ float quotient(float x, float s, float reciprocal, float correction) {
    float q = x * reciprocal;
    q = fmaf(fmaf(q, s, -x), correction, q);
    return fmaf(fmaf(q, s, -x), correction, q);
}

/* 1 / s rounded to nearest even, of s from 2^-100 to 2^100. It is what rcp.rn is made of, without its checks of the range. */
static __device__ __forceinline__ float reciprocal_of(float s) {
    const float r = rcp_approx_ftz(s);
    return fmaf(r, fmaf(-s, r, 1.0f), r);
}

/* ---- many quotients that become 8 bits, in two instructions each -------------------------------------
 *
 * x / s, rounded to fp32 and then to 8 bits, has the same 8 bits as x * r + RN(x * rest), rounded once, where r is 1/s rounded
 * down and r + rest is 1/s but for 2^-46 of it. For they differ only where a number in the middle of two of 8 bits, T, or rather
 * the middle of T and the next fp32, is closer to x / s than that: with x / s = X / S of 24 bits each, and that middle M of 25
 * bits, X 2^k - M S is then an integer from -11 to 11, and not 0. T has up to 8 bits, so M is a multiple of 2^17 and 1 more or
 * less, and S is within 11 of a multiple of 2^17, and none. Such divisors, those within 16, one of 4000, take the long way
 * (tests/unit/test_quotient.c tries the x beside each M). r is rounded down so that -0 stays -0.
 *
 * Quotients above 2^17, infinities too, may become that; those below 2^-20 may be inexact. NaN stays NaN. */

struct quotient_by {
    float divisor, reciprocal;
    float rest;    /* 1 / divisor - reciprocal; NaN: the long way */
    bool is_exact; /* else x * (1 / s), rounded twice, is what is wanted */
};

static __device__ __forceinline__ struct quotient_by quotient_by(float s, bool is_exact) {
    const uint32_t beside = __float_as_uint(s) & 0x1ffff;
    const bool is_close = is_exact && beside != 0 && (beside + 16 & 0x1ffff) <= 32;
    const bool is_usual = s >= 0x1p-60f && s <= 0x1p60f && !is_close;
    const float rounded = reciprocal_of(s);
    const uint32_t is_above = is_exact && fmaf(-s, rounded, 1.0f) < 0;
    const float r = __uint_as_float(__float_as_uint(rounded) - is_above);
    const float rest = is_exact ? fmaf(-s, r, 1.0f) * rounded : 0.0f;
    return {s, r, is_usual ? rest : __uint_as_float(0x7fffffff), is_exact};
}

/* Whether a quotient of such a size may take the short way; else the product might be infinite. */
static __device__ __forceinline__ bool is_in_range(float size, const struct quotient_by &by) {
    return size <= by.divisor * 0x1p17f;
}

/* Any x by any divisor: both are multiplied by a power of 2 where the divisor is very small or large. One that is not positive
 * and finite makes NaN. */
static __device__ __forceinline__ float long_quotient(float x, const struct quotient_by &by) {
    const float factor = by.divisor < 0x1p-60f ? 0x1p100f : by.divisor > 0x1p60f ? 0x1p-64f : 1.0f;
    const float s = by.divisor * factor, size = min_nan(fabsf(x) * factor, s * 0x1p17f);
    const bool is_number = by.divisor > 0 && by.divisor < GM_INFINITY;
    const float reciprocal = is_number ? reciprocal_of(s) : __uint_as_float(0x7fffffff);
    return quotient(copysignf(size, x), s, reciprocal, by.is_exact ? -reciprocal : -0.0f);
}

/* `in_range`: all are. The long way, which few take, is one piece of code, through which they go in turn. */
template <int COUNT>
static __device__ __forceinline__ void divide_each(float (&x)[COUNT], const struct quotient_by &by, bool in_range) {
    if (in_range && by.rest == by.rest) {
#pragma unroll
        for (int i = 0; i < COUNT; ++i)
            x[i] = fmaf(x[i], by.reciprocal, x[i] * by.rest);
        return;
    }
#pragma unroll 1
    for (int i = 0; i < COUNT; ++i) {
        const float q = long_quotient(x[0], by);
#pragma unroll
        for (int j = 0; j < COUNT - 1; ++j)
            x[j] = x[j + 1];
        x[COUNT - 1] = q;
    }
}

#endif
