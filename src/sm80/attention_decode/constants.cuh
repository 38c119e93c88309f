/* SPDX-License-Identifier: Apache-2.0 */
/* Constants that follow from a variant's columns. */
#ifndef GM_ATTENTION_DECODE_CONSTANTS_CUH
#define GM_ATTENTION_DECODE_CONSTANTS_CUH

#include "common/attention_decode/params.h"
#include "sm80/attention/tile.cuh"

enum {
    WARPS = GM_WARPS,
    STAGES = GM_STAGES,
    THREADS = 32 * WARPS,
    CTAS = GM_ATTENTION_DECODE_CTAS(HEAD_DIM, WARPS, STAGES, GM_CACHE), /* on an SM */
    ROWS = GM_ATTENTION_DECODE_ROWS,
    KEYS = GM_ATTENTION_DECODE_KEYS(HEAD_DIM, GM_CACHE),          /* of a warp's tile */
    BLOCK = GM_ATTENTION_DECODE_BLOCK(HEAD_DIM, WARPS, GM_CACHE), /* keys of all warps' tiles */
    STAGE_BYTES = GM_ATTENTION_DECODE_STAGE_BYTES(HEAD_DIM, GM_CACHE),
    RING_BYTES = STAGES * STAGE_BYTES,                         /* of a warp */
    Q_BYTES = GM_ATTENTION_DECODE_Q_BYTES(HEAD_DIM, GM_CACHE), /* of q in shared memory */
    KV_BYTES = GM_ATTENTION_DECODE_KV_BYTES(GM_CACHE),         /* of an element of k and v, */
    KV_ROW_BYTES = HEAD_DIM * KV_BYTES,                        /* a row, */
    KV_CHUNKS = KV_ROW_BYTES / 16,                             /* and its chunks, */
    KV_ELEMENTS = 16 / KV_BYTES,                               /* each of so many elements */
};
static_assert(((int)TYPE == (int)GM_TYPE_e4m3) == (GM_CACHE == GM_CACHE_e4m3), "it stands for all types of q");
static_assert(STAGES >= 2, "a warp's sums and what they are relative to fit its ring");

/* The warps' rings, then q's rows. */
extern __shared__ __align__(128) unsigned char rings[];

#endif
