/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens of the GEMM registries: a column of kind KIND may hold what is defined here as GM_<KIND>_<token>. The comment
 * behind the number is what the token adds to a kernel's name; cmake/Registry.cmake reads both. */
#ifndef GM_GEMM_TOKENS_H
#define GM_GEMM_TOKENS_H

/* Bit 0: A is M-major, bit 1: B is N-major. */
#define GM_LAYOUT_tn           0 /* tn */
#define GM_LAYOUT_nn           1 /* nn */
#define GM_LAYOUT_tt           2 /* tt */
#define GM_LAYOUT_nt           3 /* nt */
#define GM_LAYOUT_A_MN(layout) ((layout) & 1)
#define GM_LAYOUT_B_MN(layout) (((layout) >> 1) & 1)

/* = enum gm_schedule */
#define GM_SCHEDULE_cooperative 1 /* w */
#define GM_SCHEDULE_pingpong    2 /* p */

#define GM_SWAP_no   0 /* */
#define GM_SWAP_swap 1 /* s */

#define GM_CLUSTER_K_1 1 /* */
#define GM_CLUSTER_K_2 2 /* k2 */
#define GM_CLUSTER_K_3 3 /* k3 */
#define GM_CLUSTER_K_4 4 /* k4 */

#define GM_SPLIT_K_no    0 /* */
#define GM_SPLIT_K_split 1 /* r */

#define GM_GATE_no   0 /* */
#define GM_GATE_gate 1 /* g */

#define GM_BATCH_no    0 /* */
#define GM_BATCH_batch 1 /* b */

#define GM_EXTENDED_no       0 /* */
#define GM_EXTENDED_extended 1 /* e */

#define GM_FAST_no   0 /* */
#define GM_FAST_fast 1 /* f */

#define GM_SCALES_no      0 /* */
#define GM_SCALES_blocks  1 /* x */
#define GM_SCALES_columns 2 /* xc */

#define GM_WARP_K_1 1 /* */
#define GM_WARP_K_2 2 /* k2 */
#define GM_WARP_K_4 4 /* k4 */

/* = enum gm_smem_map */
#define GM_SMEM_MAP_pad  0   /* pad */
#define GM_SMEM_MAP_xor  1   /* xor */
#define GM_SWIZZLE_sw32  32  /* sw32 */
#define GM_SWIZZLE_sw64  64  /* sw64 */
#define GM_SWIZZLE_sw128 128 /* sw128 */

#endif
