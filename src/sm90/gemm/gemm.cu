/* SPDX-License-Identifier: Apache-2.0 */
/* GEMM for Hopper: TMA -> ring of stages -> WGMMA -> stmatrix -> TMA store, persistent and warp-specialised.
 *
 * D = act(alpha * A B + beta * C + bias) for 16-bit A and B. The maps in the parameters describe A, B and D exactly,
 * so ragged M, N and K are TMA's clipping: elements outside load as zero and are not stored. One CTA (or a cluster
 * that shares operand tiles by multicast, or the K of a tile) walks output tiles with the grid's stride, after its
 * share of those that are divided by k-blocks, if any are; in a variant that reduces, it has one piece of one tile.
 * Warpgroup 0 is the producer; the others are consumers, either cooperative (each takes its part of wgmma's M side of
 * every tile) or ping-pong (each takes every second tile whole, one multiplying while the other stores). wgmma's M side
 * is A, or B in a swapped variant. Compiled once per variant.
 *
 * Here are the roles and the entry. Each of the fragments beside it can be read, and compiled, alone:
 *
 *   constants.cuh            what follows from the variant's columns; shared memory
 *   walk.cuh                 which tile, or piece of one, comes next
 *   load.cuh   produce       A, B -> the ring
 *   mma.cuh    mma_tile      the ring -> accumulators
 *   store.cuh  store_tile    accumulators -> D
 *   split.cuh                cluster-k: CTAs of a cluster share the K of a tile
 *   reduce_scatter.cuh       split-K: so do CTAs or clusters, in equal pieces
 *   stream_k.cuh             stream-K: so do CTAs, of the last tiles only, cut anywhere */
#include "common/gemm/stream_k.h"
#include "common/gemm_sm90/params.h"
#include "common/index.cuh"
#include "common/named_barrier.cuh"
#include "sm90/cluster.cuh"
#include "sm90/gemm/constants.cuh"
#include "sm90/gemm/load.cuh"
#include "sm90/gemm/mma.cuh"
#include "sm90/gemm/reduce_scatter.cuh"
#include "sm90/gemm/split.cuh"
#include "sm90/gemm/store.cuh"
#include "sm90/gemm/stream_k.cuh"
#include "sm90/gemm/walk.cuh"
#include "sm90/mbarrier.cuh"
#include "sm90/pipeline.cuh"
#include "sm90/tma.cuh"

/* ---- set-up: what no other kernel's results are needed for, so that it may overlap the end of the kernel before ----
 */

/* All warps but the first, which finds its tile meanwhile: one has the descriptors fetched, the others make the
 * barriers in turns, for one thread takes 80 clocks each. */
static __device__ __forceinline__ void set_up(const struct gm_gemm_sm90_params &p, uint32_t base, int warp) {
    const struct pipeline ring = pipeline_at(base);
    if (threadIdx.x % 32 != 0 || warp == 0)
        return;
    if (warp == 1) {
        prefetch_tensormap(&p.a);
        prefetch_tensormap(&p.b);
        prefetch_tensormap(&p.d);
        if (SPLITS > 1)
            split_init(split_barriers_at(base));
    }
    for (int slot = warp - 2; slot >= 0 && slot < STAGES; slot += THREADS / 32 - 2)
        pipeline_init(ring, slot, TILE_CONSUMERS * SHARERS);
    if (SPLITS == 1 && warp >= 2 && warp < 2 + TILE_CONSUMERS)
        mbarrier_init(taken_addr(base, warp - 2), 1);
    fence_mbarrier_init();
}

/* ---- roles -------------------------------------------------------------------------------------------- */

/* What the epilogue of a piece wants to know. Found before the piece is multiplied, while its operands are on their
 * way: code that a launch meets for the first time costs hundreds of clocks, which nothing hides after the last wgmma.
 * Tiles that leave no registers to keep it in find it while their last wgmmas run. */
enum { KEEPS_ENDING = ATOMS_M * ATOM_REGISTERS <= (HOLDS ? 96 : 128) };
struct ending {
    struct gm_piece piece;
    struct tile_position tile;
    int kind;  /* enum store_kind */
    int whole; /* the piece has all of its tile's K, or its cluster has */
};

static __device__ __forceinline__ enum store_kind kind_of(const struct gm_gemm_sm90_params &p, struct gm_piece piece,
                                                          bool last) {
    if (!p.plain || (p.epilogue.d_type != GM_TYPE && p.epilogue.d_type != GM_TYPE_fp32))
        return STORE_GENERAL;
    if (p.epilogue.d_type == GM_TYPE_fp32)
        return STORE_PLAIN_32;
    return (LAST_IN_RING ? ring_drained(piece, last) : last) ? STORE_LAST : STORE_PLAIN_16;
}

