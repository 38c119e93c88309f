/* SPDX-License-Identifier: Apache-2.0 */
/* Tile and shared-memory arithmetic of the sm90 GEMM, for the host (planner, table) and the kernels. Sizes are in bytes
 * unless the name says otherwise. */
#ifndef GM_GEMM_SM90_TILE_H
#define GM_GEMM_SM90_TILE_H

#include "common/arith.h"
#include "common/gemm/tokens.h"
#include "common/types.h"

/* ---- who does what in a CTA ------------------------------------------------------------------------ */

/* The columns schedule, consumers, swap, cluster_k, split_k, gate, extended and scales of a variant as one constant:
 *
 *   bits   0-3         4-7        8-11        12     13        14     15         16-17
 *          consumers   schedule   cluster_k   swap   split_k   gate   extended   scales */
#define GM_SM90_ROLES(schedule, consumers, swap, cluster_k, split_k, gate, extended, scales)                           \
    ((consumers) | (schedule) << 4 | (cluster_k) << 8 | (swap) << 12 | (split_k) << 13 | (gate) << 14 |                \
     (extended) << 15 | (scales) << 16)
#define GM_SM90_CONSUMERS(roles) ((roles) & 15)
#define GM_SM90_SCHEDULE(roles)  ((roles) >> 4 & 15)
#define GM_SM90_CLUSTER_K(roles) ((roles) >> 8 & 15)
#define GM_SM90_SWAP(roles)      ((roles) >> 12 & 1)
#define GM_SM90_SPLIT_K(roles)   ((roles) >> 13 & 1)
#define GM_SM90_GATE(roles)      ((roles) >> 14 & 1)
#define GM_SM90_EXTENDED(roles)  ((roles) >> 15 & 1)
#define GM_SM90_SCALES(roles)    ((roles) >> 16 & 3)

#define GM_SM90_PINGPONG(roles) (GM_SM90_SCHEDULE(roles) == GM_SCHEDULE_pingpong)
/* Whether every element becomes two, by a warpgroup of splitters and by the consumers. */
#define GM_SM90_SPLITS(type) ((int)(type) == (int)GM_TYPE_tf32x3)
/* The producer's warpgroup, the consumers, and with tf32x3 that of the splitters. */
#define GM_SM90_THREADS(consumers, type) (((consumers) + 1 + GM_SM90_SPLITS(type)) * 128)
#define GM_SM90_TILE_CONSUMERS(roles)    (GM_SM90_PINGPONG(roles) ? 1 : GM_SM90_CONSUMERS(roles)) /* of one tile */

#define GM_SM90_GATE_COLUMNS 16 /* of A B, which a variant with a gate loads together: 8 gates, then their 8 ups */

/* ---- a stage: tile_m x tile_k of A, then tile_n x tile_k of B -------------------------------------- */

#define GM_SM90_A_BYTES(tm, tk, type)         ((tm) * (tk) * GM_TYPE_BYTES(type))
#define GM_SM90_B_BYTES(tn, tk, type)         ((tn) * (tk) * GM_TYPE_BYTES(type))
#define GM_SM90_STAGE_BYTES(tm, tn, tk, type) (GM_SM90_A_BYTES(tm, tk, type) + GM_SM90_B_BYTES(tn, tk, type))

/* tf32x3: a stage's slot of the ring also holds the small halves of the operand on wgmma's N side. */
#define GM_SM90_SMALL_BYTES(tm, tn, tk, roles, type)                                                                   \
    (GM_SM90_SPLITS(type) ? GM_SM90_WGMMA_N(tm, tn, roles) * (tk) * GM_TYPE_BYTES(type) : 0)
#define GM_SM90_SLOT_BYTES(tm, tn, tk, roles, type)                                                                    \
    (GM_SM90_STAGE_BYTES(tm, tn, tk, type) + GM_SM90_SMALL_BYTES(tm, tn, tk, roles, type))

/* ---- the scales of a stage ------------------------------------------------------------------------- */

/* Each sum of GM_SM90_SUM_K products of fp8 has its own. As they land in shared memory they are words of the rows of wgmma's
 * M side and of its N side: with xc of every column, with x of every GM_SM90_SCALE_SPAN columns, since the blocks of 128
 * columns need not begin where tiles do; and four that say whose they are. A stage has factors, which are made of them: with xc
 * one for each row and column, with x products, of every row and span. */
#define GM_SM90_SUM_K           128
#define GM_SM90_SCALE_SPAN(tn)  GM_MIN((tn) & -(tn), 128)
#define GM_SM90_SCALE_SPANS(tn) ((tn) / GM_SM90_SCALE_SPAN(tn))
#define GM_SM90_N_SCALES(tm, tn, roles)                                                                                \
    (GM_SM90_SCALES(roles) == GM_SCALES_columns ? GM_SM90_WGMMA_N(tm, tn, roles)                                       \
                                                : GM_CEIL_DIV(GM_SM90_SCALE_SPANS(tn), 4) * 4)
