/* SPDX-License-Identifier: Apache-2.0 */
/* Constants that follow from a variant's columns: the tile, which warpgroup takes which part of it, and where things
 * are in shared memory. It includes the tile's arithmetic (tile.h); a fragment includes everything else itself. */
#ifndef GM_SM90_GEMM_CONSTANTS_CUH
#define GM_SM90_GEMM_CONSTANTS_CUH

#include "common/gemm/sums.cuh"
#include "common/gemm_sm90/tile.h"
#include "sm90/pipeline.cuh"

/* Whether the operands on wgmma's M and N side are MN-major. */
#if GM_SWAP
#define GM_M_SIDE_MN GM_LAYOUT_B_MN(GM_LAYOUT)
#define GM_N_SIDE_MN GM_LAYOUT_A_MN(GM_LAYOUT)
#else
#define GM_M_SIDE_MN GM_LAYOUT_A_MN(GM_LAYOUT)
#define GM_N_SIDE_MN GM_LAYOUT_B_MN(GM_LAYOUT)
#endif

typedef sum_of<GM_TYPE>::type sum_t;

/* ---- columns and what follows from them ------------------------------------------------------------- */

enum {
    ROLES =
        GM_SM90_ROLES(GM_SCHEDULE, GM_CONSUMERS, GM_SWAP, GM_CLUSTER_K, GM_SPLIT_K, GM_GATE, GM_EXTENDED, GM_SCALES),
    ELEM_BYTES = GM_TYPE_BYTES(GM_TYPE),
    IS_HALF = ELEM_BYTES == 2, /* else D never has the operands' type */
    IS_INT = GM_TYPE == GM_TYPE_int8,
    IS_FP8 = GM_TYPE_IS_FP8(GM_TYPE),        /* of e5m2 the M side; the N side is e4m3 then */
    PROMOTES = IS_FP8 && !GM_FAST,           /* fp32 instructions add up sums of a few atoms, see mma_promoted.cuh */
    SCALES = IS_INT || IS_FP8,               /* tiles may be stored by TMA scaled by rows and columns */
    SCALES_SUMS = GM_SCALES != GM_SCALES_no, /* each promoted sum has scales, see sum_scales.cuh */
    HAS_N_SCALES = GM_SCALES == GM_SCALES_columns, /* one for each column of the N side, else one for 128 of them */
    IS_SPLIT = GM_SM90_SPLITS(GM_TYPE),            /* every element becomes two of tf32, see mma_split.cuh */
    TILE_M = GM_TILE_M,
    TILE_N = GM_TILE_N,
    TILE_K = GM_TILE_K,
    STAGES = GM_STAGES,
    CLUSTER_M = GM_CLUSTER_M,        /* CTAs that share a B tile */
    CLUSTER_N = GM_CLUSTER_N,        /* CTAs that share an A tile */
    SHARERS = CLUSTER_M * CLUSTER_N, /* CTAs that fill each other's stages by multicast */
    CLUSTER_K = GM_CLUSTER_K,        /* cluster-k: CTAs that share the K of a tile */
    CLUSTER_SIZE = SHARERS * CLUSTER_K,
    CONSUMERS = GM_CONSUMERS,
    TILE_CONSUMERS = GM_SM90_TILE_CONSUMERS(ROLES), /* consumers of one tile */
    PINGPONG = GM_SCHEDULE == GM_SCHEDULE_pingpong,
    SWAPPED = GM_SWAP,    /* B is on wgmma's M side */
    SPLIT_K = GM_SPLIT_K, /* split-K: every tile is cut into equal pieces, added up by reduce-scatter */
    GATED = GM_GATE, /* B's rows are gates and ups, 8 by turns in shared memory, and two of them make a column of D */
    EXTENDED = GM_EXTENDED, /* its epilogue has scales, a residual, amax, or a D of 8 bits */
    BATCHED = GM_BATCH,     /* tiles are of the matrices of a batch, and maps have three dimensions */
    A_MN = GM_LAYOUT_A_MN(GM_LAYOUT),
    B_MN = GM_LAYOUT_B_MN(GM_LAYOUT),
    SPAN = GM_SWIZZLE, /* swizzle span of A and B, bytes */
    SPAN_ELEMS = SPAN / ELEM_BYTES,
    THREADS = GM_SM90_THREADS(CONSUMERS, GM_TYPE),