static __device__ __forceinline__ struct ending ending_of(const struct gm_gemm_sm90_params &p, int walk,
                                                          uint32_t rank) {
    struct ending e;
    walk_next(p, rank, walk, e.piece);
    e.tile = tile_at(p.raster, e.piece.tile, rank);
    e.kind = kind_of(p, e.piece, !walk_more(p, walk));
    e.whole = SPLITS > 1 || (e.piece.first == 0 && e.piece.end == p.k_blocks);
    asm volatile(""
                 : "+r"(e.tile.m), "+r"(e.tile.n), "+r"(e.piece.first), "+r"(e.piece.end), "+r"(e.kind), "+r"(e.whole));
    return e;
}

/* The accumulators, of all k-blocks of a piece -> D, or the workspace. What a launch mostly ends with stands apart, so
 * that no code of the others lies on its way; not of the largest tiles, whose registers a second copy of it disturbs.
 * Consumers that share a tile wait for each other only before they overwrite the ring: otherwise one may be at the next
 * tile while the other stores.
 * NOTE: the barrier stands outside any branch: with a branch ptxas no longer proves that the ring's slots are the same
 * in all lanes, and the main loop pays.
 * True: they are all of a tile, which is still to be stored. */
static __device__ __forceinline__ bool finish(const struct gm_gemm_sm90_params &p, uint32_t base, uint32_t rank,
                                              float (&acc)[ATOMS_M][ATOM_REGISTERS], const struct ending &end,
                                              struct store_context &store) {
    const int consumer = store.bar - BAR_STAGING, row0 = PINGPONG ? 0 : consumer * ROWS;
    const int part = SPLITS == 1 ? 0 : rank / SHARERS;
    if (LAST_IN_RING) {
        const bool together = TILE_CONSUMERS > 1 && end.kind == STORE_LAST;
        bar_sync(together ? BAR_ORDER : store.bar, together ? 128 * TILE_CONSUMERS : 128);
    }
    if (KEEPS_ENDING && end.whole && end.kind == STORE_LAST) {
        store_tile(p, store, acc, end.tile, row0, part, STORE_LAST, base);
        return false;
    }
    if (SPLITS == 1 && !end.whole && !piece_finish(p, base, acc, end.tile, end.piece, rank, row0, store))
        return false;
    if (HOLDS && end.kind == STORE_PLAIN_16)
        return true;
    store_tile(p, store, acc, end.tile, row0, part, (enum store_kind)end.kind, base);
    return false;
}

/* Found anew for every tile, as all that the main loop has no registers for. */
static __device__ __forceinline__ struct store_context store_context_of(uint32_t base, uint32_t buffer) {
    const int thread = thread_index(), consumer = thread / 128 - 1;
    return {staging_addr(base, consumer), (uint32_t)thread % 128, (uint32_t)(BAR_STAGING + consumer), buffer};
}

/* Ping-pong: past the other consumer's piece. */
static __device__ __forceinline__ void skip_piece(const struct gm_gemm_sm90_params &p, uint32_t rank, int &walk,
                                                  struct pipeline_state &at) {
    struct gm_piece piece;
    walk_next(p, rank, walk, piece);
    pipeline_skip<STAGES>(at, piece.end - piece.first);
}

/* A piece as it was taken off the walk. */
struct taken {
    bool any; /* false: the walk was over */
    int walk; /* where it was, for what of the piece is found anew */
    struct gm_piece piece;
};

static __device__ __forceinline__ struct taken take(const struct gm_gemm_sm90_params &p, uint32_t rank, int &walk) {
    struct taken t;
    t.any = walk_more(p, walk);
    t.walk = walk;
    walk_next(p, rank, walk, t.piece);
    return t;
}

