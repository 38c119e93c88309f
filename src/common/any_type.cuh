/* SPDX-License-Identifier: Apache-2.0 */
/* Neighbouring elements of a type that is known when the kernel runs, between memory, registers and fp32: one branch chooses the
 * type of a chunk. COUNT elements are a chunk: eight of at most 2 bytes, four of any type, or one. In registers they are
 * GM_ANY_WORDS words of 32 bits, of which narrow types use the first ones. */
#ifndef GM_ANY_TYPE_CUH
#define GM_ANY_TYPE_CUH

#include "common/elements.cuh"
#include "common/fp8.cuh"

#define GM_ANY_WORDS(count) ((count) > 1 ? 4 : 1)

/* ---- to fp32: exact, but for int32 above 2^24, which is rounded to nearest even ------------------------ */

/* Elements of a type of 16 bits. */
template <int TYPE, int COUNT>
static __device__ __forceinline__ void unpack_half(const uint32_t (&words)[GM_ANY_WORDS(COUNT)], float (&v)[COUNT]) {
#pragma unroll
    for (int i = 0; i < COUNT; i += 2)
        unpack_word<TYPE, COUNT>(words[i / 2], v + i);
}

/* Elements of a type of 8 bits. */
template <int TYPE, int COUNT>
static __device__ __forceinline__ void unpack_byte(const uint32_t (&words)[GM_ANY_WORDS(COUNT)], float (&v)[COUNT]) {
#pragma unroll
    for (int i = 0; i < COUNT; i += 2) {
        const uint32_t pair = words[i / 4] >> i % 4 * 8;
        float low, high;
        if (TYPE == GM_TYPE_e4m3)
            cvt_f32_e4m3x2(pair & 0xffff, low, high);
        else if (TYPE == GM_TYPE_e5m2)
            cvt_f32_e5m2x2(pair, low, high);
        else if (TYPE == GM_TYPE_int8)
            low = (float)(int8_t)pair, high = (float)(int8_t)(pair >> 8);
        else
            low = (float)(uint8_t)pair, high = (float)(uint8_t)(pair >> 8);
        v[i] = low;
        if (COUNT > 1)
            v[i + 1 < COUNT ? i + 1 : i] = high;
    }
}

template <int COUNT>
static __device__ __forceinline__ void unpack_floats(const uint32_t (&words)[GM_ANY_WORDS(COUNT)], float (&v)[COUNT]) {
    if constexpr (COUNT <= 4)
#pragma unroll
        for (int i = 0; i < COUNT; ++i)
            v[i] = __uint_as_float(words[i]);
}

/* The usual types come first. */
template <int COUNT>
static __device__ __forceinline__ void unpack_any(int type, const uint32_t (&words)[GM_ANY_WORDS(COUNT)],
                                                  float (&v)[COUNT]) {
    if (type == GM_TYPE_bf16) {
        unpack_half<GM_TYPE_bf16, COUNT>(words, v);
    } else if (COUNT <= 4 && type == GM_TYPE_fp32) {
        unpack_floats<COUNT>(words, v);
    } else if (type == GM_TYPE_fp16) {
        unpack_half<GM_TYPE_fp16, COUNT>(words, v);
    } else if (type == GM_TYPE_e4m3) {
        unpack_byte<GM_TYPE_e4m3, COUNT>(words, v);
    } else if (type == GM_TYPE_e5m2) {
        unpack_byte<GM_TYPE_e5m2, COUNT>(words, v);
    } else if (type == GM_TYPE_int8) {
        unpack_byte<GM_TYPE_int8, COUNT>(words, v);
    } else if (type == GM_TYPE_uint8) {
        unpack_byte<GM_TYPE_uint8, COUNT>(words, v);
    } else if constexpr (COUNT <= 4) {
#pragma unroll
        for (int i = 0; i < COUNT; ++i)
            v[i] = (float)(int32_t)words[i];
    }
}

/* ---- from fp32: to nearest even ------------------------------------------------------------------------ */

/* PTX 9.7.9.21 cvt: to the nearest integer of the type; NaN becomes 0. */
static __device__ __forceinline__ uint32_t cvt_rni_s8_f32(float x) {
    int32_t rounded;
    asm("cvt.rni.s8.f32 %0, %1;" : "=r"(rounded) : "f"(x));
    return (uint32_t)rounded;
}

static __device__ __forceinline__ uint32_t cvt_rni_u8_f32(float x) {
    uint32_t rounded;
    asm("cvt.rni.u8.f32 %0, %1;" : "=r"(rounded) : "f"(x));
    return rounded;
}

