/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of the sm80 GEMM kernels and of the GEMV kernels, one definition for the host (C11) and the
 * kernels. */
#ifndef GM_GEMM_SM80_PARAMS_H
#define GM_GEMM_SM80_PARAMS_H

#include "common/gemm/params.h"

struct gm_gemm_sm80_params {
    uint64_t a, b;
    int64_t lda, ldb;                   /* elements */
    struct gm_epilogue_params epilogue; /* m and n are the problem's */
    struct gm_raster raster;
    int32_t k;
    int32_t a_vector, b_vector;  /* bytes of one copy that base and stride allow: 16, 8, 4 or 2 */
    int32_t b_early;             /* GEMV on sm90, 1: the previous kernel does not write B, so it is loaded before */
    struct gm_stream_k stream_k; /* GEMV: none */
    /* Of variants that take batches. */
    struct gm_batch_params batch;
    int64_t a_batch, b_batch;         /* bytes */
    uint64_t left_out;                /* where matrices that are left out are counted, or 0 */
    int32_t pointer_arrays;           /* a, b, and the epilogue's c and d are addresses of arrays of pointers */
    int32_t b_is_e5m2;                /* of kernels of e5m2, 1: B is e5m2 and A e4m3; 0: the reverse */
    struct gm_scaling_params scaling; /* of 8-bit operands, and of extended epilogues */
};
GM_STATIC_ASSERT(sizeof(struct gm_gemm_sm80_params) == 296, "the same layout in C11 and CUDA C");

/* Of variants with an extended epilogue; the others take what it begins with. */
struct gm_gemm_sm80_extended_params {
    struct gm_gemm_sm80_params gemm;
    struct gm_extension_params extension;
};

#endif
