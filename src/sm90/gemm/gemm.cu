/* SPDX-License-Identifier: Apache-2.0 */
/* GEMM for Hopper: TMA -> ring of stages -> WGMMA -> stmatrix -> TMA store, persistent and warp-specialised.
 *
 * D = act(alpha * A B + beta * C + bias) for A and B of 16 bits or tf32; of int8, whose sums are s32, see scaling.cuh;
 * of fp8, see mma_promoted.cuh; of tf32x3, which multiplies fp32 by three products of tf32,
 * see mma_split.cuh.
 * The maps in the parameters describe A, B and D exactly, so ragged M, N and K are TMA's clipping: elements outside
 * load as zero and are not stored. A CTA, or a cluster that shares operand tiles by multicast or the K of a tile,
 * takes output tiles with the grid's stride. With stream-K it computes its share of the divided tiles before. With
 * split-K it computes one piece of one tile. Warpgroup 0 is the producer; the other warpgroups are consumers, but of
 * tf32x3 the last, which are the splitters.
 * Cooperative consumers each take a part of wgmma's M side of every tile. Ping-pong consumers each take every second
 * tile whole; one multiplies while the other stores. wgmma's M side is A, or B in a swapped variant. Compiled once per
 * variant.
 *
 * Here are the roles and the entry. Each of the fragments beside it can be read, and compiled, alone:
 *
 *   constants.cuh            what follows from the variant's columns; shared memory
 *   walk.cuh                 which tile, or piece of a tile, comes next
 *   load.cuh   produce       A, B -> the ring
 *   mma.cuh    mma_tile      the ring -> accumulators
 *   mma_promoted.cuh         the same of fp8
 *   sum_scales.cuh           scales of fp8's sums: memory -> beside the ring -> factors
 *   mma_split.cuh            the same of tf32x3
 *   gate.cuh   gate_tile     pairs of accumulators -> elements of D, in variants with a gate
 *   store.cuh  store_tile    accumulators -> D
 *   extended.cuh             the same with an extended epilogue
 *   cluster_k.cuh            cluster-k: CTAs of a cluster share the K of a tile
 *   split_k.cuh              split-K: CTAs or clusters share the K of every tile, in equal pieces
 *   stream_k.cuh             stream-K: CTAs or clusters share the K of the last tiles, cut anywhere */
#include "common/gemm/stream_k.h"
#include "common/gemm_sm90/params.h"
#include "common/index.cuh"
#include "common/named_barrier.cuh"
#include "sm90/cluster.cuh"
#include "sm90/gemm/cluster_k.cuh"
#include "sm90/gemm/constants.cuh"
#include "sm90/gemm/extended.cuh"
#include "sm90/gemm/gate.cuh"
#include "sm90/gemm/load.cuh"
#include "sm90/gemm/mma.cuh"
#include "sm90/gemm/mma_promoted.cuh"
#include "sm90/gemm/mma_split.cuh"
#include "sm90/gemm/split_k.cuh"
#include "sm90/gemm/store.cuh"
#include "sm90/gemm/stream_k.cuh"
#include "sm90/gemm/sum_scales.cuh"
#include "sm90/gemm/walk.cuh"
#include "sm90/mbarrier.cuh"
#include "sm90/pipeline.cuh"
#include "sm90/tma.cuh"

/* ---- set-up: needs no other kernel's results, so it may overlap the end of the previous kernel ------- */

/* Of tf32x3, and where sums have scales, every warp of a consumer releases a stage, since it has loaded from it itself. */
static __device__ __forceinline__ void init_slot(struct pipeline ring, uint32_t base, int slot) {
    constexpr int releases = TILE_CONSUMERS * (IS_SPLIT || SCALES_SUMS ? 4 : 1);
    pipeline_init(ring, slot, releases * SHARERS, STAGE_ARRIVALS);
    if (IS_SPLIT)
        mbarrier_init(split_barrier_addr(base, slot), SPLITTERS / 32);
}

/* Initialises the barriers and prefetches the tensor maps. Warp 0 finds its first tile meanwhile. Warp 1 prefetches;
 * the others take the barriers in turns, since a thread takes 80 clocks for each. */
static __device__ __forceinline__ void init_barriers_and_prefetch(const struct gm_gemm_sm90_params &p, uint32_t base,
                                                                  int warp) {
    const struct pipeline ring = pipeline_at(base);
    if (threadIdx.x % 32 != 0 || warp == 0)
        return;
    if (warp == 1) {
        prefetch_tensormap(&p.a);
        prefetch_tensormap(&p.b);
        if (p.plain == GM_SM90_BY_TMA || (SCALES && p.plain == GM_SM90_SCALED_BY_TMA)) /* else there is no map of D */
            prefetch_tensormap(&p.d);
        if (CLUSTER_K > 1)
            cluster_k_init(cluster_k_barriers_at(base));
    }
    for (int slot = warp - 2; slot >= 0 && slot < STAGES; slot += THREADS / 32 - 2)
        init_slot(ring, base, slot);
    if (CLUSTER_K == 1 && warp >= 2 && warp < 2 + TILE_CONSUMERS)
        mbarrier_init(partials_barrier_addr(base, warp - 2), 1);
    fence_mbarrier_init();
}

