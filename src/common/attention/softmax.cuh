/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax of scores that come a few at a time: the largest so far, the sum of 2^(score - largest), and the same sum of values
 * beside it. Scores are logarithms to base 2. */
#ifndef GM_ATTENTION_SOFTMAX_CUH
#define GM_ATTENTION_SOFTMAX_CUH

#include "common/attention/params.h"
#include "common/convert.cuh"
#include "common/global.cuh"
#include "common/soft_cap.cuh"
#include "common/types.h"

#define GM_LOG2_E 1.44269504f
#define GM_LN_2   0.693147181f

/* What is subtracted from scores whose largest is `most`: of a row that has seen nothing, no infinity. */
static __device__ __forceinline__ float base_of(float most) {
    return most == -GM_INFINITY ? 0.0f : most;
}

/* The largest of the four lanes that share a row, and their sum. */
static __device__ __forceinline__ float max_of_quad(float x) {
    x = fmaxf(x, __shfl_xor_sync(0xffffffff, x, 1));
    return fmaxf(x, __shfl_xor_sync(0xffffffff, x, 2));
}

static __device__ __forceinline__ float sum_of_quad(float x) {
    x += __shfl_xor_sync(0xffffffff, x, 1);
    return x + __shfl_xor_sync(0xffffffff, x, 2);
}

/* Two neighbouring keys' weights, rounded to the type of v. */
static __device__ __forceinline__ uint32_t pack_pair(float low, float high) {
    return GM_TYPE == GM_TYPE_bf16 ? cvt_rn_bf16x2_f32(low, high) : cvt_rn_f16x2_f32(low, high);
}

/* ---- a row's end ----------------------------------------------------------------------------------- */

/* What a head adds to its rows' sums: a score without a value. */
static __device__ __forceinline__ float sink_of(const struct gm_attention_params &p, int head) {
    if (p.sinks)
        return __uint_as_float(ld_global_b32(p.sinks + 4 * (int64_t)head)) * GM_LOG2_E;
    float none;
    asm volatile("mov.f32 %0, 0fFF800000;"
                 : "=f"(none)); /* -infinity, here: from ahead of all it would take a register */
    return none;
}

/* What the sums of values are multiplied by, in the end. 0 of a row that sees nothing. */
static __device__ __forceinline__ float norm_of(float most, float sum, float sink) {
    const float base = base_of(fmaxf(most, sink)), kept = ex2_approx_ftz(most - base);
    const float all = fmaf(sum, kept, ex2_approx_ftz(sink - base));
    return sum == 0 ? 0.0f : kept * rcp_approx_ftz(all);
}

/* A normalised value. Of a row that sees nothing it is 0, whatever NaN other rows see. */
static __device__ __forceinline__ float normalised(float value, float norm) {
    return norm == 0 ? 0.0f : value * norm;
}

static __device__ __forceinline__ float lse_of(float most, float sum) {
    return (most + lg2_approx_ftz(sum)) * GM_LN_2;
}

#endif
