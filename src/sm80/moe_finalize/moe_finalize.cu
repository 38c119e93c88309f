/* SPDX-License-Identifier: Apache-2.0 */
/* moe_finalize with plain launches: it begins when the kernel before has ended. */
#include "sm80/moe_finalize/moe_finalize.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, CTAS)
    GM_KERNEL_NAME(const __grid_constant__ struct gm_moe_finalize_params p) {
    moe_finalize(p);
}
