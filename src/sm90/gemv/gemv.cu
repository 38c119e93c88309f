/* SPDX-License-Identifier: Apache-2.0 */
/* GEMV with programmatic dependent launch: its CTAs start as the SMs of the previous kernel become idle. If that kernel
 * does not write B, their first loads of B are in flight before it has ended. */
#include "sm80/gemv/gemv.cuh"
#include "sm90/cluster.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, CTAS)
    GM_KERNEL_NAME(const __grid_constant__ struct gm_gemm_sm80_params p) {
    griddep_launch_dependents(); /* the next kernel may do the same */
    gemv(p, p.b_early, griddep_wait);
}
