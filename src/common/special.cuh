/* SPDX-License-Identifier: Apache-2.0 */
/* Approximations by the special function unit, of relative error 2^-22, a maximum and a minimum that keep NaN: one
 * instruction each. The approximations flush denormals (.ftz); without .ftz, ptxas scales with three instructions more. */
#ifndef GM_SPECIAL_CUH
#define GM_SPECIAL_CUH

#include <stdint.h>

/* INFINITY of math.h, which NVRTC does not have. */
#ifdef __CUDACC_RTC__
#define GM_INFINITY __uint_as_float(0x7f800000u)
#else
#define GM_INFINITY INFINITY
#endif

/* PTX 9.7.3.21 ex2: 2^x, or 0 where that is below 2^-126. */
static __device__ __forceinline__ float ex2_approx_ftz(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

/* PTX 9.7.3.20 lg2: log2(x), off by 2^-22 at most where x is from 0.5 to 2. */
static __device__ __forceinline__ float lg2_approx_ftz(float x) {
    float y;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

/* PTX 9.7.3.13 rcp: 1 / x, or 0 where |x| is above 2^126. */
static __device__ __forceinline__ float rcp_approx_ftz(float x) {
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

/* PTX 9.7.3.12 max: the larger of the two, +0 above -0; NaN where either is. */
static __device__ __forceinline__ float max_nan(float x, float y) {
    float z;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(z) : "f"(x), "f"(y));
    return z;
}

/* PTX 9.7.4.6 max: that of both halves. */
static __device__ __forceinline__ uint32_t max_nan_bf16x2(uint32_t x, uint32_t y) {
    uint32_t z;
    asm("max.NaN.bf16x2 %0, %1, %2;" : "=r"(z) : "r"(x), "r"(y));
    return z;
}

static __device__ __forceinline__ uint32_t max_nan_f16x2(uint32_t x, uint32_t y) {
    uint32_t z;
    asm("max.NaN.f16x2 %0, %1, %2;" : "=r"(z) : "r"(x), "r"(y));
    return z;
}

/* PTX 9.7.3.11 min: the smaller of the two, -0 below +0; NaN where either is. */
static __device__ __forceinline__ float min_nan(float x, float y) {
    float z;
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(z) : "f"(x), "f"(y));
    return z;
}

#endif
