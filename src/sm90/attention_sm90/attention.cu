/* SPDX-License-Identifier: Apache-2.0 */
/* Attention for Hopper: TMA -> rings of K and V -> WGMMA -> softmax in registers -> WGMMA -> global memory, persistent and
 * warp-specialised.
 *
 * A tile is TILE_M rows of one head of one request; each consumer warpgroup has 64 of them, and goes through the blocks of
 * TILE_N tokens from the last to the first. It issues the scores of the next block, then O of this one, and turns the next
 * block's scores into exponentials while O is computed. P stays in registers. With ping-pong the consumers issue in turns,
 * so that one's wgmmas run under the other's exponentials. Only blocks in which a row does not see all tokens are masked.
 * Elements behind a shorter head are TMA's zeros. Tokens behind kv_len are hidden by selection in S, and are zeros in V,
 * because 0 times what lies there may be NaN. Compiled once per variant.
 *
 *   constants.cuh   what follows from the variant's columns; shared memory
 *   walk.cuh        tell_tiles(): which tile comes next
 *   load.cuh        produce()
 *   mma.cuh         S = Q K, O += P V
 *   softmax.cuh     S -> P
 *   store.cuh       O, lse -> global memory */
#include "common/attention_sm90/params.h"
#include "common/named_barrier.cuh"
#include "common/shared.cuh"
#include "sm90/attention_sm90/constants.cuh"
#include "sm90/attention_sm90/load.cuh"
#include "sm90/attention_sm90/mma.cuh"
#include "sm90/attention_sm90/softmax.cuh"
#include "sm90/attention_sm90/store.cuh"
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
            pipeline_init(v_ring(base), slot, CONSUMERS);
        }
        pipeline_init(q_ring(base), 0, CONSUMERS);
        pipeline_init(tile_ring(base), 0, 4 * CONSUMERS + 1);
        fence_mbarrier_init();
    } else if (threadIdx.x == 32) {
        prefetch_tensormap(&p.q);
        prefetch_tensormap(&p.k);
        prefetch_tensormap(&p.v);
    }
}

/* ---- a consumer ------------------------------------------------------------------------------------ */

/* Where it stands. */
struct consumer {
    struct pipeline_state q, k, v;
    uint32_t tile_phase;
    int number; /* of this warpgroup */
};

/* Rows of V behind the last token become zeros, by all consumers together. */
static __device__ __forceinline__ void clear_tail(uint32_t addr, int tokens, const struct consumer &c) {
    for (int i = (threadIdx.x - 128) * 16 + tokens * SPAN; i < TILE_N * SPAN; i += CONSUMERS * 128 * 16)
#pragma unroll
        for (int slab = 0; slab < SLABS; ++slab)
            st_shared_v4(addr + slab * TILE_N * SPAN + i, 0, 0, 0, 0);
    fence_proxy_async();
    bar_sync(BAR_TAIL, 128 * CONSUMERS);
}

/* Scores -> P, as far as it goes without touching O or the P that is being multiplied. */
static __device__ __forceinline__ void soften(const struct gm_attention_params &p, float (&s)[SCORES],
                                              struct rows &rows, float (&shrink)[2], const struct sight &sight,
                                              int block, float scale, int lane) {
    if (XCAP && p.flags & GM_ATTENTION_HAS_CAP)
        cap_scores(s, p.scale, p.cap * 1.44269504f, p.cap_exponent);
    if (block < sight.clear || block >= sight.clear_end)
        hide(s, sight, block, lane);
    exponentials(s, rows, shrink, scale);
}

