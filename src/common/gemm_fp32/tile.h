/* SPDX-License-Identifier: Apache-2.0 */
/* Tile and shared-memory arithmetic of the fp32 GEMM, for the host (planner, table) and the kernels. */
#ifndef GM_GEMM_FP32_TILE_H
#define GM_GEMM_FP32_TILE_H

#include "common/arith.h"
#include "common/gemm/tokens.h"

/* Shared memory is the ring of stages and nothing else. A row of an operand in it is tile_k elements (K-major) or
 * tile_m / tile_n elements (MN-major), without padding. */
#define GM_FP32_THREADS(warps_m, warps_n)      ((warps_m) * (warps_n) * 32)
#define GM_FP32_STAGE_BYTES(tm, tn, tk)        (((tm) + (tn)) * (tk) * 4)
#define GM_FP32_SMEM_BYTES(tm, tn, tk, stages) ((stages) * GM_FP32_STAGE_BYTES(tm, tn, tk))

#endif
