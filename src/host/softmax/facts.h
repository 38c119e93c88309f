/* SPDX-License-Identifier: Apache-2.0 */
/* What the table says of a variant of softmax beside its columns. */
#ifndef GM_SOFTMAX_FACTS_H
#define GM_SOFTMAX_FACTS_H

#include "common/softmax/params.h"

#define GM_FACTS_softmax(arch, type, threads_, row_threads, row_ctas, vectors, vector_bytes, passes)                   \
    .traits = (arch) == GM_ARCH_SM90 ? GM_TRAIT_OVERLAPS_LAUNCHES : 0, .threads = (threads_),                          \
    .smem_bytes = GM_SOFTMAX_SMEM_BYTES(row_threads, row_ctas, passes), .cluster_ctas = (row_ctas)

#endif
