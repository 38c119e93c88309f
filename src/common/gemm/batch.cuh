/* SPDX-License-Identifier: Apache-2.0 */
/* Batches: which matrix a tile is of, and where that begins. */
#ifndef GM_GEMM_BATCH_CUH
#define GM_GEMM_BATCH_CUH

#include "common/gemm/params.h"

/* A tile's matrix; `tile` becomes its number within that. */
static __device__ __forceinline__ int batch_matrix(const struct gm_batch_params &batch, int &tile) {
    const int matrix = (uint32_t)tile / (uint32_t)batch.tiles;
    tile -= matrix * batch.tiles;
    return matrix;
}

/* The epilogue of a matrix. */
static __device__ __forceinline__ struct gm_epilogue_params
batch_epilogue(const struct gm_epilogue_params &e, const struct gm_batch_params &batch, int matrix) {
    struct gm_epilogue_params own = e;
    own.c += matrix * batch.c;
    own.d += matrix * batch.d;
    own.bias += matrix * batch.bias;
    return own;
}

#endif
