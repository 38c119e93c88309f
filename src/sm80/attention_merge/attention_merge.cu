/* SPDX-License-Identifier: Apache-2.0 */
/* attention_merge with plain launches: it begins when the kernel before has ended. */
#include "sm80/attention_merge/attention_merge.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, CTAS)
    GM_KERNEL_NAME(const __grid_constant__ struct gm_attention_merge_params p) {
    attention_merge(p);
}
