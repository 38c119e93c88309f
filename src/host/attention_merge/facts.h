/* SPDX-License-Identifier: Apache-2.0 */
/* What the table says of a variant of attention_merge beside its columns. */
#ifndef GM_ATTENTION_MERGE_FACTS_H
#define GM_ATTENTION_MERGE_FACTS_H

#define GM_FACTS_attention_merge(arch, type, threads_, tokens, vector_bytes)                                           \
    .traits = (arch) == GM_ARCH_SM90 ? GM_TRAIT_OVERLAPS_LAUNCHES : 0, .threads = (threads_), .smem_bytes = 0,         \
    .cluster_ctas = 1

#endif
