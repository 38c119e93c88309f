/* SPDX-License-Identifier: Apache-2.0 */
/* RMSNorm with plain launches: it begins when the kernel before has ended. */
#include "sm80/rms_norm/rms_norm.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, CTAS) GM_KERNEL_NAME(const __grid_constant__ norm_params p) {
    rms_norm(p);
}
