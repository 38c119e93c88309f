/* SPDX-License-Identifier: Apache-2.0 */
/* Attention for Hopper: TMA -> rings of K and V -> WGMMA -> softmax in registers -> WGMMA -> global memory, persistent and
 * warp-specialised.
 *
 * A tile is TILE_M rows of one head of one request; each consumer warpgroup has 64 of them, and goes through the blocks of
 * TILE_N tokens from the last to the first. It issues the scores of the next block together with O of this one, then turns
 * the scores into exponentials. P stays in registers. The consumers issue in turns, so that one's wgmmas run under the
 * others' exponentials; of 8 bits and up to 128 elements they are faster without. Where two Q fit, the next block may be the next
 * tile's. Only blocks in which a row does not see all tokens are masked. Elements behind a shorter head are TMA's zeros. Tokens behind kv_len are hidden by selection in S, and
 * are zeros in V, because 0 times what lies there may be NaN. Compiled once per variant.
 *
 *   constants.cuh   what follows from the variant's columns; shared memory
 *   walk.cuh        tell_tiles(): which tile comes next
 *   load.cuh        produce()
 *   transpose.cuh   of 8 bits: V as it was loaded -> V as it is multiplied
 *   consumer.cuh    what a consumer knows and does between wgmmas
 *   attend.cuh      the blocks of its tiles; attend_8bit.cuh, attend_8bit_wide.cuh; of a CTA of one tile: attend_alone.cuh
 *   mma.cuh         S = Q K, O += P V; mma_8bit.cuh
 *   softmax.cuh     S -> P
 *   store.cuh       O, lse -> global memory */
#include "common/attention_sm90/params.h"
#include "common/index.cuh"
#include "common/named_barrier.cuh"
#include "common/shared.cuh"
#include "sm90/attention_sm90/attend.cuh"
#include "sm90/attention_sm90/attend_8bit.cuh"
#include "sm90/attention_sm90/attend_8bit_wide.cuh"
#include "sm90/attention_sm90/attend_alone.cuh"
#include "sm90/attention_sm90/constants.cuh"
#include "sm90/attention_sm90/consumer.cuh"
#include "sm90/attention_sm90/load.cuh"
#include "sm90/attention_sm90/transpose.cuh"
#include "sm90/attention_sm90/walk.cuh"
#include "sm90/cluster.cuh"
#include "sm90/mbarrier.cuh"
#include "sm90/pipeline.cuh"
#include "sm90/tma.cuh"

/* Needs no other kernel's results. */
static __device__ __forceinline__ void init_barriers(const struct gm_attention_sm90_params &p, uint32_t base) {
    if (threadIdx.x == 0) {
#pragma unroll
        for (uint32_t slot = 0; slot < STAGES; ++slot) {
            pipeline_init(k_ring(base), slot, CONSUMERS);
            mbarrier_init(v_ring(base).full_addr + 8 * slot, IS_8BIT ? TRANSPOSERS : 1);
            mbarrier_init(v_ring(base).empty_addr + 8 * slot, CONSUMERS);
            if (IS_8BIT)
                pipeline_init(loaded_ring(base), slot, TRANSPOSERS);
        }
#pragma unroll
        for (uint32_t slot = 0; slot < Q_SLOTS; ++slot)
            pipeline_init(q_ring(base), slot, CONSUMERS);
#pragma unroll
        for (uint32_t slot = 0; slot < TILE_SLOTS; ++slot)
            pipeline_init(tile_ring(base), slot, 4 * CONSUMERS + 1);
        fence_mbarrier_init();
    } else if (threadIdx.x == 32) {
        prefetch_tensormap(&p.q);
        prefetch_tensormap(&p.k);
        prefetch_tensormap(&p.v);
    }
}

/* One consumer warpgroup: its 64 rows of every tile. */
static __device__ __forceinline__ void consume(const struct gm_attention_sm90_params &params, uint32_t base,
                                               int number) {
    const struct gm_attention_params &p = params.attention;
    struct consumer c = {};
    if (HAS_TURNS && number == CONSUMERS - 1)
        bar_arrive(BAR_TURN, 256);
    while (next_tile(p, base, c)) {
        if constexpr (IS_WIDE)
            attend_8bit_wide<TILE_N, V_DIM / PASS>(p, base, c);
        else if constexpr (IS_8BIT)
            attend_8bit<TILE_N, V_DIM>(p, base, c);
        else
            attend(p, base, c);
        if (JOINS_TILES)
            break;
    }
}

/* ---- entry: set-up, roles --------------------------------------------------------------------------- */

extern "C" __global__ void __launch_bounds__(THREADS, CTAS)
    GM_KERNEL_NAME(const __grid_constant__ struct gm_attention_sm90_params p) {
    const uint32_t base = smem_base();
    if constexpr (IS_ALONE) {
        attend_alone(p, base);
        return;
    }
    const int warpgroup = __shfl_sync(0xFFFFFFFF, threadIdx.x / 128, 0);
    griddep_launch_dependents();
    init_barriers(p, base);
    __syncthreads();
    if (warpgroup == 0) {
        setmaxnreg_dec<PRODUCER_REGISTERS>();
        const int warp = __shfl_sync(0xFFFFFFFF, threadIdx.x / 32, 0);
        if (warp == 0)
            produce(p, base, threadIdx.x % 32);
        else if (warp == 1)
            tell_tiles(p, base);
        else if (IS_8BIT)
            transpose_values(base, warp - 2);
    } else {
        setmaxnreg_inc<CONSUMER_REGISTERS>();
        consume(p, base, warpgroup - 1);
    }
}
