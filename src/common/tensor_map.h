/* SPDX-License-Identifier: Apache-2.0 */
/* What TMA loads take, for the host (C11) and the kernels: a tensor map (CUtensorMap) as a member of kernel parameters,
 * and L2 policies. */
#ifndef GM_COMMON_TENSOR_MAP_H
#define GM_COMMON_TENSOR_MAP_H

#include "common/arith.h"

/* 128 bytes. A type of its own, because CUDA 12 aligns CUtensorMap to 64 bytes and CUDA 13 to 128. */
struct gm_tensor_map {
#if defined(__cplusplus)
    alignas(128) unsigned char bytes[128];
#else
    _Alignas(128) unsigned char bytes[128];
#endif
};
GM_STATIC_ASSERT(sizeof(struct gm_tensor_map) == 128, "a tensor map is 128 bytes");

/* L2 eviction policies of TMA loads, as createpolicy.fractional makes them for all of an access. */
#define GM_L2_EVICT_NORMAL 0x1000000000000000ull
#define GM_L2_EVICT_FIRST  0x12F0000000000000ull
#define GM_L2_EVICT_LAST   0x14F0000000000000ull

#endif
