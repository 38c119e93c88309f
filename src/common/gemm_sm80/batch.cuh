/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of one matrix of a batch, as if there were no other. */
#ifndef GM_GEMM_SM80_BATCH_CUH
#define GM_GEMM_SM80_BATCH_CUH

#include "common/gemm/batch.cuh"
#include "common/gemm_sm80/params.h"
#include "common/global.cuh"
#include "common/types.h"

/* The largest power of two that divides both; `bytes` is one. */
static __device__ __forceinline__ int common_alignment(uint64_t address, int bytes) {
    const uint32_t bits = (uint32_t)address | (uint32_t)bytes;
    return bits & -bits;
}

/* Takes a matrix's pointers from the arrays. A matrix that lacks one has no rows and no columns, so that nothing of it is
 * loaded or stored; false says so. */
static __device__ __forceinline__ bool take_pointers(struct gm_gemm_sm80_params &own, int matrix) {
    struct gm_epilogue_params &e = own.epilogue;
    const int d_bytes = GM_TYPE_BYTES(e.d_type);
    const int ab_bytes = GM_TYPE_BYTES(GM_TYPE) == 1 ? 4 : GM_TYPE_BYTES(GM_TYPE); /* cp.async copies no less than 4 */
    const uint64_t a = ld_global_b64(own.a + 8 * (uint64_t)matrix), b = ld_global_b64(own.b + 8 * (uint64_t)matrix);
    const uint64_t d = ld_global_b64(e.d + 8 * (uint64_t)matrix);
    const uint64_t c = e.beta != 0.0f ? ld_global_b64(e.c + 8 * (uint64_t)matrix) : d;
    const bool operands = own.k == 0 || (a && b && (a | b) % ab_bytes == 0);
    e.d = d;
    e.c = c;
    if (!operands || !c || !d || (c | d) % d_bytes != 0) {
        e.m = e.n = 0;
        own.a &= ~(uint64_t)15; /* where copies of no bytes point */
        own.b &= ~(uint64_t)15;
        return false;
    }
    own.a = a;
    own.b = b;
    own.a_vector = common_alignment(a, own.a_vector);
    own.b_vector = common_alignment(b, own.b_vector);
    e.c_vector = e.c_vector && c % 16 == 0;
    e.d_vector = e.d_vector && d % 16 == 0;
    return true;
}

/* The parameters of the matrix that a tile is of; `tile` becomes its number within that. */
static __device__ __forceinline__ struct gm_gemm_sm80_params matrix_params(const struct gm_gemm_sm80_params &p,
                                                                           int &tile, bool counts) {
    struct gm_gemm_sm80_params own = p;
    const int matrix = batch_matrix(p.batch, tile);
    if (p.pointer_arrays) {
        own.epilogue.bias += matrix * p.batch.bias;
        if (!take_pointers(own, matrix) && p.left_out && counts && tile == 0)
            red_add_gpu_u32(p.left_out, 1);
        return own;
    }
    own.epilogue = batch_epilogue(p.epilogue, p.batch, matrix);
    own.a += matrix * p.a_batch;
    own.b += matrix * p.b_batch;
    return own;
}

#endif
