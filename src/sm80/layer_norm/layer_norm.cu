/* SPDX-License-Identifier: Apache-2.0 */
/* LayerNorm with plain launches: it begins when the kernel before has ended. */
#include "sm80/layer_norm/layer_norm.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, CTAS) GM_KERNEL_NAME(const __grid_constant__ norm_params p) {
    layer_norm(p);
}
