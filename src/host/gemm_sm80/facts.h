/* SPDX-License-Identifier: Apache-2.0 */
/* What the table says of a variant of gemm_sm80 beside its columns. */
#ifndef GM_GEMM_SM80_FACTS_H
#define GM_GEMM_SM80_FACTS_H

#include "common/gemm_sm80/tile.h"

#define GM_FACTS_gemm_sm80(arch, type, layout, tile_m, tile_n, tile_k, stages, warps_m, warps_n, warp_k, batch,        \
                           extended, smem_map)                                                                         \
    .traits = 0, .threads = GM_SM80_THREADS(GM_SM80_WARPS(warps_m, warps_n, warp_k)),                                  \
    .smem_bytes = GM_SM80_SMEM_BYTES(tile_m, tile_n, tile_k, stages, GM_SM80_WARPS(warps_m, warps_n, warp_k), layout,  \
                                     smem_map, type),                                                                  \
    .cluster_ctas = 1

#endif