#define GM_SM90_ROW_SCALES(tm, tn, roles)    (GM_SM90_WGMMA_M(tm, tn, roles) + GM_SM90_N_SCALES(tm, tn, roles))
#define GM_SM90_LANDED_SCALES(tm, tn, roles) (GM_SM90_ROW_SCALES(tm, tn, roles) + 4)
#define GM_SM90_SUM_FACTORS(tm, tn, roles)                                                                             \
    (GM_SM90_SCALES(roles) == GM_SCALES_columns ? GM_SM90_ROW_SCALES(tm, tn, roles)                                    \
                                                : GM_SM90_WGMMA_M(tm, tn, roles) * GM_SM90_SCALE_SPANS(tn))
#define GM_SM90_LANDED_BYTES(tm, tn, tk, roles) ((tk) / GM_SM90_SUM_K * 4 * GM_SM90_LANDED_SCALES(tm, tn, roles))
#define GM_SM90_FACTORS_BYTES(tm, tn, tk, stages, roles)                                                               \
    ((stages) * ((tk) / GM_SM90_SUM_K) * 4 * GM_SM90_SUM_FACTORS(tm, tn, roles))

/* ---- the staging of D ------------------------------------------------------------------------------ */

/* wgmma multiplies an M side, cut into atoms of 64 rows, by an N side. The M side is A, or B where they are swapped. D
 * leaves a consumer warpgroup in chunks, swizzled with the span of their rows:
 *
 *   A on the M side    64 rows of D (an atom) x GM_SM90_STORE_SPAN bytes of columns; each warp stores its 16 rows
 *   B on the M side    GM_SM90_STORE_ROWS rows of D (of the N side) x 128 bytes of columns (an atom as 16-bit elements)
 *
 * A staging buffer holds rows of 128 bytes, so one chunk, or several narrow ones. With cluster-k a CTA stores a part of
 * the tile only: about 1 / cluster_k of the N side, in whole 16 columns. A part may be no multiple of a chunk. Its last
 * chunk then begins early, and some of the part is stored twice, because whole lines are worth it: 112 columns as
 * 0 .. 63 and 48 .. 111, 104 rows as 0 .. 55 and 48 .. 103. With a gate two columns of the N side make one of D. With an
 * extended epilogue an element may be one byte, and a chunk has no more columns than the tile then. */
#define GM_SM90_WGMMA_M(tm, tn, roles) (GM_SM90_SWAP(roles) ? (tn) : (tm))
#define GM_SM90_WGMMA_N(tm, tn, roles) (GM_SM90_SWAP(roles) ? (tm) : (tn))
#define GM_SM90_STORED_N(tm, tn, roles)                                                                                \
    (GM_SM90_WGMMA_N(tm, tn, roles) / GM_SM90_CLUSTER_K(roles) / (1 + GM_SM90_GATE(roles)))
#define GM_SM90_STORE_SPAN(tm, tn, roles)                                                                              \
    (GM_SM90_EXTENDED(roles) && !GM_SM90_SWAP(roles) ? (GM_SM90_STORED_N(tm, tn, roles) % 128 == 0 ? 128 : 64)         \
     : GM_SM90_SWAP(roles) || GM_SM90_STORE_SPAN_FITS(GM_SM90_STORED_N(tm, tn, roles) / 16 * 16, 64) ? 128             \
     : GM_SM90_STORE_SPAN_FITS(GM_SM90_STORED_N(tm, tn, roles) / 16 * 16, 32)                        ? 64              \
                                                                                                     : 32)
/* No more than a quarter of D is stored twice. */
#define GM_SM90_STORE_SPAN_FITS(part, columns)                                                                         \
    ((part) >= (columns) && GM_CEIL_DIV(part, columns) * (columns) * 4 <= (part) * 5)
#define GM_SM90_STORE_ROWS(tm, tn, roles)                                                                              \
    (GM_SM90_SWAP(roles) ? GM_SM90_STORE_ROWS_OF(GM_SM90_STORED_N(tm, tn, roles), GM_SM90_CONSUMERS(roles)) : 64)
/* Whole groups of 8 rows; fewer where more consumers stage theirs. */
#define GM_SM90_STORE_ROWS_OF(part, consumers)                                                                         \
    ((part) <= 64                          ? (part)                                                                    \
     : (part) % 32 == 0 && (consumers) > 2 ? (part) / 4                                                                \
     : (part) % 16 == 0 && (part) <= 208   ? (part) / 2                                                                \
     : (part) % 32 == 0                    ? (part) / 4                                                                \
     : (part) % 24 == 0 && (part) / 8 > 12 ? (part) / 3                                                                \
     : (part) * (consumers) <= 192         ? (part)                                                                    \
                                           : GM_CEIL_DIV(part, 16) * 8)
