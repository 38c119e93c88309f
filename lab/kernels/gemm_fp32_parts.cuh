/* SPDX-License-Identifier: Apache-2.0 */
/* What the steps of the fp32 GEMM ladder share: reads and writes that stop at a matrix's edge. */
#ifndef LAB_GEMM_FP32_PARTS_CUH
#define LAB_GEMM_FP32_PARTS_CUH

#include "gemm_fp32.h"

/* A matrix, or rather the view of one: its first element, its pitch and its size. */
struct view {
    const float *first;
    int pitch, rows, columns;
};

static __device__ __forceinline__ struct view view_a(const struct gemm_fp32 &p) {
    return {p.a, p.a_pitch, p.m, p.k};
}

static __device__ __forceinline__ struct view view_b(const struct gemm_fp32 &p) {
    return {p.b, p.b_pitch, p.k, p.n};
}

/* One element; 0 outside. */
static __device__ __forceinline__ float load_one(const struct view &v, int row, int column) {
    return row < v.rows && column < v.columns ? v.first[row * v.pitch + column] : 0.0f;
}

/* Four elements of a row from a column that is a multiple of 4; 0 outside. They may be read in one piece even where
 * the row ends within them, because the pitch is a multiple of 4. */
static __device__ __forceinline__ float4 load_four(const struct view &v, int row, int column) {
    if (row >= v.rows || column >= v.columns) {
        return make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    }
    float4 four = *(const float4 *)(v.first + row * v.pitch + column);
    four.y = column + 1 < v.columns ? four.y : 0.0f;
    four.z = column + 2 < v.columns ? four.z : 0.0f;
    four.w = column + 3 < v.columns ? four.w : 0.0f;
    return four;
}

static __device__ __forceinline__ void store_one(const struct gemm_fp32 &p, int row, int column, float value) {
    if (row < p.m && column < p.n) {
        p.c[row * p.c_pitch + column] = value;
    }
}

/* Four elements of a row of C, from a column that is a multiple of 4: in one piece where all four exist. */
static __device__ __forceinline__ void store_four(const struct gemm_fp32 &p, int row, int column, const float *four) {
    if (row < p.m && column + 3 < p.n) {
        *(float4 *)(p.c + row * p.c_pitch + column) = make_float4(four[0], four[1], four[2], four[3]);
    } else {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            store_one(p, row, column + i, four[i]);
        }
    }
}

#endif
