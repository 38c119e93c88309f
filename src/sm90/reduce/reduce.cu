/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions with programmatic dependent launch: its CTAs come as the SMs of the kernel before fall idle, and wait for its
 * results there. Only then may those of the next kernel come. */
#include "sm80/reduce/reduce.cuh"
#include "sm90/cluster.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, CTAS)
    GM_KERNEL_NAME(const __grid_constant__ struct gm_reduce_params p) {
    griddep_wait();
    griddep_launch_dependents();
    reduce(p);
}
