/* SPDX-License-Identifier: Apache-2.0 */
/* moe_align with plain launches: it begins when the kernel before has ended. */
#include "sm80/moe_align/moe_align.cuh"

extern "C" __global__ void __launch_bounds__(THREADS)
    GM_KERNEL_NAME(const __grid_constant__ struct gm_moe_align_params p) {
    moe_align<struct alone>(p);
}
