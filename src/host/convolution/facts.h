/* SPDX-License-Identifier: Apache-2.0 */
/* What the table says of a variant of convolution beside its columns. */
#ifndef GM_CONVOLUTION_FACTS_H
#define GM_CONVOLUTION_FACTS_H

#include "common/convolution/params.h"

/* With the largest filter; a launch takes what its own one needs. */
#define GM_FACTS_convolution(arch, type, threads_, rows)                                                               \
    .traits = (arch) == GM_ARCH_SM90 ? GM_TRAIT_OVERLAPS_LAUNCHES : 0, .threads = (threads_),                          \
    .smem_bytes =                                                                                                      \
        GM_CONVOLUTION_FIRST_STAGE +                                                                                   \
        ((arch) == GM_ARCH_SM90 ? 2 : 1) *                                                                             \
            GM_CONVOLUTION_STAGE_BYTES(GM_TYPE_BYTES(type), threads_, rows, GM_CONVOLUTION_MOST, GM_CONVOLUTION_MOST), \
    .cluster_ctas = 1

#endif
