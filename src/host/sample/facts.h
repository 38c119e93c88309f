/* SPDX-License-Identifier: Apache-2.0 */
/* What the table says of a variant of sampling beside its columns. */
#ifndef GM_SAMPLE_FACTS_H
#define GM_SAMPLE_FACTS_H

#include "common/sample/params.h"

#define GM_FACTS_sample(arch, type, threads_, row_ctas, vectors, vector_bytes)                                         \
    .traits = (arch) == GM_ARCH_SM90 ? GM_TRAIT_OVERLAPS_LAUNCHES : 0, .threads = (threads_),                          \
    .smem_bytes = GM_SAMPLE_SMEM_BYTES(threads_, row_ctas), .cluster_ctas = (row_ctas)

#endif
