/* SPDX-License-Identifier: Apache-2.0 */
/* Histograms with programmatic dependent launch: its CTAs come as the SMs of the kernel before fall idle, clear their counts,
 * and wait for its results there. */
#include "sm80/histogram/histogram.cuh"
#include "sm90/follow.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    GM_KERNEL_NAME(const __grid_constant__ struct gm_histogram_params p) {
    clear_counts(p);
    griddep_follow();
    histogram(p);
}
