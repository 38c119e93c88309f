/* SPDX-License-Identifier: Apache-2.0 */
/* What the table says of a variant of moe_align beside its columns. */
#ifndef GM_MOE_ALIGN_FACTS_H
#define GM_MOE_ALIGN_FACTS_H

#include "common/moe_align/params.h"

#define GM_FACTS_moe_align(arch, type, threads_, cluster)                                                              \
    .traits = (arch) == GM_ARCH_SM90 ? GM_TRAIT_OVERLAPS_LAUNCHES : 0, .threads = (threads_),                          \
    .smem_bytes = GM_MOE_ALIGN_SMEM(threads_), .cluster_ctas = (cluster)

#endif
