/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of rows of any alignment, with plain launches: it begins when the kernel before has ended. */
#include "sm80/permute_rows/permute_rows.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, CTAS)
    GM_KERNEL_NAME(const __grid_constant__ struct gm_permute_rows_params p) {
    permute_rows(p);
}
