/* SPDX-License-Identifier: Apache-2.0 */
/* A row of out from the accumulators of wgmma, normalised. */
#ifndef GM_SM90_ATTENTION_STORE_ROW_CUH
#define GM_SM90_ATTENTION_STORE_ROW_CUH

#include "common/attention/softmax.cuh"
#include "common/global.cuh"

/* Four words of each lane of a quad, transposed: lane q gets word q of the others, in their order. */
static __device__ __forceinline__ void transpose_quad(uint32_t (&words)[4], int lane) {
#pragma unroll
    for (int bit = 1; bit <= 2; bit *= 2) {
        const bool upper = lane & bit;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            if (i & bit)
                continue;
            const uint32_t got = __shfl_xor_sync(0xFFFFFFFF, upper ? words[i] : words[i | bit], bit);
            words[i] = upper ? got : words[i];
            words[i | bit] = upper ? words[i | bit] : got;
        }
    }
}

/* One of the two rows of a thread's accumulators of wgmma, as many columns as there are. Of every 32 columns a lane of the quad
 * stores 8 as 16 bytes; of 32-bit elements two of every 8. */
template <int R, int OUTPUTS>
static __device__ __forceinline__ void store_row(const struct gm_attention_params &p, uint64_t address,
                                                 const float (&o)[OUTPUTS], float factor, bool stored, int columns,
                                                 int lane) {
    if (p.flags & GM_ATTENTION_OUT_IS_FP32) {
#pragma unroll
        for (int i = 0; i < OUTPUTS; i += 4) {
            const int column = 2 * i + 2 * (lane % 4);
            const uint32_t words[2] = {__float_as_uint(normalised(o[i + 2 * R], factor)),
                                       __float_as_uint(normalised(o[i + 2 * R + 1], factor))};
            if (stored && column < columns)
                st_global_v2_b32(address + 4 * column, words);
        }
        return;
    }
#pragma unroll
    for (int i = 0; i < OUTPUTS; i += 16) {
        uint32_t words[4];
#pragma unroll
        for (int word = 0; word < 4; ++word)
            words[word] =
                pack_pair(normalised(o[i + 4 * word + 2 * R], factor), normalised(o[i + 4 * word + 2 * R + 1], factor));
        transpose_quad(words, lane);
        const int column = 2 * i + 8 * (lane % 4);
        if (stored && column < columns)
            st_global_v4_b32(address + 2 * column, words);
    }
}

#endif
