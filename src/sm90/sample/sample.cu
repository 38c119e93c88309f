/* SPDX-License-Identifier: Apache-2.0 */
/* Sampling with programmatic dependent launch, of rows that a CTA or a cluster shares. */
#include "sm80/sample/sample.cuh"
#include "sm90/follow.cuh"

/* The CTAs of a cluster that share a row. Each has the values of all warps in its own shared memory, and reads the other's
 * bins and candidates there. */
struct cluster_ctas {
    static __device__ __forceinline__ int rank(void) { return (int)cluster_ctarank(); }
    static __device__ __forceinline__ uint32_t address(const void *at, int rank) {
        return cluster_address((uint32_t)__cvta_generic_to_shared(at), (uint32_t)rank);
    }
    static __device__ __forceinline__ void share(uint64_t *slot, uint64_t value) {
        const int lane = thread_index() % 32;
        if (lane < ROW_CTAS)
            st_shared_cluster_b64(address(slot, lane), value);
    }
    static __device__ __forceinline__ uint32_t load(const uint32_t *at, int rank) {
        return ld_shared_cluster(address(at, rank));
    }
    static __device__ __forceinline__ void load4(const uint32_t *at, int rank, uint32_t (&words)[4]) {
        ld_shared_cluster_v4(address(at, rank), words);
    }
    static __device__ __forceinline__ void meet(void) { cluster_sync(); }
};

extern "C" __global__ void __launch_bounds__(THREADS, CTAS)
    GM_KERNEL_NAME(const __grid_constant__ struct gm_sample_params p) {
    if (ROW_CTAS > 1)
        cluster_sync_init(); /* all of them run before one stores to another */
    griddep_follow();
    if (ROW_CTAS > 1)
        sample<struct cluster_ctas>(p);
    else
        sample<struct lone_cta>(p);
}
