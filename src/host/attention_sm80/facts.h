/* SPDX-License-Identifier: Apache-2.0 */
/* What the table says of a variant of attention_sm80 beside its columns. */
#ifndef GM_ATTENTION_SM80_FACTS_H
#define GM_ATTENTION_SM80_FACTS_H

#include "common/attention_sm80/params.h"

#define GM_FACTS_attention_sm80(arch, type, head_dim, tile_rows, tile_keys, warps)                                     \
    .traits = 0, .threads = 32 * (warps), .smem_bytes = GM_ATTENTION_SM80_SMEM_BYTES(head_dim, tile_rows, tile_keys),  \
    .cluster_ctas = 1

#endif
