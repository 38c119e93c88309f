/* SPDX-License-Identifier: Apache-2.0 */
/* What follows from a variant's columns: tile, who takes which part of it, and where things are in shared memory. It
 * brings the tile's arithmetic (tile.h) along; all else a fragment includes itself. */
#ifndef GM_SM90_GEMM_CONSTANTS_CUH
#define GM_SM90_GEMM_CONSTANTS_CUH

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

/* ---- columns and what follows from them ------------------------------------------------------------- */

enum {
    ROLES = GM_SM90_ROLES(GM_SCHEDULE, GM_CONSUMERS, GM_SWAP, GM_CLUSTER_K, GM_SPLIT_K),
    ELEM_BYTES = GM_TYPE_BYTES(GM_TYPE),
    TILE_M = GM_TILE_M,
    TILE_N = GM_TILE_N,
    TILE_K = GM_TILE_K,
    STAGES = GM_STAGES,
    CLUSTER_M = GM_CLUSTER_M,        /* CTAs that share a B tile */
    CLUSTER_N = GM_CLUSTER_N,        /* CTAs that share an A tile */
    SHARERS = CLUSTER_M * CLUSTER_N, /* CTAs that fill each other's stages by multicast */
    SPLITS = GM_CLUSTER_K,           /* cluster-k: CTAs that share the K of a tile */
    CLUSTER_SIZE = SHARERS * SPLITS,
    CONSUMERS = GM_CONSUMERS,
    TILE_CONSUMERS = GM_SM90_TILE_CONSUMERS(ROLES), /* of one tile */
    PINGPONG = GM_SCHEDULE == GM_SCHEDULE_pingpong,
    SWAPPED = GM_SWAP,    /* B is on wgmma's M side */
    REDUCES = GM_SPLIT_K, /* split-K: tiles are cut evenly, and added up by reduce-scatter */
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
    FLOATS = GM_SM90_ACCUMULATORS(TILE_M, TILE_N, ROLES), /* and of all */
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

#endif
