/* SPDX-License-Identifier: Apache-2.0 */
/* What the table says of a variant of attention_decode beside its columns. */
#ifndef GM_ATTENTION_DECODE_FACTS_H
#define GM_ATTENTION_DECODE_FACTS_H

#include "common/attention_decode/params.h"

#define GM_FACTS_attention_decode(arch, type, head_dim, cache, warps, stages)                                          \
    .traits = ((arch) == GM_ARCH_SM90 ? GM_TRAIT_OVERLAPS_LAUNCHES : 0) |                                              \
              ((cache) == GM_CACHE_e4m3 ? GM_TRAIT_ANY_TYPE : 0),                                                      \
    .threads = 32 * (warps), .smem_bytes = GM_ATTENTION_DECODE_SMEM_BYTES(head_dim, warps, stages, cache),             \
    .cluster_ctas = 1

#endif
