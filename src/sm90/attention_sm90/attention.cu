/* SPDX-License-Identifier: Apache-2.0 */
/* Attention for Hopper: TMA -> rings of K and V -> WGMMA -> softmax in registers -> WGMMA -> global memory, persistent and
 * warp-specialised.
 *
 * A tile is TILE_M rows of one head of one request; each consumer warpgroup has 64 of them, and goes through the blocks of
 * TILE_N tokens from the last to the first. It issues the scores of the next block together with O of this one, then turns
 * the scores into exponentials. P stays in registers. The consumers issue in turns, so that one's wgmmas run under the
 * others' exponentials. Where two Q fit, the next block may be the next tile's. Only blocks in which a row does not see all
 * tokens are masked. Elements behind a shorter head are TMA's zeros. Tokens behind kv_len are hidden by selection in S, and
 * are zeros in V, because 0 times what lies there may be NaN. Compiled once per variant.
 *
 *   constants.cuh   what follows from the variant's columns; shared memory
 *   walk.cuh        tell_tiles(): which tile comes next
 *   load.cuh        produce()
 *   mma.cuh         S = Q K, O += P V
 *   softmax.cuh     S -> P
 *   store.cuh       O, lse -> global memory */
#include "common/attention_sm90/params.h"
#include "common/index.cuh"
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

/* ---- a consumer ------------------------------------------------------------------------------------ */

/* Where it stands. Of all rings it knows only how many it has had: that is fewer registers. */
struct consumer {
    uint32_t blocks;      /* whose scores were computed, of all tiles */
    uint32_t tiles;       /* it has heard of */
    int block, first;     /* the block whose scores were computed last, and the tile's last one to come */
    int clear, clear_end; /* blocks of which all rows of the warpgroup see all tokens */
};

/* Of this warpgroup. */
static __device__ __forceinline__ int number_of(void) {
    return __shfl_sync(0xFFFFFFFF, (uint32_t)thread_index() / 128, 0) - 1;
}

/* Hears of the next tile, and waits for its Q; false if there is none. */
static __device__ __forceinline__ bool next_tile(const struct gm_attention_params &p, uint32_t base,
                                                 struct consumer &c) {
    const struct pipeline_state at = state_at<TILE_SLOTS>(c.tiles);
    mbarrier_wait(tile_ring(base).full_addr + 8 * at.slot, at.phase);
    const struct tile t = read_tile(tile_addr(base, at.slot));
    const int position = t.position + 64 * number_of();
    c.block = __shfl_sync(0xFFFFFFFF, t.end - 1, 0);
    c.first = __shfl_sync(0xFFFFFFFF, t.first, 0);
    c.clear = (low_of(p, position + 63) + TILE_N - 1) / TILE_N;
    c.clear_end = max(high_of(p, position, t.kv_len), 0) / TILE_N;
    if (__shfl_sync(0xFFFFFFFF, t.rows, 0) < 0)
        return false;
    pipeline_wait(q_ring(base), state_at<Q_SLOTS>(c.tiles));
    ++c.tiles;
    return true;
}

/* The description and the Q of the tile that it heard of last. */
static __device__ __forceinline__ uint32_t tile_slot(const struct consumer &c) {
    return (c.tiles - 1) % TILE_SLOTS;
}

static __device__ __forceinline__ uint32_t q_slot(const struct consumer &c) {
    return (c.tiles - 1) % Q_SLOTS;
}

/* The first of a thread's two rows in the tile. */
static __device__ __forceinline__ int row_of(void) {
    const uint32_t thread = thread_index();
    return 64 * number_of() + thread / 32 % 4 * 16 + thread % 32 / 4;
}

/* What scores are multiplied by in the exponent, if they are not capped before. */
static __device__ __forceinline__ float scale_of(const struct gm_attention_params &p) {
    return p.flags & GM_ATTENTION_HAS_CAP ? 1.0f : p.scale;
}

/* Scores -> exponentials, as far as it goes without touching O or the P that is being multiplied. */
static __device__ __forceinline__ void soften(const struct gm_attention_params &p, uint32_t base, float (&s)[SCORES],
                                              struct rows &rows, float (&shrink)[2], const struct consumer &c) {
    if (p.flags & GM_ATTENTION_HAS_CAP)
        cap_scores(s, p.scale, p.cap * GM_LOG2_E, p.cap_exponent);
    if (c.block < c.clear || c.block >= c.clear_end) {
        const struct tile t = read_tile(tile_addr(base, tile_slot(c)));
        hide(p, s, t.position + row_of(), t.kv_len, c.block, lane_index());
    }
    exponentials(s, rows, shrink, scale_of(p));
}

/* If the block is its tile's first and the last tokens of it are none, their rows of V become zeros, by all consumers
 * together. */
static __device__ __forceinline__ void clear_tail(uint32_t base, const struct consumer &c) {
    const struct tile t = read_tile(tile_addr(base, tile_slot(c)));
    const int tokens = t.kv_len - c.block * TILE_N;
    if (c.block != t.end - 1 || tokens >= TILE_N)
        return;
    const struct pipeline_state at = state_at<STAGES>(c.blocks - 1);
    pipeline_wait(v_ring(base), at);
    for (int i = (thread_index() - 128) * 16 + tokens * SPAN; i < TILE_N * SPAN; i += CONSUMERS * 128 * 16)
#pragma unroll
        for (int slab = 0; slab < V_SLABS; ++slab)
            st_shared_v4(v_addr(base, at.slot) + slab * TILE_N * SPAN + i, 0, 0, 0, 0);
    fence_proxy_async();
    bar_sync(BAR_TAIL, 128 * CONSUMERS);
}

