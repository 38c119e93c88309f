/* SPDX-License-Identifier: Apache-2.0 */
/* What the table says of a variant of stencil beside its columns. */
#ifndef GM_STENCIL_FACTS_H
#define GM_STENCIL_FACTS_H

#include "common/stencil/params.h"

#define GM_FACTS_stencil(arch, type, threads_, rows)                                                                   \
    .traits = (arch) == GM_ARCH_SM90 ? GM_TRAIT_OVERLAPS_LAUNCHES : 0, .threads = (threads_),                          \
    .smem_bytes = GM_STENCIL_SMEM((arch) == GM_ARCH_SM90, GM_TYPE_BYTES(type), threads_, rows), .cluster_ctas = 1

#endif
