/* SPDX-License-Identifier: Apache-2.0 */
/* Tile and shared-memory arithmetic, written once: read by the host (launch, table, planner) and by the
 * kernels. All sizes in bytes unless the name says otherwise; both element types of a GEMM are 2 bytes. */
#ifndef GM_TILE_H
#define GM_TILE_H

/* ---- registry tokens -> numbers (a registry column `x` reaches here as GM_<COLUMN>_x) ------------- */

#define GM_TYPE_bf16 0 /* = enum gm_type */
#define GM_TYPE_fp16 1
#define GM_TYPE_fp32 2

#define GM_LAYOUT_tn 0 /* bit 0: A is M-major, bit 1: B is N-major */
#define GM_LAYOUT_nn 1
#define GM_LAYOUT_tt 2
#define GM_LAYOUT_nt 3
#define GM_LAYOUT_A_MN(layout) ((layout) & 1)
#define GM_LAYOUT_B_MN(layout) (((layout) >> 1) & 1)

/* warps: schedule * 256 + warps_m * 16 + warps_n; for sm90 warps_m counts consumer warpgroups, and there is more:
 * + splits * 4096: so many CTAs, a cluster, share the K of a tile; + 65536: B is on wgmma's M side (swapped)
 * + 16777216: CTAs share the K of a tile through memory, as many as the plan says (reduces)
 * and for sm80 + slices * 1048576: so many times warps_m x warps_n warps of one CTA share the K of every stage.
 * gemv's warps_m share the K of the same rows. */
#define GM_WARPS_w1 (256 + 16 + 1)
#define GM_WARPS_w2 (256 + 32 + 1)
#define GM_WARPS_p2 (512 + 32 + 1)
#define GM_WARPS_w1k4 (16384 + GM_WARPS_w1)
#define GM_WARPS_w1k2 (8192 + GM_WARPS_w1)
#define GM_WARPS_w1k3 (12288 + GM_WARPS_w1)
#define GM_WARPS_w2k2 (8192 + GM_WARPS_w2)
#define GM_WARPS_w2k3 (12288 + GM_WARPS_w2)
#define GM_WARPS_w2k4 (16384 + GM_WARPS_w2)
#define GM_WARPS_w1s (65536 + GM_WARPS_w1)
#define GM_WARPS_w2s (65536 + GM_WARPS_w2)
#define GM_WARPS_w3s (65536 + 256 + 48 + 1)
#define GM_WARPS_p2s (65536 + GM_WARPS_p2)
#define GM_WARPS_w1sk2 (65536 + GM_WARPS_w1k2)
#define GM_WARPS_w2sk2 (65536 + GM_WARPS_w2k2)
#define GM_WARPS_w1sk4 (65536 + GM_WARPS_w1k4)
#define GM_WARPS_w1r (16777216 + GM_WARPS_w1)
#define GM_WARPS_w2r (16777216 + GM_WARPS_w2)
#define GM_WARPS_w1sr (16777216 + GM_WARPS_w1s)
#define GM_WARPS_w2sr (16777216 + GM_WARPS_w2s)
#define GM_WARPS_w1x4 (16 + 4)
#define GM_WARPS_w2x2 (32 + 2)
#define GM_WARPS_w2x4 (32 + 4)
#define GM_WARPS_w4x1 (64 + 1)
#define GM_WARPS_w4x2 (64 + 2)
#define GM_WARPS_w1x1k4 (4 * 1048576 + 16 + 1)
#define GM_WARPS_w1x2k2 (2 * 1048576 + 16 + 2)
#define GM_WARPS_w1x2k4 (4 * 1048576 + 16 + 2)
#define GM_WARPS_w1x4k2 (2 * 1048576 + 16 + 4)
#define GM_WARPS_w1x8 (16 + 8)
#define GM_WARPS_w8x1 (128 + 1)
#define GM_WARPS_SCHEDULE(warps) (((warps) >> 8) & 15) /* = enum gm_schedule */
#define GM_WARPS_SPLITS(warps) ((((warps) >> 12) & 15) == 0 ? 1 : ((warps) >> 12) & 15)
#define GM_WARPS_SWAPPED(warps) (((warps) >> 16) & 1)
#define GM_WARPS_REDUCES(warps) (((warps) >> 24) & 1)
#define GM_WARPS_SLICES(warps) ((((warps) >> 20) & 15) == 0 ? 1 : ((warps) >> 20) & 15)
#define GM_WARPS_M(warps) (((warps) >> 4) & 15)
#define GM_WARPS_N(warps) ((warps) & 15)

