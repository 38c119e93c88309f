/* SPDX-License-Identifier: Apache-2.0 */
/* A cuBLASLt that is not there, for the GPU that is not there. */
#include "fake_gpu.h"

#include <string.h>

#pragma GCC diagnostic ignored "-Wunused-parameter"

struct fake_layout fake_layouts[3];

static int make_handle(void **handle) {
    *handle = &fake;
    return 0;
}

static int make_desc(void **desc, int compute_type, int scale_type) {
    return make_handle(desc);
}

static int make_layout(void **layout, int type, uint64_t rows, uint64_t cols, int64_t ld) {
    static int made;
    struct fake_layout *next = &fake_layouts[made++ % 3];
    *next = (struct fake_layout){.rows = rows, .cols = cols, .ld = ld, .batch = 1};
    *layout = next;
    return ld >= (int64_t)rows ? 0 : 7;
}

/* CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT and _STRIDED_BATCH_OFFSET, of their sizes; no other. */
static int set_of_layout(void *layout, int attribute, const void *value, size_t bytes) {
    struct fake_layout *of = layout;
    if (attribute == 5 && bytes == sizeof of->batch)
        memcpy(&of->batch, value, bytes);
    else if (attribute == 6 && bytes == sizeof of->batch_stride)
        memcpy(&of->batch_stride, value, bytes);
    else
        return 7;
    return 0;
}

static int drop(void *anything) {
    return 0;
}

static int set_any(void *of, int attribute, const void *value, size_t bytes) {
    return 0;
}

static int heuristics(void *handle, void *desc, void *a, void *b, void *c, void *d, void *preference, int asked,
                      struct lt_heuristic *results, int *got) {
    *got = fake.heuristic_count < asked ? fake.heuristic_count : asked;
    for (int i = 0; i < *got; i++)
        results[i] = (struct lt_heuristic){.algo.data[0] = (uint64_t)i};
    return 0;
}

/* Column-major: the first operand is our B, the second our A. */
static int matmul(void *handle, void *desc, const void *alpha, const void *a, void *a_layout, const void *b,
                  void *b_layout, const void *beta, const void *c, void *c_layout, void *d, void *d_layout,
                  const struct lt_algo *algo, void *workspace, size_t workspace_bytes, CUstream stream) {
    if ((int)algo->data[0] == fake.refused_heuristic)
        return 15;
    fake_spend(fake.heuristic_us[algo->data[0]]);
    fake_compute((CUdeviceptr)(uintptr_t)b, (CUdeviceptr)(uintptr_t)a, (CUdeviceptr)(uintptr_t)d, fake.m);
    return 0;
}

void fake_cublaslt(struct baselines *baselines) {
    static struct lt functions;
    struct lt *lt = &functions;
    *lt = (struct lt){.library = &fake, .handle = &fake};
    lt_wrap(&baselines->of[0], lt);
    baselines->count = 1;
    lt->fn.cublasLtCreate = make_handle;
    lt->fn.cublasLtDestroy = drop;
    lt->fn.cublasLtMatmulDescCreate = make_desc;
    lt->fn.cublasLtMatmulDescDestroy = drop;
    lt->fn.cublasLtMatmulDescSetAttribute = set_any;
    lt->fn.cublasLtMatrixLayoutCreate = make_layout;
    lt->fn.cublasLtMatrixLayoutDestroy = drop;
    lt->fn.cublasLtMatrixLayoutSetAttribute = set_of_layout;
    lt->fn.cublasLtMatmulPreferenceCreate = make_handle;
    lt->fn.cublasLtMatmulPreferenceDestroy = drop;
    lt->fn.cublasLtMatmulPreferenceSetAttribute = set_any;
    lt->fn.cublasLtMatmulAlgoGetHeuristic = heuristics;
    lt->fn.cublasLtMatmul = matmul;
}
