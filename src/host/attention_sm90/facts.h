/* SPDX-License-Identifier: Apache-2.0 */
/* What the table says of a variant of attention_sm90 beside its columns. */
#ifndef GM_ATTENTION_SM90_FACTS_H
#define GM_ATTENTION_SM90_FACTS_H

#include "common/attention_sm90/tile.h"

#define GM_FACTS_attention_sm90(arch, type, head_dim, v_head_dim, tile_m, tile_n, stages, issue, ctas)                 \
    .traits = ((ctas) == 1 ? GM_TRAIT_ONE_CTA_PER_SM : 0) | GM_TRAIT_OVERLAPS_LAUNCHES,                                \
    .threads = GM_ATTENTION_SM90_THREADS(tile_m, ctas),                                                                \
    .smem_bytes = GM_ATTENTION_SM90_SMEM_BYTES(type, head_dim, GM_ATTENTION_SM90_V_DIM(head_dim, v_head_dim), tile_m,  \
                                               tile_n, stages, ctas),                                                  \
    .cluster_ctas = 1

#endif
