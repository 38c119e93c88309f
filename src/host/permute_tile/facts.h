/* SPDX-License-Identifier: Apache-2.0 */
/* What the table says of a variant of permutations tile by tile beside its columns. */
#ifndef GM_PERMUTE_TILE_FACTS_H
#define GM_PERMUTE_TILE_FACTS_H

#include "common/permute_tile/tile.h"

#define GM_FACTS_permute_tile(arch, type, x_bytes, out_bytes, threads_, width, height, elements)                       \
    .traits = (arch) == GM_ARCH_SM90 ? GM_TRAIT_OVERLAPS_LAUNCHES : 0, .threads = (threads_),                          \
    .smem_bytes = GM_PERMUTE_TILE_BYTES(x_bytes, width, height, elements), .cluster_ctas = 1

#endif
