/* SPDX-License-Identifier: Apache-2.0 */
/* Tile and shared-memory arithmetic of GEMV, for the host (planner, table) and the kernels. */
#ifndef GM_GEMV_TILE_H
#define GM_GEMV_TILE_H

/* Threads on an SM, of all its CTAs. With the registers that this leaves to each, 64 KiB and more of B are in
 * flight. */
#define GM_GEMV_SM_THREADS 1024

#define GM_GEMV_THREADS(warps_k, warps_n) ((warps_k) * (warps_n) * 32)

/* Shared memory, in bytes: sums of the warps that share K. */
#define GM_GEMV_SMEM_BYTES(tm, tn, warps_k) ((warps_k) > 1 ? (warps_k) * (tm) * (tn) * (int)sizeof(float) : 0)

#endif
