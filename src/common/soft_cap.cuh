/* SPDX-License-Identifier: Apache-2.0 */
/* The soft cap of logits, the same for every operation. */
#ifndef GM_SOFT_CAP_CUH
#define GM_SOFT_CAP_CUH

#include "common/special.cuh"

/* cap * tanh(x / cap). With u = exp(-2 |x / cap|) it is cap * (1 - u) / (1 + u), with x's sign. The exponent is
 * -2 / (cap ln 2). */
static __device__ __forceinline__ float soft_cap(float x, float cap, float exponent) {
    const float u = ex2_approx_ftz(fabsf(x) * exponent);
    return copysignf((1.0f - u) * rcp_approx_ftz(1.0f + u) * cap, x);
}

#endif
