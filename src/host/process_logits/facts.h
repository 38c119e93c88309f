/* SPDX-License-Identifier: Apache-2.0 */
/* What the table says of a variant of process_logits beside its columns. */
#ifndef GM_PROCESS_LOGITS_FACTS_H
#define GM_PROCESS_LOGITS_FACTS_H

#define GM_FACTS_process_logits(arch, type, threads_, vectors, vector_bytes)                                           \
    .traits = (arch) == GM_ARCH_SM90 ? GM_TRAIT_OVERLAPS_LAUNCHES : 0, .threads = (threads_), .smem_bytes = 0,         \
    .cluster_ctas = 1

#endif