/* The scores of c.block are there: its K may be overwritten, and behind the tile's last block its Q. */
static __device__ __forceinline__ void release_scores(uint32_t base, struct consumer &c) {
    const uint32_t thread = (uint32_t)thread_index() % 128;
    pipeline_release<1>(k_ring(base), c.blocks % STAGES, thread);
    ++c.blocks;
    if (c.block == c.first)
        pipeline_release<1>(q_ring(base), q_slot(c), thread);
}

/* The same in all lanes; ptxas believes it of a shuffle. */
static __device__ __forceinline__ uint32_t uniform(uint32_t x) {
    return __shfl_sync(0xFFFFFFFF, x, 0);
}

/* The end of a tile, whose O is done. */
static __device__ __forceinline__ void finish_tile(const struct gm_attention_params &p, uint32_t base,
                                                   const struct consumer &c, const float (&o)[OUTPUTS],
                                                   const float (&factor)[2], uint32_t slot) {
    const int lane = lane_index();
    store_rows(p, o, factor, read_tile(tile_addr(base, slot)), row_of(), lane);
    forget(base, slot, lane);
}

/* Tiles that follow each other without a gap: all, or one where there is one Q.
 * NOTE: wgmma stands in no branch, or ptxas serialises it (C7515). So behind the last tile scores are computed once more
 * from what the ring still holds, and nobody uses them. */
static __device__ __forceinline__ void attend(const struct gm_attention_params &p, uint32_t base, struct consumer &c) {
    const struct pipeline ks = k_ring(base), vs = v_ring(base);
    float s[SCORES], o[OUTPUTS], shrink[2], factor[2];
    uint32_t probs[P_WORDS];
    struct rows rows = {{-GM_INFINITY, -GM_INFINITY}, {0, 0}};

    pipeline_wait(ks, state_at<STAGES>(c.blocks));
    issue_scores(s, uniform(q_addr(base, q_slot(c))) + number_of() * 64 * SPAN, k_addr(base, c.blocks % STAGES));
    wgmma_wait_group<0>();
    wgmma_fence_operand(s);
    release_scores(base, c);
    soften(p, base, s, rows, shrink, c);
    pack_p(s, probs);
    clear_tail(base, c);
    shrink[0] = shrink[1] = 0;
#pragma unroll
    for (int i = 0; i < OUTPUTS; ++i)
        o[i] = 0;
#pragma unroll 1
    for (;;) {
        const bool last = c.block == c.first;
        const uint32_t slot = tile_slot(c);
        const struct pipeline_state at = state_at<STAGES>(c.blocks - 1); /* of V; K is one ahead */
        bool more = true;
        if (!JOINS_TILES && last)
            break;
        if (last)
            more = next_tile(p, base, c);
        else
            --c.block;
        pipeline_wait(ks, state_at<STAGES>(c.blocks));
        const uint32_t q = (JOINS_TILES ? uniform(q_addr(base, q_slot(c))) : base) + number_of() * 64 * SPAN;
        const uint32_t k = uniform(k_addr(base, c.blocks % STAGES)), v = uniform(v_addr(base, at.slot));
        bar_sync(BAR_TURN + number_of(), 256);
        issue_scores(s, q, k);
        if (OVERLAPS)
            shrink_outputs(o, shrink);
        pipeline_wait(vs, at);
        issue_outputs(o, probs, v);
        bar_arrive(BAR_TURN + (number_of() + 1) % CONSUMERS, 256);
        if (JOINS_TILES && last) {
            finish_rows(p, rows, scale_of(p), read_tile(tile_addr(base, slot)), row_of(), lane_index(), factor);
            rows = {{-GM_INFINITY, -GM_INFINITY}, {0, 0}};
        }
        wgmma_wait_group<1>();
        wgmma_fence_operand(s);
        release_scores(base, c);
        soften(p, base, s, rows, shrink, c);
        if (OVERLAPS)
            wgmma_wait_group_behind<0>(rows.sum[0] + rows.sum[1], tile_addr(base, 0));
        else
            wgmma_wait_group<0>();
        wgmma_fence_operand(o);
        pipeline_release<1>(vs, at.slot, (uint32_t)thread_index() % 128);
        pack_p(s, probs);
        if (JOINS_TILES && last) {
            finish_tile(p, base, c, o, factor, slot);
            if (!more)
                return;
#pragma unroll
            for (int i = 0; i < OUTPUTS; ++i)
                o[i] = 0;
            clear_tail(base, c);
        } else if (!OVERLAPS) {
            shrink_outputs(o, shrink);
        }
    }
    if (OVERLAPS)
        shrink_outputs(o, shrink);
    const struct pipeline_state at = state_at<STAGES>(c.blocks - 1);
    pipeline_wait(vs, at);
    issue_outputs(o, probs, v_addr(base, at.slot));
    finish_rows(p, rows, scale_of(p), read_tile(tile_addr(base, tile_slot(c))), row_of(), lane_index(), factor);
    wgmma_wait_group<0>();
    wgmma_fence_operand(o);
    pipeline_release<1>(vs, at.slot, (uint32_t)thread_index() % 128);
    finish_tile(p, base, c, o, factor, tile_slot(c));
}

/* One consumer warpgroup: its 64 rows of every tile. */
static __device__ __forceinline__ void consume(const struct gm_attention_sm90_params &params, uint32_t base,
                                               int number) {
    const struct gm_attention_params &p = params.attention;
    struct consumer c = {0, 0, 0, 0, 0, 0};
    if (number == CONSUMERS - 1)
        bar_arrive(BAR_TURN, 256);
    while (next_tile(p, base, c)) {
        attend(p, base, c);
        if (JOINS_TILES)
            break;
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
            tell_tiles(p, base);
    } else {
        setmaxnreg_inc<CONSUMER_REGISTERS>();
        consume(p, base, warpgroup - 1);
    }
}
