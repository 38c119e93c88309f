/* SPDX-License-Identifier: Apache-2.0 */
/* The baseline: cuBLASLt, opened at run time, in our row-major terms. */
#ifndef BENCH_CUBLASLT_H
#define BENCH_CUBLASLT_H

#include <stdbool.h>

#include "bench/baseline/baseline.h"

#define LT_HEURISTICS_MAX 32

/* ---- the part of cublasLt.h (12.x and 13.x) that is used -------------------------------------------- */

struct lt_algo {
    uint64_t data[8];
};

struct lt_heuristic {
    struct lt_algo algo;
    size_t workspace_bytes;
    int state; /* 0: usable */
    float waves;
    int reserved[4];
};

struct lt_functions {
    size_t (*cublasLtGetVersion)(void);
    int (*cublasLtCreate)(void **handle);
    int (*cublasLtDestroy)(void *handle);
    int (*cublasLtMatmulDescCreate)(void **desc, int compute_type, int scale_type);
    int (*cublasLtMatmulDescDestroy)(void *desc);
    int (*cublasLtMatmulDescSetAttribute)(void *desc, int attribute, const void *value, size_t bytes);
    int (*cublasLtMatrixLayoutCreate)(void **layout, int type, uint64_t rows, uint64_t cols, int64_t ld);
    int (*cublasLtMatrixLayoutDestroy)(void *layout);
    int (*cublasLtMatrixLayoutSetAttribute)(void *layout, int attribute, const void *value, size_t bytes);
    int (*cublasLtMatmulPreferenceCreate)(void **preference);
    int (*cublasLtMatmulPreferenceDestroy)(void *preference);
    int (*cublasLtMatmulPreferenceSetAttribute)(void *preference, int attribute, const void *value, size_t bytes);
    int (*cublasLtMatmulAlgoGetHeuristic)(void *handle, void *desc, void *a, void *b, void *c, void *d,
                                          void *preference, int asked, struct lt_heuristic *results, int *got);
    int (*cublasLtMatmul)(void *handle, void *desc, const void *alpha, const void *a, void *a_layout, const void *b,
                          void *b_layout, const void *beta, const void *c, void *c_layout, void *d, void *d_layout,
                          const struct lt_algo *algo, void *workspace, size_t workspace_bytes, CUstream stream);
};

/* ---- the library ------------------------------------------------------------------------------------ */

struct lt {
    void *library; /* NULL: there is none */
    struct lt_functions fn;
    void *handle;
    CUdeviceptr workspace;
    const struct gpu *gpu; /* NULL: problems with a gate or a D of 8 bits are not computed */
};

struct lt_problem {
    void *desc, *first, *second, *out; /* column-major: out = first x second, which is D^T = B^T A^T */
    struct lt_heuristic heuristics[LT_HEURISTICS_MAX];
    int count;
    int is_int;       /* int8 operands, int32 sums and factors */
    int is_fp8;       /* operands with scales of theirs */
    CUdeviceptr sums; /* with a gate or a D of 8 bits: A B, of which our GLU or quantiser makes D */
    struct gm_glu_problem unit_problem;
    gm_plan *unit, *quantizer; /* at most one of them */
    int adds_residual;         /* as C, in D's type */
};

/* The baseline over functions that are there already, such as a test's. */
void lt_wrap(struct baseline *baseline, struct lt *lt);

/* dlopen of the first libcublasLt.so.* that opens; NULL when none does. */
void *lt_find(const char *path);

#endif