static __device__ __forceinline__ uint32_t cvt_rni_s32_f32(float x) {
    int32_t rounded;
    asm("cvt.rni.s32.f32 %0, %1;" : "=r"(rounded) : "f"(x));
    return (uint32_t)rounded;
}

template <int TYPE, int COUNT>
static __device__ __forceinline__ void pack_half(const float (&v)[COUNT], uint32_t (&words)[GM_ANY_WORDS(COUNT)]) {
#pragma unroll
    for (int i = 0; i < COUNT; i += 2)
        words[i / 2] = pack_word<TYPE, COUNT>(v + i);
}

/* Four elements of a type of 8 bits. */
static __device__ __forceinline__ uint32_t pack_4_bytes(int type, const float (&v)[4]) {
    uint32_t bytes[4], word[1];
    if (type != GM_TYPE_int8 && type != GM_TYPE_uint8) {
        cvt_rn_satfinite_fp8_f32(v, word, type == GM_TYPE_e4m3);
        return word[0];
    }
#pragma unroll
    for (int i = 0; i < 4; ++i)
        bytes[i] = type == GM_TYPE_int8 ? cvt_rni_s8_f32(v[i]) : cvt_rni_u8_f32(v[i]);
    return __byte_perm(__byte_perm(bytes[0], bytes[1], 0x0040), __byte_perm(bytes[2], bytes[3], 0x0040), 0x5410);
}

template <int COUNT>
static __device__ __forceinline__ void pack_bytes(int type, const float (&v)[COUNT],
                                                  uint32_t (&words)[GM_ANY_WORDS(COUNT)]) {
#pragma unroll
    for (int i = 0; i < COUNT; i += 4) {
        float four[4] = {};
#pragma unroll
        for (int j = 0; j < 4 && j < COUNT; ++j)
            four[j] = v[i + j];
        words[i / 4] = pack_4_bytes(type, four);
    }
}

template <int COUNT>
static __device__ __forceinline__ void pack_floats(const float (&v)[COUNT], uint32_t (&words)[GM_ANY_WORDS(COUNT)]) {
    if constexpr (COUNT <= 4)
#pragma unroll
        for (int i = 0; i < COUNT; ++i)
            words[i] = __float_as_uint(v[i]);
}

/* What is too large becomes the largest number of 8-bit floats and integers, and infinite in other types. NaN becomes 0 in
 * integers. */
template <int COUNT>
static __device__ __forceinline__ void pack_any(int type, const float (&v)[COUNT],
                                                uint32_t (&words)[GM_ANY_WORDS(COUNT)]) {
    if (type == GM_TYPE_bf16) {
        pack_half<GM_TYPE_bf16, COUNT>(v, words);
    } else if (COUNT <= 4 && type == GM_TYPE_fp32) {
        pack_floats<COUNT>(v, words);
    } else if (type == GM_TYPE_fp16) {
        pack_half<GM_TYPE_fp16, COUNT>(v, words);
    } else if (COUNT > 4 || type != GM_TYPE_int32) {
        pack_bytes<COUNT>(type, v, words);
    } else if constexpr (COUNT <= 4) {
#pragma unroll
        for (int i = 0; i < COUNT; ++i)
            words[i] = cvt_rni_s32_f32(v[i]);
    }
}

/* ---- memory -------------------------------------------------------------------------------------------- */

template <int COUNT>
static __device__ __forceinline__ void load_any(int log_bytes, uint64_t address,
                                                uint32_t (&words)[GM_ANY_WORDS(COUNT)]) {
    if constexpr (COUNT == 1) {
        words[0] = log_bytes == 0   ? ld_global_b8(address)
                   : log_bytes == 1 ? ld_global_b16(address)
                                    : ld_global_b32(address);
    } else {
        if (COUNT << log_bytes == 4)
            words[0] = ld_global_b32(address);
        else if (COUNT << log_bytes == 8)
            ld_global_v2_b32(address, words);
        else
            ld_global_v4_b32(address, words);
    }
}

template <int COUNT>
static __device__ __forceinline__ void store_any(int log_bytes, uint64_t address,
                                                 const uint32_t (&words)[GM_ANY_WORDS(COUNT)]) {
    if constexpr (COUNT == 1) {
        if (log_bytes == 0)
            st_global_b8(address, words[0]);
        else if (log_bytes == 1)
            st_global_b16(address, words[0]);
        else
            st_global_b32(address, words[0]);
    } else {
        if (COUNT << log_bytes == 4)
            st_global_b32(address, words[0]);
        else if (COUNT << log_bytes == 8)
            st_global_v2_b32(address, words);
        else
            st_global_v4_b32(address, words);
    }
}

#endif