#define GM_MAP_pad 0 /* = enum gm_smem_map */
#define GM_MAP_xor 1
#define GM_MAP_none 2
#define GM_MAP_sw32 32
#define GM_MAP_sw64 64
#define GM_MAP_sw128 128

#define GM_ELEM_BYTES 2
#define GM_CEIL_DIV(a, b) (((a) + (b) - 1) / (b))
#define GM_MIN(a, b) ((a) < (b) ? (a) : (b))

/* ---- sm90: ring of stages | staging of D | barriers, from a 1024-byte boundary -------------------- */

/* One stage holds tile_m x tile_k of A, then tile_n x tile_k of B.
 *
 * wgmma multiplies an M side, cut into atoms of 64 rows, by an N side. The M side is A, or B when the row is swapped.
 * D leaves a consumer warpgroup in chunks, swizzled with the span of their rows:
 *
 *   A on the M side    64 rows of D (an atom) x GM_SM90_STORE_SPAN bytes of columns; each warp stores its 16 rows
 *   B on the M side    GM_SM90_STORE_ROWS rows of D (of the N side) x 128 bytes of columns (an atom as 16-bit elements)
 *
 * A staging buffer holds rows of 128 bytes, so one chunk, or several narrow ones. With splits a CTA stores a part of
 * the tile only: about 1 / splits of the N side, in whole 16 columns. Where whole chunks are not the part, the last
 * one begins early, and some of it is stored twice: 112 columns as 0 .. 63 and 48 .. 111, for whole lines are worth it;
 * 104 rows as 0 .. 55 and 48 .. 103. */
#define GM_SM90_THREADS(consumers) (((consumers) + 1) * 128)
#define GM_SM90_TILE_CONSUMERS(warps) (GM_WARPS_SCHEDULE(warps) == 2 ? 1 : GM_WARPS_M(warps)) /* of one tile */
#define GM_SM90_A_BYTES(tm, tk) ((tm) * (tk) * GM_ELEM_BYTES)
#define GM_SM90_B_BYTES(tn, tk) ((tn) * (tk) * GM_ELEM_BYTES)
#define GM_SM90_STAGE_BYTES(tm, tn, tk) (GM_SM90_A_BYTES(tm, tk) + GM_SM90_B_BYTES(tn, tk))
#define GM_SM90_SIDE_M(tm, tn, warps) (GM_WARPS_SWAPPED(warps) ? (tn) : (tm))
#define GM_SM90_SIDE_N(tm, tn, warps) (GM_WARPS_SWAPPED(warps) ? (tm) : (tn))
#define GM_SM90_PART_N(tm, tn, warps) (GM_SM90_SIDE_N(tm, tn, warps) / GM_WARPS_SPLITS(warps))
#define GM_SM90_STORE_SPAN(tm, tn, warps)                                                                              \
    (GM_WARPS_SWAPPED(warps) || GM_SM90_STORE_SUITS(GM_SM90_PART_N(tm, tn, warps) / 16 * 16, 64) ? 128                 \
     : GM_SM90_STORE_SUITS(GM_SM90_PART_N(tm, tn, warps) / 16 * 16, 32)                          ? 64                  \
                                                                                                 : 32)
#define GM_SM90_STORE_SUITS(part, columns) /* no more than a quarter of D twice */                                     \
    ((part) >= (columns) && GM_CEIL_DIV(part, columns) * (columns) * 4 <= (part) * 5)
#define GM_SM90_STORE_ROWS(tm, tn, warps)                                                                              \
    (GM_WARPS_SWAPPED(warps) ? GM_SM90_STORE_ROWS_OF(GM_SM90_PART_N(tm, tn, warps), GM_WARPS_M(warps)) : 64)
