/* SPDX-License-Identifier: Apache-2.0 */
/* What the table says of a variant of the quantisers beside its columns. */
#ifndef GM_QUANTIZE_FACTS_H
#define GM_QUANTIZE_FACTS_H

#include "common/quantize/params.h"

#define GM_FACTS_quantize(arch, type, share, threads_, vectors, vector_bytes)                                          \
    .traits = (arch) == GM_ARCH_SM90 ? GM_TRAIT_OVERLAPS_LAUNCHES : 0, .threads = (threads_),                          \
    .smem_bytes = GM_QUANTIZE_SMEM_BYTES(threads_), .cluster_ctas = 1

#endif
