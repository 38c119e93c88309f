/* SPDX-License-Identifier: Apache-2.0 */
/* Elements of any size between memory and registers, and casts. Elements of so many bytes in all are GM_PERMUTE_WORDS of
 * 32 bits. */
#ifndef GM_PERMUTE_ELEMENTS_CUH
#define GM_PERMUTE_ELEMENTS_CUH

#include "common/elements.cuh"
#include "common/shared.cuh"

#define GM_PERMUTE_WORDS(bytes) (((bytes) + 3) / 4)

/* ---- memory ------------------------------------------------------------------------------------------- */

/* BYTES is 1, 2, 4, 8, or a multiple of 16. */
template <int BYTES>
static __device__ __forceinline__ void load_global(uint32_t (&words)[GM_PERMUTE_WORDS(BYTES)], uint64_t address) {
    if constexpr (BYTES == 1)
        words[0] = ld_global_b8(address);
    else if constexpr (BYTES == 2)
        words[0] = ld_global_b16(address);
    else if constexpr (BYTES == 4)
        words[0] = ld_global_b32(address);
    else if constexpr (BYTES == 8)
        ld_global_v2_b32(address, words);
    else
#pragma unroll
        for (int i = 0; i < BYTES; i += 16)
            ld_global_v4_b32(address + i, words + i / 4);
}

template <int BYTES>
static __device__ __forceinline__ void store_global(uint64_t address,
                                                    const uint32_t (&words)[GM_PERMUTE_WORDS(BYTES)]) {
    if constexpr (BYTES == 1)
        st_global_b8(address, words[0]);
    else if constexpr (BYTES == 2)
        st_global_b16(address, words[0]);
    else if constexpr (BYTES == 4)
        st_global_b32(address, words[0]);
    else if constexpr (BYTES == 8)
        st_global_v2_b32(address, words);
    else
#pragma unroll
        for (int i = 0; i < BYTES; i += 16)
            st_global_v4_b32(address + i, words + i / 4);
}

/* Of one element, 1 to 16 bytes. */
template <int BYTES> static __device__ __forceinline__ void load_shared(uint32_t *words, uint32_t addr) {
    if constexpr (BYTES == 1)
        words[0] = ld_shared_b8(addr);
    else if constexpr (BYTES == 2)
        words[0] = ld_shared_b16(addr);
    else if constexpr (BYTES == 4)
        words[0] = ld_shared_b32(addr);
    else if constexpr (BYTES == 8)
        ld_shared_v2_b32(addr, words);
    else
        ld_shared_v4_b32(addr, *(uint32_t(*)[4])words);
}

/* 1 to 8 bytes. */
template <int BYTES> static __device__ __forceinline__ void store_shared(uint32_t addr, const uint32_t *words) {
    if constexpr (BYTES == 1)
        st_shared_b8(addr, words[0]);
    else if constexpr (BYTES == 2)
        st_shared_b16(addr, words[0]);
    else if constexpr (BYTES == 4)
        st_shared_b32(addr, words[0]);
    else
        st_shared_v2_b32(addr, words);
}

/* ---- casts -------------------------------------------------------------------------------------------- */

/* Elements of a type that is known when the kernel runs: fp32 where they have 4 bytes, else bf16 or fp16. */
template <int BYTES, int COUNT>
static __device__ __forceinline__ void unpack_as(int type, const uint32_t (&words)[GM_PERMUTE_WORDS(BYTES * COUNT)],
                                                 float (&elements)[COUNT]) {
    if constexpr (BYTES == 4)
        unpack<GM_TYPE_fp32, COUNT>(words, elements);
    else if (type == GM_TYPE_fp16)
        unpack<GM_TYPE_fp16, COUNT>(words, elements);
    else
        unpack<GM_TYPE_bf16, COUNT>(words, elements);
}

template <int BYTES, int COUNT>
static __device__ __forceinline__ void pack_as(int type, const float (&elements)[COUNT],
                                               uint32_t (&words)[GM_PERMUTE_WORDS(BYTES * COUNT)]) {
    if constexpr (BYTES == 4)
        pack<GM_TYPE_fp32, COUNT>(elements, words);
    else if (type == GM_TYPE_fp16)
        pack<GM_TYPE_fp16, COUNT>(elements, words);
    else
        pack<GM_TYPE_bf16, COUNT>(elements, words);
}

/* Elements as out has them: moved as bits where the types are the same. Only sizes of 2 and 4 bytes are ever cast. */
template <int X_BYTES, int OUT_BYTES, int COUNT>
static __device__ __forceinline__ void convert(int from, int to, const uint32_t (&x)[GM_PERMUTE_WORDS(X_BYTES * COUNT)],
                                               uint32_t (&out)[GM_PERMUTE_WORDS(OUT_BYTES * COUNT)]) {
    if constexpr (X_BYTES == OUT_BYTES)
#pragma unroll
        for (int i = 0; i < GM_PERMUTE_WORDS(OUT_BYTES * COUNT); ++i)
            out[i] = x[i];
    if constexpr (X_BYTES != OUT_BYTES || X_BYTES == 2) {
        if (X_BYTES == OUT_BYTES && from == to)
            return;
        float elements[COUNT];
        unpack_as<X_BYTES, COUNT>(from, x, elements);
        pack_as<OUT_BYTES, COUNT>(to, elements, out);
    }
}

#endif
