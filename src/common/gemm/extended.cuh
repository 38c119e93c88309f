/* SPDX-License-Identifier: Apache-2.0 */
/* Extended epilogues, 8 neighbouring columns of one row at a time:
 *
 *   y = act(alpha * sums * row scale * column scale + beta * C + bias) + residual */
#ifndef GM_GEMM_EXTENDED_CUH
#define GM_GEMM_EXTENDED_CUH

#include "common/gemm/epilogue.cuh"
#include "common/gemm/scaling.cuh"
#include "common/quantized_store.cuh"

/* Elements of C or the residual. `vector`: bytes that base and stride are multiples of. */
static __device__ __forceinline__ void extended_load8(float (&x)[8], uint64_t address, int64_t index, int type,
                                                      int vector, int count) {
    epilogue_load8(x, address + index * (type == GM_TYPE_fp32 ? 4 : 2), type, vector == 16, count);
}

/* v: copies of the sums of D(row, col .. col + 7), col a multiple of 8. Out: y, 0 outside D. */
static __device__ __forceinline__ void extended_apply8(const struct gm_extension_params &extension,
                                                       const struct gm_scaling_params &scaling,
                                                       const struct gm_epilogue_params &e, float (&v)[8], int row,
                                                       int col) {
    const int count = row < e.m ? e.n - col : 0;
    float x[8];
    if (GM_TYPE == GM_TYPE_int8)
        scaling_apply8(scaling, v, row, col, e.m, e.n);
    else if (count > 0)
        scales_apply8(scaling, v, row, col, count);
#pragma unroll
    for (int i = 0; i < 8; ++i)
        v[i] *= e.alpha;
    if (e.beta != 0.0f) {
        extended_load8(x, e.c, row * e.ldc + col, extension.c_type, extension.c_vector, count);
#pragma unroll
        for (int i = 0; i < 8; ++i)
            v[i] = fmaf(e.beta, x[i], v[i]);
    }
    epilogue_bias8(e, v, row, col, count);
    epilogue_activate8(v, e.activation);
    if (extension.residual) {
        extended_load8(x, extension.residual, row * extension.ldr + col, extension.residual_type,
                       extension.residual_vector, count);
#pragma unroll
        for (int i = 0; i < 8; ++i)
            v[i] += x[i];
    }
#pragma unroll
    for (int i = 0; i < 8; ++i)
        v[i] = i < count ? v[i] : 0;
}

/* Rounds y to D's type and stores what lies inside D, of 8 bits by a static scale. */
static __device__ __forceinline__ void extended_store8(const struct gm_extension_params &extension,
                                                       const struct gm_epilogue_params &e, float (&v)[8], int row,
                                                       int col) {
    const struct gm_quantized_store &store = extension.store;
    if (e.d_type < GM_TYPE_e4m3) {
        epilogue_store8(e, v, row, col);
        return;
    }
    const int count = row < e.m ? e.n - col : 0;
    const uint64_t address = e.d + row * e.ldd + col;
    const uint32_t most = largest_size(v);
    const struct quotient_by by = by_scale(store, __uint_as_float(ld_global_b32(store.scales)));
    uint32_t words[2];
    quantize_each(store, v, by, are_in_range(store, most, by), words);
    store_some(address, words, count, address % 8 == 0 && count >= 8);
}

#endif
