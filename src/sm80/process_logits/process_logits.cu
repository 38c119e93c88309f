/* SPDX-License-Identifier: Apache-2.0 */
/* process_logits with plain launches: it begins when the kernel before has ended. */
#include "sm80/process_logits/process_logits.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, CTAS)
    GM_KERNEL_NAME(const __grid_constant__ struct gm_process_logits_params p) {
    process_logits(p);
}
