/* SPDX-License-Identifier: Apache-2.0 */
/* From accumulators to D, the same on every architecture: 8 neighbouring columns of one row at a time. */
#ifndef GM_EPILOGUE_CUH
#define GM_EPILOGUE_CUH

#include "common/convert.cuh"
#include "common/gemm/params.h"
#include "common/global.cuh"
#include "common/special.cuh"
#include "common/types.h"

/* Values of enum gm_bias and gm_activation. */
enum { EPILOGUE_BIAS_N = 1, EPILOGUE_BIAS_M = 2 };
enum { EPILOGUE_RELU = 1, EPILOGUE_GELU_TANH = 2, EPILOGUE_GELU_ERF = 3, EPILOGUE_SILU = 4 };

/* Elements 0 .. count - 1 of a row of 8, zeros behind them; `vector`: the address allows 16-byte loads. */
static __device__ __forceinline__ void epilogue_load8(float (&x)[8], uint64_t address, int type, bool vector,
                                                      int count) {
    uint32_t words[8];
    vector = vector && count >= 8;
    if (type == GM_TYPE_fp32) {
        if (vector) {
            ld_global_v4_b32(address, words);
            ld_global_v4_b32(address + 16, words + 4);
        } else {
#pragma unroll
            for (int i = 0; i < 8; ++i)
                words[i] = i < count ? ld_global_b32(address + i * 4) : 0;
        }
#pragma unroll
        for (int i = 0; i < 8; ++i)
            x[i] = __uint_as_float(words[i]);
        return;
    }
    if (vector)
        ld_global_v4_b32(address, words);
    else
#pragma unroll
        for (int i = 0; i < 8; i += 2) {
            const uint32_t low = i < count ? ld_global_b16(address + i * 2) : 0;
            words[i / 2] = low | (i + 1 < count ? ld_global_b16(address + i * 2 + 2) << 16 : 0);
        }
#pragma unroll
    for (int i = 0; i < 8; i += 2)
        if (type == GM_TYPE_bf16)
            cvt_f32_bf16x2(words[i / 2], x[i], x[i + 1]);
        else
            cvt_f32_f16x2(words[i / 2], x[i], x[i + 1]);
}

static __device__ __forceinline__ float epilogue_relu(float x) {
    return x < 0.0f ? 0.0f : x; /* NaN passes */
}

/* relu(x), but -0 for negative x: what an activation of x tends to on either side. NaN passes. */
static __device__ __forceinline__ float epilogue_limit(float x) {
    return max_nan(x, -0.0f);
}

/* |x|, or the largest float: 0 times it is 0. Not for NaN, which epilogue_limit() passes on. */
static __device__ __forceinline__ float epilogue_size(float x) {
    return fminf(fabsf(x), 0x1.fffffep127f);
}

/* x * sigmoid(y), where y has x's sign, a = epilogue_size(x) and exponent = -|y| / (2 ln 2). With h = 2^exponent it is
 * epilogue_limit(x) - a h^2 / (1 + h^2). The last h is multiplied within the subtraction, which rounds once, so that
 * the negative tail is right down to the smallest denormal: h^2 may underflow, h does not before the result is 0. */
static __device__ __forceinline__ float epilogue_gate(float x, float a, float exponent) {
    const float h = ex2_approx_ftz(exponent);
    const float tail = a * h * rcp_approx_ftz(fmaf(h, h, 1.0f));
    return fmaf(-tail, h, epilogue_limit(x));
}

/* x * sigmoid(x). The exponent is -a / (2 ln 2). */
static __device__ __forceinline__ float epilogue_silu(float x) {
    const float a = epilogue_size(x);
    return epilogue_gate(x, a, a * -0.72134752f);
}

/* x / 2 * (1 + tanh(z)) = x * sigmoid(2 z) with z = sqrt(2 / pi) (x + 0.044715 x^3). The exponent is -|z| / ln 2. */
static __device__ __forceinline__ float epilogue_gelu_tanh(float x) {
    const float a = epilogue_size(x);
    return epilogue_gate(x, a, a * fmaf(a * a, -0.05147162f, -1.1511041f));
}

