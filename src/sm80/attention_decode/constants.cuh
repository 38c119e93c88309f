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
    CTAS = GM_ATTENTION_DECODE_CTAS(HEAD_DIM, WARPS, STAGES), /* on an SM */
    ROWS = GM_ATTENTION_DECODE_ROWS,
    KEYS = GM_ATTENTION_DECODE_KEYS(HEAD_DIM),          /* of a warp's tile */
    BLOCK = GM_ATTENTION_DECODE_BLOCK(HEAD_DIM, WARPS), /* keys of all warps' tiles */
    KEY_STEP = 1,                                       /* tiles begin anywhere */
    STAGE_BYTES = GM_ATTENTION_DECODE_STAGE_BYTES(HEAD_DIM),
    RING_BYTES = STAGES * STAGE_BYTES,               /* of a warp */
    Q_BYTES = GM_ATTENTION_DECODE_Q_BYTES(HEAD_DIM), /* of q's rows in shared memory; 0: they are in registers */
};
static_assert(STAGES >= 2, "a warp's sums and what they are relative to fit its ring");

/* The warps' rings, then q's rows. */
extern __shared__ __align__(128) unsigned char rings[];

#endif
