/* SPDX-License-Identifier: Apache-2.0 */
/* GEMM for Hopper: TMA -> ring of stages -> WGMMA -> stmatrix -> TMA store, persistent and warp-specialised.
 *
 * D = act(alpha * A B + beta * C + bias) for 16-bit A and B. The maps in the parameters describe A, B and D exactly,
 * so ragged M, N and K are TMA's clipping: elements outside load as zero and are not stored. One CTA (or a cluster
 * that shares operand tiles by multicast, or the K of a tile) walks output tiles with the grid's stride, after its
 * share of those that are divided by k-blocks, if any are; in a row that reduces, it has one piece of one tile.
 * Warpgroup 0 is the producer; the others are consumers, either cooperative (each takes its part of wgmma's M side of
 * every tile) or ping-pong (each takes every second tile whole, one multiplying while the other stores). wgmma's M side
 * is A, or B in a swapped row. Compiled once per registry row; produce, mma_stage, store_tile, the exchange of split K,
 * reduce-scatter and the hand-over of stream-K are in gemm_load.cuh, gemm_mma.cuh, gemm_store.cuh, gemm_split.cuh,
 * gemm_reduce_scatter.cuh and gemm_stream_k.cuh. */
#include "common/gemm_sm90/params.h"
#include "common/gemm_sm90/tile.h"

/* Whether the operands on wgmma's M and N side are MN-major. */
#if GM_SWAP
#define GM_M_SIDE_MN GM_LAYOUT_B_MN(GM_LAYOUT)
#define GM_N_SIDE_MN GM_LAYOUT_A_MN(GM_LAYOUT)
#else
#define GM_M_SIDE_MN GM_LAYOUT_A_MN(GM_LAYOUT)
#define GM_N_SIDE_MN GM_LAYOUT_B_MN(GM_LAYOUT)
#endif

#include "common/convert.cuh"
#include "common/gemm/epilogue.cuh"
#include "common/index.cuh"
#include "common/gemm/raster.cuh"
#include "common/gemm/stream_k.cuh"
#include "sm90/pipeline.cuh"
#include "sm90/stmatrix.cuh"
#include "sm90/swizzle.cuh"
#include "sm90/tma.cuh"
#include "sm90/wgmma.cuh"
#include "sm90/wgmma_shapes.cuh"

/* ---- parameters (the registry row) and what follows from them -------------------------------------- */

enum {
    ROLES = GM_SM90_ROLES(GM_SCHEDULE, GM_CONSUMERS, GM_SWAP, GM_CLUSTER_K, GM_SPLIT_K),
    ELEM_BYTES = GM_TYPE_BYTES(GM_TYPE),
    TILE_M = GM_TILE_M,
    TILE_N = GM_TILE_N,
    TILE_K = GM_TILE_K,
    STAGES = GM_STAGES,
    CLUSTER_M = GM_CLUSTER_M,           /* CTAs that share a B tile */
    CLUSTER_N = GM_CLUSTER_N,           /* CTAs that share an A tile */
    SHARERS = CLUSTER_M * CLUSTER_N,    /* CTAs that fill each other's stages by multicast */
    SPLITS = GM_CLUSTER_K, /* CTAs that share the K of a tile */
    CLUSTER_SIZE = SHARERS * SPLITS,
    CONSUMERS = GM_CONSUMERS,
    TILE_CONSUMERS = GM_SM90_TILE_CONSUMERS(ROLES), /* of one tile */
    PINGPONG = GM_SCHEDULE == GM_SCHEDULE_pingpong,
    SWAPPED = GM_SWAP, /* B is on wgmma's M side */
    REDUCES = GM_SPLIT_K, /* tiles are cut evenly, and added up by reduce-scatter */
    A_MN = GM_LAYOUT_A_MN(GM_LAYOUT),
    B_MN = GM_LAYOUT_B_MN(GM_LAYOUT),
    SPAN = GM_SWIZZLE, /* swizzle span of A and B, bytes */
    SPAN_ELEMS = SPAN / ELEM_BYTES,
    THREADS = GM_SM90_THREADS(CONSUMERS),

    SIDE_M = GM_SM90_WGMMA_M(TILE_M, TILE_N, ROLES),
    SIDE_N = GM_SM90_WGMMA_N(TILE_M, TILE_N, ROLES),
    ROWS = PINGPONG ? SIDE_M : SIDE_M / CONSUMERS,        /* of the M side, per consumer warpgroup */
    ATOMS_M = ROWS / 64,                                  /* wgmma atoms of 64 rows, per consumer warpgroup */
    K_STEPS = TILE_K / 16,                                /* wgmma atoms of 16 k, per stage */
    ATOM_REGISTERS = SIDE_N / 2,                          /* accumulator registers of one atom, per thread, */
    FLOATS = GM_SM90_ACCUMULATORS(TILE_M, TILE_N, ROLES),    /* and of all */
    PART_MOST = GM_CEIL_DIV(SIDE_N / 8, 2 * SPLITS) * 16, /* of the N side, the most that one CTA of a split stores */

