/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax with programmatic dependent launch, of rows that a CTA or a cluster shares. */
#include "sm80/softmax/softmax.cuh"
#include "sm90/follow.cuh"

/* The CTAs of a cluster that share a row: each has the maxima and sums of all warps in its own shared memory. */
struct cluster_ctas {
    static __device__ __forceinline__ int rank(void) { return (int)cluster_ctarank(); }
    static __device__ __forceinline__ void share(int slot, uint32_t value) {
        const int lane = thread_index() % 32;
        const uint32_t own = (uint32_t)__cvta_generic_to_shared(row_slots + slot);
        if (lane < ROW_CTAS)
            st_shared_cluster(cluster_address(own, (uint32_t)lane), value);
    }
    static __device__ __forceinline__ void meet(void) { cluster_sync(); }
};

extern "C" __global__ void __launch_bounds__(THREADS, CTAS)
    GM_KERNEL_NAME(const __grid_constant__ struct gm_softmax_params p) {
    if (ROW_CTAS > 1)
        cluster_sync_init(); /* all of them run before one stores to another */
    griddep_follow();
    if (ROW_CTAS > 1)
        softmax<struct cluster_ctas>(p);
    else
        softmax<struct lone_cta>(p);
}
