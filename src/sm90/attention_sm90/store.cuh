/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a tile: O and lse to global memory. */
#ifndef GM_SM90_ATTENTION_STORE_CUH
#define GM_SM90_ATTENTION_STORE_CUH

#include "common/global.cuh"
#include "sm90/attention_sm90/softmax.cuh"

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

/* Of 8 bits, one of the thread's rows: of every 16 columns a lane of the quad stores 4 (transpose.cuh). */
template <int R>
static __device__ __forceinline__ void store_row_8bit(const struct gm_attention_params &p, uint64_t address,
                                                      const float (&o)[OUTPUTS], float factor, bool stored, int lane) {
#pragma unroll
    for (int i = 0; i < OUTPUTS; i += 8) {
        const int column = 2 * i + 4 * (lane % 4);
        const float v[4] = {normalised(o[i + 2 * R], factor), normalised(o[i + 2 * R + 4], factor),
                            normalised(o[i + 2 * R + 1], factor), normalised(o[i + 2 * R + 5], factor)};
        if (!stored || column >= p.v_head_dim)
            continue;
        if (p.flags & GM_ATTENTION_OUT_IS_FP32) {
            const uint32_t words[4] = {__float_as_uint(v[0]), __float_as_uint(v[1]), __float_as_uint(v[2]),
                                       __float_as_uint(v[3])};
            st_global_v4_b32(address + 4 * column, words);
        } else {
            const bool is_fp16 = p.flags & GM_ATTENTION_OUT_IS_FP16;
            const uint32_t words[2] = {is_fp16 ? cvt_rn_f16x2_f32(v[0], v[1]) : cvt_rn_bf16x2_f32(v[0], v[1]),
                                       is_fp16 ? cvt_rn_f16x2_f32(v[2], v[3]) : cvt_rn_bf16x2_f32(v[2], v[3])};
            st_global_v2_b32(address + 2 * column, words);
        }
    }
}

/* One of the thread's rows. Of every 32 columns a lane of the quad stores 8 as 16 bytes; of 32-bit elements two of every 8. */
template <int R>
static __device__ __forceinline__ void store_row(const struct gm_attention_params &p, uint64_t address,
                                                 const float (&o)[OUTPUTS], float factor, bool stored, int lane) {
    if (p.flags & GM_ATTENTION_OUT_IS_FP32) {
#pragma unroll
        for (int i = 0; i < OUTPUTS; i += 4) {
            const int column = 2 * i + 2 * (lane % 4);
            const uint32_t words[2] = {__float_as_uint(normalised(o[i + 2 * R], factor)),
                                       __float_as_uint(normalised(o[i + 2 * R + 1], factor))};
            if (stored && column < p.v_head_dim)
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
        if (stored && column < p.v_head_dim)
            st_global_v4_b32(address + 2 * column, words);
    }
}

/* What the thread's two rows of O are to be multiplied by; stores their lse. `row`: the first one's place in the tile;
 * `values`: V's factor. */
static __device__ __forceinline__ void finish_rows(const struct gm_attention_params &p, const struct rows &rows,
                                                   float scale, float values, const struct tile &t, int row, int lane,
                                                   float (&factor)[2]) {
    const float sink = sink_of(p, t.head), unshifted = 1.0f / (1 << P_SHIFT);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
        const float sum = sum_of_quad(rows.sum[r]) * unshifted, most = rows.top[r] * scale;
        factor[r] = norm_of(most, sum, sink);
        if (IS_8BIT && factor[r] != 0)
            factor[r] *= values * unshifted;
        if (p.lse.address && row + 8 * r < t.rows && lane % 4 == 0)
            st_global_b32(p.lse.address + (int64_t)(t.row + row + 8 * r) * p.lse.token + t.head * p.lse.head,
                          __float_as_uint(lse_of(most, sum)));
    }
}

static __device__ __forceinline__ void store_rows(const struct gm_attention_params &p, const float (&o)[OUTPUTS],
                                                  const float (&factor)[2], const struct tile &t, int row, int lane) {
    const uint64_t address = p.out.address + (int64_t)(t.row + row) * p.out.token + t.head * p.out.head;
    if (IS_8BIT) {
        store_row_8bit<0>(p, address, o, factor[0], row < t.rows, lane);
        store_row_8bit<1>(p, address + 8 * p.out.token, o, factor[1], row + 8 < t.rows, lane);
    } else {
        store_row<0>(p, address, o, factor[0], row < t.rows, lane);
        store_row<1>(p, address + 8 * p.out.token, o, factor[1], row + 8 < t.rows, lane);
    }
}

#endif
