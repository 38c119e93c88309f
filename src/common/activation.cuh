/* SPDX-License-Identifier: Apache-2.0 */
/* Activations in fp32, the same for every operation. include/gristmill/core.h says how far they are off. */
#ifndef GM_ACTIVATION_CUH
#define GM_ACTIVATION_CUH

#include "common/special.cuh"

/* Values of enum gm_activation. */
enum { ACT_NONE = 0, ACT_RELU = 1, ACT_GELU_TANH = 2, ACT_GELU_ERF = 3, ACT_SILU = 4 };

static __device__ __forceinline__ float act_relu(float x) {
    return x < 0.0f ? 0.0f : x; /* NaN passes */
}

/* relu(x), but -0 for negative x: what an activation of x tends to on either side. NaN passes. */
static __device__ __forceinline__ float act_limit(float x) {
    return max_nan(x, -0.0f);
}

/* |x|, or the largest float: 0 times it is 0. Not for NaN, which act_limit() passes on. */
static __device__ __forceinline__ float act_size(float x) {
    return fminf(fabsf(x), 0x1.fffffep127f);
}

/* x * sigmoid(y), where y has x's sign, a = act_size(x) and exponent = -|y| / (2 ln 2). With h = 2^exponent it is
 * act_limit(x) - a h^2 / (1 + h^2). The last h is multiplied within the subtraction, which rounds once, so that
 * the negative tail is right down to the smallest denormal: h^2 may underflow, h does not before the result is 0. */
static __device__ __forceinline__ float act_gate(float x, float a, float exponent) {
    const float h = ex2_approx_ftz(exponent);
    const float tail = a * h * rcp_approx_ftz(fmaf(h, h, 1.0f));
    return fmaf(-tail, h, act_limit(x));
}

/* x * sigmoid(x). The exponent is -a / (2 ln 2). */
static __device__ __forceinline__ float act_silu(float x) {
    const float a = act_size(x);
    return act_gate(x, a, a * -0.72134752f);
}

/* x / 2 * (1 + tanh(z)) = x * sigmoid(2 z) with z = sqrt(2 / pi) (x + 0.044715 x^3). The exponent is -|z| / ln 2. */
static __device__ __forceinline__ float act_gelu_tanh(float x) {
    const float a = act_size(x);
    return act_gate(x, a, a * fmaf(a * a, -0.05147162f, -1.1511041f));
}

/* x / 2 * erfc(-x / sqrt 2), written as act_limit(x) - a / 2 * erfc(a / sqrt 2) with a = |x|, so that the negative
 * tail is no difference of near equals. a / 2 * erfc(a / sqrt 2) = a t 2^(P(t) - a^2 / (2 ln 2)) with
 * t = 1 / (1 + 0.4 a). P is a fit on a <= 14.5; beyond, the term is below half the smallest float. The rounding errors
 * of a^2 and of its product are carried in `rest`. Where the term is denormal its factors are not: the part of the
 * exponent below -125 goes to P's power. Relative error below 1e-6 (measured against 40 digits down to x = -12). */
static __device__ __forceinline__ float act_gelu_erf(float x) {
    const float scale = -0.72134752f;
    const float a = fminf(fabsf(x), 14.5f);
    const float t = rcp_approx_ftz(fmaf(0.4f, a, 1.0f));
    const float square = a * a, exponent = square * scale;
    const float rest = fmaf(fmaf(a, a, -square), scale, fmaf(square, scale, -exponent));
    float p = 2.757902443e-01f;
    p = fmaf(p, t, -1.411838412e+00f);
    p = fmaf(p, t, 2.819717169e+00f);
    p = fmaf(p, t, -2.536153316e+00f);
    p = fmaf(p, t, 7.884282470e-01f);
    p = fmaf(p, t, -2.643251419e-01f);
    p = fmaf(p, t, 5.374713540e-01f);
    p = fmaf(p, t, 1.438422680e+00f);
    p = fmaf(p, t, -2.647512674e+00f);
    const float normal = fmaxf(exponent, -125.0f);
    const float tail = a * t * ex2_approx_ftz(p + rest + (exponent - normal));
    return fmaf(-tail, ex2_approx_ftz(normal), act_limit(x));
}

/* One of them by a number that the compiler knows, where SiLU is x * sigmoid(f x) and silu_exponent -f / (2 ln 2). */
template <int ACTIVATION> static __device__ __forceinline__ float act_by(float x, float silu_exponent) {
    if (ACTIVATION == ACT_SILU)
        return act_gate(x, act_size(x), act_size(x) * silu_exponent);
    if (ACTIVATION == ACT_GELU_TANH)
        return act_gelu_tanh(x);
    return ACTIVATION == ACT_GELU_ERF ? act_gelu_erf(x) : ACTIVATION == ACT_RELU ? act_relu(x) : x;
}

#endif
