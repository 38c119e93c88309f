/* SPDX-License-Identifier: Apache-2.0 */
/* The tiled step of the fp32 GEMM ladder with a word of pad a row, of either tile or both. A warp reads one word of a row of
 * A, and a row of B: no access is down a column, so that there is no conflict to remove. */
#include "gemm_fp32_tiles.cuh"

extern "C" __global__ void __launch_bounds__(1024) lab_gemm_pad_none(const struct gemm_fp32 p) {
    multiply_tiles<GEMM_TILE>(p);
}

extern "C" __global__ void __launch_bounds__(1024) lab_gemm_pad_a(const struct gemm_fp32 p) {
    multiply_tiles<GEMM_TILE, GEMM_TILE + 1, GEMM_TILE>(p);
}

extern "C" __global__ void __launch_bounds__(1024) lab_gemm_pad_b(const struct gemm_fp32 p) {
    multiply_tiles<GEMM_TILE, GEMM_TILE, GEMM_TILE + 1>(p);
}

extern "C" __global__ void __launch_bounds__(1024) lab_gemm_pad_both(const struct gemm_fp32 p) {
    multiply_tiles<GEMM_TILE, GEMM_TILE + 1, GEMM_TILE + 1>(p);
}
