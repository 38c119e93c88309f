/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions with plain launches and tiles that are loaded by elements; the other CTAs of an SM compute meanwhile. */
#define COMPILED_WIDTHS 0 /* small images: one loop for all filters */
#include "sm80/convolution/convolution.cuh"

struct element_loader {
    enum { STAGES = 1 };
    const struct gm_convolution_params &p;
    uint32_t memory;

    __device__ __forceinline__ element_loader(const struct gm_convolution_params &params, uint32_t memory)
        : p(params), memory(memory) {}
    __device__ __forceinline__ void begin(const struct tile &, int) {}
    __device__ __forceinline__ void finish(const struct tile &t, int stage) {
        load_elements(p, t, stage_of(p, memory, stage));
        __syncthreads();
    }
};

extern "C" __global__ void __launch_bounds__(THREADS, CTAS)
    GM_KERNEL_NAME(const __grid_constant__ struct gm_convolution_params p) {
    convolve<element_loader>(p);
}
