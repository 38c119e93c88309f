/* SPDX-License-Identifier: Apache-2.0 */
/* Where numbers of a walk lie in x and in out. */
#ifndef GM_PERMUTE_WALK_CUH
#define GM_PERMUTE_WALK_CUH

#include "common/permute/walk.h"

/* Adds to the addresses what the numbers, which are used up, mean. It goes a dimension at a time, so that the divisions
 * of all numbers run beside each other. */
template <int COUNT>
static __device__ __forceinline__ void walk_to(const struct gm_permute_walk &w, uint32_t (&number)[COUNT],
                                               uint64_t (&x)[COUNT], uint64_t (&out)[COUNT]) {
    int d = 0;
#pragma unroll 1
    for (; d < w.rank - 1; ++d) {
#pragma unroll
        for (int i = 0; i < COUNT; ++i) {
            const uint32_t next = divide(number[i], w.extent[d]), index = number[i] - next * w.extent[d].divisor;
            x[i] += index * (uint64_t)w.x_pitch[d];
            out[i] += index * (uint64_t)w.out_pitch[d];
            number[i] = next;
        }
    }
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
        x[i] += number[i] * (uint64_t)w.x_pitch[d];
        out[i] += number[i] * (uint64_t)w.out_pitch[d];
    }
}

#endif
