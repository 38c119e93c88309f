/* SPDX-License-Identifier: Apache-2.0 */
/* What the table says of a variant of attention_mla_sm90 beside its columns. */
#ifndef GM_ATTENTION_MLA_SM90_FACTS_H
#define GM_ATTENTION_MLA_SM90_FACTS_H

#include "common/attention_mla_sm90/params.h"

#define GM_FACTS_attention_mla_sm90(arch, type, head_dim, v_head_dim, block, stages, cluster)                          \
    .traits = GM_TRAIT_ONE_CTA_PER_SM | GM_TRAIT_OVERLAPS_LAUNCHES, .threads = GM_MLA_THREADS(v_head_dim),             \
    .smem_bytes = GM_MLA_SMEM_BYTES(head_dim, block, stages), .cluster_ctas = (cluster)

#endif
