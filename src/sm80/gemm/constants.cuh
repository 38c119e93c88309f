/* SPDX-License-Identifier: Apache-2.0 */
/* Constants that follow from a variant's columns: tile, warps, shared memory. It includes the tile's arithmetic
 * (tile.h); a fragment includes everything else itself. */
#ifndef GM_SM80_GEMM_CONSTANTS_CUH
#define GM_SM80_GEMM_CONSTANTS_CUH

#include "common/gemm/sums.cuh"
#include "common/gemm_sm80/tile.h"

typedef sum_of<GM_TYPE>::type sum_t;

/* ---- columns ------------------------------------------------------------------------------------- */

enum {
    TYPE = GM_TYPE,
    ELEM_BYTES = GM_TYPE_BYTES(TYPE),
    IS_HALF = ELEM_BYTES == 2,
    IS_INT = TYPE == GM_TYPE_int8,
    IS_DECODED = GM_TYPE_IS_FP8(TYPE), /* mma.sync takes fp16 that is made of it, see decode.cuh */
    IS_MIXED = TYPE == GM_TYPE_e5m2,   /* one operand is e5m2, the other e4m3 */
    IS_SPLIT = TYPE == GM_TYPE_tf32x3, /* every element becomes two of tf32, see common/gemm/split.cuh */
    CHUNK = 16 / ELEM_BYTES,           /* elements */
    K_STEP = 32 / ELEM_BYTES,          /* of K, in one mma.sync, of fp8 in two */
    LAYOUT = GM_LAYOUT,
    TILE_M = GM_TILE_M,
    TILE_N = GM_TILE_N,
    TILE_K = GM_TILE_K,
    STAGES = GM_STAGES,
    WARPS_M = GM_WARPS_M,
    WARPS_N = GM_WARPS_N,
    WARP_K = GM_WARP_K, /* warp-k: parts of K in every stage, each multiplied by its own warps */
    WARPS = GM_SM80_WARPS(WARPS_M, WARPS_N, WARP_K),
    MAP = GM_SMEM_MAP,
    EXTENDED = GM_EXTENDED, /* its epilogue has scales, a residual, amax, or a D of 8 bits */
    BATCHED = GM_BATCH,     /* tiles are of the matrices of a batch */
};

/* ---- derived constants --------------------------------------------------------------------------- */

enum {
    THREADS = GM_SM80_THREADS(WARPS),
    TILE_THREADS = GM_SM80_TILE_THREADS(WARPS), /* of one part of K: they hold accumulators of the whole tile */
    WARP_M = GM_SM80_WARP_TILE_M(TILE_M, WARPS),
    WARP_N = GM_SM80_WARP_TILE_N(TILE_N, WARPS),
    BLOCKS_M = WARP_M / 16, /* blocks of 16 rows of A and B in one k-step of a warp: one ldmatrix.x4 each */
    BLOCKS_N = WARP_N / 16,
    K_STEPS = TILE_K / K_STEP / WARP_K, /* of a stage, for one warp */
    FLOATS = WARP_M * WARP_N / 32,      /* accumulators of a thread */
    A_MN = GM_LAYOUT_A_MN(LAYOUT),
    B_MN = GM_LAYOUT_B_MN(LAYOUT),
    A_ROW_ELEMS = A_MN ? TILE_M : TILE_K,
    B_ROW_ELEMS = B_MN ? TILE_N : TILE_K,
    STAGE_BYTES = GM_SM80_STAGE_BYTES(TILE_M, TILE_N, TILE_K, LAYOUT, MAP, TYPE),
    RING_BYTES = STAGES * STAGE_BYTES,
    SMEM_BYTES = GM_SM80_SMEM_BYTES(TILE_M, TILE_N, TILE_K, STAGES, WARPS, LAYOUT, MAP, TYPE),
    /* As many CTAs per SM as registers and an A100's shared memory allow. */
    CTAS_REGISTERS = 65536 / (THREADS * GM_SM80_REGISTERS(TILE_M, TILE_N, WARPS, TYPE)),
    CTAS_SMEM = 164 * 1024 / (SMEM_BYTES + 1024),
    CTAS_FIT = CTAS_REGISTERS < CTAS_SMEM ? CTAS_REGISTERS : CTAS_SMEM,
    CTAS = CTAS_FIT > 1 ? CTAS_FIT : 1,
    A_CHUNKS = GM_SM80_CHUNKS(TILE_M, TILE_K, WARPS, TYPE), /* of each thread, in a k-block */
    B_CHUNKS = GM_SM80_CHUNKS(TILE_N, TILE_K, WARPS, TYPE),
    DEFERS_STORES = GM_SM80_DEFERS_STORES(TILE_M, TILE_N, TILE_K, WARPS, TYPE, SMEM_BYTES),
};

static_assert(TILE_M % (WARPS_M * 16) == 0 && TILE_N % (WARPS_N * 16) == 0, "a warp computes 16 x 16 blocks");
static_assert(TILE_K % (K_STEP * WARP_K) == 0 && K_STEPS % 2 == 0,
              "fragments alternate between two sets, and a k-block starts with the first");
static_assert((K_STEPS & (K_STEPS - 1)) == 0 || WARP_K == 1, "swizzle_move's constants");
static_assert(GM_SM80_EXCHANGE_BYTES(TILE_M, TILE_N, WARPS) <= RING_BYTES, "the ring holds the other parts' sums");
static_assert(STAGES >= 3 && SMEM_BYTES <= 227 * 1024, "the ring has three stages or more and fits Hopper");
static_assert(MAP == GM_SMEM_MAP_pad || MAP == GM_SMEM_MAP_xor, "the maps of swizzle.cuh");
static_assert(IS_HALF || IS_INT || IS_SPLIT || IS_DECODED || TYPE == GM_TYPE_tf32, "the types of mma.cuh");
static_assert(ELEM_BYTES > 1 || (!A_MN && !B_MN), "ldmatrix transposes no bytes");
static_assert(!A_MN || WARP_M % 64 == 0 || WARP_M == 32 || WARP_M == 16, "swizzle_move's constants");
static_assert(!B_MN || WARP_N % 64 == 0 || WARP_N == 32 || WARP_N == 16, "swizzle_move's constants");

/* ---- shared memory ------------------------------------------------------------------------------- */

/* The ring of stages, then the staging strips of the warps of K's part 0. */
extern __shared__ __align__(128) unsigned char smem[];

#endif
