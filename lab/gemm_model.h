/* SPDX-License-Identifier: Apache-2.0 */
/* What the steps of the fp32 GEMM ladder should make the counters show. */
#ifndef LAB_GEMM_MODEL_H
#define LAB_GEMM_MODEL_H

/* In the ladder's order. */
enum gemm_step {
    GEMM_NAIVE,
    GEMM_COALESCED,
    GEMM_TILED,
    GEMM_TRANSPOSED,
    GEMM_PADDED,
    GEMM_1D,
    GEMM_2D,
    GEMM_VECTORISED,
    GEMM_DOUBLE_BUFFER,
    GEMM_CP_ASYNC,
    GEMM_WARP_TILE,
    GEMM_STEPS
};

/* Wavefronts of shared memory, and how few there would be without bank conflicts. */
struct gemm_wavefronts {
    double all, ideal;
};

/* Per launch at M = N = K = size, a multiple of 128. NaN: the step has no such access, or no model knows. */
struct gemm_counts {
    double sectors;                     /* of 32 bytes, asked of L1 by loads (cp.async is not among them) */
    struct gemm_wavefronts load, store; /* ld.shared, st.shared */
};

struct gemm_counts gemm_predict(enum gemm_step step, int size);

/* Sectors and requests of loads with tiles of tile x tile elements, one element of C a thread; tile 1: the coalesced
 * step, without tiles. */
double gemm_reuse_sectors(int tile, int size);
double gemm_reuse_requests(int tile, int size);

#endif