/* ---- roles -------------------------------------------------------------------------------------------- */

/* How a piece will be stored. It is computed before the piece is multiplied, while the first TMA loads are in flight:
 * instruction-cache misses cost hundreds of clocks, and after the last wgmma nothing would hide them. Tiles that leave
 * too few registers to keep the plan compute it while their last wgmmas run. */
enum { PLANS_STORE_EARLY = !IS_SPLIT && ATOMS_M * ATOM_REGISTERS <= (DEFERS_STORE ? 96 : 128) };
struct store_plan {
    struct gm_piece piece;
    struct tile_position tile;
    int kind;  /* enum store_kind */
    int whole; /* 1: the CTA, or with cluster-k its cluster, multiplies all of the tile's K */
};

static __device__ __forceinline__ enum store_kind store_kind_of(const struct gm_gemm_sm90_params &p,
                                                                struct gm_piece piece, bool last) {
    if (EXTENDED)
        return STORE_EXTENDED;
    if (GATED) /* the accumulators are D by then, which has the operands' type */
        return p.plain != GM_SM90_BY_TMA                                ? STORE_UNALIGNED
               : (LAST_TILE_IN_RING ? ring_drained(piece, last) : last) ? STORE_LAST
                                                                        : STORE_PLAIN_16;
    if (SCALES && p.plain == GM_SM90_SCALED_BY_TMA)
        return STORE_SCALED;
    if (!p.plain || ((!IS_HALF || p.epilogue.d_type != GM_TYPE) && p.epilogue.d_type != GM_TYPE_fp32))
        return STORE_GENERAL;
    if (p.plain != GM_SM90_BY_TMA)
        return p.epilogue.d_type == GM_TYPE_fp32 ? STORE_GENERAL : STORE_UNALIGNED;
    if (p.epilogue.d_type == GM_TYPE_fp32)
        return STORE_PLAIN_32;
    return (LAST_TILE_IN_RING ? ring_drained(piece, last) : last) ? STORE_LAST : STORE_PLAIN_16;
}

static __device__ __forceinline__ struct store_plan plan_store(const struct gm_gemm_sm90_params &p, int walk,
                                                               uint32_t rank) {
    struct store_plan plan;
    walk_next(p, rank, walk, plan.piece);
    plan.tile = tile_at(p, plan.piece.tile, rank);
    plan.kind = store_kind_of(p, plan.piece, !walk_more(p, walk));
    plan.whole = CLUSTER_K > 1 || (plan.piece.first == 0 && plan.piece.end == p.k_blocks);
    asm volatile("" /* computed here, not where it is used */
                 : "+r"(plan.tile.m), "+r"(plan.tile.n), "+r"(plan.piece.first), "+r"(plan.piece.end), "+r"(plan.kind),
                   "+r"(plan.whole));
    if (BATCHED)
        asm volatile("" : "+r"(plan.tile.matrix));
    return plan;
}

/* Stores a finished tile, or publishes a partial sum (stream-K). Returns true if the tile is finished but its store is
 * deferred. The common case, a plain store of the last tile, is duplicated at the top, so that it runs without
 * instruction-cache misses; not for the largest tiles, where the copy costs registers. Consumers that share a tile wait
 * for each other only before they overwrite the ring: otherwise one may be at the next tile while the other stores.
 * NOTE: the barrier stands outside any branch: with a branch ptxas no longer proves that the ring's slots are the same
 * in all lanes, and the main loop pays. */
