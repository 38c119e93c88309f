/* SPDX-License-Identifier: Apache-2.0 */
/* What the table says of a variant of axpby beside its columns. */
#ifndef GM_AXPBY_FACTS_H
#define GM_AXPBY_FACTS_H

#include "common/axpby/params.h"

#define GM_FACTS_axpby(arch, type, threads_, slots, elements)                                                          \
    .traits = (arch) == GM_ARCH_SM90 ? GM_TRAIT_OVERLAPS_LAUNCHES : 0, .threads = (threads_),                          \
    .smem_bytes = GM_AXPBY_SMEM_BYTES(threads_, slots, elements), .cluster_ctas = 1

#endif
