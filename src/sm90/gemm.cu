/* SPDX-License-Identifier: Apache-2.0 */
/* GEMM for Hopper: TMA -> ring of stages -> WGMMA -> stmatrix -> TMA store, persistent and warp-specialised.
 *
 * D = act(alpha * A B + beta * C + bias) for 16-bit A and B. The maps in the parameters describe A, B and D exactly,
 * so ragged M, N and K are TMA's clipping: elements outside load as zero and are not stored. One CTA (or a cluster
 * that shares operand tiles by multicast, or the K of a tile) walks output tiles with the grid's stride. Warpgroup 0 is
 * the producer; the others are consumers, either cooperative (each takes its part of wgmma's M side of every tile) or
 * ping-pong (each takes every second tile whole, one multiplying while the other stores). wgmma's M side is A, or B in
 * a swapped row. Compiled once per registry row; load_stage, mma_stage, store_tile and the exchange of split K are in
 * gemm_load.cuh, gemm_mma.cuh, gemm_store.cuh and gemm_split.cuh. */
#include "common/gemm_params.h"
#include "common/tile.h"

/* Whether the operands on wgmma's M and N side are MN-major. */
#if GM_WARPS_SWAPPED(GM_WARPS)
#define GM_M_SIDE_MN GM_LAYOUT_B_MN(GM_LAYOUT)
#define GM_N_SIDE_MN GM_LAYOUT_A_MN(GM_LAYOUT)
#else
#define GM_M_SIDE_MN GM_LAYOUT_A_MN(GM_LAYOUT)
#define GM_N_SIDE_MN GM_LAYOUT_B_MN(GM_LAYOUT)
#endif
#if GM_TYPE == GM_TYPE_bf16
#define GM_PTX_TYPE "bf16"
#else
#define GM_PTX_TYPE "f16"
#endif

#include "common/convert.cuh"
#include "common/epilogue.cuh"
#include "common/raster.cuh"
#include "sm90/pipeline.cuh"
#include "sm90/stmatrix.cuh"
#include "sm90/swizzle.cuh"
#include "sm90/tma.cuh"
#include "sm90/wgmma.cuh"
#include "sm90/wgmma_shapes.cuh"

/* ---- parameters (the registry row) and what follows from them -------------------------------------- */

enum {
    TILE_M = GM_TILE_M,
    TILE_N = GM_TILE_N,
    TILE_K = GM_TILE_K,
    STAGES = GM_STAGES,
    CLUSTER_M = GM_CLUSTER_M, /* CTAs that share a B tile */
    CLUSTER_N = GM_CLUSTER_N, /* CTAs that share an A tile */
    SHARERS = CLUSTER_M * CLUSTER_N, /* CTAs that fill each other's stages by multicast */
    SPLITS = GM_WARPS_SPLITS(GM_WARPS), /* CTAs that share the K of a tile */
    CLUSTER_SIZE = SHARERS * SPLITS,
    CONSUMERS = GM_WARPS_M(GM_WARPS),
    PINGPONG = GM_WARPS_SCHEDULE(GM_WARPS) == 2,
    SWAPPED = GM_WARPS_SWAPPED(GM_WARPS), /* B is on wgmma's M side */
    A_MN = GM_LAYOUT_A_MN(GM_LAYOUT),
    B_MN = GM_LAYOUT_B_MN(GM_LAYOUT),
    SPAN = GM_SMEM_MAP, /* swizzle span of A and B, bytes */
    SPAN_ELEMS = SPAN / GM_ELEM_BYTES,
    THREADS = GM_SM90_THREADS(CONSUMERS),

    SIDE_M = GM_SM90_SIDE_M(TILE_M, TILE_N, GM_WARPS),
    SIDE_N = GM_SM90_SIDE_N(TILE_M, TILE_N, GM_WARPS),
    ROWS = PINGPONG ? SIDE_M : SIDE_M / CONSUMERS, /* of the M side, per consumer warpgroup */
    ATOMS_M = ROWS / 64,                           /* wgmma atoms of 64 rows, per consumer warpgroup */
    K_STEPS = TILE_K / 16,                         /* wgmma atoms of 16 k, per stage */
    ATOM_REGISTERS = SIDE_N / 2,                   /* accumulator registers of one atom, per thread */
    PART_MOST = GM_CEIL_DIV(SIDE_N / 8, 2 * SPLITS) * 16, /* of the N side, the most that one CTA of a split stores */

