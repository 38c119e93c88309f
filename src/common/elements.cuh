/* SPDX-License-Identifier: Apache-2.0 */
/* Neighbouring elements of one type, between memory, registers and fp32. COUNT elements are one load or store: 16 bytes,
 * or a single element. In registers they are GM_WORDS(TYPE, COUNT) words of 32 bits. */
#ifndef GM_ELEMENTS_CUH
#define GM_ELEMENTS_CUH

#include "common/convert.cuh"
#include "common/global.cuh"
#include "common/special.cuh"
#include "common/types.h"

#define GM_WORDS(type, count)    (((count) * GM_TYPE_BYTES(type) + 3) / 4)
#define GM_PER_WORD(type, count) ((count) / GM_WORDS(type, count)) /* elements of a word */

/* The elements of one word: one of fp32, two of a 16-bit type, or one, if COUNT is one. */
template <int TYPE, int COUNT> static __device__ __forceinline__ void unpack_word(uint32_t word, float *elements) {
    float low, high;
    if (TYPE == GM_TYPE_fp32) {
        elements[0] = __uint_as_float(word);
        return;
    }
    if (TYPE == GM_TYPE_bf16)
        cvt_f32_bf16x2(word, low, high);
    else
        cvt_f32_f16x2(word, low, high);
    elements[0] = low;
    if (GM_PER_WORD(TYPE, COUNT) == 2)
        elements[1] = high;
}

/* Rounds to nearest even. */
template <int TYPE, int COUNT> static __device__ __forceinline__ uint32_t pack_word(const float *elements) {
    const float high = GM_PER_WORD(TYPE, COUNT) == 2 ? elements[1] : 0;
    if (TYPE == GM_TYPE_fp32)
        return __float_as_uint(elements[0]);
    return TYPE == GM_TYPE_bf16 ? cvt_rn_bf16x2_f32(elements[0], high) : cvt_rn_f16x2_f32(elements[0], high);
}

template <int TYPE, int COUNT>
static __device__ __forceinline__ void unpack(const uint32_t (&words)[GM_WORDS(TYPE, COUNT)],
                                              float (&elements)[COUNT]) {
#pragma unroll
    for (int i = 0; i < GM_WORDS(TYPE, COUNT); ++i)
        unpack_word<TYPE, COUNT>(words[i], elements + i * GM_PER_WORD(TYPE, COUNT));
}

template <int TYPE, int COUNT>
static __device__ __forceinline__ void pack(const float (&elements)[COUNT], uint32_t (&words)[GM_WORDS(TYPE, COUNT)]) {
#pragma unroll
    for (int i = 0; i < GM_WORDS(TYPE, COUNT); ++i)
        words[i] = pack_word<TYPE, COUNT>(elements + i * GM_PER_WORD(TYPE, COUNT));
}

/* Rounds the elements of one word to the type. */
template <int TYPE, int COUNT> static __device__ __forceinline__ void round_word(float *elements) {
    unpack_word<TYPE, COUNT>(pack_word<TYPE, COUNT>(elements), elements);
}

template <int TYPE, int COUNT> static __device__ __forceinline__ void round_elements(float (&elements)[COUNT]) {
#pragma unroll
    for (int i = 0; i < COUNT; i += GM_PER_WORD(TYPE, COUNT))
        round_word<TYPE, COUNT>(elements + i);
}

/* The larger elements of two words, NaN where either is. */
template <int TYPE> static __device__ __forceinline__ uint32_t max_of_words(uint32_t x, uint32_t y) {
    if (TYPE == GM_TYPE_fp32)
        return __float_as_uint(max_nan(__uint_as_float(x), __uint_as_float(y)));
    return TYPE == GM_TYPE_bf16 ? max_nan_bf16x2(x, y) : max_nan_f16x2(x, y);
}

/* Products of two words' elements, of a 16-bit type, rounded to it: what the fp32 product, which is exact, would be rounded to,
 * but that -0 in y counts as +0. From sm_90 on. */
template <int TYPE> static __device__ __forceinline__ uint32_t mul_words(uint32_t x, uint32_t y) {
    return TYPE == GM_TYPE_bf16 ? mul_rn_bf16x2(x, add_rn_bf16x2(y, 0)) : mul_rn_f16x2(x, add_rn_f16x2(y, 0));
}

