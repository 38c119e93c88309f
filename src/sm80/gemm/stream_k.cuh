/* SPDX-License-Identifier: Apache-2.0 */
/* Stream-K, give_or_take(): a CTA with a part of a tile's K hands it on, or adds what others have. */
#ifndef GM_SM80_GEMM_STREAM_K_CUH
#define GM_SM80_GEMM_STREAM_K_CUH

#include "common/gemm/stream_k.cuh"
#include "common/gemm_sm80/params.h"
#include "common/index.cuh"
#include "sm80/gemm/constants.cuh"
#include "sm80/gemm/slices.cuh"
#include "sm80/gemm/store.cuh"

/* A piece that ends before its tile does is given away; the one that a share computes last takes the others of its
 * tile. */
static __device__ __forceinline__ void give_or_take(float (&acc)[BLOCKS_M][2 * BLOCKS_N][4],
                                                    const struct gm_gemm_sm80_params &p, int m, int n, bool finished,
                                                    bool last, int blocks) {
    enum { BAND = 32 };
    const struct stream_k_gang gang = {1, 0, thread_index()};
    if (!finished) {
        if (m + TILE_M > p.epilogue.m || n + TILE_N > p.epilogue.n) {
            clear_outside(acc, p.epilogue, m, n);
        }
        stream_k_give<TILE_THREADS, FLOATS>(p.stream_k, gang, cta_index(), &acc[0][0][0], sync_slice_0);
    } else if (last) {
        stream_k_take<TILE_THREADS, FLOATS, BAND>(p.stream_k, gang, cta_index(), blocks, &acc[0][0][0], sync_slice_0);
    }
}

#endif
