/* SPDX-License-Identifier: Apache-2.0 */
/* Constants that follow from a variant's columns, and where things are in shared memory. */
#ifndef GM_SM90_ATTENTION_MLA_CONSTANTS_CUH
#define GM_SM90_ATTENTION_MLA_CONSTANTS_CUH

#include "common/attention_mla_sm90/params.h"
#include "common/index.cuh"
#include "common/types.h"
#include "sm90/pipeline.cuh"

/* Q and K are K-major: their rows are along the head. V is MN-major: wgmma_rs_shapes.cuh says so itself. */
#define GM_M_SIDE_MN 0
#define GM_N_SIDE_MN 0

/* ---- columns and what follows from them ------------------------------------------------------------- */

enum {
    TYPE = GM_TYPE,
    HEAD_DIM = GM_HEAD_DIM,     /* elements of a row of q and k */
    V_HEAD_DIM = GM_V_HEAD_DIM, /* of v and out: the first of k */
    BLOCK = GM_BLOCK,           /* tokens of a stage */
    STAGES = GM_STAGES,
    CLUSTER = GM_CLUSTER, /* CTAs that share blocks */
    CTA_ROWS = GM_MLA_ROWS,
    ROWS = CLUSTER * CTA_ROWS, /* of a unit */
    KEY_STEP = BLOCK,          /* blocks begin where boxes do */
    ADDERS = GM_MLA_ADDERS(V_HEAD_DIM),
    THREADS = GM_MLA_THREADS(V_HEAD_DIM),

    SPAN = 128,            /* bytes of a row in a slab: the swizzle span */
    SLABS = HEAD_DIM / 64, /* of 64 elements a row */
    V_SLABS = V_HEAD_DIM / 64,
    SLAB_BYTES = BLOCK * SPAN,
    /* A stage is full in three steps, so that its first scores begin early: two halves of v, and what only k has. */
    STEPS = 3,
    STEP_SLABS = V_SLABS / 2,
    /* It is left in halves of its tokens, so that the next block is on its way early. CTA i of a cluster loads half i for all. */
    HALVES = 2,
    HALF = BLOCK / HALVES,
    Q_BYTES = GM_MLA_Q_BYTES(HEAD_DIM),
    STAGE_BYTES = GM_MLA_STAGE_BYTES(HEAD_DIM, BLOCK),
    PIECE_SLOTS = GM_MLA_PIECE_SLOTS,

    SCORES = BLOCK / 2,                /* accumulators of a thread: of S = Q K */
    COLUMNS = V_HEAD_DIM / ADDERS,     /* of out, of a warpgroup */
    OUTPUTS = COLUMNS / 2,             /* accumulators of a thread: of O = P V */
    WEIGHTS = BLOCK / 4,               /* words of P, two elements each */
    GATHER_WARPS = 2,                  /* that load q, and k where there are no boxes */
    READER_WARPS = 4 + 4 * ADDERS + 3, /* that hear of a piece: scores, out, boxes, gathered rows */

    /* Registers of a thread. Four warpgroups are launched with 128 each. */
    PRODUCER_REGISTERS = 40,
    SCORER_REGISTERS = 120,
    ADDER_REGISTERS = 176,

    BAR_SCORED = 1, /* named barriers: all warps' scores are there, so that k may be written to */
    BAR_LEFT = 2,   /* all of a piece is in its slot */
};
static_assert(TYPE == GM_TYPE_bf16 || TYPE == GM_TYPE_fp16, "16-bit types");
static_assert(BLOCK == CTA_ROWS, "q is loaded as a block of k is, and weights take a slab");
static_assert(CLUSTER == 1 || CLUSTER == HALVES, "each CTA of a cluster loads a half");
static_assert(COLUMNS == 256 && V_SLABS % 2 == 0 && SLABS == V_SLABS + 1, "a slab that only k has, where weights go");
static_assert(PRODUCER_REGISTERS + SCORER_REGISTERS + ADDERS * ADDER_REGISTERS <= 128 * THREADS / 128,
              "what an SM has");

static __device__ __forceinline__ uint32_t lane_index(void) {
    return (uint32_t)thread_index() % 32;
}

