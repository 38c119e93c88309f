/* SPDX-License-Identifier: Apache-2.0 */
/* What the table says of a variant of GLU beside its columns. */
#ifndef GM_GLU_FACTS_H
#define GM_GLU_FACTS_H

#include "common/glu/params.h"
#include "common/makes_tokens.h"

#define GM_FACTS_glu(arch, type, threads_, vectors, vector_bytes, makes)                                               \
    .traits = (arch) == GM_ARCH_SM90 ? GM_TRAIT_OVERLAPS_LAUNCHES : 0, .threads = (threads_),                          \
    .smem_bytes = (makes) == GM_MAKES_any ? GM_GLU_ANY_SMEM_BYTES : 0, .cluster_ctas = 1

#endif
