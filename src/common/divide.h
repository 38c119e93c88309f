/* SPDX-License-Identifier: Apache-2.0 */
/* Division by a number that is known when the launch is planned: a multiplication and a shift. */
#ifndef GM_DIVIDE_H
#define GM_DIVIDE_H

#include "common/fixed_width.h"

/* Of numbers below 2^31 by `divisor`, 1 to 2^31 - 1: magic = floor(2^shift / divisor) + 1 with 2^(shift - 31) the least
 * power of 2 that is no less than the divisor. The magic number is too large by at most divisor / 2^shift, so that the
 * error of a quotient stays below 1 / divisor. */
struct gm_divisor {
    uint32_t divisor, magic, shift;
};

#ifdef __CUDACC__
static __device__ __forceinline__ uint32_t divide(uint32_t number, const struct gm_divisor &by) {
    return (uint32_t)((uint64_t)number * by.magic >> by.shift);
}
#else
static inline struct gm_divisor gm_divisor_of(uint32_t divisor) {
    struct gm_divisor by = {divisor, 0, 31};
    while (UINT64_C(1) << (by.shift - 31) < divisor)
        by.shift++;
    by.magic = (uint32_t)((UINT64_C(1) << by.shift) / divisor + 1);
    return by;
}
#endif

#endif
