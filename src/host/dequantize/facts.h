/* SPDX-License-Identifier: Apache-2.0 */
/* What the table says of a variant of dequantize beside its columns. */
#ifndef GM_DEQUANTIZE_FACTS_H
#define GM_DEQUANTIZE_FACTS_H

#define GM_FACTS_dequantize(arch, type, threads_, vectors, elements)                                                   \
    .traits = (arch) == GM_ARCH_SM90 ? GM_TRAIT_OVERLAPS_LAUNCHES : 0, .threads = (threads_), .smem_bytes = 0,         \
    .cluster_ctas = 1

#endif