/* x / 2 * erfc(-x / sqrt 2), written as epilogue_limit(x) - a / 2 * erfc(a / sqrt 2) with a = |x|, so that the negative
 * tail is no difference of near equals. a / 2 * erfc(a / sqrt 2) = a t 2^(P(t) - a^2 / (2 ln 2)) with
 * t = 1 / (1 + 0.4 a). P is a fit on a <= 14.5; beyond, the term is below half the smallest float. The rounding errors
 * of a^2 and of its product are carried in `rest`. Where the term is denormal its factors are not: the part of the
 * exponent below -125 goes to P's power. Relative error below 1e-6 (measured against 40 digits down to x = -12). */
static __device__ __forceinline__ float epilogue_gelu_erf(float x) {
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
    return fmaf(-tail, ex2_approx_ftz(normal), epilogue_limit(x));
}

static __device__ __forceinline__ void epilogue_activate8(float (&v)[8], int activation) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        const float x = v[i];
        if (activation == EPILOGUE_RELU)
            v[i] = epilogue_relu(x);
        else if (activation == EPILOGUE_SILU)
            v[i] = epilogue_silu(x);
        else if (activation == EPILOGUE_GELU_TANH)
            v[i] = epilogue_gelu_tanh(x);
        else if (activation == EPILOGUE_GELU_ERF)
            v[i] = epilogue_gelu_erf(x);
    }
}

/* v: the accumulators of D(row, col .. col + 7), col a multiple of 8. Out: act(alpha v + beta C + bias). C and
 * bias are read only inside p.m x p.n. */
static __device__ __forceinline__ void epilogue_apply8(const struct gm_epilogue_params &p, float (&v)[8], int row,
                                                       int col) {
    const int count = row < p.m ? p.n - col : 0;
    float x[8];
#pragma unroll
    for (int i = 0; i < 8; ++i)
        v[i] *= p.alpha;
    if (p.beta != 0.0f) {
        const int bytes = p.d_type == GM_TYPE_fp32 ? 4 : 2;
        epilogue_load8(x, p.c + (row * p.ldc + col) * bytes, p.d_type, p.c_vector, count);
#pragma unroll
        for (int i = 0; i < 8; ++i)
            v[i] = fmaf(p.beta, x[i], v[i]);
    }
    if (p.bias_mode != 0) {
        const bool along_n = p.bias_mode == EPILOGUE_BIAS_N;
        const int64_t first = along_n ? col : row;
        const uint64_t address = p.bias + first * (p.bias_type == GM_TYPE_fp32 ? 4 : 2);
        const bool vector = along_n && p.bias % 16 == 0;
        epilogue_load8(x, address, p.bias_type, vector, along_n ? count : min(count, 1));
#pragma unroll
        for (int i = 0; i < 8; ++i)
            v[i] += along_n ? x[i] : x[0];
    }
    epilogue_activate8(v, p.activation);
}

/* Rounds v to D's type, to nearest even, and stores what lies inside p.m x p.n. */
static __device__ __forceinline__ void epilogue_store8(const struct gm_epilogue_params &p, const float (&v)[8], int row,
                                                       int col) {
    const int count = row < p.m ? p.n - col : 0;
    const bool vector = p.d_vector && count >= 8;
    uint32_t words[8];
    if (p.d_type == GM_TYPE_fp32) {
        const uint64_t address = p.d + (row * p.ldd + col) * 4;
#pragma unroll
        for (int i = 0; i < 8; ++i)
            words[i] = __float_as_uint(v[i]);
        if (vector) {
            st_global_v4_b32(address, words);
            st_global_v4_b32(address + 16, words + 4);
            return;
        }
#pragma unroll
        for (int i = 0; i < 8; ++i)
            if (i < count)
                st_global_b32(address + i * 4, words[i]);
        return;
    }
    const uint64_t address = p.d + (row * p.ldd + col) * 2;
#pragma unroll
    for (int i = 0; i < 8; i += 2)
        words[i / 2] = p.d_type == GM_TYPE_bf16 ? cvt_rn_bf16x2_f32(v[i], v[i + 1]) : cvt_rn_f16x2_f32(v[i], v[i + 1]);
    if (vector) {
        st_global_v4_b32(address, words);
        return;
    }
#pragma unroll
    for (int i = 0; i < 8; ++i)
        if (i < count)
            st_global_b16(address + i * 2, words[i / 2] >> (i % 2 * 16));
}

#endif
