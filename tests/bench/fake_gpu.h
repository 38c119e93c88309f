/* SPDX-License-Identifier: Apache-2.0 */
/* A GPU that is not there: a driver table whose memory is the host's and whose time is invented, and a cuBLASLt that
 * goes with it. Both compute D = A B^T in bf16 the plain way. */
#ifndef FAKE_GPU_H
#define FAKE_GPU_H

#include <stdbool.h>

#include "bench/baseline/baseline.h"
#include "bench/baseline/cublaslt.h"

struct fake_gpu {
    int64_t m, n, k;    /* the only problem it can compute */
    double ours_us;     /* of one launch of any kernel */
    double sm80_us;     /* of one launch of an sm80 row; 0: as the others */
    double throttle_us; /* graphs with sm90 rows take a tenth more once one ran alone for so long; 0: never */
    double warming;     /* all graphs take so much longer, as a share, every time another one begins */
    double heuristic_us[LT_HEURISTICS_MAX];
    int heuristic_count;
    int refused_heuristic;              /* -1: none */
    bool wrong;                         /* our kernels leave the last row of D as it was */
    bool sm80_wrong;                    /* the sm80 rows do */
    long launches, graphs, allocations; /* allocations that are alive */
    /* What a kernel named lab_... does with its parameters, and whether its launch succeeds; NULL: nothing. */
    CUresult (*lab_kernel)(const char *name, void **params);
    const size_t *lab_parameters; /* their sizes, ended by 0; NULL: this driver does not tell */
    CUresult load_result;         /* of cuLibraryLoadData */
    long libraries;               /* loaded and not unloaded */
    bool ampere;                  /* compute capability 8.0 instead of 9.0 */
};

/* A layout of the fake cuBLASLt. */
struct fake_layout {
    uint64_t rows, cols;
    int64_t ld, batch_stride;
    int32_t batch;
};

extern struct fake_gpu fake;
extern struct fake_layout fake_layouts[3]; /* of the last problem: B, A, D */

/* Makes `gpu` the one that the library finds. */
void fake_gpu_install(struct fake_gpu gpu);
/* Takes it away; everything that it gave must have come back. */
void fake_gpu_remove(void);
void fake_cublaslt(struct baselines *baselines);

/* Lets time pass on the fake device, or in the graph that is being captured. */
void fake_spend(double us);
/* The first `rows` rows of D; nothing while a graph is being captured. */
void fake_compute(CUdeviceptr a, CUdeviceptr b, CUdeviceptr d, int64_t rows);

#endif
