/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels with 0, 16 and 48 KB of static shared memory, beside as much dynamic as the launch says. A word more of static
 * memory than 48 KB, and ptxas refuses: "uses too much shared data". */
#include <stdint.h>

/* *out = 7, by the last words of both kinds. */
template <int STATIC_BYTES> static __device__ __forceinline__ void touch_ends(uint32_t *out, uint32_t dynamic_words) {
    extern __shared__ volatile uint32_t words[];
    __shared__ volatile uint32_t fixed[STATIC_BYTES / 4 + (STATIC_BYTES == 0)];
    constexpr int last = STATIC_BYTES / 4 - 1;
    if (threadIdx.x == 0 && dynamic_words) {
        words[dynamic_words - 1] = 3;
    }
    if (threadIdx.x == 1 && STATIC_BYTES) {
        fixed[last] = 4;
    }
    __syncthreads();
    if (threadIdx.x == 2) {
        *out = (dynamic_words ? words[dynamic_words - 1] : 3) + (STATIC_BYTES ? fixed[last < 0 ? 0 : last] : 4);
    }
}

extern "C" __global__ void __launch_bounds__(32) lab_shared_limit_0(uint32_t *out, uint32_t dynamic_words) {
    touch_ends<0>(out, dynamic_words);
}

extern "C" __global__ void __launch_bounds__(32) lab_shared_limit_16(uint32_t *out, uint32_t dynamic_words) {
    touch_ends<16 << 10>(out, dynamic_words);
}

extern "C" __global__ void __launch_bounds__(32) lab_shared_limit_48(uint32_t *out, uint32_t dynamic_words) {
    touch_ends<48 << 10>(out, dynamic_words);
}
