/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of fp32 stored in 8 bits: the largest size of those who share a scale, the scale, and what is stored. A chunk is COUNT
 * neighbouring elements of a thread: 8 or 4, one store, or one.
 *
 *   most = largest_size(v)                      of a chunk; several by max(), since bits of sizes are ordered as sizes are
 *   most = most_of_lanes(most, lanes)           of a group, in so many neighbouring lanes of a warp
 *   scale = scale_of(p, most); store_scale(p, row, group, scale), by one lane
 *   store_quantized(address, p, v, by_scale(p, scale))
 *
 * `p` is a struct gm_quantized_store, or another with its members. gristmill/quantize.h has the arithmetic. */
#ifndef GM_QUANTIZED_STORE_CUH
#define GM_QUANTIZED_STORE_CUH

#include "common/fp8.cuh"
#include "common/global.cuh"
#include "common/quantized_store.h"
#include "common/quotient.cuh"
#include "common/types.h"

/* ---- the largest size ------------------------------------------------------------------------------ */

/* As the bits of a float, which are ordered as floats are: NaN is above infinity. */
template <int COUNT> static __device__ __forceinline__ uint32_t largest_size(const float (&v)[COUNT]) {
    uint32_t most = 0;
#pragma unroll
    for (int i = 0; i < COUNT; ++i)
        most = max(most, __float_as_uint(v[i]) & 0x7fffffff);
    return most;
}

/* Of so many neighbouring lanes, a power of 2, of which the first is a multiple; all get it. All lanes of the warp are here. */
static __device__ __forceinline__ uint32_t most_of_lanes(uint32_t most, int lanes) {
#pragma unroll
    for (int bit = 1; bit < 32; bit *= 2)
        if (bit < lanes)
            most = max(most, __shfl_xor_sync(0xffffffff, most, bit));
    return most;
}

/* ---- scales ---------------------------------------------------------------------------------------- */

/* Rounded up, from the floor's on, to a power of 2; NaN stays NaN. */
static __device__ __forceinline__ float power_of_2(float scale) {
    const float power = __uint_as_float((__float_as_uint(scale) + 0x7fffff) & 0x7f800000);
    return scale == scale ? power : scale;
}

/* Infinities count as the largest number, so that the scale is finite; NaN makes it NaN. Small sizes are divided as larger
 * ones: no scale is below 2^-126, so the way back is exact or the floor. */
template <class Store> static __device__ __forceinline__ float scale_of(const Store &p, uint32_t most) {
    const float size = min_nan(__uint_as_float(most), 0x1.fffffep127f);
    const bool is_small = size < 0x1p-60f;
    const float q =
        quotient<QUOTIENT_CORRECTIONS>(is_small ? size * 0x1p60f : size, p.limit, p.one_by_limit, -p.one_by_limit);
    const float scale = max_nan(is_small ? q * 0x1p-60f : q, p.scale_floor);
    return p.scale_format == SCALE_FP32 ? scale : power_of_2(scale);
}

template <class Store>
static __device__ __forceinline__ void store_scale(const Store &p, int64_t down, int across, float scale) {
    const uint64_t address = p.scales + down * p.scale_down + across * p.scale_across;
    if (p.scale_format == SCALE_E8M0)
        st_global_b8(address, __float_as_uint(scale) >> 23);
    else
        st_global_b32(address, __float_as_uint(scale));
}

template <class Store> static __device__ __forceinline__ struct quotient_by by_scale(const Store &p, float scale) {
    return quotient_by(scale, !p.by_reciprocal);
}

/* Whether quotients are bounded, of which most are the bits of the largest dividend, if the scale was not made of it. */
template <class Store>
static __device__ __forceinline__ bool is_bounded(const Store &p, uint32_t most, const struct quotient_by &by) {
    return p.scaling != SCALE_STATIC || __uint_as_float(most) <= by.most;
}

/* ---- stores ---------------------------------------------------------------------------------------- */

/* PTX 9.7.9.21 cvt: to nearest even, at most 127; NaN becomes 0. */
static __device__ __forceinline__ uint32_t round_to_int8(float q) {
    int32_t rounded;
    asm("cvt.rni.s8.f32 %0, %1;" : "=r"(rounded) : "f"(max_nan(q, -127.0f)));
    return (uint32_t)rounded;
}

/* The low bytes of four words. */
static __device__ __forceinline__ uint32_t pack_bytes(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    return __byte_perm(__byte_perm(a, b, 0x0040), __byte_perm(c, d, 0x0040), 0x5410);
}

/* Four elements as a word of out, or COUNT as two of them. */
template <class Store, int COUNT>
static __device__ __forceinline__ void pack_8_bits(const Store &p, const float (&q)[COUNT],
                                                   uint32_t (&words)[COUNT / 4]) {
    static_assert(COUNT % 4 == 0, "whole words");
    if (p.out_type == GM_TYPE_int8)
#pragma unroll
        for (int i = 0; i < COUNT; i += 4)
            words[i / 4] = pack_bytes(round_to_int8(q[i]), round_to_int8(q[i + 1]), round_to_int8(q[i + 2]),
                                      round_to_int8(q[i + 3]));
    else
        cvt_rn_satfinite_fp8_f32(q, words, p.out_type == GM_TYPE_e4m3);
}

/* v / scale of a chunk, at `address` of out, which is a multiple of COUNT. Before sm_89, where conversions are long, there is one
 * copy of them for four elements, and a store of 4 bytes. */
template <class Store, int COUNT>
static __device__ __forceinline__ void store_quantized(uint64_t address, const Store &p, const float (&v)[COUNT],
                                                       const struct quotient_by &by) {
    static_assert(COUNT == 1 || COUNT == 4 || COUNT == 8, "1, 4 or 8 bytes");
    enum { OTHER = COUNT == 8 ? 4 : 0 }; /* where the second four begin */
    const bool bounded = is_bounded(p, largest_size(v), by);
#if __CUDA_ARCH__ < 890
    uint32_t words[1];
    float q[4] = {};
#pragma unroll 1
    for (int i = 0; i < COUNT; i += 4) {
#pragma unroll
        for (int j = 0; j < 4 && j < COUNT; ++j)
            q[j] = i ? v[OTHER + j] : v[j];
        divide_each<QUOTIENT_CORRECTIONS>(q, by, bounded);
        pack_8_bits(p, q, words);
        if (COUNT == 8)
            st_global_b32(address + i, words[0]);
    }
#else
    uint32_t words[COUNT == 8 ? 2 : 1];
    float q[COUNT == 8 ? 8 : 4] = {};
#pragma unroll
    for (int i = 0; i < COUNT; ++i)
        q[i] = v[i];
    divide_each<QUOTIENT_CORRECTIONS>(q, by, bounded);
    pack_8_bits(p, q, words);
    if (COUNT == 8)
        st_global_v2_b32(address, words);
#endif
    if (COUNT == 4)
        st_global_b32(address, words[0]);
    if (COUNT == 1)
        st_global_b8(address, words[0]);
}

#endif