/* Of its cluster. */
static __device__ __forceinline__ int cta_rank(void) {
    return cta_index() % CLUSTER;
}

/* Of its warpgroup. */
static __device__ __forceinline__ uint32_t warp_index(void) {
    return (uint32_t)thread_index() / 32 % 4;
}

/* ---- shared memory ---------------------------------------------------------------------------------- */

static __device__ __forceinline__ uint32_t smem_base(void) {
    extern __shared__ unsigned char smem[];
    return ((uint32_t)__cvta_generic_to_shared(smem) + GM_MLA_ALIGN - 1) & ~(uint32_t)(GM_MLA_ALIGN - 1);
}

static __device__ __forceinline__ uint32_t q_addr(uint32_t base) {
    return base;
}

static __device__ __forceinline__ uint32_t stage_addr(uint32_t base, uint32_t slot) {
    return base + Q_BYTES + slot * STAGE_BYTES;
}

/* Weights: in the slab of the stage that only k has, once its scores are there. */
static __device__ __forceinline__ uint32_t weights_addr(uint32_t base, uint32_t slot) {
    return stage_addr(base, slot) + V_SLABS * SLAB_BYTES;
}

static __device__ __forceinline__ uint32_t barriers_addr(uint32_t base) {
    return base + Q_BYTES + STAGES * STAGE_BYTES;
}

/* A slot's barriers: full by steps; empty by halves, in the cluster; that its weights are there, and zeros in v where no token is;
 * and that this CTA's adders have left all of it. */
enum { STAGE_BARRIERS = STEPS + HALVES + 2 };

static __device__ __forceinline__ uint32_t full_addr(uint32_t base, uint32_t slot, int step) {
    return barriers_addr(base) + 8 * (STAGE_BARRIERS * slot + step);
}

static __device__ __forceinline__ uint32_t empty_addr(uint32_t base, uint32_t slot, int half) {
    return barriers_addr(base) + 8 * (STAGE_BARRIERS * slot + STEPS + half);
}

static __device__ __forceinline__ uint32_t weighed_addr(uint32_t base, uint32_t slot) {
    return barriers_addr(base) + 8 * (STAGE_BARRIERS * slot + STEPS + HALVES);
}

static __device__ __forceinline__ uint32_t left_addr(uint32_t base, uint32_t slot) {
    return barriers_addr(base) + 8 * (STAGE_BARRIERS * slot + STEPS + HALVES + 1);
}

static __device__ __forceinline__ struct pipeline q_ring(uint32_t base) {
    const uint32_t full = barriers_addr(base) + 8 * STAGE_BARRIERS * STAGES;
    return {full, full + 8};
}

/* Of descriptions of pieces. */
static __device__ __forceinline__ struct pipeline piece_ring(uint32_t base) {
    const uint32_t full = barriers_addr(base) + 8 * (STAGE_BARRIERS * STAGES + 2);
    return {full, full + 8 * PIECE_SLOTS};
}

/* All of a piece's rows have their largest score and their sum. */
static __device__ __forceinline__ uint32_t summed_addr(uint32_t base, uint32_t slot) {
    return barriers_addr(base) + 8 * (STAGE_BARRIERS * STAGES + 2 + 2 * PIECE_SLOTS + slot);
}
static_assert(8 * (STAGE_BARRIERS * STAGES + 2 + 3 * PIECE_SLOTS) <= GM_MLA_BARRIER_BYTES, "barriers have room");

/* What rows' values are multiplied by before a stage's are added: a word for each row. */
static __device__ __forceinline__ uint32_t kept_addr(uint32_t base, uint32_t slot) {
    return barriers_addr(base) + GM_MLA_BARRIER_BYTES + slot * 4 * CTA_ROWS;
}

/* A piece's rows: a largest score and a sum each. */
static __device__ __forceinline__ uint32_t sums_addr(uint32_t base, uint32_t slot) {
    return kept_addr(base, STAGES) + slot * 8 * CTA_ROWS;
}

static __device__ __forceinline__ uint32_t piece_addr(uint32_t base, uint32_t slot) {
    return sums_addr(base, PIECE_SLOTS) + slot * GM_MLA_PIECE_BYTES;
}

#endif
