/* SPDX-License-Identifier: Apache-2.0 */
/* GEMV with plain launches: it starts when the previous kernel has ended. */
#include "sm80/gemv/gemv.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, CTAS)
    GM_KERNEL_NAME(const __grid_constant__ struct gm_gemm_sm80_params p) {
    gemv(p, false, [] {});
}
