/* SPDX-License-Identifier: Apache-2.0 */
/* moe_finalize with programmatic dependent launch: its CTAs come as the SMs of the kernel before fall idle, and wait for its
 * results there. Only then may those of the next kernel come. */
#include "sm80/moe_finalize/moe_finalize.cuh"
#include "sm90/follow.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, CTAS)
    GM_KERNEL_NAME(const __grid_constant__ struct gm_moe_finalize_params p) {
    griddep_follow();
    moe_finalize(p);
}
