/* SPDX-License-Identifier: Apache-2.0 */
/* LayerNorm with programmatic dependent launch: its CTAs come as the SMs of the kernel before fall idle, and wait for its
 * results there. */
#include "sm80/layer_norm/layer_norm.cuh"
#include "sm90/follow.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, CTAS) GM_KERNEL_NAME(const __grid_constant__ norm_params p) {
    griddep_follow();
    layer_norm(p);
}