/* All blocks of a tile but none. */
static __device__ __forceinline__ void attend(const struct gm_attention_params &p, uint32_t base, struct consumer &c,
                                              float (&o)[OUTPUTS], struct rows &rows, const struct sight &sight,
                                              int kv_len, int first, int end, float scale) {
    const struct pipeline ks = k_ring(base), vs = v_ring(base);
    const uint32_t thread = threadIdx.x % 128, q_addr = base + c.number * 64 * SPAN;
    const int lane = threadIdx.x % 32;
    float s[SCORES], shrink[2];
    uint32_t probs[P_WORDS];

    pipeline_wait(q_ring(base), c.q);
    pipeline_wait(ks, c.k);
    issue_scores(s, q_addr, k_addr(base, c.k.slot));
    wgmma_wait_group<0>();
    wgmma_fence_operand(s);
    pipeline_release<1>(ks, c.k.slot, thread);
    pipeline_next<STAGES>(c.k);
    soften(p, s, rows, shrink, sight, end - 1, scale, lane);
    pack_p(s, probs);
    if (end * TILE_N > kv_len) {
        pipeline_wait(vs, c.v);
        clear_tail(v_addr(base, c.v.slot), kv_len - (end - 1) * TILE_N, c);
    }
    shrink[0] = shrink[1] = 1;
#pragma unroll 1
    for (int block = end - 2; block >= first; --block) {
        pipeline_wait(ks, c.k);
        if (PINGPONG)
            bar_sync(BAR_TURN + c.number, 256);
        issue_scores(s, q_addr, k_addr(base, c.k.slot));
        if (RESCALES_EARLY)
            shrink_outputs(o, shrink);
        pipeline_wait(vs, c.v);
        issue_outputs(o, probs, v_addr(base, c.v.slot));
        if (PINGPONG)
            bar_arrive(BAR_TURN + (c.number + 1) % CONSUMERS, 256);
        wgmma_wait_group<1>();
        wgmma_fence_operand(s);
        pipeline_release<1>(ks, c.k.slot, thread);
        pipeline_next<STAGES>(c.k);
        soften(p, s, rows, shrink, sight, block, scale, lane);
        wgmma_wait_group<0>();
        wgmma_fence_operand(o);
        pipeline_release<1>(vs, c.v.slot, thread);
        pipeline_next<STAGES>(c.v);
        pack_p(s, probs);
        if (!RESCALES_EARLY)
            shrink_outputs(o, shrink);
    }
    pipeline_release<1>(q_ring(base), 0, thread);
    pipeline_next<1>(c.q);
    if (RESCALES_EARLY)
        shrink_outputs(o, shrink);
    pipeline_wait(vs, c.v);
    issue_outputs(o, probs, v_addr(base, c.v.slot));
    wgmma_wait_group<0>();
    wgmma_fence_operand(o);
    pipeline_release<1>(vs, c.v.slot, thread);
    pipeline_next<STAGES>(c.v);
}

/* One consumer warpgroup: its 64 rows of every tile. */
static __device__ __forceinline__ void consume(const struct gm_attention_sm90_params &params, uint32_t base,
                                               int number) {
    const struct gm_attention_params &p = params.attention;
    const int lane = threadIdx.x % 32, row = threadIdx.x / 32 % 4 * 16 + lane / 4 + 64 * number;
    const float scale = p.flags & GM_ATTENTION_HAS_CAP ? 1.0f : p.scale;
    struct consumer c = {{0, 0}, {0, 0}, {0, 0}, 0, number};
    if (PINGPONG && number == CONSUMERS - 1)
        bar_arrive(BAR_TURN, 256);
    for (;;) {
        const struct tile t = next_tile(base, c.tile_phase, lane);
        if (t.rows < 0)
            break;
        float o[OUTPUTS];
        struct rows rows = {{-GM_INFINITY, -GM_INFINITY}, {0, 0}};
#pragma unroll
        for (int i = 0; i < OUTPUTS; ++i)
            o[i] = 0;
        if (t.first < t.end)
            attend(p, base, c, o, rows, sight_of(p, t.position, t.kv_len, 64 * number, row), t.kv_len, t.first, t.end,
                   scale);
        store_tile(p, o, rows, scale, t.row, t.rows, t.head, row, lane);
    }
}

/* ---- entry: set-up, roles --------------------------------------------------------------------------- */

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    GM_KERNEL_NAME(const __grid_constant__ struct gm_attention_sm90_params p) {
    const uint32_t base = smem_base();
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
            tell_tiles(p, base, threadIdx.x % 32);
    } else {
        setmaxnreg_inc<CONSUMER_REGISTERS>();
        consume(p, base, warpgroup - 1);
    }
}
