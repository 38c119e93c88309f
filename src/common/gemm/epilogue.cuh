/* SPDX-License-Identifier: Apache-2.0 */
/* From accumulators to D, the same on every architecture: 8 neighbouring columns of one row at a time. */
#ifndef GM_EPILOGUE_CUH
#define GM_EPILOGUE_CUH

#include "common/activation.cuh"
#include "common/convert.cuh"
#include "common/gemm/params.h"
#include "common/global.cuh"
#include "common/types.h"

/* Values of enum gm_bias. */
enum { EPILOGUE_BIAS_N = 1, EPILOGUE_BIAS_M = 2 };

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

static __device__ __forceinline__ void epilogue_activate8(float (&v)[8], int activation) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        const float x = v[i];
        if (activation == ACT_RELU)
            v[i] = act_relu(x);
        else if (activation == ACT_SILU)
            v[i] = act_silu(x);
        else if (activation == ACT_GELU_TANH)
            v[i] = act_gelu_tanh(x);
        else if (activation == ACT_GELU_ERF)
            v[i] = act_gelu_erf(x);
    }
}

/* Adds the bias of D(row, col .. col + 7), of which `count` exist. */
static __device__ __forceinline__ void epilogue_bias8(const struct gm_epilogue_params &p, float (&v)[8], int row,
                                                      int col, int count) {
    float x[8];
    if (p.bias_mode == 0)
        return;
    const bool along_n = p.bias_mode == EPILOGUE_BIAS_N;
    const int64_t first = along_n ? col : row;
    const uint64_t address = p.bias + first * (p.bias_type == GM_TYPE_fp32 ? 4 : 2);
    const bool vector = along_n && p.bias % 16 == 0;
    epilogue_load8(x, address, p.bias_type, vector, along_n ? count : min(count, 1));
#pragma unroll
    for (int i = 0; i < 8; ++i)
        v[i] += along_n ? x[i] : x[0];
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
    epilogue_bias8(p, v, row, col, count);
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

/* epilogue_store8() of 16-bit elements, which stores as many bytes at once as the address allows: 8, 4 or 2. */
static __device__ __forceinline__ void epilogue_store8_narrow(const struct gm_epilogue_params &p, const float (&v)[8],
                                                              int row, int col) {
    const int count = row < p.m ? p.n - col : 0;
    const uint64_t address = p.d + (row * p.ldd + col) * 2;
#pragma unroll
    for (int i = 0; i < 8; i += 4) {
        uint32_t words[2];
#pragma unroll
        for (int j = 0; j < 2; ++j) {
            const float x = v[i + 2 * j], y = v[i + 2 * j + 1];
            words[j] = p.d_type == GM_TYPE_bf16 ? cvt_rn_bf16x2_f32(x, y) : cvt_rn_f16x2_f32(x, y);
        }
        if (address % 8 == 0 && i + 4 <= count) {
            st_global_v2_b32(address + i * 2, words);
            continue;
        }
#pragma unroll
        for (int j = 0; j < 2; ++j) {
            const int at = i + 2 * j;
            if (address % 4 == 0 && at + 2 <= count) {
                st_global_b32(address + at * 2, words[j]);
                continue;
            }
            if (at < count)
                st_global_b16(address + at * 2, words[j]);
            if (at + 1 < count)
                st_global_b16(address + at * 2 + 2, words[j] >> 16);
        }
    }
}

/* Rounds v to D's type, to nearest even, and stores it at `address`. */
static __device__ __forceinline__ void epilogue_store1(const struct gm_epilogue_params &p, float v, uint64_t address) {
    if (p.d_type == GM_TYPE_fp32)
        st_global_b32(address, __float_as_uint(v));
    else
        st_global_b16(address, p.d_type == GM_TYPE_bf16 ? cvt_rn_bf16x2_f32(v, 0) : cvt_rn_f16x2_f32(v, 0));
}

#endif
