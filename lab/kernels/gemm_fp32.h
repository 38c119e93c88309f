/* SPDX-License-Identifier: Apache-2.0 */
/* The fp32 GEMM ladder: its problem and its tiles, written once for the kernels and for what predicts their counters.
 */
#ifndef LAB_GEMM_FP32_H
#define LAB_GEMM_FP32_H

/* C = A B, all row-major. A row begins every `pitch` elements, a multiple of 4, so that every row begins on 16 bytes
 * however long it is (as cudaMallocPitch would have it); what lies between a row's end and the next is anything at all.
 * Less than 2^31 elements each. */
struct gemm_fp32 {
    const float *a, *b;
    float *c;
    int m, n, k;
    int a_pitch, b_pitch, c_pitch;
};

/* ---- one element a thread ------------------------------------------------------------------------- */

#define GEMM_TILE 32 /* rows, columns and depth: a CTA of 32 x 32 threads */

/* ---- a register tile a thread --------------------------------------------------------------------- */

/* A's tile is stored by columns, a_tile[k][row], so that a thread finds the rows of its register tile side by side.
 * Loading it, a warp writes 8 columns x 4 rows; with rows of 64 or 128 words all 8 columns would meet in the same 4
 * banks. 4 words more a column put them side by side:  bank = 4 * k + row  for k < 8, row < 4. */
#define GEMM_DEPTH 8
#define GEMM_PAD   4

/* A column of 8 elements a thread. */
#define GEMM_1D_TILE    64 /* rows, columns */
#define GEMM_1D_ROWS    8  /* of a thread */
#define GEMM_1D_THREADS 512
#define GEMM_1D_PITCH   (GEMM_1D_TILE + GEMM_PAD)

/* A square of 8 x 8 elements a thread, 16 x 16 threads. */
#define GEMM_2D_TILE    128
#define GEMM_2D_THREADS 256
#define GEMM_2D_PITCH   (GEMM_2D_TILE + GEMM_PAD)

/* 8 x 16 elements a thread, 8 x 4 lanes of a warp, 2 x 4 warps: 128 x 256. */
#define GEMM_WARP_COLUMNS 256

#define GEMM_STAGES 3 /* of the cp.async ring */

#endif
