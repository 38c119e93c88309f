/* SPDX-License-Identifier: Apache-2.0 */
/* moe_route with plain launches: it begins when the kernel before has ended. */
#include "sm80/moe_route/moe_route.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, CTAS)
    GM_KERNEL_NAME(const __grid_constant__ struct gm_moe_route_params p) {
    moe_route(p);
}