    WGMMA_M = GM_SM90_WGMMA_M(TILE_M, TILE_N, ROLES),
    WGMMA_N = GM_SM90_WGMMA_N(TILE_M, TILE_N, ROLES),
    ROWS = PINGPONG ? WGMMA_M : WGMMA_M / CONSUMERS, /* of the M side, per consumer warpgroup */
    ATOMS_M = ROWS / 64,                             /* wgmma atoms of 64 rows, per consumer warpgroup */
    K_STEPS = TILE_K * ELEM_BYTES / 32,              /* wgmma atoms of 32 bytes of k, per stage */
    PROMOTED_STEPS = 4,                              /* of them: 128 bytes of k, GM_SM90_SUM_K of fp8 */
    SUMS_OF_STAGE = K_STEPS < PROMOTED_STEPS ? 1 : K_STEPS / PROMOTED_STEPS,
    ATOM_REGISTERS = WGMMA_N / 2,                          /* accumulators of one atom, per thread */
    FLOATS = GM_SM90_ACCUMULATORS(TILE_M, TILE_N, ROLES),  /* accumulators of all atoms, per thread */
    D_N = WGMMA_N / (1 + GATED),                           /* of the N side, what is stored of it */
    MAX_PART_N = GM_CEIL_DIV(D_N / 8, 2 * CLUSTER_K) * 16, /* cluster-k: columns of the N side that a CTA stores */

    A_BYTES = GM_SM90_A_BYTES(TILE_M, TILE_K, GM_TYPE),
    LOADED_BYTES = GM_SM90_STAGE_BYTES(TILE_M, TILE_N, TILE_K, GM_TYPE),
    STAGE_BYTES = GM_SM90_SLOT_BYTES(TILE_M, TILE_N, TILE_K, ROLES, GM_TYPE),
    STAGING_BYTES = GM_SM90_STAGING_BYTES(TILE_M, TILE_N, ROLES),
    STORE_SPAN = GM_SM90_STORE_SPAN(TILE_M, TILE_N, ROLES), /* bytes of one row of a staged chunk of D */
    STORE_ROWS = GM_SM90_STORE_ROWS(TILE_M, TILE_N, ROLES), /* rows of it */
    CHUNK_BYTES = STORE_ROWS * STORE_SPAN,
    BUFFER_BYTES = GM_SM90_BUFFER_BYTES(TILE_M, TILE_N, ROLES),
    ROW_SCALES = GM_SM90_ROW_SCALES(TILE_M, TILE_N, ROLES),       /* words of a sum, as they lie in memory, */
    LANDED_SCALES = GM_SM90_LANDED_SCALES(TILE_M, TILE_N, ROLES), /* and with those that say whose they are */
    SUM_FACTORS = GM_SM90_SUM_FACTORS(TILE_M, TILE_N, ROLES),     /* and as consumers multiply by them */
    SCALE_SPAN = GM_SCALES == GM_SCALES_blocks ? GM_SM90_SCALE_SPAN(TILE_N) : WGMMA_N, /* columns of a row's factor */
    SCALE_SPANS = WGMMA_N / SCALE_SPAN,
    SCALES_AHEAD = SCALES_SUMS ? GM_SM90_SCALES_AHEAD(TILE_M, TILE_N, TILE_K, STAGES, ROLES, GM_TYPE) : 0,
    SCALES_BYTES = GM_SM90_SCALES_BYTES(TILE_M, TILE_N, TILE_K, STAGES, ROLES, GM_TYPE),
    /* Whether a CTA's last tile is staged in the ring: if a consumer has several chunks of 16-bit elements of it. */
    LAST_TILE_IN_RING =
        ATOMS_M * GM_CEIL_DIV(SWAPPED ? D_N / CLUSTER_K : MAX_PART_N, SWAPPED ? STORE_ROWS : STORE_SPAN / 2) > 1,

    PREFETCHED_EARLY = 2, /* k-blocks of B prefetched to L2, where B is loaded before the previous kernel ends */

    /* Registers of a thread. Two warpgroups are launched with 232 each, three with 168, four with 128. Beside one consumer
     * the warp that loads scales has what it needs for tiles of 256 of K. */
    PRODUCER_REGISTERS = SCALES_SUMS && CONSUMERS == 1 ? 96
                         : THREADS < 512               ? 40
                                                       : 32,
    SPLITTER_REGISTERS = 48,
    CONSUMER_REGISTERS = THREADS < 512 ? 232
                         : IS_SPLIT    ? 216
                                       : 160,

    MOST_ACCUMULATORS = CONSUMERS < 3 ? 192 : 96, /* of a thread: the others are for the rest */

    BAR_STAGING = 1,               /* named barriers: + consumer */
    BAR_ORDER = 1 + CONSUMERS,     /* ping-pong: + consumer; cooperative: of all consumers */
    BAR_PUBLISHED = BAR_ORDER + 1, /* split-K, consumers and fetcher warp: the piece is in its slot and in the ring */
    BAR_RING_FREE = BAR_ORDER + 2, /* split-K, consumers and fetcher warp: the part in the ring has been added */
};
static_assert(ROWS % 64 == 0 && WGMMA_N % (SWAPPED ? 8 : 16) == 0 && WGMMA_N <= 256 && TILE_K * ELEM_BYTES % 32 == 0,
              "tile is made of wgmma atoms");
