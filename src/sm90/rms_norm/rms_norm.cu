/* SPDX-License-Identifier: Apache-2.0 */
/* RMSNorm with programmatic dependent launch: its CTAs come as the SMs of the kernel before fall idle, and wait for its
 * results there. */
#include "sm80/rms_norm/rms_norm.cuh"
#include "sm90/follow.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, CTAS) GM_KERNEL_NAME(const __grid_constant__ norm_params p) {
    griddep_follow();
    rms_norm(p);
}
