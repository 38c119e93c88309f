/* SPDX-License-Identifier: Apache-2.0 */
/* Many quotients by one divisor, each x / s rounded to nearest even like a division, in five instructions, or three: the
 * special function unit and the range checks of a division would set the pace of a kernel that does little else.
 *
 * q = x * (1/s) is off by less than 2 units in the last place. q * s - x is exact, so one correction makes it off by less
 * than one, and the second one rounds it correctly (Markstein: 1/s is rounded correctly). Zeros keep their sign, and NaN
 * stays NaN. Where s is very small or large, or x may be, both are brought into range first.
 *
 * One correction is enough for an x of 11 bits, of bf16 or fp16, and a quotient that becomes 8 bits: none of those that it
 * rounds wrongly is beside a number where 8 bits round up or down (tests/unit/test_quotient.c). */
#ifndef GM_QUOTIENT_CUH
#define GM_QUOTIENT_CUH

#include "common/special.cuh"

#include <stdint.h>

enum { QUOTIENT_CORRECTIONS = 2, SHORT_QUOTIENT_CORRECTIONS = 1 };

/* x / s, where neither is so small or large that a step underflows or overflows. `correction`: -1 / s. */
template <int CORRECTIONS>
static __device__ __forceinline__ float quotient(float x, float s, float reciprocal, float correction) {
    float q = x * reciprocal;
#pragma unroll
    for (int i = 0; i < CORRECTIONS; ++i)
        q = fmaf(fmaf(q, s, -x), correction, q);
    return q;
}

/* 1 / s rounded to nearest even, of s from 2^-100 to 2^100. It is what rcp.rn is made of, without its checks of the range. */
static __device__ __forceinline__ float reciprocal_of(float s) {
    const float r = rcp_approx_ftz(s);
    return fmaf(r, fmaf(-s, r, 1.0f), r);
}

struct quotient_by {
    float factor; /* of x and of s: a power of 2 */
    float divisor, reciprocal, most;
    float correction; /* -1 / s; -0: x * (1 / s), rounded twice, is what is wanted */
    bool is_usual;    /* the factor is 1 */
};

/* For quotients that become 8 bits: those above 2^17, infinities too, become that, and those below 2^-20 may be inexact. A
 * divisor that is not positive and finite makes every quotient NaN. */
static __device__ __forceinline__ struct quotient_by quotient_by(float s, bool is_exact) {
    struct quotient_by by;
    by.is_usual = s >= 0x1p-60f && s <= 0x1p60f;
    by.factor = s < 0x1p-60f ? 0x1p100f : s > 0x1p60f ? 0x1p-64f : 1.0f;
    by.divisor = s * by.factor;
    by.most = by.divisor * 0x1p17f;
    by.reciprocal = s > 0 && s < GM_INFINITY ? reciprocal_of(by.divisor) : __uint_as_float(0x7fffffff);
    by.correction = is_exact ? -by.reciprocal : -0.0f;
    return by;
}

/* x in range, with its sign. */
static __device__ __forceinline__ float in_range(float x, const struct quotient_by &by) {
    return copysignf(min_nan(fabsf(x) * by.factor, by.most), x);
}

/* `is_bounded`: no x is above by.most. */
template <int CORRECTIONS, int COUNT>
static __device__ __forceinline__ void divide_each(float (&x)[COUNT], const struct quotient_by &by, bool is_bounded) {
    if (!by.is_usual || !is_bounded)
#pragma unroll
        for (int i = 0; i < COUNT; ++i)
            x[i] = in_range(x[i], by);
#pragma unroll
    for (int i = 0; i < COUNT; ++i)
        x[i] = quotient<CORRECTIONS>(x[i], by.divisor, by.reciprocal, by.correction);
}

#endif