static_assert(IS_HALF || (!A_MN && !B_MN), "wgmma takes MN-major operands of 16 bits only");
static_assert(FLOATS == ATOMS_M * ATOM_REGISTERS, "all registers of all atoms");
static_assert(!PINGPONG || CONSUMERS == 2, "ping-pong takes two consumers");
static_assert(CLUSTER_K == 1 || (!PINGPONG && SHARERS == 1),
              "cluster-k is for cooperative consumers without multicast");
static_assert(!SPLIT_K || (!PINGPONG && CLUSTER_K == 1), "split-K is for cooperative consumers");
static_assert(!GATED || (!SWAPPED && !SPLIT_K && CLUSTER_K == 1 && !B_MN && WGMMA_N % 32 == 0),
              "a gate is of whole tiles of K-major gates and ups on the N side");
static_assert(!BATCHED || (!GATED && !SPLIT_K), "batches are of whole tiles without a gate");
static_assert(!IS_SPLIT || (ATOMS_M == 1 && WGMMA_N <= 128), "registers for sums of 64 x 128 of a consumer, twice");
static_assert(!IS_SPLIT || (!PINGPONG && !SPLIT_K && CLUSTER_SIZE == 1), "stages of tf32x3 are of one CTA's tile");
static_assert(!SWAPPED || WGMMA_N % (8 * CLUSTER_K) == 0, "the parts of a swapped tile are equal");
static_assert(ATOMS_M * ATOM_REGISTERS <= MOST_ACCUMULATORS, "accumulators must leave registers for the rest");
static_assert(!PROMOTES || (K_STEPS % PROMOTED_STEPS == 0 && (ATOMS_M + 1) * ATOM_REGISTERS <= MOST_ACCUMULATORS),
              "registers for an atom's sums, once more");
static_assert(!SCALES_SUMS || (PROMOTES && !GATED && !EXTENDED), "scales are of promoted sums");
static_assert(!SCALES_SUMS || HAS_N_SCALES || !SWAPPED, "blocks of 128 columns are on the N side");
static_assert(!PROMOTES || !SPLIT_K, "pieces of split-K are multiplied by mma_tile()");
static_assert(!GM_FAST || IS_FP8, "fast sums are of fp8");
static_assert(A_MN ? TILE_M % SPAN_ELEMS == 0 : TILE_K % SPAN_ELEMS == 0, "A is cut into slabs of the span");
static_assert(B_MN ? TILE_N % SPAN_ELEMS == 0 : TILE_K % SPAN_ELEMS == 0, "B is cut into slabs of the span");
static_assert(GM_SM90_SMEM_BYTES(TILE_M, TILE_N, TILE_K, STAGES, ROLES, GM_TYPE) <= GM_SM90_MOST_SMEM,
              "fits a Hopper SM");

/* With cluster-k every CTA of the cluster stores one part of the N side: part p begins at column part_first(p). */
static __device__ __forceinline__ constexpr int part_first(int part) {
    return SWAPPED ? D_N / CLUSTER_K * part : D_N / 16 * part / CLUSTER_K * 16;
}
static __device__ __forceinline__ constexpr int part_size(int part) {
    return part_first(part + 1) - part_first(part);
}

/* ---- shared memory: stages | staging | scales | barriers ------------------------------------------- */

static __device__ __forceinline__ uint32_t smem_base(void) {
    extern __shared__ unsigned char smem[];
    return ((uint32_t)__cvta_generic_to_shared(smem) + GM_SM90_ALIGN - 1) & ~(uint32_t)(GM_SM90_ALIGN - 1);
}

static __device__ __forceinline__ uint32_t staging_addr(uint32_t base, int consumer) {
    return base + STAGES * STAGE_BYTES + consumer * GM_SM90_STORE_BUFFERS * BUFFER_BYTES;
}

static __device__ __forceinline__ struct pipeline pipeline_at(uint32_t base) {
    const uint32_t full = base + STAGES * STAGE_BYTES + STAGING_BYTES + SCALES_BYTES;
    return {full, full + 8 * STAGES};
}

/* The mbarrier on which partial sums arrive: with stream-K one for each consumer of a tile, with split-K the first. */
static __device__ __forceinline__ uint32_t partials_barrier_addr(uint32_t base, int consumer) {
    return pipeline_at(base).empty_addr + 8 * STAGES + 8 * consumer;
}

/* A consumer's part of the drained ring, which is divided among the consumers of a tile. */
enum { RING_PART_BYTES = STAGES * STAGE_BYTES / TILE_CONSUMERS / GM_SM90_ALIGN * GM_SM90_ALIGN };
static __device__ __forceinline__ uint32_t ring_part_addr(uint32_t base, int consumer) {
    return base + consumer % TILE_CONSUMERS * RING_PART_BYTES;
}

#endif
