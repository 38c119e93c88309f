/* SPDX-License-Identifier: Apache-2.0 */
/* What the table says of a variant of histograms beside its columns. */
#ifndef GM_HISTOGRAM_FACTS_H
#define GM_HISTOGRAM_FACTS_H

#define GM_FACTS_histogram(arch, type, threads_, vectors, kib)                                                         \
    .traits = (arch) == GM_ARCH_SM90 ? GM_TRAIT_OVERLAPS_LAUNCHES : 0, .threads = (threads_),                          \
    .smem_bytes = (kib) * 1024, .cluster_ctas = 1

#endif