    A_BYTES = GM_SM90_A_BYTES(TILE_M, TILE_K, GM_TYPE),
    STAGE_BYTES = GM_SM90_STAGE_BYTES(TILE_M, TILE_N, TILE_K, GM_TYPE),
    STAGING_BYTES = GM_SM90_STAGING_BYTES(TILE_M, TILE_N, ROLES),
    STORE_SPAN = GM_SM90_STORE_SPAN(TILE_M, TILE_N, ROLES), /* bytes of one row of a staged chunk of D */
    STORE_ROWS = GM_SM90_STORE_ROWS(TILE_M, TILE_N, ROLES), /* rows of it */
    CHUNK_BYTES = STORE_ROWS * STORE_SPAN,
    BUFFER_BYTES = GM_SM90_BUFFER_BYTES(TILE_M, TILE_N, ROLES),
    /* A CTA's last tile is staged in the ring, unless each consumer has but one chunk of 16-bit elements of it. */
    LAST_IN_RING =
        ATOMS_M * GM_CEIL_DIV(SWAPPED ? SIDE_N / SPLITS : PART_MOST, SWAPPED ? STORE_ROWS : STORE_SPAN / 2) > 1,

    PREFETCHED_EARLY = 2, /* k-blocks to L2 ahead of the kernel before's end, of a B that follows them at once */

    /* Of 168 a thread that three warpgroups are launched with, or 128 that four are. */
    PRODUCER_REGISTERS = CONSUMERS < 3 ? 40 : 32,
    CONSUMER_REGISTERS = CONSUMERS < 3 ? 232 : 160,

    BAR_STAGING = 1,           /* named barriers: + consumer */
    BAR_ORDER = 1 + CONSUMERS, /* ping-pong: + consumer */
    BAR_LEFT = BAR_ORDER + 1,  /* reduce-scatter, consumers and clerk: the piece is where others find it, */
    BAR_ADDED = BAR_ORDER + 2, /* the ring is free again */
};
static_assert(ROWS % 64 == 0 && SIDE_N % (SWAPPED ? 8 : 16) == 0 && SIDE_N <= 256 && TILE_K % 16 == 0,
              "tile is made of wgmma atoms");
static_assert(FLOATS == ATOMS_M * ATOM_REGISTERS, "all registers of all atoms");
static_assert(!PINGPONG || CONSUMERS == 2, "ping-pong takes two consumers");
static_assert(SPLITS == 1 || (!PINGPONG && SHARERS == 1), "split K is for cooperative consumers without multicast");
static_assert(!REDUCES || (!PINGPONG && SPLITS == 1), "reduce-scatter is for cooperative consumers");
static_assert(!SWAPPED || SIDE_N % (8 * SPLITS) == 0, "the parts of a swapped tile are equal");
static_assert(ATOMS_M * ATOM_REGISTERS <= (CONSUMERS < 3 ? 192 : 96), "accumulators must leave registers for the rest");
static_assert(A_MN ? TILE_M % SPAN_ELEMS == 0 : TILE_K % SPAN_ELEMS == 0, "A is cut into slabs of the span");
static_assert(B_MN ? TILE_N % SPAN_ELEMS == 0 : TILE_K % SPAN_ELEMS == 0, "B is cut into slabs of the span");
static_assert(GM_SM90_SMEM_BYTES(TILE_M, TILE_N, TILE_K, STAGES, ROLES, GM_TYPE) <= 232448, "fits a Hopper SM");

/* The parts of the N side that the CTAs of a split store: part p begins at column part_first(p). */
static __device__ __forceinline__ constexpr int part_first(int part) {
    return SWAPPED ? SIDE_N / SPLITS * part : SIDE_N / 16 * part / SPLITS * 16;
}
static __device__ __forceinline__ constexpr int part_size(int part) {
    return part_first(part + 1) - part_first(part);
}

/* ---- shared memory: stages | staging | barriers ---------------------------------------------------- */

static __device__ __forceinline__ uint32_t smem_base(void) {
    extern __shared__ unsigned char smem[];
    return ((uint32_t)__cvta_generic_to_shared(smem) + GM_SM90_ALIGN - 1) & ~(uint32_t)(GM_SM90_ALIGN - 1);
}

static __device__ __forceinline__ uint32_t staging_addr(uint32_t base, int consumer) {
    return base + STAGES * STAGE_BYTES + consumer * GM_SM90_STORE_BUFFERS * BUFFER_BYTES;
}

static __device__ __forceinline__ struct pipeline pipeline_at(uint32_t base) {
    const uint32_t full = base + STAGES * STAGE_BYTES + STAGING_BYTES;
    return {full, full + 8 * STAGES};
}

