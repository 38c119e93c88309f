/* SPDX-License-Identifier: Apache-2.0 */
/* Tile and shared-memory arithmetic of the sm90 attention, for the host (planner, table) and the kernels. In bytes. */
#ifndef GM_ATTENTION_SM90_TILE_H
#define GM_ATTENTION_SM90_TILE_H

#include "common/arith.h"
#include "common/attention_sm90/tokens.h"
#include "common/types.h"

/* A producer warpgroup and consumers, or, of CTAs of which an SM has several, one consumer. */
#define GM_ATTENTION_SM90_THREADS(tile_m, ctas) (((tile_m) / 64 + ((ctas) == 1)) * 128)

/* Elements of V and O, of a variant's column v_head_dim. */
#define GM_ATTENTION_SM90_V_DIM(head_dim, v_head_dim) ((v_head_dim) ? (v_head_dim) : (head_dim))

/* ---- shared memory, from a 1024-byte boundary ------------------------------------------------------
 *
 *   Q | K[stages] | V[stages] | of 8 bits V as it was loaded[stages] | barriers | descriptions of tiles */

#define GM_ATTENTION_SM90_ALIGN         1024 /* bytes after which the swizzle pattern repeats */
#define GM_ATTENTION_SM90_SPAN          128  /* of a row of a slab: the swizzle's */
#define GM_ATTENTION_SM90_IS_8BIT(type) (GM_TYPE_BYTES(type) == 1)
/* Of a Q, or of a stage of K or of V as it was loaded: whole slabs. */
#define GM_ATTENTION_SM90_SLABS(type, elems) GM_CEIL_DIV((elems) * GM_TYPE_BYTES(type), GM_ATTENTION_SM90_SPAN)
#define GM_ATTENTION_SM90_ROWS_BYTES(type, rows, elems)                                                                \
    ((rows) * GM_ATTENTION_SM90_SLABS(type, elems) * GM_ATTENTION_SM90_SPAN)
/* Of a stage of V as it is multiplied: of 8 bits it is transposed, a row of SPAN tokens for each element. */
#define GM_ATTENTION_SM90_V_BYTES(type, tile_n, v_dim)                                                                 \
    (GM_ATTENTION_SM90_IS_8BIT(type) ? (v_dim) * GM_ATTENTION_SM90_SPAN                                                \
                                     : GM_ATTENTION_SM90_ROWS_BYTES(type, tile_n, v_dim))
#define GM_ATTENTION_SM90_LOADED_BYTES(type, tile_n, v_dim)                                                            \
    (GM_ATTENTION_SM90_IS_8BIT(type) ? GM_ATTENTION_SM90_ROWS_BYTES(type, tile_n, v_dim) : 0)
#define GM_ATTENTION_SM90_TILE_SLOTS(ctas) ((ctas) > 1 ? 1 : 2)
#define GM_ATTENTION_SM90_TILE_BYTES(ctas) ((ctas) > 1 ? 64 : 48)
/* full and empty of each stage of K and of V, of each Q, of each description; of 8 bits also of each stage of V as it was
 * loaded, and a number beside them. */
#define GM_ATTENTION_SM90_BARRIER_BYTES(type, stages, q_slots, ctas)                                                   \
    ((stages) * (GM_ATTENTION_SM90_IS_8BIT(type) ? 64 : 32) + (q_slots) * 16 + GM_ATTENTION_SM90_TILE_SLOTS(ctas) * 16)
#define GM_ATTENTION_SM90_BYTES(type, head_dim, v_dim, tile_m, tile_n, stages, q_slots, ctas)                          \
    (GM_ATTENTION_SM90_ALIGN + (q_slots) * GM_ATTENTION_SM90_ROWS_BYTES(type, tile_m, head_dim) +                      \
     (stages) *                                                                                                        \
         (GM_ATTENTION_SM90_ROWS_BYTES(type, tile_n, head_dim) + GM_ATTENTION_SM90_V_BYTES(type, tile_n, v_dim) +      \
          GM_ATTENTION_SM90_LOADED_BYTES(type, tile_n, v_dim)) +                                                       \
     GM_ATTENTION_SM90_BARRIER_BYTES(type, stages, q_slots, ctas) +                                                    \
     GM_ATTENTION_SM90_TILE_SLOTS(ctas) * GM_ATTENTION_SM90_TILE_BYTES(ctas))

/* Of shared memory on Hopper: what each of an SM's CTAs may have. */
#define GM_ATTENTION_SM90_MOST_BYTES(ctas) (233472 / (ctas) / 128 * 128 - 1024)
/* Where there is room for the next tile's Q too, its first scores are computed with the last O of this one. */
#define GM_ATTENTION_SM90_Q_SLOTS(type, head_dim, v_dim, tile_m, tile_n, stages, ctas)                                 \
    ((ctas) == 1 && GM_ATTENTION_SM90_BYTES(type, head_dim, v_dim, tile_m, tile_n, stages, 2, ctas) <=                 \
                        GM_ATTENTION_SM90_MOST_BYTES(ctas)                                                             \
         ? 2                                                                                                           \
         : 1)
#define GM_ATTENTION_SM90_SMEM_BYTES(type, head_dim, v_dim, tile_m, tile_n, stages, ctas)                              \
    GM_ATTENTION_SM90_BYTES(type, head_dim, v_dim, tile_m, tile_n, stages,                                             \
                            GM_ATTENTION_SM90_Q_SLOTS(type, head_dim, v_dim, tile_m, tile_n, stages, ctas), ctas)

#endif
