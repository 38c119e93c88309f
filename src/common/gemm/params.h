/* SPDX-License-Identifier: Apache-2.0 */
/* What the parameters of all GEMM kernels share: epilogue, order of tiles, division of K. One definition for the host
 * (C11) and the kernels. Pointers travel as uint64_t so that the layout is the same on both sides. */
#ifndef GM_GEMM_PARAMS_H
#define GM_GEMM_PARAMS_H

#include "common/arith.h"
#include "common/fixed_width.h"
#include "common/quantized_store.h"

/* D = act(alpha * accumulators + beta * C + bias); an extended one makes more of it. */
struct gm_epilogue_params {
    uint64_t c, d, bias;
    int64_t ldc, ldd;           /* elements */
    float alpha, beta;          /* beta == 0: C is not read */
    int32_t d_type;             /* of C and D; enum gm_type */
    int32_t bias_type;          /* enum gm_type */
    int32_t bias_mode;          /* enum gm_bias */
    int32_t activation;         /* enum gm_activation */
    int32_t c_vector, d_vector; /* 1: base and stride allow 16-byte accesses of C / D */
    int32_t m, n;               /* bounds of C, D and bias */
};

/* The order of output tiles. Units are cluster tiles (cluster_m x cluster_n CTA tiles; 1 x 1 on sm80). Tiles are
 * taken in groups of `group` tiles along M (along N when along_n), so that a wave of CTAs touches a block of the matrix
 * that is near square and stays in L2. */
struct gm_raster {
    int32_t tiles_m, tiles_n;
    int32_t group;
    int32_t along_n;
};

/* Which tiles are divided by k-blocks, and how: common/gemm/stream_k.h. Where CTAs share operands in clusters, "tile"
 * and "CTA" here and in stream_k.h mean a cluster's tile and a cluster. */
struct gm_stream_k {
    uint64_t workspace;
    uint64_t ready;        /* what a flag holds while its slot is full: the plan's own random number */
    int32_t whole;         /* leading tiles that are not divided: all of them without stream-K */
    int32_t shares;        /* of the other tiles: 0 without stream-K, at most one for each CTA */
    int32_t blocks, more;  /* k-blocks of a share; the first `more` shares (split-K: of each tile) have one more */
    int32_t least;         /* stream-K: k-blocks of the smallest piece */
    int32_t split_k_tiles; /* split-K: number of tiles, each cut into shares / split_k_tiles pieces; 0: no split-K */
};

/* Where the matrices of a batch begin, in kernels that take batches: bytes from one to the next, 0 where there is one for
 * all. Tiles are numbered through all matrices. */
struct gm_batch_params {
    int64_t c, d, bias;
    int32_t tiles; /* of a matrix */
    int32_t reserved;
};

/* What int8 sums stand for, in kernels of them: (sums - row zero * column zero) * row scale * column scale. Addresses of
 * fp32 scales and int32 zeros, or 0 where there are none; a step of 0: one scale for all rows, or columns. */
struct gm_scaling_params {
    uint64_t row_scales, column_scales, row_zeros, column_zeros;
    int32_t row_step, column_step;
    int32_t raw; /* 1: D is the sums, of int32; the epilogue then says fp32, whose bits are copied in the same way */
    int32_t reserved;
};

/* What kernels of extended epilogues are told beside the rest: scales of A and B are in struct gm_scaling_params, also of
 * floats. */
struct gm_extension_params {
    uint64_t residual, amax; /* addresses; amax: of a float, as bits of a uint32, or 0 */
    int64_t ldr;             /* elements */
    int32_t residual_type, c_type;
    int32_t c_vector, residual_vector; /* bytes that base and stride are multiples of: 16 at most */
    struct gm_quantized_store store;   /* of a D of 8 bits: its d_type is that */
};

GM_STATIC_ASSERT(sizeof(struct gm_extension_params) == 96, "the same layout in C11 and CUDA C");
GM_STATIC_ASSERT(sizeof(struct gm_epilogue_params) == 80, "the same layout in C11 and CUDA C");
GM_STATIC_ASSERT(sizeof(struct gm_stream_k) == 40, "the same layout in C11 and CUDA C");

#endif
