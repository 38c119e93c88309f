/* SPDX-License-Identifier: Apache-2.0 */
/* dequantize with plain launches: it begins when the kernel before has ended. */
#include "sm80/dequantize/dequantize.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, CTAS)
    GM_KERNEL_NAME(const __grid_constant__ struct gm_dequantize_params p) {
    dequantize(p);
}
