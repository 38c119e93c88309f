/* SPDX-License-Identifier: Apache-2.0 */
/* Rotary embedding with plain launches: it begins when the kernel before has ended. */
#include "sm80/rope/rope.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, CTAS)
    GM_KERNEL_NAME(const __grid_constant__ struct gm_rope_params p) {
    rope(p);
}
