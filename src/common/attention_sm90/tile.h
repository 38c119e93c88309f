/* SPDX-License-Identifier: Apache-2.0 */
/* Tile and shared-memory arithmetic of the sm90 attention, for the host (planner, table) and the kernels. In bytes. */
#ifndef GM_ATTENTION_SM90_TILE_H
#define GM_ATTENTION_SM90_TILE_H

#include "common/arith.h"
#include "common/attention_sm90/tokens.h"

#define GM_ATTENTION_SM90_THREADS(consumers) (((consumers) + 1) * 128)

/* Elements of V and O, of a variant's column v_head_dim. */
#define GM_ATTENTION_SM90_V_DIM(head_dim, v_head_dim) ((v_head_dim) ? (v_head_dim) : (head_dim))

/* ---- shared memory, from a 1024-byte boundary: Q | K[stages] | V[stages] | barriers | descriptions of tiles ---- */

#define GM_ATTENTION_SM90_ALIGN                   1024 /* bytes after which the swizzle pattern repeats */
#define GM_ATTENTION_SM90_ROWS_BYTES(rows, elems) ((rows) * (elems) * 2) /* of a Q, or of a stage of K or V */
#define GM_ATTENTION_SM90_TILE_SLOTS              2
#define GM_ATTENTION_SM90_TILE_BYTES              48
/* full and empty of each stage of K and of V, of each Q, of each description. */
#define GM_ATTENTION_SM90_BARRIER_BYTES(stages, q_slots)                                                               \
    ((stages) * 32 + (q_slots) * 16 + GM_ATTENTION_SM90_TILE_SLOTS * 16)
#define GM_ATTENTION_SM90_BYTES(head_dim, v_dim, tile_m, tile_n, stages, q_slots)                                      \
    (GM_ATTENTION_SM90_ALIGN + (q_slots) * GM_ATTENTION_SM90_ROWS_BYTES(tile_m, head_dim) +                            \
     (stages) * GM_ATTENTION_SM90_ROWS_BYTES(tile_n, (head_dim) + (v_dim)) +                                           \
     GM_ATTENTION_SM90_BARRIER_BYTES(stages, q_slots) + GM_ATTENTION_SM90_TILE_SLOTS * GM_ATTENTION_SM90_TILE_BYTES)

/* Where there is room for the next tile's Q too, its first scores are computed with the last O of this one. */
#define GM_ATTENTION_SM90_MOST_BYTES 232448 /* that a CTA may have on Hopper */
#define GM_ATTENTION_SM90_Q_SLOTS(head_dim, v_dim, tile_m, tile_n, stages)                                             \
    (GM_ATTENTION_SM90_BYTES(head_dim, v_dim, tile_m, tile_n, stages, 2) <= GM_ATTENTION_SM90_MOST_BYTES ? 2 : 1)
#define GM_ATTENTION_SM90_SMEM_BYTES(head_dim, v_dim, tile_m, tile_n, stages)                                          \
    GM_ATTENTION_SM90_BYTES(head_dim, v_dim, tile_m, tile_n, stages,                                                   \
                            GM_ATTENTION_SM90_Q_SLOTS(head_dim, v_dim, tile_m, tile_n, stages))

#endif
