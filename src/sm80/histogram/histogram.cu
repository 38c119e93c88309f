/* SPDX-License-Identifier: Apache-2.0 */
/* Histograms with plain launches: they begin when the kernel before has ended. */
#include "sm80/histogram/histogram.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    GM_KERNEL_NAME(const __grid_constant__ struct gm_histogram_params p) {
    clear_counts(p);
    histogram(p);
}
