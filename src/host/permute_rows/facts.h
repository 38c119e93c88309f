/* SPDX-License-Identifier: Apache-2.0 */
/* What the table says of a variant of copies of rows of any alignment beside its columns. */
#ifndef GM_PERMUTE_ROWS_FACTS_H
#define GM_PERMUTE_ROWS_FACTS_H

#define GM_FACTS_permute_rows(arch, type, threads_, vectors)                                                           \
    .traits = GM_TRAIT_ANY_TYPE | ((arch) == GM_ARCH_SM90 ? GM_TRAIT_OVERLAPS_LAUNCHES : 0), .threads = (threads_),    \
    .smem_bytes = 0, .cluster_ctas = 1

#endif
