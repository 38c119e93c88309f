/* SPDX-License-Identifier: Apache-2.0 */
/* GEMM on the cp.async + ldmatrix + mma.sync path: persistent CTAs, compiled once per variant.
 *
 * A tile of few rows has too few warps to hide the latencies of a k-block. There warps of the CTA share the K of the
 * tile (warp-k): the warps of every part of K multiply their part of each stage into accumulators of the whole tile,
 * and the warps of part 0 add them up.
 *
 * D = act(alpha * A B + beta * C + bias), operands of 16 bits or tf32 with sums of fp32, each K-major or MN-major; or
 * K-major int8 with sums of s32, see scaling.cuh. Any size (K = 0 too), stride and element alignment, of int8 whole
 * words: params.a_vector / b_vector say how many bytes base and stride allow per copy. No byte outside the operands'
 * logical rows is read, none outside D's is written. The order of accumulation is the same for every element of D and
 * on every run.
 *
 * Here is the entry. Each of the fragments beside it can be read, and compiled, alone:
 *
 *   constants.cuh                what follows from the variant's columns; shared memory
 *   load.cuh      begin_piece    A, B -> the ring; chunk.cuh: of any alignment; swizzle.cuh: where in a stage
 *   mma.cuh       mma_piece      the ring -> accumulators
 *   warp_k.cuh    sum_warp_k     warp-k: warps of a CTA share the K of a tile
 *   stream_k.cuh                 stream-K: CTAs share the K of the last tiles, cut anywhere
 *   store.cuh     store_tile     accumulators -> D */
#include "common/gemm/raster.cuh"
#include "common/gemm/stream_k.h"
#include "common/gemm_sm80/batch.cuh"
#include "common/gemm_sm80/params.h"
#include "common/index.cuh"
#include "sm80/gemm/constants.cuh"
#include "sm80/gemm/load.cuh"
#include "sm80/gemm/mma.cuh"
#include "sm80/gemm/store.cuh"
#include "sm80/gemm/stream_k.cuh"
#include "sm80/gemm/warp_k.cuh"

#if GM_EXTENDED
typedef struct gm_gemm_sm80_extended_params launch_params;
#else
typedef struct gm_gemm_sm80_params launch_params;
#endif

extern "C" __global__ void __launch_bounds__(THREADS, CTAS)
    GM_KERNEL_NAME(const __grid_constant__ launch_params launched) {
    const struct gm_gemm_sm80_params &p = reinterpret_cast<const struct gm_gemm_sm80_params &>(launched);
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
        sum_t acc[BLOCKS_M][2 * BLOCKS_N][4] = {};
        mma_piece(acc, a, b, piece.first, piece.end);
        if (WARP_K > 1)
            sum_warp_k(acc);
        const int m = tile_m * TILE_M, n = tile_n * TILE_N;
        const bool finished = piece.end == blocks;
        struct gm_epilogue_params of_tile; /* the next piece's are made before this tile is stored */
        if (BATCHED)
            of_tile = own.epilogue;
        if (in_k_part_0()) /* a share's last piece belongs to the first tile of the share */
            publish_or_collect(acc, BATCHED ? own : p, m, n, finished, walk == cta_index(), blocks);
        more = gm_stream_k_next(&p.stream_k, blocks, cta_index(), gridDim.x, &walk, &piece);
        if (more) { /* the next piece's first loads overlap this tile's store */
            if (BATCHED)
                own = matrix_params(p, piece.tile, piece.end == blocks && thread_index() == 0);
            raster_tile(p.raster, piece.tile, &tile_m, &tile_n);
            begin_piece(BATCHED ? own : p, a, b, piece.first, piece.end, tile_m * TILE_M, tile_n * TILE_N);
        }
        if (EXTENDED && finished && in_k_part_0())
            store_extended(acc, p, store_begin<4>(m, n));
        else if (finished && in_k_part_0())
            store_tile(acc, BATCHED ? of_tile : p.epilogue, p.scaling, m, n);
    }
}
