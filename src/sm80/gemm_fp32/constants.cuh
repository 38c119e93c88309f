/* SPDX-License-Identifier: Apache-2.0 */
/* Constants that follow from a variant's columns: tile, warps, lanes, shared memory. */
#ifndef GM_SM80_GEMM_FP32_CONSTANTS_CUH
#define GM_SM80_GEMM_FP32_CONSTANTS_CUH

#include "common/gemm_fp32/tile.h"
#include "common/types.h"

/* ---- columns ------------------------------------------------------------------------------------- */

enum {
    LAYOUT = GM_LAYOUT,
    TILE_M = GM_TILE_M,
    TILE_N = GM_TILE_N,
    TILE_K = GM_TILE_K,
    STAGES = GM_STAGES,
    WARPS_M = GM_WARPS_M,
    WARPS_N = GM_WARPS_N,
    CTAS = GM_CTAS,     /* of an SM, for which the compiler leaves registers */
    BATCHED = GM_BATCH, /* tiles are of the matrices of a batch */
};

/* ---- derived constants --------------------------------------------------------------------------- */

enum {
    THREADS = GM_FP32_THREADS(WARPS_M, WARPS_N),
    WARP_M = TILE_M / WARPS_M,
    WARP_N = TILE_N / WARPS_N,
    LANES_M = WARP_M >= WARP_N ? 8 : 4, /* the lanes of a warp are LANES_M x LANES_N over its part of the tile */
    LANES_N = 32 / LANES_M,
    THREAD_M = WARP_M / LANES_M, /* what a thread has of it: groups of 4 neighbouring rows and columns */
    THREAD_N = WARP_N / LANES_N,
    FLOATS = THREAD_M * THREAD_N, /* accumulators of a thread */
    STEP_K = 4,                   /* elements of K that 16 bytes of a K-major row hold: one step from registers */
    STEPS = TILE_K / STEP_K,
    AHEAD = 2, /* chunks of B that are loaded ahead of the one that is multiplied */
    /* Registers for A's fragment of the next step, too; else other warps hide the loads of a step. */
    REGISTERS = 65536 / (THREADS * CTAS) < 255 ? 65536 / (THREADS * CTAS) : 255,
    PREFETCHES = REGISTERS >= FLOATS + 2 * STEP_K * THREAD_M + 4 * AHEAD + (FLOATS > 64 ? 24 : 36),
    UNROLLED = FLOATS <= 32 ? 4 : 1 + PREFETCHES, /* steps: more make the loop long, and ptxas move registers about */
    A_MN = GM_LAYOUT_A_MN(LAYOUT),
    B_MN = GM_LAYOUT_B_MN(LAYOUT),
    STAGE_BYTES = GM_FP32_STAGE_BYTES(TILE_M, TILE_N, TILE_K),
    RING_BYTES = GM_FP32_SMEM_BYTES(TILE_M, TILE_N, TILE_K, STAGES),
};

static_assert(THREAD_M % 4 == 0 && THREAD_N % 4 == 0, "a thread has groups of 4 rows and columns");
static_assert(WARP_M % (4 * LANES_M) == 0 && WARP_N % (4 * LANES_N) == 0, "a warp's groups are whole");
static_assert(TILE_K == 16 || TILE_K == 32, "the keys of place.cuh");
static_assert(STAGES >= 3 && RING_BYTES <= 227 * 1024, "the ring has three stages or more and fits Hopper");
static_assert(THREAD_N >= AHEAD && THREAD_M % AHEAD == 0, "A's next fragment comes with a step's last chunks of B");

/* ---- shared memory ------------------------------------------------------------------------------- */

extern __shared__ __align__(128) unsigned char smem[];

#endif
