/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of fp32 stored in 8 bits: the largest size of those who share a scale, the scale, and what is stored. A chunk is COUNT
 * neighbouring elements of a thread: 8 or 4, one store, or one.
 *
 *   most = largest_size(v)                      of a chunk; several by max(), since bits of sizes are ordered as sizes are
 *   most = most_of_lanes(most, lanes)           of a group, in so many neighbouring lanes of a warp
 *   scale = scale_of(p, most); store_scale(p, row, group, scale), by one lane
 *   by = by_scale(p, scale); store_quantized(address, p, v, by, are_in_range(p, most, by))
 *
 * `p` is a struct gm_quantized_store, or another with its members. gristmill/quantize.h has the arithmetic. */
#ifndef GM_QUANTIZED_STORE_CUH
#define GM_QUANTIZED_STORE_CUH

#include "common/fp8.cuh"
#include "common/global.cuh"
#include "common/index.cuh"
#include "common/quantized_store.h"
#include "common/quotient.cuh"
#include "common/types.h"

/* ---- the largest size ------------------------------------------------------------------------------ */

/* As the bits of a float, which are ordered as floats are: NaN is above infinity. */
template <int COUNT> static __device__ __forceinline__ uint32_t largest_size(const float (&v)[COUNT]) {
    float most = 0;
#pragma unroll
    for (int i = 0; i < COUNT; ++i)
        most = max_nan(most, fabsf(v[i]));
    return __float_as_uint(most);
}

/* Of so many neighbouring lanes, a power of 2, of which the first is a multiple; all get it. All lanes of the warp are here. So
 * many as `alike`, a power of 2, have it of each other already, or it is only those of the same place among them that count. */
static __device__ __forceinline__ uint32_t most_of_lanes(uint32_t most, int lanes, int alike = 1) {
#pragma unroll
    for (int bit = alike; bit < 32; bit *= 2)
        if (bit < lanes)
            most = max(most, __shfl_xor_sync(0xffffffff, most, bit));
    return most;
}

/* Of all threads of a CTA, which are whole warps; all get it. Each warp has a word of `of_warps`, in shared memory: two of them
 * take turns from call to call, so that nobody still reads what a warp writes. */
