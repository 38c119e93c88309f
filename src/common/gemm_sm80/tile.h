/* SPDX-License-Identifier: Apache-2.0 */
/* Tile and shared-memory arithmetic of the sm80 GEMM, for the host (planner, table) and the kernels. Sizes are in bytes
 * unless the name says otherwise. */
#ifndef GM_GEMM_SM80_TILE_H
#define GM_GEMM_SM80_TILE_H

#include "common/arith.h"
#include "common/gemm/tokens.h"
#include "common/types.h"

/* The columns warps_m, warps_n and warp_k of a variant as one constant:
 *
 *   bits   0-3       4-7       8-11
 *          warps_m   warps_n   warp_k */
#define GM_SM80_WARPS(warps_m, warps_n, warp_k) ((warps_m) | (warps_n) << 4 | (warp_k) << 8)
#define GM_SM80_WARPS_M(warps)                  ((warps) & 15)
#define GM_SM80_WARPS_N(warps)                  ((warps) >> 4 & 15)
#define GM_SM80_WARP_K(warps)                   ((warps) >> 8 & 15)

/* ---- shared memory: ring of stages | a staging strip of D for each warp of the first part of K ----- */

/* A row of an operand in shared memory is tile_k elements (K-major) or tile_m / tile_n elements (MN-major). The padded
 * map adds 16 bytes to each row, the XOR map adds none. The strip is apart from the ring, so that the next tile's first
 * stages load while this tile is stored. It holds 16 rows of a warp's part of D as 16-bit elements or 8 rows as fp32,
 * each row 16 bytes longer than its elements.
 *
 * With warp-k, the warps of every part of K hold accumulators of the whole tile. The warps of the other parts write
 * theirs to the ring, once it is drained; the warps of the first part add and store them. The ring must hold them. */
#define GM_SM80_TILE_THREADS(warps)             (GM_SM80_WARPS_M(warps) * GM_SM80_WARPS_N(warps) * 32) /* of one part of K */
#define GM_SM80_THREADS(warps)                  (GM_SM80_WARP_K(warps) * GM_SM80_TILE_THREADS(warps))
#define GM_SM80_EXCHANGE_BYTES(tm, tn, warps)   ((GM_SM80_WARP_K(warps) - 1) * (tm) * (tn) * 4)
#define GM_SM80_PAD_BYTES(map)                  ((map) == GM_SMEM_MAP_pad ? 16 : 0)
#define GM_SM80_ROW_BYTES(row_elems, map, type) ((row_elems) * GM_TYPE_BYTES(type) + GM_SM80_PAD_BYTES(map))
#define GM_SM80_OPERAND_BYTES(tile_mn, tk, mn_major, map, type)                                                        \
    ((mn_major) ? (tk) * GM_SM80_ROW_BYTES(tile_mn, map, type) : (tile_mn) * GM_SM80_ROW_BYTES(tk, map, type))
#define GM_SM80_STAGE_BYTES(tm, tn, tk, layout, map, type)                                                             \
    (GM_SM80_OPERAND_BYTES(tm, tk, GM_LAYOUT_A_MN(layout), map, type) +                                                \
     GM_SM80_OPERAND_BYTES(tn, tk, GM_LAYOUT_B_MN(layout), map, type))
#define GM_SM80_STRIP_PITCH(warp_n, elem_bytes) ((warp_n) * (elem_bytes) + 16)
#define GM_SM80_STRIP_BYTES(warp_n)             (16 * GM_SM80_STRIP_PITCH(warp_n, 2))
#define GM_SM80_SMEM_BYTES(tm, tn, tk, stages, warps, layout, map, type)                                               \
    ((stages) * GM_SM80_STAGE_BYTES(tm, tn, tk, layout, map, type) +                                                   \
     GM_SM80_WARPS_M(warps) * GM_SM80_WARPS_N(warps) * GM_SM80_STRIP_BYTES((tn) / GM_SM80_WARPS_N(warps)))

/* ---- registers ------------------------------------------------------------------------------------- */

/* Of a thread: accumulators, two sets of fragments, and what addresses, the loop and tf32x3's halves take. */
#define GM_SM80_WARP_TILE_M(tm, warps) ((tm) / GM_SM80_WARPS_M(warps))
#define GM_SM80_WARP_TILE_N(tn, warps) ((tn) / GM_SM80_WARPS_N(warps))
#define GM_SM80_REGISTERS(tm, tn, warps, type)                                                                         \
    (GM_SM80_WARP_TILE_M(tm, warps) * GM_SM80_WARP_TILE_N(tn, warps) / 32 +                                            \
     (GM_SM80_WARP_TILE_M(tm, warps) + GM_SM80_WARP_TILE_N(tn, warps)) / 2 +                                           \
     ((int)(type) == (int)GM_TYPE_tf32x3 ? 120 : 56))

/* 16-byte chunks that a thread copies of an operand's tile in one k-block. Chunks of 16-bit elements that are only
 * element-aligned come through registers, GM_SM80_UNALIGNED_WORDS words each. A variant defers their stores to shared
 * memory if it has registers for a whole k-block of them, with as many CTAs on an SM as Hopper's shared memory holds:
 * then it waits for memory while another k-block is multiplied. */
#define GM_SM80_CHUNKS(tile_mn, tk, warps, type) ((tile_mn) * (tk) * GM_TYPE_BYTES(type) / 16 / GM_SM80_THREADS(warps))
#define GM_SM80_UNALIGNED_WORDS                  5
#define GM_SM80_DEFERS_STORES(tm, tn, tk, warps, type, smem_bytes)                                                     \
    (GM_TYPE_BYTES(type) == 2 &&                                                                                       \
     65536 / (GM_SM80_THREADS(warps) * (227 * 1024 / (smem_bytes))) >=                                                 \
         GM_SM80_REGISTERS(tm, tn, warps, type) + 40 +                                                                 \
             GM_SM80_UNALIGNED_WORDS * (GM_SM80_CHUNKS(tm, tk, warps, type) + GM_SM80_CHUNKS(tn, tk, warps, type)))

#endif
