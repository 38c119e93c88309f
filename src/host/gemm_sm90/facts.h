/* SPDX-License-Identifier: Apache-2.0 */
/* What the table says of a variant of gemm_sm90 beside its columns. */
#ifndef GM_GEMM_SM90_FACTS_H
#define GM_GEMM_SM90_FACTS_H

#include "common/gemm_sm90/tile.h"

#define GM_FACTS_gemm_sm90(arch, type, layout, tile_m, tile_n, tile_k, stages, cluster_m, cluster_n, schedule,         \
                           consumers, swap, cluster_k, split_k, gate, batch, extended, fast, scales, swizzle)          \
    .traits = GM_TRAIT_ONE_CTA_PER_SM | GM_TRAIT_OVERLAPS_LAUNCHES, .threads = GM_SM90_THREADS(consumers, type),       \
    .smem_bytes = GM_SM90_SMEM_BYTES(                                                                                  \
        tile_m, tile_n, tile_k, stages,                                                                                \
        GM_SM90_ROLES(schedule, consumers, swap, cluster_k, split_k, gate, extended, scales), type),                   \
    .cluster_ctas = (cluster_m) * (cluster_n) * (cluster_k)

#endif
