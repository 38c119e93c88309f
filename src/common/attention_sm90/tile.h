/* SPDX-License-Identifier: Apache-2.0 */
/* Tile and shared-memory arithmetic of the sm90 attention, for the host (planner, table) and the kernels. In bytes. */
#ifndef GM_ATTENTION_SM90_TILE_H
#define GM_ATTENTION_SM90_TILE_H

#include "common/arith.h"

#define GM_ATTENTION_SM90_THREADS(consumers) (((consumers) + 1) * 128)

/* ---- shared memory, from a 1024-byte boundary: Q | K[stages] | V[stages] | barriers | the tile's description ---- */

#define GM_ATTENTION_SM90_Q_BYTES(tile_m, head_dim)  ((tile_m) * (head_dim) * 2)
#define GM_ATTENTION_SM90_KV_BYTES(tile_n, head_dim) ((tile_n) * (head_dim) * 2) /* of a stage of K, or of V */
/* full[stages], empty[stages] of K and of V; full, empty of Q and of the description. */
#define GM_ATTENTION_SM90_BARRIER_BYTES(stages) ((stages) * 32 + 32)
#define GM_ATTENTION_SM90_TILE_BYTES            48
#define GM_ATTENTION_SM90_ALIGN                 1024 /* bytes after which the swizzle pattern repeats */
#define GM_ATTENTION_SM90_SMEM_BYTES(tile_m, tile_n, head_dim, stages)                                                 \
    (GM_ATTENTION_SM90_ALIGN + GM_ATTENTION_SM90_Q_BYTES(tile_m, head_dim) +                                           \
     (stages) * 2 * GM_ATTENTION_SM90_KV_BYTES(tile_n, head_dim) + GM_ATTENTION_SM90_BARRIER_BYTES(stages) +           \
     GM_ATTENTION_SM90_TILE_BYTES)

#endif
