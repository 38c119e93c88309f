/* SPDX-License-Identifier: Apache-2.0 */
/* Permutations chunk by chunk, with plain launches: it begins when the kernel before has ended. */
#include "sm80/permute/permute.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, CTAS)
    GM_KERNEL_NAME(const __grid_constant__ struct gm_permute_params p) {
    permute(p);
}
