/* SPDX-License-Identifier: Apache-2.0 */
/* Tile and shared-memory arithmetic of the sm90 attention, for the host (planner, table) and the kernels. In bytes. */
#ifndef GM_ATTENTION_SM90_TILE_H
#define GM_ATTENTION_SM90_TILE_H

#include "common/arith.h"

#define GM_ATTENTION_SM90_THREADS(consumers) (((consumers) + 1) * 128)

/* ---- shared memory, from a 1024-byte boundary: Q | K[stages] | V[stages] | barriers | descriptions of tiles ---- */

/* Where there is room for the next tile's Q too, its first scores are computed with the last O of this one. */
#define GM_ATTENTION_SM90_Q_SLOTS(head_dim)          ((head_dim) <= 128 ? 2 : 1)
#define GM_ATTENTION_SM90_Q_BYTES(tile_m, head_dim)  ((tile_m) * (head_dim) * 2)
#define GM_ATTENTION_SM90_KV_BYTES(tile_n, head_dim) ((tile_n) * (head_dim) * 2) /* of a stage of K, or of V */
#define GM_ATTENTION_SM90_TILE_SLOTS                 2
#define GM_ATTENTION_SM90_TILE_BYTES                 48
/* full and empty of each stage of K and of V, of each Q, of each description. */
#define GM_ATTENTION_SM90_BARRIER_BYTES(head_dim, stages)                                                              \
    ((stages) * 32 + GM_ATTENTION_SM90_Q_SLOTS(head_dim) * 16 + GM_ATTENTION_SM90_TILE_SLOTS * 16)
#define GM_ATTENTION_SM90_ALIGN 1024 /* bytes after which the swizzle pattern repeats */
#define GM_ATTENTION_SM90_SMEM_BYTES(tile_m, tile_n, head_dim, stages)                                                 \
    (GM_ATTENTION_SM90_ALIGN + GM_ATTENTION_SM90_Q_SLOTS(head_dim) * GM_ATTENTION_SM90_Q_BYTES(tile_m, head_dim) +     \
     (stages) * 2 * GM_ATTENTION_SM90_KV_BYTES(tile_n, head_dim) + GM_ATTENTION_SM90_BARRIER_BYTES(head_dim, stages) + \
     GM_ATTENTION_SM90_TILE_SLOTS * GM_ATTENTION_SM90_TILE_BYTES)

#endif