/* One load of COUNT elements; of what does not exist, the word `missing`. */
template <int TYPE, int COUNT>
static __device__ __forceinline__ void load(uint32_t (&words)[GM_WORDS(TYPE, COUNT)], uint64_t address, bool exists,
                                            uint32_t missing = 0) {
    static_assert(COUNT == 1 || COUNT * GM_TYPE_BYTES(TYPE) == 16, "16 bytes, or one element");
#pragma unroll
    for (int i = 0; i < GM_WORDS(TYPE, COUNT); ++i)
        words[i] = missing;
    if (exists && COUNT > 1)
        ld_global_v4_b32(address, words);
    else if (exists)
        words[0] = GM_TYPE_BYTES(TYPE) == 4 ? ld_global_b32(address) : ld_global_b16(address);
}

/* Of COUNT elements so many exist, which may be less than none; the others are zeros. Wide loads have 16 bytes, and then all
 * of them exist or none; else each element is one. */
template <int TYPE, int COUNT>
static __device__ __forceinline__ void load_some(uint32_t (&words)[GM_WORDS(TYPE, COUNT)], uint64_t address, int count,
                                                 bool is_wide) {
    enum { BYTES = GM_TYPE_BYTES(TYPE) };
#pragma unroll
    for (int i = 0; i < GM_WORDS(TYPE, COUNT); ++i)
        words[i] = 0;
    if (is_wide) {
#pragma unroll
        for (int i = 0; i < COUNT; i += 16 / BYTES)
            if (count > 0)
                ld_global_v4_b32(address + i * BYTES, words + i * BYTES / 4);
        return;
    }
#pragma unroll
    for (int i = 0; i < COUNT; ++i)
        if (i < count && BYTES == 4)
            words[i * BYTES / 4] = ld_global_b32(address + i * BYTES);
        else if (i < count)
            words[i * BYTES / 4] |= ld_global_b16(address + i * BYTES) << i % 2 * 16;
}

template <int TYPE, int COUNT>
static __device__ __forceinline__ void store(uint64_t address, const uint32_t (&words)[GM_WORDS(TYPE, COUNT)]) {
    if (COUNT > 1)
        st_global_v4_b32(address, words);
    else if (GM_TYPE_BYTES(TYPE) == 4)
        st_global_b32(address, words[0]);
    else
        st_global_b16(address, words[0]);
}

/* COUNT elements of fp32 as those of a type that is known when the kernel runs, GM_TYPE_fp32, bf16 or fp16: 16-byte stores,
 * or of as few bytes as there are. */
template <int COUNT>
static __device__ __forceinline__ void store_as(int type, uint64_t address, const float (&v)[COUNT]) {
    static_assert(COUNT == 8 || COUNT == 4 || COUNT == 1, "16 or 8 bytes of a 16-bit type, or one element");
    enum { AFTER = COUNT > 1 }; /* the index of the next element */
    uint32_t words[COUNT > 1 ? COUNT / 2 : 1];
    if (type == GM_TYPE_fp32) {
#pragma unroll
        for (int i = 0; i < COUNT; i += 4)
            if (COUNT > 1)
                st_global_v4_f32(address + 4 * i, v[i], v[i + AFTER], v[i + 2 * AFTER], v[i + 3 * AFTER]);
            else
                st_global_b32(address, __float_as_uint(v[0]));
        return;
    }
#pragma unroll
    for (int i = 0; i < COUNT; i += 2) {
        const float high = COUNT > 1 ? v[i + AFTER] : 0;
        words[i / 2] = type == GM_TYPE_bf16 ? cvt_rn_bf16x2_f32(v[i], high) : cvt_rn_f16x2_f32(v[i], high);
    }
    if (COUNT == 8)
        st_global_v4_b32(address, words);
    else if (COUNT == 4)
        st_global_v2_b32(address, words);
    else
        st_global_b16(address, words[0]);
}

/* The first `count` of an even number of them, one by one. */
template <int COUNT>
static __device__ __forceinline__ void store_some_as(int type, uint64_t address, const float (&v)[COUNT], int count) {
    uint32_t words[COUNT / 2];
#pragma unroll
    for (int i = 0; i < COUNT && type == GM_TYPE_fp32; ++i)
        if (i < count)
            st_global_b32(address + 4 * i, __float_as_uint(v[i]));
    if (type == GM_TYPE_fp32)
        return;
#pragma unroll
    for (int i = 0; i < COUNT; i += 2)
        words[i / 2] = type == GM_TYPE_bf16 ? cvt_rn_bf16x2_f32(v[i], v[i + 1]) : cvt_rn_f16x2_f32(v[i], v[i + 1]);
#pragma unroll
    for (int i = 0; i < COUNT; ++i)
        if (i < count)
            st_global_b16(address + 2 * i, words[i / 2] >> i % 2 * 16);
}

#endif
