/* SPDX-License-Identifier: Apache-2.0 */
/* What the table says of a variant of moe_route beside its columns. */
#ifndef GM_MOE_ROUTE_FACTS_H
#define GM_MOE_ROUTE_FACTS_H

#include "common/moe_route/params.h"

#define GM_FACTS_moe_route(arch, type, threads_)                                                                       \
    .traits = (arch) == GM_ARCH_SM90 ? GM_TRAIT_OVERLAPS_LAUNCHES : 0, .threads = (threads_),                          \
    .smem_bytes = GM_MOE_ROUTE_SMEM(threads_), .cluster_ctas = 1

#endif
