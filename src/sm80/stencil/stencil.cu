/* SPDX-License-Identifier: Apache-2.0 */
/* Stencils with plain launches: a plane comes by elements, which are under way while the one before it is computed. */
#include "sm80/stencil/stencil.cuh"

struct element_loader {
    enum { STAGES = GM_STENCIL_STAGES(false, ELEM_BYTES) };
    const struct gm_stencil_params &p;
    uint32_t memory;
    struct staged staged;

    __device__ __forceinline__ element_loader(const struct gm_stencil_params &params, uint32_t memory)
        : p(params), memory(memory) {}
    __device__ __forceinline__ void begin(const struct step &s, int) {
        if (s.exists(p))
            staged.load(p, s);
    }
    __device__ __forceinline__ void finish(const struct step &, int stage) {
        staged.store(plane_of(memory, stage));
        __syncthreads();
    }
};

extern "C" __global__ void __launch_bounds__(THREADS, GM_STENCIL_CTAS)
    GM_KERNEL_NAME(const __grid_constant__ struct gm_stencil_params p) {
    march<element_loader>(p);
}