static __device__ __forceinline__ bool store_or_publish(const struct gm_gemm_sm90_params &p, uint32_t base,
                                                        uint32_t rank, sum_t (&acc)[ATOMS_M][ATOM_REGISTERS],
                                                        const struct store_plan &plan, struct store_context &store) {
    const int consumer = store.bar - BAR_STAGING, row0 = PINGPONG ? 0 : consumer * ROWS;
    const int part = CLUSTER_K == 1 ? 0 : rank / SHARERS;
    if (LAST_TILE_IN_RING) {
        const bool together = TILE_CONSUMERS > 1 && plan.kind == STORE_LAST;
        bar_sync(together ? BAR_ORDER : store.bar, together ? 128 * TILE_CONSUMERS : 128);
    }
    if (IS_HALF && !GATED && !EXTENDED && PLANS_STORE_EARLY && plan.whole && plan.kind == STORE_LAST) {
        store_tile(p, store, acc, plan.tile, row0, part, STORE_LAST, base);
        return false;
    }
    if (CLUSTER_K == 1 && !plan.whole && !publish_or_collect(p, base, acc, plan.tile, plan.piece, rank, row0, store))
        return false;
    if (EXTENDED && GATED)
        scale_gates(p, acc, store_origin_of<0>(plan.tile, row0), store.thread);
    if (GATED)
        gate_tile(p, acc, plan.tile, store.thread);
    if (EXTENDED) {
        store_extended(p, store, acc, plan.tile, row0);
        return false;
    }
    if (DEFERS_STORE && plan.kind == STORE_PLAIN_16)
        return true;
    store_tile(p, store, acc, plan.tile, row0, part, (enum store_kind)plan.kind, base);
    return false;
}

/* A consumer's staging, thread and barrier. Computed anew for every tile: the main loop has no registers to keep it. */
static __device__ __forceinline__ struct store_context store_context_of(uint32_t base, uint32_t buffer) {
    const int thread = thread_index(), consumer = thread / 128 - 1;
    return {staging_addr(base, consumer), (uint32_t)thread % 128, (uint32_t)(BAR_STAGING + consumer), buffer};
}

/* Ping-pong: skips the other consumer's piece, and its stages of the ring. */
static __device__ __forceinline__ void skip_piece(const struct gm_gemm_sm90_params &p, uint32_t rank, int &walk,
                                                  struct pipeline_state &at) {
    struct gm_piece piece;
    walk_next(p, rank, walk, piece);
    pipeline_skip<STAGES>(at, piece.end - piece.first);
}

/* A piece that has been popped off the walk. */
struct popped_piece {
    bool any; /* false: the walk was over, and there is no piece */
    int walk; /* the walk before the piece, to compute the piece anew from */
    struct gm_piece piece;
};

static __device__ __forceinline__ struct popped_piece pop_piece(const struct gm_gemm_sm90_params &p, uint32_t rank,
                                                                int &walk) {
    struct popped_piece popped;
    popped.any = walk_more(p, walk);
    popped.walk = walk;
    walk_next(p, rank, walk, popped.piece);
    return popped;
}

/* One consumer warpgroup multiplies and stores its share of this CTA's tiles. */
static __device__ __forceinline__ void consume(const struct gm_gemm_sm90_params &p, uint32_t base, uint32_t rank,
                                               int consumer) {
    const struct pipeline ring = pipeline_at(base);
    const uint32_t thread = threadIdx.x % 128;
    const int row0 = PINGPONG ? 0 : consumer * ROWS;
    struct pipeline_state at = {0, 0};
    uint32_t parity = 0, buffer = 0; /* cluster-k: parity of the tile; the next of two staging buffers */
    sum_t acc[ATOMS_M][ATOM_REGISTERS];
    struct deferred_tile deferred; /* the previous tile, if its store was deferred */
    deferred.any = false;

    int walk = walk_begin(p), turn = consumer;
    if (PINGPONG && consumer == 1)
        skip_piece(p, rank, walk, at);
    asm volatile("" ::"r"(p.plain), "r"(p.epilogue.d_type), "f"(p.epilogue.alpha)); /* into the constant cache */
    struct popped_piece now; /* where stores are deferred, popped early: while the previous piece's wgmmas run */
    if (DEFERS_STORE)
        now = pop_piece(p, rank, walk);
    while (DEFERS_STORE ? now.any : walk_more(p, walk)) {
        struct store_plan plan;
        if (PLANS_STORE_EARLY)
            plan = plan_store(p, DEFERS_STORE ? now.walk : walk, rank);
        if (!DEFERS_STORE)
            now = pop_piece(p, rank, walk);
        /* Ping-pong: the other consumer multiplies the previous piece, then I multiply mine, then it multiplies on. */
        if (PINGPONG && turn > 0)
            bar_sync(BAR_ORDER + consumer, 256);
        turn = 1;
        struct store_context store = store_context_of(base, buffer);
        const int k_blocks = now.piece.end - now.piece.first;
        if (IS_SPLIT)
            mma_split_tile(acc[0], {base, thread, row0}, at, k_blocks);
        else if constexpr (PROMOTES)
            mma_promoted_tile(acc, ring, at, base, row0, k_blocks, thread);
        else
            mma_tile<DEFERS_STORE ? DEFERRED_BUFFERS : 0>(
                acc, ring, at, base, row0, k_blocks, thread, deferred.any,
                [&](int i) { store_staged<2, 0>(p, store, deferred.packed, deferred.at, i); });
        if (PINGPONG && walk_more(p, walk))
            bar_arrive(BAR_ORDER + (consumer ^ 1), 256);
        store = store_context_of(base, DEFERS_STORE ? store.buffer : buffer);
        asm volatile("" : "+r"(now.walk));
        if (!PLANS_STORE_EARLY)
            plan = plan_store(p, now.walk, rank);
        if (DEFERS_STORE) {
            now = pop_piece(p, rank, walk);
            asm volatile("" : "+r"(walk), "+r"(now.piece.first), "+r"(now.piece.end)); /* here, not after the drain */
        }
        if (!IS_SPLIT && !PROMOTES)
            mma_drain(acc, ring, at, thread);
        if (CLUSTER_K > 1)
            cluster_k_exchange(acc, base, rank / SHARERS, consumer, parity, thread);
        parity ^= 1;
        deferred.any = store_or_publish(p, base, rank, acc, plan, store);
        if (DEFERS_STORE) {
            if (!now.any)
                break; /* the last tile is stored by now */
            defer_tile(p, acc, plan.tile, row0, deferred);
        }
        buffer = store.buffer;
        if (PINGPONG)
            skip_piece(p, rank, walk, at);
    }
    if (store_issues(thread))
        bulk_wait_group_read<0>();
}

