/* SPDX-License-Identifier: Apache-2.0 */
/* What the table says of a variant of permutations chunk by chunk beside its columns. */
#ifndef GM_PERMUTE_FACTS_H
#define GM_PERMUTE_FACTS_H

#define GM_FACTS_permute(arch, type, x_bytes, out_bytes, threads_, vectors, elements)                                  \
    .traits = (arch) == GM_ARCH_SM90 ? GM_TRAIT_OVERLAPS_LAUNCHES : 0, .threads = (threads_), .smem_bytes = 0,         \
    .cluster_ctas = 1

#endif
