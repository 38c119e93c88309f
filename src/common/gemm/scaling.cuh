/* SPDX-License-Identifier: Apache-2.0 */
/* From sums of quantised operands to what they stand for: 8 neighbouring columns of one row at a time. */
#ifndef GM_GEMM_SCALING_CUH
#define GM_GEMM_SCALING_CUH

#include "common/gemm/epilogue.cuh"
#include "common/gemm/params.h"
#include "common/global.cuh"

/* 8 values of fp32, or their bits, of which `count` exist; a step of 0 is one for all. */
static __device__ __forceinline__ void scaling_load8(float (&x)[8], uint64_t values, int first, int step, int count) {
    const uint64_t address = values + (int64_t)first * step * 4;
    if (step) {
        epilogue_load8(x, address, GM_TYPE_fp32, values % 16 == 0, count);
        return;
    }
    const uint32_t one = ld_global_b32(values);
#pragma unroll
    for (int i = 0; i < 8; ++i)
        x[i] = __uint_as_float(one);
}

/* Multiplies D(row, col .. col + 7), of which `count` exist, by the row's scale and the columns'. */
static __device__ __forceinline__ void scales_apply8(const struct gm_scaling_params &s, float (&v)[8], int row, int col,
                                                     int count) {
    float x[8];
    if (s.row_scales) {
        const float scale = __uint_as_float(ld_global_b32(s.row_scales + (int64_t)row * s.row_step * 4));
#pragma unroll
        for (int i = 0; i < 8; ++i)
            v[i] *= scale;
    }
    if (s.column_scales) {
        scaling_load8(x, s.column_scales, col, s.column_step, count);
#pragma unroll
        for (int i = 0; i < 8; ++i)
            v[i] *= x[i];
    }
}

/* v: copies of the sums of D(row, col .. col + 7), col a multiple of 8. Out: (sums - row zero * column zero) * row scale *
 * column scale, in this order, the sums becoming fp32 once the zeros are off. Nothing is read outside m x n. */
static __device__ __forceinline__ void scaling_apply8(const struct gm_scaling_params &s, float (&v)[8], int row,
                                                      int col, int m, int n) {
    const int count = row < m ? n - col : 0;
    if (count <= 0)
        return;
    int32_t sums[8];
#pragma unroll
    for (int i = 0; i < 8; ++i)
        sums[i] = __float_as_int(v[i]);
    float x[8];
    if (s.row_zeros) {
        const int32_t row_zero = ld_global_b32(s.row_zeros + (int64_t)row * 4);
        scaling_load8(x, s.column_zeros, col, 1, count);
#pragma unroll
        for (int i = 0; i < 8; ++i)
            sums[i] -= row_zero * __float_as_int(x[i]);
    }
#pragma unroll
    for (int i = 0; i < 8; ++i)
        v[i] = (float)sums[i];
    scales_apply8(s, v, row, col, count);
}

/* The whole epilogue of copies of the sums: D's values, or the copies where D is int8's sums themselves. */
static __device__ __forceinline__ void
sum_epilogue8(const struct gm_scaling_params &s, const struct gm_epilogue_params &e, float (&v)[8], int row, int col) {
    if (GM_TYPE == GM_TYPE_int8) {
        if (s.raw)
            return;
        scaling_apply8(s, v, row, col, e.m, e.n);
    }
    if (GM_TYPE_IS_FP8(GM_TYPE) && row < e.m && col < e.n)
        scales_apply8(s, v, row, col, e.n - col);
    epilogue_apply8(e, v, row, col);
}

#endif
