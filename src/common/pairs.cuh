/* SPDX-License-Identifier: Apache-2.0 */
/* Chunks of interleaved pairs, taken apart and put together again. */
#ifndef GM_PAIRS_CUH
#define GM_PAIRS_CUH

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
