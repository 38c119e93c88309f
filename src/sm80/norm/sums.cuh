/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over a row, of fp32, in an order that row_threads() x VECTORS decides, and the type: a thread of more than two chunks
 * keeps CHAINS sums, as many threads with two chunks each would, and adds them up as these would be. So variants that hold as
 * many columns give the same bits, and the planner may choose among them by the number of rows: a row has the same bits
 * whatever rows are beside it. */
#ifndef GM_SM80_NORM_SUMS_CUH
#define GM_SM80_NORM_SUMS_CUH

#include "sm80/norm/shape.cuh"

enum {
    WARPS = (ROW_THREADS + 31) / 32,                              /* that share a row, at most */
    CHAINS = VECTOR_BYTES == 16 && VECTORS > 2 ? VECTORS / 2 : 1, /* sums of a thread */
    SUMS = WARPS * CHAINS,                                        /* of a row, once the lanes are added up */
    SUM_LANES = SUMS > 16  ? 32
                : SUMS > 8 ? 16
                : SUMS > 4 ? 8
                : SUMS > 2 ? 4
                           : SUMS, /* that add these up */
};
static_assert(WARPS > 1 || CHAINS <= 2, "a warp adds up two sums at most");
static_assert(CHAINS == 1 || VECTORS % 2 == 0, "two chunks of every sum");
static_assert((SUMS == SUM_LANES || IS_OPEN) && SUMS <= 32, "one warp adds up the sums");

extern __shared__ float row_sums[]; /* [2][SUMS] */

/* Adds up over the threads of the row; all get the same sum. `turn` alternates from one reduction to the next, so that
 * nobody still reads the sums that a warp writes. */
static __device__ __forceinline__ float reduce_row(const struct gm_norm_params &p, float (&sums)[CHAINS], int turn) {
    const int warps = IS_OPEN ? (row_threads(p) + 31) / 32 : WARPS;
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
            all[thread_index() / 32 + i * warps] = sums[i];
    __syncthreads();
    float sum = !IS_OPEN || lane % SUM_LANES < warps * CHAINS ? all[lane % SUM_LANES] : 0;
#pragma unroll
    for (int bit = SUM_LANES / 2; bit > 0; bit /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, bit);
    return sum;
}

#endif