#define GM_SM90_STORE_BOX_ROWS(tm, tn, roles) (GM_SM90_SWAP(roles) ? GM_SM90_STORE_ROWS(tm, tn, roles) : 16)
#define GM_SM90_BUFFER_BYTES(tm, tn, roles)   (GM_SM90_STORE_ROWS(tm, tn, roles) * 128)
#define GM_SM90_STORE_BUFFERS                 2
/* Split-K has no staging: it adds up in the ring, and stores from registers. */
#define GM_SM90_STAGING_BYTES(tm, tn, roles)                                                                           \
    (GM_SM90_SPLIT_K(roles) ? 0                                                                                        \
                            : GM_SM90_CONSUMERS(roles) * GM_SM90_STORE_BUFFERS * GM_SM90_BUFFER_BYTES(tm, tn, roles))

/* ---- shared memory, from a 1024-byte boundary: ring of stages | staging of D | scales | barriers --- */

/* full[stages], empty[stages]; with cluster-k ready, free, arrived[consumers]; else partials[consumers], of stream-K;
 * for split-K a mailbox of 8 bytes; for tf32x3 split[stages]. */
#define GM_SM90_BARRIER_BYTES(stages, roles, type)                                                                     \
    ((stages) * 16 + (GM_SM90_CLUSTER_K(roles) > 1 ? 16 : 0) + 8 * GM_SM90_CONSUMERS(roles) +                          \
     8 * GM_SM90_SPLIT_K(roles) + (GM_SM90_SPLITS(type) ? (stages) * 8 : 0))
#define GM_SM90_MOST_SMEM                                    232448 /* bytes of shared memory that a CTA may have on an SM of 9.0 */
#define GM_SM90_ALIGN                                        1024 /* bytes after which the swizzle pattern repeats: room to round the base up */
#define GM_SM90_OTHER_BYTES(tm, tn, tk, stages, roles, type) /* but the scales */                                      \
    (GM_SM90_ALIGN + (stages) * GM_SM90_SLOT_BYTES(tm, tn, tk, roles, type) + GM_SM90_STAGING_BYTES(tm, tn, roles) +   \
     GM_SM90_BARRIER_BYTES(stages, roles, type))
/* Stages whose scales may be on their way: 4, or as many as the ring has, if there is room. What memory sets the pace of
 * asks for all of its stages at once, and would wait for scales otherwise. */
#define GM_SM90_SCALES_AHEAD(tm, tn, tk, stages, roles, type)                                                          \
    GM_MAX(4, GM_MIN(stages, (GM_SM90_MOST_SMEM - GM_SM90_OTHER_BYTES(tm, tn, tk, stages, roles, type) -               \
                              GM_SM90_FACTORS_BYTES(tm, tn, tk, stages, roles)) /                                      \
                                 GM_SM90_LANDED_BYTES(tm, tn, tk, roles)))
#define GM_SM90_SCALES_BYTES(tm, tn, tk, stages, roles, type)                                                          \
    (GM_SM90_SCALES(roles)                                                                                             \
         ? GM_SM90_FACTORS_BYTES(tm, tn, tk, stages, roles) +                                                          \
               GM_SM90_SCALES_AHEAD(tm, tn, tk, stages, roles, type) * GM_SM90_LANDED_BYTES(tm, tn, tk, roles)         \
         : 0)
#define GM_SM90_SMEM_BYTES(tm, tn, tk, stages, roles, type)                                                            \
    (GM_SM90_OTHER_BYTES(tm, tn, tk, stages, roles, type) + GM_SM90_SCALES_BYTES(tm, tn, tk, stages, roles, type))

/* ---- registers ------------------------------------------------------------------------------------- */

#define GM_SM90_ACCUMULATORS(tm, tn, roles) ((tm) * (tn) / 128 / GM_SM90_TILE_CONSUMERS(roles)) /* of a thread */

/* Accumulators of a thread in one chunk of a partial sum that another CTA has published; the last chunk may have fewer.
 * One chunk fits the staging of D. */
#define GM_SM90_PARTIAL_CHUNK(tm, tn, roles)                                                                           \
    GM_MIN(GM_SM90_ACCUMULATORS(tm, tn, roles), GM_SM90_STORE_BUFFERS *GM_SM90_BUFFER_BYTES(tm, tn, roles) / 512)

/* Whether a consumer can keep a tile as 16-bit elements while it multiplies the next, which takes half as many
 * registers again as the accumulators. Ping-pong has no need of it; with cluster-k a CTA has parts of the tile only. */
#define GM_SM90_DEFERS_STORE(tm, tn, roles, type)                                                                      \
    (GM_TYPE_BYTES(type) == 2 && !GM_SM90_PINGPONG(roles) && GM_SM90_CLUSTER_K(roles) == 1 &&                          \
     !GM_SM90_EXTENDED(roles) && GM_SM90_ACCUMULATORS(tm, tn, roles) <= 128)

#endif
