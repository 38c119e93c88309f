/* SPDX-License-Identifier: Apache-2.0 */
/* What the table says of a variant of RMSNorm beside its columns. */
#ifndef GM_RMS_NORM_FACTS_H
#define GM_RMS_NORM_FACTS_H

#include "common/rms_norm/params.h"

#define GM_FACTS_rms_norm(arch, type, threads_, row_threads, vectors, vector_bytes, passes)                            \
    .traits = (arch) == GM_ARCH_SM90 ? GM_TRAIT_OVERLAPS_LAUNCHES : 0, .threads = (threads_),                          \
    .smem_bytes = GM_RMS_NORM_SMEM_BYTES(row_threads, vectors), .cluster_ctas = 1

#endif
