/* SPDX-License-Identifier: Apache-2.0 */
/* Attention whose v is the first elements of k, for Hopper: multi-head latent attention, as decoding has it. A block of k is
 * loaded once, for scores and as values.
 *
 * A CTA, a part, takes pieces of units: 64 packed rows of a request and a head of k, and some of its blocks of keys. Its warpgroups
 * are
 *
 *   producer   a warp that loads blocks by TMA, two for q's rows, and the clerk, which finds the next piece
 *   scorer     S = Q K by wgmma, its softmax, and weights into the stage, where the elements are that v does not have
 *   adders     O += P V by wgmma, 256 columns each: P in registers, V as it lies
 *
 * so that scores and exponentials of a block are computed while values of the block before are added. What rows' values must be
 * multiplied by, where a larger score has come, goes with the weights. CTAs behind the parts put together units that are cut.
 * Two CTAs of a cluster are one part, with 64 rows each of a unit of 128: each loads half of every block into both. Compiled once per
 * variant.
 *
 *   constants.cuh                 what follows from the variant's columns; shared memory
 *   common/attention/work.cuh     the list of work
 *   piece.cuh                     pieces, from the clerk to the other warps
 *   load.cuh                      global memory -> shared memory
 *   score.cuh                     the scorer
 *   add.cuh                       the adders
 *   merge.cuh                     units that are cut
 *
 * Of the same plan and the same lengths, results have the same bits from run to run. */
#include "sm90/attention_mla_sm90/constants.cuh"

#include "sm90/attention_mla_sm90/add.cuh"
#include "sm90/attention_mla_sm90/load.cuh"
#include "sm90/attention_mla_sm90/merge.cuh"
#include "sm90/attention_mla_sm90/score.cuh"

/* Needs no other kernel's results. */
static __device__ __forceinline__ void init_barriers(const struct gm_attention_mla_sm90_params &p, uint32_t base) {
    if (threadIdx.x == 0) {
#pragma unroll
        for (uint32_t slot = 0; slot < STAGES; ++slot) {
#pragma unroll
            for (int step = 0; step < STEPS; ++step)
                mbarrier_init(full_addr(base, slot, step), p.box_tokens ? 1 : GATHER_WARPS);
#pragma unroll
            for (int half = 0; half < HALVES; ++half)
                mbarrier_init(empty_addr(base, slot, half), 4 * ADDERS * CLUSTER);
            mbarrier_init(weighed_addr(base, slot), 4);
            mbarrier_init(left_addr(base, slot), 4 * ADDERS);
        }
        mbarrier_init(q_ring(base).full_addr, GATHER_WARPS);
        mbarrier_init(q_ring(base).empty_addr, 4);
#pragma unroll
        for (uint32_t slot = 0; slot < PIECE_SLOTS; ++slot) {
            pipeline_init(piece_ring(base), slot, READER_WARPS);
            mbarrier_init(summed_addr(base, slot), 4);
        }
        fence_mbarrier_init();
    } else if (threadIdx.x == 32) {
        prefetch_tensormap(&p.k);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    GM_KERNEL_NAME(const __grid_constant__ struct gm_attention_mla_sm90_params p) {
    const uint32_t base = smem_base();
    const int warpgroup = __shfl_sync(0xFFFFFFFF, threadIdx.x / 128, 0);
    griddep_launch_dependents();
    if (cta_index() >= p.parts * CLUSTER) {
        merge(p, cta_index() - p.parts * CLUSTER);
        return;
    }
    init_barriers(p, base);
    if (CLUSTER > 1)
        cluster_sync_init();
    __syncthreads();
    if (warpgroup == 0) {
        setmaxnreg_dec<PRODUCER_REGISTERS>();
        const int warp = __shfl_sync(0xFFFFFFFF, threadIdx.x / 32, 0);
        if (warp == 0)
            produce_boxes(p, base);
        else if (warp == 1)
            tell_pieces(p, base);
        else
            produce_rows(p, base);
    } else if (warpgroup == 1) {
        setmaxnreg_dec<SCORER_REGISTERS>();
        score(p.a, base);
    } else {
        setmaxnreg_inc<ADDER_REGISTERS>();
        add(p, base, warpgroup - 2);
    }
    if (CLUSTER > 1)
        cluster_sync(); /* no CTA ends while its peer may load into it or arrive at it */
}
