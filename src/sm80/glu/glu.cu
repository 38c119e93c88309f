/* SPDX-License-Identifier: Apache-2.0 */
/* GLU with plain launches: it begins when the kernel before has ended. */
#include "sm80/glu/glu.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, CTAS) GM_KERNEL_NAME(const __grid_constant__ glu_params p) {
    glu(p);
}
