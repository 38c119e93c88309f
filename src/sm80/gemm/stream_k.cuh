/* SPDX-License-Identifier: Apache-2.0 */
/* Stream-K, publish_or_collect(): a CTA that has computed some of a tile's K publishes its partial sum, or collects the
 * partial sums of others. */
#ifndef GM_SM80_GEMM_STREAM_K_CUH
#define GM_SM80_GEMM_STREAM_K_CUH

#include "common/gemm/stream_k.cuh"
#include "common/gemm_sm80/params.h"
#include "common/index.cuh"
#include "sm80/gemm/constants.cuh"
#include "sm80/gemm/store.cuh"
#include "sm80/gemm/warp_k.cuh"

/* Publishes a piece that does not finish its tile. A share's last piece, if it finishes its tile, collects the partial
 * sums of the tile's other pieces. */
static __device__ __forceinline__ void publish_or_collect(sum_t (&acc)[BLOCKS_M][2 * BLOCKS_N][4],
                                                          const struct gm_gemm_sm80_params &p, int m, int n,
                                                          bool finished, bool last, int blocks) {
    enum { PARTIAL_CHUNK = 32 }; /* accumulators of a thread that are loaded at once */
    const struct stream_k_threads threads = {1, 0, thread_index()};
    if (!finished) {
        if (m + TILE_M > p.epilogue.m || n + TILE_N > p.epilogue.n)
            clear_outside(acc, p.epilogue, m, n);
        stream_k_publish<TILE_THREADS, FLOATS>(p.stream_k, threads, cta_index(), &acc[0][0][0], sync_k_part_0);
    } else if (last) {
        stream_k_collect<TILE_THREADS, FLOATS, PARTIAL_CHUNK>(p.stream_k, threads, cta_index(), blocks, &acc[0][0][0],
                                                              sync_k_part_0);
    }
}

#endif