/* Stream-K: the barrier of the partial sums that a consumer takes. */
static __device__ __forceinline__ uint32_t taken_addr(uint32_t base, int consumer) {
    return pipeline_at(base).empty_addr + 8 * STAGES + 8 * consumer;
}

/* The drained ring is divided among the consumers of a tile. */
enum { RING_PART_BYTES = STAGES * STAGE_BYTES / TILE_CONSUMERS / GM_SM90_ALIGN * GM_SM90_ALIGN };
static __device__ __forceinline__ uint32_t ring_part_addr(uint32_t base, int consumer) {
    return base + consumer % TILE_CONSUMERS * RING_PART_BYTES;
}

/* ---- tile order ------------------------------------------------------------------------------------ */

struct tile_position {
    int m, n; /* of this CTA's tile, counted in tiles */
};

static __device__ __forceinline__ int cluster_count(void) {
    return gridDim.x / CLUSTER_SIZE;
}
static __device__ __forceinline__ int cluster_index(void) {
    return (uint32_t)cta_index() / CLUSTER_SIZE;
}

static __device__ __forceinline__ struct tile_position tile_at(const struct gm_raster &raster, int linear,
                                                               uint32_t rank) {
    int tile_m, tile_n;
    raster_tile(raster, linear, &tile_m, &tile_n);
    return {(int)(tile_m * CLUSTER_M + rank % CLUSTER_M), (int)(tile_n * CLUSTER_N + rank / CLUSTER_M % CLUSTER_N)};
}

/* a / b of small numbers: nothing hides the 150 clocks that integers take after the last wgmma. The half keeps
 * quotients a part of 1 / b away from where rounding would matter. */
static __device__ __forceinline__ int quotient(int a, int b) {
    return (int)__fdividef((float)a + 0.5f, (float)b);
}

/* Reduce-scatter: what a CTA has one piece of, and who it adds with: each of its consumers with those of its own
 * number, and its rank in the cluster. */
struct pieces {
    int tile, count, own; /* of all tiles; pieces of each; number of this one */
    int rank;
};
static __device__ __forceinline__ struct pieces pieces_of(const struct gm_stream_k &s, uint32_t rank) {
    const int share = cluster_index(), count = quotient(s.shares, s.even);
    const int own = count > 1 ? quotient(share, s.even) : 0;
    return {share - own * s.even, count, own, (int)rank};
}

/* What a CTA computes, piece by piece: some k-blocks of a tile, mostly all. stream_k.h says in which order; a cluster
 * that shares the K of its tiles takes a share of each, which differ by one k-block at most. A CTA that has none takes
 * a block beyond K, which TMA fills with zeros. Where there is but one piece, the walk is -1, then 0. */
static __device__ __forceinline__ int walk_begin(const struct gm_gemm_sm90_params &p) {
    return REDUCES ? -1 : SPLITS > 1 ? cluster_index() : gm_stream_k_begin(&p.stream_k, p.k_blocks, cluster_index());
}

/* Takes the next piece off the walk; behind the last one, any. */
static __device__ __forceinline__ void walk_next(const struct gm_gemm_sm90_params &p, uint32_t rank, int &walk,
                                                 struct gm_piece &piece) {
    if (REDUCES) {
        const struct pieces of = pieces_of(p.stream_k, rank);
        piece = gm_stream_k_piece(&p.stream_k, of.tile, of.own);
        walk = 0;
        return;
    }
    if (SPLITS == 1) {
        gm_stream_k_next(&p.stream_k, p.k_blocks, cluster_index(), cluster_count(), &walk, &piece);
        return;
    }
    const int share = rank / SHARERS, even = p.k_blocks / SPLITS, more = p.k_blocks % SPLITS;
    piece.tile = walk;
    piece.first = share * even + min(share, more);
    piece.end = piece.first + max(even + (share < more), 1);
    walk += cluster_count();
}

/* Whether the walk goes on. */
static __device__ __forceinline__ bool walk_more(const struct gm_gemm_sm90_params &p, int walk) {
    return walk < (REDUCES ? 0 : p.stream_k.whole);
}

#include "sm90/gemm/split.cuh"

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

/* Whether a piece leaves the ring to its consumers when all of them have multiplied it. The last one of all does; in
 * ping-pong, where the other consumer may still read what it multiplies, if the producer had every slot back since:
 * after as many k-blocks of this one as there are stages. */
static __device__ __forceinline__ bool ring_drained(struct gm_piece piece, bool last) {
    return last && (!PINGPONG || piece.end - piece.first >= STAGES);
}

#include "sm90/gemm/load.cuh"
#include "sm90/gemm/mma.cuh"
#include "sm90/gemm/store.cuh"
#include "sm90/gemm/reduce_scatter.cuh"
#include "sm90/gemm/stream_k.cuh"

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

/* One consumer warpgroup of a row that reduces: multiply, leave what others add, add and store what others left. */
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