static __device__ __forceinline__ uint32_t most_of_cta(uint32_t most, uint32_t *of_warps, int warps) {
    const int lane = thread_index() % 32;
    most = __reduce_max_sync(0xffffffff, most);
    if (warps == 1)
        return most;
    if (lane == 0)
        of_warps[thread_index() / 32] = most;
    __syncthreads();
    return __reduce_max_sync(0xffffffff, lane < warps ? of_warps[lane] : 0);
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
    const float q = quotient(is_small ? size * 0x1p60f : size, p.limit, p.one_by_limit, -p.one_by_limit);
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

/* Whether numbers may take the short way, of which most are the bits of the largest size: all do whose scale was made of it. */
template <class Store>
static __device__ __forceinline__ bool are_in_range(const Store &p, uint32_t most, const struct quotient_by &by) {
    return p.scaling != SCALE_STATIC || is_in_range(__uint_as_float(most), by);
}

/* ---- scales of groups, of which a thread has part of several -----------------------------------------
 *
 * The lanes of a group find the largest sizes of a thread's CHUNKS chunks together: a lane hands half of its chunks to its
 * neighbour and takes over the others, until it has one, and then all those of the group that have the same one exchange what
 * they found. So a scale is made once instead of once for each chunk, and every lane asks the one that has it. A group has
 * CHUNKS lanes at least, and all lanes of the warp are here. */

/* The chunk whose scale a lane has, and the lane of the same CHUNKS that has a chunk's. */
template <int CHUNKS> static __device__ __forceinline__ int turned(int i) {
    static_assert(CHUNKS == 1 || CHUNKS == 2 || CHUNKS == 4,
                  "lanes that share a scale have a thread's chunks by turns");
    return CHUNKS == 4 ? (i & 1) << 1 | i >> 1 & 1 : i & (CHUNKS - 1);
}

/* The bits of the largest size of the group, of so many lanes, of chunk turned(lane). */
template <int CHUNKS, int COUNT>
static __device__ __forceinline__ uint32_t most_of_group(const float (&v)[CHUNKS][COUNT], int lanes) {
    const int lane = thread_index() % 32;
    uint32_t most[CHUNKS];
#pragma unroll
    for (int i = 0; i < CHUNKS; ++i)
        most[i] = largest_size(v[i]);
#pragma unroll
    for (int half = CHUNKS / 2, bit = 1; half > 0; half /= 2, bit *= 2)
#pragma unroll
        for (int i = 0; i < half; ++i) {
            const uint32_t given = lane & bit ? most[i] : most[i + half], kept = lane & bit ? most[i + half] : most[i];
            most[i] = max(kept, __shfl_xor_sync(0xffffffff, given, bit));
        }
    return most_of_lanes(most[0], lanes, CHUNKS);
}

/* What chunk i of a thread is divided by, where a lane has that of chunk turned(lane). */
template <int CHUNKS>
static __device__ __forceinline__ struct quotient_by of_chunk(const struct quotient_by &by, int i) {
    const int lane = (thread_index() & 32 - CHUNKS) | turned<CHUNKS>(i);
    struct quotient_by other = by;
    other.divisor = __shfl_sync(0xffffffff, by.divisor, lane);
    other.reciprocal = __shfl_sync(0xffffffff, by.reciprocal, lane);
    other.rest = __shfl_sync(0xffffffff, by.rest, lane);
    return other;
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

/* v / scale as 8 bits. Before sm_89, where conversions are long, there is one copy of them, for four elements. */
template <class Store, int COUNT>
static __device__ __forceinline__ void quantize_each(const Store &p, float (&v)[COUNT], const struct quotient_by &by,
                                                     bool in_range, uint32_t (&words)[COUNT / 4]) {
#if __CUDA_ARCH__ < 890
#pragma unroll 1
    for (int i = 0; i < COUNT; i += 4) {
        float q[4];
        uint32_t word[1];
#pragma unroll
        for (int j = 0; j < 4; ++j)
            q[j] = v[j];
        divide_each(q, by, in_range);
        pack_8_bits(p, q, word);
#pragma unroll
        for (int j = 0; j < COUNT - 4; ++j)
            v[j] = v[j + 4];
#pragma unroll
        for (int j = 0; j < COUNT / 4 - 1; ++j)
            words[j] = words[j + 1];
        words[COUNT / 4 - 1] = word[0];
    }
#else
    divide_each(v, by, in_range);
    pack_8_bits(p, v, words);
#endif
}

/* Of the eight bytes of a chunk so many exist, by one store where it is wide, which has all of them. */
static __device__ __forceinline__ void store_some(uint64_t address, const uint32_t (&words)[2], int count,
                                                  bool is_wide) {
    uint64_t bytes = (uint64_t)words[1] << 32 | words[0];
    if (is_wide) {
        st_global_b64(address, bytes);
        return;
    }
#pragma unroll 1
    for (int i = 0; i < 8 && i < count; ++i, bytes >>= 8)
        st_global_b8(address + i, (uint32_t)bytes);
}

/* v / scale of a chunk, at `address` of out, which is a multiple of COUNT; `in_range`: are_in_range(). */
template <class Store, int COUNT>
static __device__ __forceinline__ void store_quantized(uint64_t address, const Store &p, const float (&v)[COUNT],
                                                       const struct quotient_by &by, bool in_range) {
    static_assert(COUNT == 1 || COUNT == 4 || COUNT == 8, "1, 4 or 8 bytes");
    enum { WHOLE = COUNT == 8 ? 8 : 4 };
    float q[WHOLE] = {};
    uint32_t words[WHOLE / 4] = {};
#pragma unroll
    for (int i = 0; i < COUNT; ++i)
        q[i] = v[i];
    quantize_each(p, q, by, in_range, words);
    if (COUNT == 8)
        st_global_v2_b32(address, words);
    else if (COUNT == 4)
        st_global_b32(address, words[0]);
    else
        st_global_b8(address, words[0]);
}

#endif
