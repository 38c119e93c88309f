/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a tile: O and lse to global memory. */
#ifndef GM_SM90_ATTENTION_STORE_CUH
#define GM_SM90_ATTENTION_STORE_CUH

#include "sm90/attention/store_row.cuh"
#include "sm90/attention_sm90/softmax.cuh"

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
        store_row<0>(p, address, o, factor[0], row < t.rows, p.v_head_dim, lane);
        store_row<1>(p, address + 8 * p.out.token, o, factor[1], row + 8 < t.rows, p.v_head_dim, lane);
    }
}

#endif
