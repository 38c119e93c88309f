/* SPDX-License-Identifier: Apache-2.0 */
/* attention_merge with programmatic dependent launch: its CTAs come as the SMs of the kernel before fall idle, and wait for
 * its results there. Only then may those of the next kernel come. */
#include "sm80/attention_merge/attention_merge.cuh"
#include "sm90/follow.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, CTAS)
    GM_KERNEL_NAME(const __grid_constant__ struct gm_attention_merge_params p) {
    griddep_follow();
    attention_merge(p);
}
