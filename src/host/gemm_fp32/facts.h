/* SPDX-License-Identifier: Apache-2.0 */
/* What the table says of a variant of gemm_fp32 beside its columns. */
#ifndef GM_GEMM_FP32_FACTS_H
#define GM_GEMM_FP32_FACTS_H

#include "common/gemm_fp32/tile.h"

#define GM_FACTS_gemm_fp32(arch, type, layout, tile_m, tile_n, tile_k, stages, warps_m, warps_n, ctas, batch)          \
    .traits = 0, .threads = GM_FP32_THREADS(warps_m, warps_n),                                                         \
    .smem_bytes = GM_FP32_SMEM_BYTES(tile_m, tile_n, tile_k, stages), .cluster_ctas = 1

#endif
