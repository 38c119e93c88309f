/* SPDX-License-Identifier: Apache-2.0 */
/* When a kernel of small CTAs begins, and when the next one may. */
#ifndef GM_SM90_FOLLOW_CUH
#define GM_SM90_FOLLOW_CUH

#include "sm90/cluster.cuh"

/* Waits for the kernel before this one, and lets the next one begin. A few CTAs let it begin first: a GEMM behind them loads
 * its weights while they and the kernel before them end. Many would stand in the SMs' slots, with those of the kernels behind
 * them, until their turn comes; these let it begin when they do (docs/TUNING-LOG.md, entry 53). */
static __device__ __forceinline__ void griddep_follow(void) {
    const bool is_few = gridDim.x <= 32;
    if (is_few)
        griddep_launch_dependents();
    griddep_wait();
    if (!is_few)
        griddep_launch_dependents();
}

#endif
