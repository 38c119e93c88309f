/* SPDX-License-Identifier: Apache-2.0 */
/* Chunks of interleaved pairs, taken apart and put together again. */
#ifndef GM_PAIRS_CUH
#define GM_PAIRS_CUH

#include <stdint.h>

/* Two neighbouring chunks of pairs become one of their first elements and one of their second ones. */
template <int COUNT> static __device__ __forceinline__ void part_pairs(float (&x)[COUNT], float (&y)[COUNT]) {
    float pairs[2 * COUNT];
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
        pairs[i] = x[i];
        pairs[COUNT + i] = y[i];
    }
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
        x[i] = pairs[2 * i];
        y[i] = pairs[2 * i + 1];
    }
}

/* The same of words, of one element each or of two. */
template <int PER_WORD, int WORDS>
static __device__ __forceinline__ void part_pairs_of_words(uint32_t (&x)[WORDS], uint32_t (&y)[WORDS]) {
    uint32_t pairs[2 * WORDS];
#pragma unroll
    for (int i = 0; i < WORDS; ++i) {
        pairs[i] = x[i];
        pairs[WORDS + i] = y[i];
    }
#pragma unroll
    for (int i = 0; i < WORDS; ++i) {
        x[i] = PER_WORD == 1 ? pairs[2 * i] : __byte_perm(pairs[2 * i], pairs[2 * i + 1], 0x5410);
        y[i] = PER_WORD == 1 ? pairs[2 * i + 1] : __byte_perm(pairs[2 * i], pairs[2 * i + 1], 0x7632);
    }
}

/* The reverse. */
template <int COUNT> static __device__ __forceinline__ void join_pairs(float (&x)[COUNT], float (&y)[COUNT]) {
    float pairs[2 * COUNT];
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
        pairs[2 * i] = x[i];
        pairs[2 * i + 1] = y[i];
    }
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
        x[i] = pairs[i];
        y[i] = pairs[COUNT + i];
    }
}

#endif
