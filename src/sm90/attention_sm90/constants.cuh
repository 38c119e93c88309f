/* SPDX-License-Identifier: Apache-2.0 */
/* Constants that follow from a variant's columns, and where things are in shared memory. */
#ifndef GM_SM90_ATTENTION_CONSTANTS_CUH
#define GM_SM90_ATTENTION_CONSTANTS_CUH

#include "common/attention/params.h"
#include "common/attention_sm90/tile.h"
#include "common/types.h"
#include "sm90/pipeline.cuh"

/* Q and K are K-major: their rows are along the head. V is MN-major: wgmma_rs_shapes.cuh says so itself. Of 8 bits all are
 * K-major, and V is transposed before: transpose.cuh. */
#define GM_M_SIDE_MN 0
#define GM_N_SIDE_MN 0

/* ---- columns and what follows from them ------------------------------------------------------------- */

enum {
    TILE_M = GM_TILE_M,     /* rows of q that a CTA takes, 64 of them a consumer */
    TILE_N = GM_TILE_N,     /* tokens of a block of K and V */
    HEAD_DIM = GM_HEAD_DIM, /* elements of Q and K; heads with fewer are zeros behind them */
    V_DIM = GM_ATTENTION_SM90_V_DIM(GM_HEAD_DIM, GM_V_HEAD_DIM), /* of V and O, likewise */
    STAGES = GM_STAGES,                                          /* of K, and of V */
    CTAS = GM_CTAS,                                              /* of an SM */
    IS_ALONE = CTAS > 1, /* its consumer has no producer beside it, and one tile: attend_alone.cuh */
    CONSUMERS = TILE_M / 64,
    THREADS = GM_ATTENTION_SM90_THREADS(TILE_M, CTAS),
    FIRST_CONSUMER = IS_ALONE ? 0 : 1, /* its warpgroup */
    /* O is rescaled while wgmma computes scores, and exponentials while it computes O. With fewer elements a consumer waits for
     * its O first: faster, since the other consumers' wgmmas run meanwhile. */
    OVERLAPS = V_DIM > 128,
    IS_SERIAL = GM_ISSUE == GM_ISSUE_serial, /* of a consumer alone: attend_serial() */
    HAS_TURNS = GM_ISSUE == GM_ISSUE_turns,  /* of several consumers */

    IS_8BIT = GM_ATTENTION_SM90_IS_8BIT(GM_TYPE),
    SPAN = GM_ATTENTION_SM90_SPAN,
    SLAB = SPAN / GM_TYPE_BYTES(GM_TYPE),               /* elements of a row of a slab */
    SLABS = GM_ATTENTION_SM90_SLABS(GM_TYPE, HEAD_DIM), /* of Q and K */
    V_SLABS = GM_ATTENTION_SM90_SLABS(GM_TYPE, V_DIM),  /* of V as it is loaded */
    Q_SLOTS = GM_ATTENTION_SM90_Q_SLOTS(GM_TYPE, HEAD_DIM, V_DIM, TILE_M, TILE_N, STAGES, CTAS),
    TILE_SLOTS = GM_ATTENTION_SM90_TILE_SLOTS(CTAS),
    IS_WIDE = IS_8BIT && V_DIM > 128,      /* O leaves no room for a block's P V: attend_8bit_wide.cuh */
    JOINS_TILES = Q_SLOTS > 1 && !IS_WIDE, /* a tile's first scores are issued before the last O of the one before it */
    Q_BYTES = GM_ATTENTION_SM90_ROWS_BYTES(GM_TYPE, TILE_M, HEAD_DIM),
    K_BYTES = GM_ATTENTION_SM90_ROWS_BYTES(GM_TYPE, TILE_N, HEAD_DIM), /* of a stage */
    V_BYTES = GM_ATTENTION_SM90_V_BYTES(GM_TYPE, TILE_N, V_DIM),
    LOADED_BYTES = GM_ATTENTION_SM90_LOADED_BYTES(GM_TYPE, TILE_N, V_DIM),

    SCORES = TILE_N / 2,                           /* accumulators of a thread: of S = Q K */
    OUTPUTS = V_DIM / 2,                           /* of O = P V */
    P_WORDS = SCORES / 4 * GM_TYPE_BYTES(GM_TYPE), /* of P, in V's type */

    /* Exponentials of 8 bits are up to 2^8 and not 1: e4m3 has 448, and more of them are no denormals. */
    P_SHIFT = IS_8BIT ? 8 : 0,
    TRANSPOSERS = 2, /* warps of the producer's that transpose V of 8 bits */

    /* Registers of a thread. Three warpgroups are launched with 168 each, four with 128. */
    PRODUCER_REGISTERS = CONSUMERS < 3 ? 40 : 32,
    CONSUMER_REGISTERS = CONSUMERS < 3 ? 232 : 160,

