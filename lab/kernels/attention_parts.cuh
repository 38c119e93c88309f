/* SPDX-License-Identifier: Apache-2.0 */
/* What the steps of the attention ladder share: a head's operands, and bf16 <-> fp32. */
#ifndef LAB_ATTENTION_PARTS_CUH
#define LAB_ATTENTION_PARTS_CUH

#include "attention.h"
#include "common/convert.cuh"
#include "common/special.cuh"

enum { HEAD = ATTENTION_HEAD };

#define LOG2_E 1.44269504f /* exponentials are of base 2, as the hardware has them */

/* The operands of one head. */
struct head {
    const uint16_t *q, *k, *v;
    uint16_t *out;
    float *scores, *weights;
};

static __device__ __forceinline__ struct head head_of(const struct attention &p, int number) {
    const int64_t elements = (int64_t)number * p.tokens * HEAD, scores = (int64_t)number * p.tokens * p.tokens;
    return {p.q + elements, p.k + elements, p.v + elements, p.out + elements, p.scores + scores, p.weights + scores};
}

/* A bf16 is the upper half of a float. */
static __device__ __forceinline__ float widen(uint16_t x) {
    return __uint_as_float((uint32_t)x << 16);
}

/* Two neighbours, the first of them at an even element. */
static __device__ __forceinline__ float2 load_two(const uint16_t *from) {
    float2 two;
    cvt_f32_bf16x2(*(const uint32_t *)from, two.x, two.y);
    return two;
}

/* Four, from a multiple of four on. */
static __device__ __forceinline__ float4 load_four(const uint16_t *from) {
    const uint2 words = *(const uint2 *)from;
    float4 four;
    cvt_f32_bf16x2(words.x, four.x, four.y);
    cvt_f32_bf16x2(words.y, four.z, four.w);
    return four;
}

static __device__ __forceinline__ void store_four(uint16_t *to, float x, float y, float z, float w) {
    *(uint2 *)to = make_uint2(cvt_rn_bf16x2_f32(x, y), cvt_rn_bf16x2_f32(z, w));
}

/* a . b on top of `sum`. */
static __device__ __forceinline__ float dot_four(const float4 &a, const float4 &b, float sum) {
    return sum + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}

/* Of LANES neighbouring lanes, in all of them. */
template <int LANES> static __device__ __forceinline__ float max_of_lanes(float x) {
#pragma unroll
    for (int distance = 1; distance < LANES; distance *= 2)
        x = fmaxf(x, __shfl_xor_sync(0xFFFFFFFF, x, distance));
    return x;
}

template <int LANES> static __device__ __forceinline__ float sum_of_lanes(float x) {
#pragma unroll
    for (int distance = 1; distance < LANES; distance *= 2)
        x += __shfl_xor_sync(0xFFFFFFFF, x, distance);
    return x;
}

#endif
