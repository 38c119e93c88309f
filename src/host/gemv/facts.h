/* SPDX-License-Identifier: Apache-2.0 */
/* What the table says of a variant of gemv beside its columns. */
#ifndef GM_GEMV_FACTS_H
#define GM_GEMV_FACTS_H

#include "common/gemv/tile.h"

#define GM_FACTS_gemv(arch, type, tile_m, tile_n, tile_k, stages, warps_k, warps_n)                                    \
    .traits = (arch) == GM_ARCH_SM90 ? GM_TRAIT_OVERLAPS_LAUNCHES : 0, .threads = GM_GEMV_THREADS(warps_k, warps_n),   \
    .smem_bytes = GM_GEMV_SMEM_BYTES(tile_m, tile_n, warps_k), .cluster_ctas = 1

#endif