    BAR_TURN = 1,             /* named barriers: + consumer */
    BAR_TAIL = 1 + CONSUMERS, /* of all consumers: V behind the last token is zeros */
};
static_assert(TILE_M % 64 == 0 && TILE_N % 16 == 0 && TILE_N <= 128 && HEAD_DIM % 64 == 0 && HEAD_DIM <= 256 &&
                  V_DIM % 64 == 0 && V_DIM <= 256,
              "tile is made of wgmma atoms");
static_assert(!IS_8BIT || (TILE_N % 32 == 0 && (IS_WIDE || JOINS_TILES)), "what attend_8bit.cuh is written for");
static_assert(HAS_TURNS == (!IS_ALONE && (!IS_8BIT || IS_WIDE)), "as each of the loops does it");
static_assert(!IS_ALONE || (CONSUMERS == 1 && !OVERLAPS && !IS_8BIT), "what attend_alone.cuh is written for");
static_assert(GM_ATTENTION_SM90_SMEM_BYTES(GM_TYPE, HEAD_DIM, V_DIM, TILE_M, TILE_N, STAGES, CTAS) <=
                  GM_ATTENTION_SM90_MOST_BYTES(CTAS),
              "as many fit a Hopper SM");

/* ---- where a block's rows lie -------------------------------------------------------------------------- */

/* Bytes from 8 tokens of a slab to the next 8, and from a slab to the next, of a row of SLABS_OF_ROW. */
struct layout {
    uint32_t eight, slab;
};

template <int SLABS_OF_ROW> static __device__ __forceinline__ struct layout layout_of(int flags) {
    const bool is_whole = SLABS_OF_ROW > 1 && !IS_8BIT && flags & GM_ATTENTION_WHOLE_ROWS;
    const int eight = is_whole ? SLABS_OF_ROW * 8 * SPAN : 8 * SPAN, slab = is_whole ? 8 * SPAN : TILE_N * SPAN;
    return {(uint32_t)eight, (uint32_t)slab};
}

/* ---- shared memory ---------------------------------------------------------------------------------- */

static __device__ __forceinline__ uint32_t smem_base(void) {
    extern __shared__ unsigned char smem[];
    return ((uint32_t)__cvta_generic_to_shared(smem) + GM_ATTENTION_SM90_ALIGN - 1) &
           ~(uint32_t)(GM_ATTENTION_SM90_ALIGN - 1);
}

static __device__ __forceinline__ uint32_t q_addr(uint32_t base, uint32_t slot) {
    return base + slot * Q_BYTES;
}

static __device__ __forceinline__ uint32_t k_addr(uint32_t base, uint32_t slot) {
    return base + Q_SLOTS * Q_BYTES + slot * K_BYTES;
}

static __device__ __forceinline__ uint32_t v_addr(uint32_t base, uint32_t slot) {
    return base + Q_SLOTS * Q_BYTES + STAGES * K_BYTES + slot * V_BYTES;
}

/* Of 8 bits: V as it was loaded. */
static __device__ __forceinline__ uint32_t loaded_addr(uint32_t base, uint32_t slot) {
    return base + Q_SLOTS * Q_BYTES + STAGES * (K_BYTES + V_BYTES) + slot * LOADED_BYTES;
}

static __device__ __forceinline__ uint32_t barriers_addr(uint32_t base) {
    return base + Q_SLOTS * Q_BYTES + STAGES * (K_BYTES + V_BYTES + LOADED_BYTES);
}

static __device__ __forceinline__ struct pipeline k_ring(uint32_t base) {
    return {barriers_addr(base), barriers_addr(base) + 8 * STAGES};
}

static __device__ __forceinline__ struct pipeline v_ring(uint32_t base) {
    return {barriers_addr(base) + 16 * STAGES, barriers_addr(base) + 24 * STAGES};
}

static __device__ __forceinline__ struct pipeline q_ring(uint32_t base) {
    return {barriers_addr(base) + 32 * STAGES, barriers_addr(base) + 32 * STAGES + 8 * Q_SLOTS};
}

/* A ring of descriptions of tiles, which ordinary stores write. */
static __device__ __forceinline__ struct pipeline tile_ring(uint32_t base) {
    const uint32_t full = barriers_addr(base) + 32 * STAGES + 16 * Q_SLOTS;
    return {full, full + 8 * TILE_SLOTS};
}

/* Of 8 bits: the stages of V as it was loaded, and a word of each. */
static __device__ __forceinline__ struct pipeline loaded_ring(uint32_t base) {
    const uint32_t full = tile_ring(base).empty_addr + 8 * TILE_SLOTS;
    return {full, full + 8 * STAGES};
}

/* How many of the block's tokens there are; less than none: there are no more blocks. */
static __device__ __forceinline__ uint32_t tokens_addr(uint32_t base, uint32_t slot) {
    return loaded_ring(base).empty_addr + 8 * STAGES + 4 * slot;
}

static __device__ __forceinline__ uint32_t tile_addr(uint32_t base, uint32_t slot) {
    return barriers_addr(base) + GM_ATTENTION_SM90_BARRIER_BYTES(GM_TYPE, STAGES, Q_SLOTS, CTAS) +
           slot * GM_ATTENTION_SM90_TILE_BYTES(CTAS);
}

#endif
