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

/* warps: schedule * 256 + warps_m * 16 + warps_n; for sm90 warps_m counts consumer warpgroups */
#define GM_WARPS_w1 (256 + 16 + 1)
#define GM_WARPS_w2 (256 + 32 + 1)
#define GM_WARPS_p2 (512 + 32 + 1)
#define GM_WARPS_w1x4 (16 + 4)
#define GM_WARPS_w2x2 (32 + 2)
#define GM_WARPS_w2x4 (32 + 4)
#define GM_WARPS_w4x1 (64 + 1)
#define GM_WARPS_w4x2 (64 + 2)
#define GM_WARPS_SCHEDULE(warps) ((warps) >> 8) /* = enum gm_schedule */
#define GM_WARPS_M(warps) (((warps) >> 4) & 15)
#define GM_WARPS_N(warps) ((warps) & 15)

#define GM_MAP_pad 0 /* = enum gm_smem_map */
#define GM_MAP_xor 1
#define GM_MAP_sw32 32
#define GM_MAP_sw64 64
#define GM_MAP_sw128 128

#define GM_ELEM_BYTES 2
#define GM_CEIL_DIV(a, b) (((a) + (b) - 1) / (b))

/* ---- sm90: ring of stages | staging of D | barriers, from a 1024-byte boundary -------------------- */

/* One stage holds tile_m x tile_k of A, then tile_n x tile_k of B. A consumer warpgroup stages D in chunks of
 * 64 rows x GM_SM90_STORE_SPAN bytes, two chunks in flight, each swizzled with that span. */
#define GM_SM90_THREADS(consumers) (((consumers) + 1) * 128)
#define GM_SM90_A_BYTES(tm, tk) ((tm) * (tk) * GM_ELEM_BYTES)
#define GM_SM90_B_BYTES(tn, tk) ((tn) * (tk) * GM_ELEM_BYTES)
#define GM_SM90_STAGE_BYTES(tm, tn, tk) (GM_SM90_A_BYTES(tm, tk) + GM_SM90_B_BYTES(tn, tk))
#define GM_SM90_STORE_SPAN(tn) ((tn) % 64 == 0 ? 128 : (tn) % 32 == 0 ? 64 : 32)
#define GM_SM90_CHUNK_BYTES(tn) (64 * GM_SM90_STORE_SPAN(tn))
#define GM_SM90_STORE_BUFFERS 2
#define GM_SM90_STAGING_BYTES(tn, consumers) ((consumers) * GM_SM90_STORE_BUFFERS * GM_SM90_CHUNK_BYTES(tn))
#define GM_SM90_BARRIER_BYTES(stages) ((stages) * 16) /* full[stages], empty[stages] */
#define GM_SM90_ALIGN 1024                            /* the swizzle pattern's repeat: room to round the base up */
#define GM_SM90_SMEM_BYTES(tm, tn, tk, stages, consumers)                                                              \
    (GM_SM90_ALIGN + (stages) * GM_SM90_STAGE_BYTES(tm, tn, tk) + GM_SM90_STAGING_BYTES(tn, consumers) +               \
     GM_SM90_BARRIER_BYTES(stages))

/* ---- sm80: ring of stages | a staging slice of D per warp ------------------------------------------ */

/* A row of an operand in shared memory is tile_k elements (K-major) or tile_m / tile_n elements (MN-major);
 * padded maps add 16 bytes to each row, the XOR map adds none. The slice is apart from the ring, so that the next
 * tile's first stages load while this tile is stored; it holds 16 rows of a warp's part of D as 16-bit elements or
 * 8 rows as fp32, each row 16 bytes longer than its elements. */
#define GM_SM80_THREADS(wm, wn) ((wm) * (wn) * 32)
#define GM_SM80_PAD_BYTES(map) ((map) == GM_MAP_pad ? 16 : 0)
#define GM_SM80_ROW_BYTES(row_elems, map) ((row_elems) * GM_ELEM_BYTES + GM_SM80_PAD_BYTES(map))
#define GM_SM80_OPERAND_BYTES(tile_mn, tk, mn_major, map)                                                              \
    ((mn_major) ? (tk) * GM_SM80_ROW_BYTES(tile_mn, map) : (tile_mn) * GM_SM80_ROW_BYTES(tk, map))
#define GM_SM80_STAGE_BYTES(tm, tn, tk, layout, map)                                                                   \
    (GM_SM80_OPERAND_BYTES(tm, tk, GM_LAYOUT_A_MN(layout), map) +                                                      \
     GM_SM80_OPERAND_BYTES(tn, tk, GM_LAYOUT_B_MN(layout), map))
#define GM_SM80_SLICE_PITCH(warp_n, elem_bytes) ((warp_n) * (elem_bytes) + 16)
#define GM_SM80_SLICE_BYTES(warp_n) (16 * GM_SM80_SLICE_PITCH(warp_n, 2))
#define GM_SM80_SMEM_BYTES(tm, tn, tk, stages, wm, wn, layout, map)                                                    \
    ((stages) * GM_SM80_STAGE_BYTES(tm, tn, tk, layout, map) + (wm) * (wn) * GM_SM80_SLICE_BYTES((tn) / (wn)))

#endif