    A_BYTES = GM_SM90_A_BYTES(TILE_M, TILE_K),
    STAGE_BYTES = GM_SM90_STAGE_BYTES(TILE_M, TILE_N, TILE_K),
    STAGING_BYTES = GM_SM90_STAGING_BYTES(TILE_M, TILE_N, GM_WARPS),
    STORE_SPAN = GM_SM90_STORE_SPAN(TILE_M, TILE_N, GM_WARPS), /* bytes of one row of a staged chunk of D */
    STORE_ROWS = GM_SM90_STORE_ROWS(TILE_M, TILE_N, GM_WARPS), /* rows of it */
    CHUNK_BYTES = STORE_ROWS * STORE_SPAN,
    BUFFER_BYTES = GM_SM90_BUFFER_BYTES(TILE_M, TILE_N, GM_WARPS),

    MANY_REGISTERS = CONSUMERS > 1 && ATOMS_M *ATOM_REGISTERS >= (SWAPPED ? 160 : 192),
    PRODUCER_REGISTERS = MANY_REGISTERS ? 24 : 40,
    CONSUMER_REGISTERS = MANY_REGISTERS ? 240 : 232,

    BAR_STAGING = 1, /* named barriers: + consumer */
    BAR_ORDER = 1 + CONSUMERS, /* ping-pong: + consumer */
};
static_assert(ROWS % 64 == 0 && SIDE_N % (SWAPPED ? 8 : 16) == 0 && SIDE_N <= 256 && TILE_K % 16 == 0,
              "tile is made of wgmma atoms");
static_assert(!PINGPONG || CONSUMERS == 2, "ping-pong takes two consumers");
static_assert(SPLITS == 1 || (!PINGPONG && SHARERS == 1), "split K is for cooperative consumers without multicast");
static_assert(!SWAPPED || SIDE_N % (8 * SPLITS) == 0, "the parts of a swapped tile are equal");
static_assert(ATOMS_M * ATOM_REGISTERS <= 192, "accumulators must leave registers for the rest");
static_assert(A_MN ? TILE_M % SPAN_ELEMS == 0 : TILE_K % SPAN_ELEMS == 0, "A is cut into slabs of the span");
static_assert(B_MN ? TILE_N % SPAN_ELEMS == 0 : TILE_K % SPAN_ELEMS == 0, "B is cut into slabs of the span");
static_assert(GM_SM90_SMEM_BYTES(TILE_M, TILE_N, TILE_K, STAGES, GM_WARPS) <= 232448, "fits a Hopper SM");

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

/* ---- tile order ------------------------------------------------------------------------------------ */

struct tile_position {
    int m, n; /* of this CTA's tile, counted in tiles */
};

static __device__ __forceinline__ int cluster_count(void) {
    return gridDim.x / CLUSTER_SIZE;
}
static __device__ __forceinline__ int cluster_index(void) {
    return blockIdx.x / CLUSTER_SIZE;
}

static __device__ __forceinline__ struct tile_position tile_at(const struct gm_raster &raster, int linear,
                                                               uint32_t rank) {
    int tile_m, tile_n;
    raster_tile(raster, linear, &tile_m, &tile_n);
    return {(int)(tile_m * CLUSTER_M + rank % CLUSTER_M), (int)(tile_n * CLUSTER_N + rank / CLUSTER_M % CLUSTER_N)};
}

/* The k-blocks that a CTA multiplies, first to end - 1: all, or a share of them that differs by one at most. One that
 * has none takes a block beyond K, which TMA fills with zeros.
 * NOTE: two functions and no struct, so that without splits the end is read from the parameters where it is needed: in a
 * register it makes the producer of the largest tiles spill. */
static __device__ __forceinline__ int k_share(const struct gm_gemm_sm90_params &p, uint32_t rank) {
    return p.k_blocks / SPLITS + ((int)(rank / SHARERS) < p.k_blocks % SPLITS);
}
static __device__ __forceinline__ int k_first(const struct gm_gemm_sm90_params &p, uint32_t rank) {
    const int share = rank / SHARERS;
    return SPLITS == 1 ? 0 : share * (p.k_blocks / SPLITS) + min(share, p.k_blocks % SPLITS);
}
static __device__ __forceinline__ int k_end(const struct gm_gemm_sm90_params &p, uint32_t rank) {
    return SPLITS == 1 ? p.k_blocks : k_first(p, rank) + max(k_share(p, rank), 1);
}

