/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of rows of any alignment, with programmatic dependent launch: its CTAs come as the SMs of the kernel before fall
 * idle, and wait for its results there. */
#include "sm80/permute_rows/permute_rows.cuh"
#include "sm90/follow.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, CTAS)
    GM_KERNEL_NAME(const __grid_constant__ struct gm_permute_rows_params p) {
    griddep_follow();
    permute_rows(p);
}
