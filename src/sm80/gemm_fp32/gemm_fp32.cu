/* SPDX-License-Identifier: Apache-2.0 */
/* GEMM of fp32 operands by FFMA: cp.async into a ring, 16-byte loads from it, persistent CTAs, compiled once per
 * variant.
 *
 * D = act(alpha * A B + beta * C + bias) with A, B, C and D in fp32, each operand K-major or MN-major. Any size (K = 0
 * too), stride and element alignment: params.a_vector / b_vector say how many bytes base and stride allow per copy. No
 * byte outside the operands' logical rows is read, none outside D's is written. A product is rounded with the sum that
 * it is added to, k by k in the order of K, the same in every variant; only stream-K adds parts of K.
 *
 * FFMAs are what time goes into, so nothing else may take their issue slots: no element is moved or transposed on its
 * way. Here is the entry. Each of the fragments beside it can be read, and compiled, alone:
 *
 *   constants.cuh                   what follows from the variant's columns; shared memory
 *   place.cuh                       where chunks lie in a stage, and what of the tile a lane has
 *   load.cuh       begin_piece      A, B -> the ring
 *   multiply.cuh   multiply_piece   the ring -> accumulators
 *   store.cuh      store_tile       accumulators -> D */
#include "common/gemm/raster.cuh"
#include "common/gemm/stream_k.cuh"
#include "common/gemm_sm80/batch.cuh"
#include "common/gemm_sm80/params.h"
#include "common/index.cuh"
#include "sm80/gemm_fp32/constants.cuh"
#include "sm80/gemm_fp32/load.cuh"
#include "sm80/gemm_fp32/multiply.cuh"
#include "sm80/gemm_fp32/store.cuh"

/* Stream-K: publishes a piece that does not finish its tile. A share's last piece, if it finishes its tile, collects
 * the partial sums of the tile's other pieces. Sums of what lies outside D are zeros. */
static __device__ __forceinline__ void publish_or_collect(float (&acc)[THREAD_M][THREAD_N], const struct gm_stream_k &s,
                                                          bool finished, bool last, int blocks) {
    enum { PARTIAL_CHUNK = 8 }; /* accumulators of a thread that are loaded at once */
    const struct stream_k_threads threads = {1, 0, thread_index()};
    if (!finished)
        stream_k_publish<THREADS, FLOATS>(s, threads, cta_index(), &acc[0][0], [] { __syncthreads(); });
    else if (last)
        stream_k_collect<THREADS, FLOATS, PARTIAL_CHUNK>(s, threads, cta_index(), blocks, &acc[0][0],
                                                         [] { __syncthreads(); });
}

extern "C" __global__ void __launch_bounds__(THREADS, CTAS)
    GM_KERNEL_NAME(const __grid_constant__ struct gm_gemm_sm80_params p) {
    const int blocks = p.k / TILE_K + (p.k % TILE_K != 0);
    int walk = gm_stream_k_begin(&p.stream_k, blocks, blockIdx.x), tile_m, tile_n;
    struct gm_piece piece;
    struct operand a, b;
    struct gm_gemm_sm80_params own; /* of a batch: the parameters of the piece's matrix */
    bool more = gm_stream_k_next(&p.stream_k, blocks, blockIdx.x, gridDim.x, &walk, &piece);
    if (more) {
        if (BATCHED)
            own = matrix_params(p, piece.tile, piece.end == blocks && thread_index() == 0);
        raster_tile(p.raster, piece.tile, &tile_m, &tile_n);
        begin_piece(BATCHED ? own : p, a, b, piece.first, piece.end, tile_m * TILE_M, tile_n * TILE_N);
    }
#pragma unroll 1
    while (more) {
        float acc[THREAD_M][THREAD_N] = {};
        multiply_piece(acc, BATCHED ? own : p, a, b, piece.first, piece.end);
        const int m = a.mn, n = b.mn;
        struct gm_epilogue_params of_tile; /* the next piece's are made before this tile is stored */
        if (BATCHED)
            of_tile = own.epilogue;
        const bool finished = piece.end == blocks; /* a share's last piece belongs to the first tile of the share */
        publish_or_collect(acc, p.stream_k, finished, walk == cta_index(), blocks);
        more = gm_stream_k_next(&p.stream_k, blocks, cta_index(), gridDim.x, &walk, &piece);
        if (more) { /* the next piece's first loads overlap this tile's store */
            if (BATCHED)
                own = matrix_params(p, piece.tile, piece.end == blocks && thread_index() == 0);
            raster_tile(p.raster, piece.tile, &tile_m, &tile_n);
            begin_piece(BATCHED ? own : p, a, b, piece.first, piece.end, tile_m * TILE_M, tile_n * TILE_N);
        }
        if (finished)
            store_tile(acc, BATCHED ? of_tile : p.epilogue, m, n);
    }
}