/* One consumer warpgroup: multiply and store its share of this CTA's tiles. */
static __device__ __forceinline__ void consume(const struct gm_gemm_sm90_params &p, uint32_t base, uint32_t rank,
                                               int consumer) {
    const struct pipeline ring = pipeline_at(base);
    const uint32_t thread = threadIdx.x % 128;
    const int row0 = PINGPONG ? 0 : consumer * ROWS;
    struct pipeline_state at = {0, 0};
    uint32_t parity = 0, buffer = 0; /* of the tile, for the exchange of split K; the next one of two for staging */
    float acc[ATOMS_M][ATOM_REGISTERS];
    struct held_tile held; /* the tile before, if it is not stored yet */
    held.any = false;

    int walk = walk_begin(p), turn = consumer;
    if (PINGPONG && consumer == 1)
        skip_piece(p, rank, walk, at);
    asm volatile("" ::"r"(p.plain), "r"(p.epilogue.d_type), "f"(p.epilogue.alpha)); /* into the constant cache */
    struct taken now; /* where tiles are held, taken early: while the wgmmas of the one before run */
    if (HOLDS)
        now = take(p, rank, walk);
    while (HOLDS ? now.any : walk_more(p, walk)) {
        struct ending end;
        if (KEEPS_ENDING)
            end = ending_of(p, HOLDS ? now.walk : walk, rank);
        if (!HOLDS)
            now = take(p, rank, walk);
        /* Ping-pong: the other consumer's multiplications of the piece before come first, then mine, then its next. */
        if (PINGPONG && turn > 0)
            bar_sync(BAR_ORDER + consumer, 256);
        turn = 1;
        struct store_context store = store_context_of(base, buffer);
        mma_tile<HOLDS ? HELD_BUFFERS : 0>(acc, ring, at, base, row0, now.piece.end - now.piece.first, thread, held.any,
                                           [&](int i) { store_staged<2, 0>(p, store, held.packed, held.at, i); });
        if (PINGPONG && walk_more(p, walk))
            bar_arrive(BAR_ORDER + (consumer ^ 1), 256);
        store = store_context_of(base, HOLDS ? store.buffer : buffer);
        asm volatile("" : "+r"(now.walk));
        if (!KEEPS_ENDING)
            end = ending_of(p, now.walk, rank);
        if (HOLDS) {
            now = take(p, rank, walk);
            asm volatile("" : "+r"(walk), "+r"(now.piece.first), "+r"(now.piece.end)); /* here, not after the drain */
        }
        mma_drain(acc, ring, at, thread);
        if (SPLITS > 1)
            split_exchange(acc, base, rank / SHARERS, consumer, parity, thread);
        parity ^= 1;
        held.any = finish(p, base, rank, acc, end, store);
        if (HOLDS) {
            if (!now.any)
                break; /* the last tile is stored by now */
            hold_tile(p, acc, end.tile, row0, held);
        }
        buffer = store.buffer;
        if (PINGPONG)
            skip_piece(p, rank, walk, at);
    }
    if (store_issues(thread))
        bulk_wait_group_read<0>();
}

/* One consumer warpgroup of a variant that reduces: multiply, leave what others add, add and store what others left. */
static __device__ __forceinline__ void consume_piece(const struct gm_gemm_sm90_params &p, uint32_t base, uint32_t rank,
                                                     int consumer) {
    const uint32_t thread = threadIdx.x % 128;
    const struct pieces of = pieces_of(p.stream_k, rank);
    const struct gm_piece piece = gm_stream_k_piece(&p.stream_k, of.tile, of.own);
    const struct tile_position tile = tile_at(p.raster, of.tile, rank);
    struct pipeline_state at = {0, 0};
    float acc[ATOMS_M][ATOM_REGISTERS];
    mma_tile<0>(acc, pipeline_at(base), at, base, consumer * ROWS, piece.end - piece.first, thread, false, [](int) {});
    mma_drain(acc, pipeline_at(base), at, thread);
    clear_outside(p.epilogue, acc, tile, consumer * ROWS, thread);
    piece_leave(p.stream_k, base, &acc[0][0], of, consumer, thread);
    parts_store(p, base, of, tile, consumer, thread);
}

/* ---- entry: set-up, roles, drain ------------------------------------------------------------------- */

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    GM_KERNEL_NAME(const __grid_constant__ struct gm_gemm_sm90_params p) {
    const uint32_t base = smem_base();
    const uint32_t rank = CLUSTER_SIZE == 1 ? 0 : cluster_ctarank();
    const int warpgroup = __shfl_sync(0xFFFFFFFF, threadIdx.x / 128, 0);

    griddep_launch_dependents(); /* the next kernel may set itself up on SMs that fall idle */
    set_up(p, base, __shfl_sync(0xFFFFFFFF, threadIdx.x / 32, 0));
    const struct load_walk first = load_begin(p, rank); /* by all threads, so that it is in uniform registers */
    if (CLUSTER_SIZE == 1)
        __syncthreads();
    else
        cluster_sync_init();

    if (warpgroup == 0) {
        setmaxnreg_dec<PRODUCER_REGISTERS>();
        if (REDUCES && __shfl_sync(0xFFFFFFFF, threadIdx.x / 32, 0) == 1)
            clerk(p.stream_k);
        else if (threadIdx.x == 0)
            produce(p, base, rank, first);
    } else {
        setmaxnreg_inc<CONSUMER_REGISTERS>();
        if (REDUCES)
            consume_piece(p, base, rank, warpgroup - 1);
        else
            consume(p, base, rank, warpgroup - 1);
    }
}
