/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax with plain launches: it begins when the kernel before has ended. */
#include "sm80/softmax/softmax.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, CTAS)
    GM_KERNEL_NAME(const __grid_constant__ struct gm_softmax_params p) {
    softmax<struct lone_cta>(p);
}