#include "sm90/gemm_split.cuh"
#include "sm90/gemm_load.cuh"
#include "sm90/gemm_mma.cuh"
#include "sm90/gemm_store.cuh"

/* ---- roles -------------------------------------------------------------------------------------------- */

/* One consumer warpgroup: multiply and store its share of this CTA's tiles. */
static __device__ __forceinline__ void consume(const struct gm_gemm_sm90_params &p, uint32_t base, uint32_t rank,
                                               int consumer) {
    const struct pipeline ring = pipeline_at(base);
    const int tiles = p.raster.tiles_m * p.raster.tiles_n, stride = cluster_count();
    const uint32_t thread = threadIdx.x % 128;
    const int row0 = PINGPONG ? 0 : consumer * ROWS, part = SPLITS == 1 ? 0 : rank / SHARERS;
    struct store_context store = {staging_addr(base, consumer), thread, (uint32_t)(BAR_STAGING + consumer), 0, 0};
    struct pipeline_state at = {0, 0};
    uint32_t parity = 0; /* of the tile, for the exchange of split K */
    float acc[ATOMS_M][ATOM_REGISTERS];

    int linear = cluster_index();
    if (PINGPONG && consumer == 1) {
        linear += stride;
        pipeline_skip<STAGES>(at, p.k_blocks);
    }
    for (; linear < tiles; linear += PINGPONG ? 2 * stride : stride) {
        const struct tile_position tile = tile_at(p.raster, linear, rank);
        /* Ping-pong: the other consumer's multiplications of the tile before come first, then mine, then its next. */
        if (PINGPONG && linear >= stride)
            bar_sync(BAR_ORDER + consumer, 256);
        mma_tile(acc, ring, at, base, row0, k_end(p, rank) - k_first(p, rank), thread);
        if (PINGPONG && linear + stride < tiles)
            bar_arrive(BAR_ORDER + (consumer ^ 1), 256);
        mma_drain(acc, ring, at, thread);
        if (PINGPONG)
            pipeline_skip<STAGES>(at, p.k_blocks);
        if (SPLITS > 1)
            split_exchange(acc, base, part, consumer, parity, thread);
        parity ^= 1;
        /* The last tile of all finds the ring drained by every warp. NOTE: the barrier stands outside any branch: with a
         * branch ptxas no longer proves that the ring's slots are the same in all lanes, and the main loop pays. */
        bar_sync(PINGPONG ? store.bar : BAR_ORDER, PINGPONG ? 128 : 128 * CONSUMERS);
        store.ring_addr = linear + stride >= tiles ? base : 0;
        store_tile(p, store, acc, tile, row0, part);
    }
    if (store_issues(store))
        bulk_wait_group_read<0>();
}

/* ---- entry: set-up, roles, drain ------------------------------------------------------------------- */

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    GM_KERNEL_NAME(const __grid_constant__ struct gm_gemm_sm90_params p) {
    const uint32_t base = smem_base();
    const uint32_t rank = CLUSTER_SIZE == 1 ? 0 : cluster_ctarank();
    const int warpgroup = __shfl_sync(0xFFFFFFFF, threadIdx.x / 128, 0);

    griddep_launch_dependents(); /* the next kernel may set itself up on SMs that fall idle */
    if (threadIdx.x == 0) {
        prefetch_tensormap(&p.a);
        prefetch_tensormap(&p.b);
        prefetch_tensormap(&p.d);
        pipeline_init<STAGES>(pipeline_at(base), (PINGPONG ? 1 : CONSUMERS) * SHARERS);
        if (SPLITS > 1)
            split_init(split_barriers_at(base));
        fence_mbarrier_init();
    }
    if (CLUSTER_SIZE == 1)
        __syncthreads();
    else
        cluster_sync();
    griddep_wait(); /* what comes before this line touches no operand */

    if (warpgroup == 0) {
        setmaxnreg_dec<PRODUCER_REGISTERS>();
        if (threadIdx.x == 0)
            produce(p, base, rank);
    } else {
        setmaxnreg_inc<CONSUMER_REGISTERS>();
        consume(p, base, rank, warpgroup - 1);
    }
    /* A CTA may not exit while its peers still multicast into it or arrive on its barriers. */
    if (CLUSTER_SIZE > 1)
        cluster_sync();
}