/* One consumer warpgroup of a split-K variant: it multiplies its piece, publishes it, then adds up and stores its part
 * of all pieces. */
static __device__ __forceinline__ void consume_split_k(const struct gm_gemm_sm90_params &p, uint32_t base,
                                                       uint32_t rank, int consumer) {
    const uint32_t thread = threadIdx.x % 128;
    const struct split_k_piece own = split_k_piece_of(p.stream_k, rank);
    const struct gm_piece piece = gm_split_k_piece(&p.stream_k, own.tile, own.number);
    const struct tile_position tile = tile_at(p, own.tile, rank);
    struct pipeline_state at = {0, 0};
    sum_t acc[ATOMS_M][ATOM_REGISTERS];
    mma_tile<0>(acc, pipeline_at(base), at, base, consumer * ROWS, piece.end - piece.first, thread, false, [](int) {});
    mma_drain(acc, pipeline_at(base), at, thread);
    clear_outside(p.epilogue, acc, tile, consumer * ROWS, thread);
    publish_piece(p.stream_k, base, &acc[0][0], own, consumer, thread);
    store_parts(p, base, own, tile, consumer, thread);
}

/* ---- entry: set-up, roles, drain ------------------------------------------------------------------- */

#if GM_EXTENDED
typedef struct gm_gemm_sm90_extended_params launch_params;
#else
typedef struct gm_gemm_sm90_params launch_params;
#endif

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    GM_KERNEL_NAME(const __grid_constant__ launch_params launched) {
    const struct gm_gemm_sm90_params &p = reinterpret_cast<const struct gm_gemm_sm90_params &>(launched);
    const uint32_t base = smem_base();
    const uint32_t rank = CLUSTER_SIZE == 1 ? 0 : cluster_ctarank();
    const int warpgroup = __shfl_sync(0xFFFFFFFF, threadIdx.x / 128, 0);

    griddep_launch_dependents(); /* the next kernel may set itself up on SMs that become idle */
    init_barriers_and_prefetch(p, base, __shfl_sync(0xFFFFFFFF, threadIdx.x / 32, 0));
    if (IS_SPLIT)
        zero_ring_outside(p, base);
    const struct load_cursor first = producer_begin(p, rank); /* by all threads, so that it is in uniform registers */
    if (CLUSTER_SIZE == 1)
        __syncthreads();
    else
        cluster_sync_init();

    if (warpgroup == 0) {
        setmaxnreg_dec<PRODUCER_REGISTERS>();
        if (SPLIT_K && __shfl_sync(0xFFFFFFFF, threadIdx.x / 32, 0) == 1)
            fetch_parts(p.stream_k);
        else if (SCALES_SUMS && __shfl_sync(0xFFFFFFFF, threadIdx.x / 32, 0) == 1)
            load_sum_scales(p, base, rank, threadIdx.x % 32);
        else if (threadIdx.x == 0)
            produce(p, base, rank, first);
    } else if (IS_SPLIT && warpgroup > CONSUMERS) {
        setmaxnreg_dec<SPLITTER_REGISTERS>();
        split_stages(p, base, rank, threadIdx.x % 128);
    } else {
        setmaxnreg_inc<CONSUMER_REGISTERS>();
        if (SPLIT_K)
            consume_split_k(p, base, rank, warpgroup - 1);
        else
            consume(p, base, rank, warpgroup - 1);
    }
}
