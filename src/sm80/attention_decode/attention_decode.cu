/* SPDX-License-Identifier: Apache-2.0 */
/* Attention by 16 rows at a time with plain launches: it begins when the kernel before has ended. */
#include "sm80/attention_decode/attention_decode.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, CTAS)
    GM_KERNEL_NAME(const __grid_constant__ struct gm_attention_decode_params p) {
    attention_decode(p);
}
