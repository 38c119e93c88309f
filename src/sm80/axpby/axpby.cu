/* SPDX-License-Identifier: Apache-2.0 */
/* axpby with plain launches: it begins when the kernel before has ended. */
#include "sm80/axpby/axpby.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, CTAS)
    GM_KERNEL_NAME(const __grid_constant__ struct gm_axpby_params p) {
    axpby(p);
}