#define GM_SM90_STORE_ROWS_OF(part, consumers) /* whole groups of 8 rows; fewer where more consumers stage theirs */    \
    ((part) <= 64                          ? (part)                                                                    \
     : (part) % 32 == 0 && (consumers) > 2 ? (part) / 4                                                                \
     : (part) % 16 == 0 && (part) <= 208   ? (part) / 2                                                                \
     : (part) % 32 == 0                    ? (part) / 4                                                                \
     : (part) % 24 == 0 && (part) / 8 > 12 ? (part) / 3                                                                \
     : (part) * (consumers) <= 192         ? (part)                                                                    \
                                           : GM_CEIL_DIV(part, 16) * 8)
#define GM_SM90_STORE_BOX_ROWS(tm, tn, warps) (GM_WARPS_SWAPPED(warps) ? GM_SM90_STORE_ROWS(tm, tn, warps) : 16)
#define GM_SM90_BUFFER_BYTES(tm, tn, warps) (GM_SM90_STORE_ROWS(tm, tn, warps) * 128)
#define GM_SM90_STORE_BUFFERS 2
#define GM_SM90_STAGING_BYTES(tm, tn, warps)  /* reduce-scatter adds up in the ring, and stores from registers */      \
    (GM_WARPS_REDUCES(warps) ? 0 : GM_WARPS_M(warps) * GM_SM90_STORE_BUFFERS * GM_SM90_BUFFER_BYTES(tm, tn, warps))
/* full[stages], empty[stages]; with splits ready, free, arrived[consumers]; else, for stream-K, taken[consumers]; for
 * reduce-scatter, a note of 8 bytes. */
#define GM_SM90_BARRIER_BYTES(stages, warps)                                                                           \
    ((stages) * 16 + (GM_WARPS_SPLITS(warps) > 1 ? 16 : 0) + 8 * GM_WARPS_M(warps) + 8 * GM_WARPS_REDUCES(warps))
#define GM_SM90_ALIGN 1024 /* the swizzle pattern's repeat: room to round the base up */
#define GM_SM90_SMEM_BYTES(tm, tn, tk, stages, warps)                                                                  \
    (GM_SM90_ALIGN + (stages) * GM_SM90_STAGE_BYTES(tm, tn, tk) + GM_SM90_STAGING_BYTES(tm, tn, warps) +               \
     GM_SM90_BARRIER_BYTES(stages, warps))

/* Accumulators of a thread. A partial sum that another CTA has left in L2 is taken in bands of so many of every thread,
 * the last of what is left: one fills the staging of D. */
#define GM_SM90_FLOATS(tm, tn, warps) ((tm) * (tn) / 128 / GM_SM90_TILE_CONSUMERS(warps))
#define GM_SM90_BAND(tm, tn, warps)                                                                                    \
    GM_MIN(GM_SM90_FLOATS(tm, tn, warps), GM_SM90_STORE_BUFFERS * GM_SM90_BUFFER_BYTES(tm, tn, warps) / 512)

/* Whether a consumer can hold a tile as 16-bit elements while it multiplies the next, which takes half as many registers
 * again; in ping-pong there is no need to, and of a split tile it has parts only. */
#define GM_SM90_HOLDS(tm, tn, warps)                                                                                   \
    (GM_WARPS_SCHEDULE(warps) != 2 && GM_WARPS_SPLITS(warps) == 1 && GM_SM90_FLOATS(tm, tn, warps) <= 128)

/* ---- sm80: ring of stages | a staging strip of D per warp of slice 0 ------------------------------- */

/* A row of an operand in shared memory is tile_k elements (K-major) or tile_m / tile_n elements (MN-major);
 * padded maps add 16 bytes to each row, the XOR map adds none. The strip is apart from the ring, so that the next
 * tile's first stages load while this tile is stored; it holds 16 rows of a warp's part of D as 16-bit elements or
 * 8 rows as fp32, each row 16 bytes longer than its elements.
 *
 * With slices, the warps of each hold accumulators of the whole tile. All but slice 0 leave theirs in the ring, when it
 * is drained, for slice 0 to add and store: the ring must be as large as that. */
