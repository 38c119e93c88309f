/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over a row, of fp32, in an order that ROW_THREADS x VECTORS decides, and the type: a thread of more than two chunks
 * keeps CHAINS sums, as many threads with two chunks each would, and adds them up as these would be. So variants that hold as
 * many columns give the same bits, and the planner may choose among them by the number of rows: a row has the same bits
 * whatever rows are beside it. */
#ifndef GM_SM80_NORM_SUMS_CUH
#define GM_SM80_NORM_SUMS_CUH

#include "sm80/norm/shape.cuh"

enum {
    WARPS = (ROW_THREADS + 31) / 32,                              /* that share a row */
    CHAINS = VECTOR_BYTES == 16 && VECTORS > 2 ? VECTORS / 2 : 1, /* sums of a thread */
    SUMS = WARPS * CHAINS,                                        /* of a row, once the lanes are added up */
};
static_assert(WARPS > 1 || CHAINS <= 2, "a warp adds up two sums at most");
static_assert(CHAINS == 1 || VECTORS % 2 == 0, "two chunks of every sum");
static_assert((SUMS & (SUMS - 1)) == 0 && SUMS <= 32, "one warp adds up the sums");

extern __shared__ float row_sums[]; /* [2][SUMS] */

/* Adds up over the threads of the row; all get the same sum. `turn` alternates from one reduction to the next, so that
 * nobody still reads the sums that a warp writes. */
static __device__ __forceinline__ float reduce_row(float (&sums)[CHAINS], int turn) {
#pragma unroll
    for (int bit = (ROW_THREADS < 32 ? ROW_THREADS : 32) / 2; bit > 0; bit /= 2)
#pragma unroll
        for (int i = 0; i < CHAINS; ++i)
            sums[i] += __shfl_xor_sync(0xffffffff, sums[i], bit);
    if (SUMS == 1)
        return sums[0];
    if (WARPS == 1) /* no more than two chains */
        return sums[0] + sums[CHAINS - 1];
    float *const all = row_sums + turn * SUMS;
    const int lane = thread_index() % 32;
#pragma unroll
    for (int i = 0; i < CHAINS; ++i)
        if (lane == 0)
            all[thread_index() / 32 + i * WARPS] = sums[i];
    __syncthreads();
    float sum = all[lane % SUMS];
#pragma unroll
    for (int bit = SUMS / 2; bit > 0; bit /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, bit);
    return sum;
}

#endif
