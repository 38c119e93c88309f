/* SPDX-License-Identifier: Apache-2.0 */
/* What the table says of a variant of moe_finalize beside its columns. */
#ifndef GM_MOE_FINALIZE_FACTS_H
#define GM_MOE_FINALIZE_FACTS_H

#define GM_FACTS_moe_finalize(arch, type, threads_, slots, vector_bytes)                                               \
    .traits = (arch) == GM_ARCH_SM90 ? GM_TRAIT_OVERLAPS_LAUNCHES : 0, .threads = (threads_), .smem_bytes = 0,         \
    .cluster_ctas = 1

#endif
