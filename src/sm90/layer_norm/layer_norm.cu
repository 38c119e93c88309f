/* SPDX-License-Identifier: Apache-2.0 */
/* LayerNorm with programmatic dependent launch: its CTAs come as the SMs of the kernel before fall idle, and wait for its
 * results there. Only then may those of the next kernel come: earlier, a chain of waiting kernels takes the SMs' room. */
#include "sm80/layer_norm/layer_norm.cuh"
#include "sm90/cluster.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, CTAS)
    GM_KERNEL_NAME(const __grid_constant__ struct gm_norm_params p) {
    griddep_wait();
    griddep_launch_dependents();
    layer_norm(p);
}
