/* SPDX-License-Identifier: Apache-2.0 */
/* Attention by 16 rows at a time with programmatic dependent launch: its CTAs come as the SMs of the kernel before fall idle, and
 * wait for its results there. */
#include "sm80/attention_decode/attention_decode.cuh"
#include "sm90/follow.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, CTAS)
    GM_KERNEL_NAME(const __grid_constant__ struct gm_attention_decode_params p) {
    griddep_follow();
    attention_decode(p);
}
