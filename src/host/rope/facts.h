/* SPDX-License-Identifier: Apache-2.0 */
/* What the table says of a variant of the rotary embedding beside its columns. */
#ifndef GM_ROPE_FACTS_H
#define GM_ROPE_FACTS_H

#define GM_FACTS_rope(arch, type, threads_, heads, vector_bytes)                                                       \
    .traits = (arch) == GM_ARCH_SM90 ? GM_TRAIT_OVERLAPS_LAUNCHES : 0, .threads = (threads_), .smem_bytes = 0,         \
    .cluster_ctas = 1

#endif