#define GM_SM80_TILE_THREADS(warps) (GM_WARPS_M(warps) * GM_WARPS_N(warps) * 32) /* of one slice */
#define GM_SM80_THREADS(warps) (GM_WARPS_SLICES(warps) * GM_SM80_TILE_THREADS(warps))
#define GM_SM80_EXCHANGE_BYTES(tm, tn, warps) ((GM_WARPS_SLICES(warps) - 1) * (tm) * (tn) * 4)
#define GM_SM80_PAD_BYTES(map) ((map) == GM_MAP_pad ? 16 : 0)
#define GM_SM80_ROW_BYTES(row_elems, map) ((row_elems) * GM_ELEM_BYTES + GM_SM80_PAD_BYTES(map))
#define GM_SM80_OPERAND_BYTES(tile_mn, tk, mn_major, map)                                                              \
    ((mn_major) ? (tk) * GM_SM80_ROW_BYTES(tile_mn, map) : (tile_mn) * GM_SM80_ROW_BYTES(tk, map))
#define GM_SM80_STAGE_BYTES(tm, tn, tk, layout, map)                                                                   \
    (GM_SM80_OPERAND_BYTES(tm, tk, GM_LAYOUT_A_MN(layout), map) +                                                      \
     GM_SM80_OPERAND_BYTES(tn, tk, GM_LAYOUT_B_MN(layout), map))
#define GM_SM80_STRIP_PITCH(warp_n, elem_bytes) ((warp_n) * (elem_bytes) + 16)
#define GM_SM80_STRIP_BYTES(warp_n) (16 * GM_SM80_STRIP_PITCH(warp_n, 2))
#define GM_SM80_SMEM_BYTES(tm, tn, tk, stages, warps, layout, map)                                                     \
    ((stages) * GM_SM80_STAGE_BYTES(tm, tn, tk, layout, map) +                                                         \
     GM_WARPS_M(warps) * GM_WARPS_N(warps) * GM_SM80_STRIP_BYTES((tn) / GM_WARPS_N(warps)))
/* Registers of a thread: accumulators, two sets of fragments, and what addresses and the loop take. */
#define GM_SM80_WARP_TILE_M(tm, warps) ((tm) / GM_WARPS_M(warps))
#define GM_SM80_WARP_TILE_N(tn, warps) ((tn) / GM_WARPS_N(warps))
#define GM_SM80_REGISTERS(tm, tn, warps)                                                                               \
    (GM_SM80_WARP_TILE_M(tm, warps) * GM_SM80_WARP_TILE_N(tn, warps) / 32 + GM_SM80_WARP_TILE_M(tm, warps) / 2 +       \
     GM_SM80_WARP_TILE_N(tn, warps) / 2 + 56)
/* 16-byte chunks that a thread copies of an operand's tile in one k-block. Of an operand that is only element-aligned
 * they come through registers, a few words each; a row defers if it has those for a whole k-block, so that memory is
 * waited for while another is multiplied, with as many CTAs on an SM as Hopper's shared memory holds. */
#define GM_SM80_CHUNKS(tile_mn, tk, warps) ((tile_mn) * (tk) / 8 / GM_SM80_THREADS(warps))
#define GM_SM80_LOOSE_WORDS 5
#define GM_SM80_DEFERS(tm, tn, tk, warps, smem_bytes)                                                                  \
    (65536 / (GM_SM80_THREADS(warps) * (227 * 1024 / (smem_bytes))) >=                                                 \
     GM_SM80_REGISTERS(tm, tn, warps) + 40 +                                                                           \
         GM_SM80_LOOSE_WORDS * (GM_SM80_CHUNKS(tm, tk, warps) + GM_SM80_CHUNKS(tn, tk, warps)))

/* ---- gemv: sums of the warps that share K ---------------------------------------------------------- */

/* Threads of an SM, in as many CTAs as it takes: with the registers that leaves each, 64 KiB and more of B are under
 * way on the SM. */
#define GM_GEMV_THREADS 1024
#define GM_GEMV_SMEM_BYTES(tm, tn, wk) ((wk) > 1 ? (wk) * (tm) * (tn) * (int)sizeof(float) : 0)

#endif
