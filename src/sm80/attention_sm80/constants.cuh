/* SPDX-License-Identifier: Apache-2.0 */
/* Constants that follow from a variant's columns. */
#ifndef GM_ATTENTION_SM80_CONSTANTS_CUH
#define GM_ATTENTION_SM80_CONSTANTS_CUH

#include "common/attention_sm80/params.h"
#include "sm80/attention/tile.cuh"

enum {
    TILE_ROWS = GM_TILE_ROWS,
    TILE_KEYS = GM_TILE_KEYS,
    WARPS = GM_WARPS,
    THREADS = 32 * WARPS,
    CTAS = GM_ATTENTION_SM80_CTAS(WARPS), /* on an SM */
    WARP_ROWS = TILE_ROWS / WARPS,
    BLOCKS = WARP_ROWS / 16, /* of 16 rows, of a warp */
    KEY_STEPS = TILE_KEYS / 16,
    SLOTS = GM_ATTENTION_SM80_SLOTS,
    SLOT_BYTES = TILE_KEYS * ROW_BYTES,
    RING_BYTES = SLOTS * SLOT_BYTES,
    Q_BYTES = TILE_ROWS * ROW_BYTES,
    LANE_ROWS = 32 / CHUNKS,        /* rows of k or v that a warp copies at once, */
    COPY_ROWS = THREADS / CHUNKS,   /* and that all do */
    COPIES = TILE_KEYS / COPY_ROWS, /* chunks of a thread, of a tile */
};
static_assert(TYPE == GM_TYPE_bf16 || TYPE == GM_TYPE_fp16, "16-bit types");
static_assert(WARP_ROWS % 16 == 0 && TILE_KEYS % 16 == 0, "a warp multiplies blocks of 16 x 16");
static_assert(TILE_KEYS % COPY_ROWS == 0 && TILE_ROWS % COPY_ROWS == 0, "all threads copy as many chunks");
static_assert(COPIES * LANE_ROWS <= 32, "a lane finds a row");
static_assert(SLOTS == 3, "while a tile is multiplied, the next of k and of v are under way");

/* q's rows, the ring, where in the end rows of out are staged; the tile. */
extern __shared__ __align__(128) unsigned char smem[];

#endif
