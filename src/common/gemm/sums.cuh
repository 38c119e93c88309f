/* SPDX-License-Identifier: Apache-2.0 */
/* What a kernel adds up: sums of fp32, or of int8 operands of s32. Copies of sums between registers, shared memory and the
 * workspace go by their bits. */
#ifndef GM_GEMM_SUMS_CUH
#define GM_GEMM_SUMS_CUH

#include "common/types.h"
#include <stdint.h>

template <int TYPE> struct sum_of {
    typedef float type;
};
template <> struct sum_of<GM_TYPE_int8> {
    typedef int32_t type;
};

static __device__ __forceinline__ uint32_t sum_bits(float x) {
    return __float_as_uint(x);
}
static __device__ __forceinline__ uint32_t sum_bits(int32_t x) {
    return x;
}

/* The same in a register that instructions of fp32 copy. */
static __device__ __forceinline__ float sum_copied(float x) {
    return x;
}
static __device__ __forceinline__ float sum_copied(int32_t x) {
    return __int_as_float(x);
}

/* Adds a sum whose copy this is. */
static __device__ __forceinline__ void sum_add(float &sum, float copy) {
    sum += copy;
}
static __device__ __forceinline__ void sum_add(int32_t &sum, float copy) {
    sum += __float_as_int(copy);
}

#endif
