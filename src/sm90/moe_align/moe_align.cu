/* SPDX-License-Identifier: Apache-2.0 */
/* moe_align with programmatic dependent launch, and clusters whose CTAs tell each other what they counted. */
#include "sm80/moe_align/moe_align.cuh"
#include "sm90/follow.cuh"

/* The CTAs of a cluster. */
struct peers {
    static constexpr int COUNT = CLUSTER;
    static __device__ __forceinline__ int rank(void) { return (int)cluster_ctarank(); }
    /* All CTAs' counts are seen; and later: all have been read. */
    static __device__ __forceinline__ void sync(void) { cluster_sync(); }
    static __device__ __forceinline__ int load(const int *count, int rank) {
        return (int)ld_shared_cluster(cluster_address((uint32_t)__cvta_generic_to_shared(count), (uint32_t)rank));
    }
};

template <int COUNT> struct sharing {
    typedef struct peers type;
};
template <> struct sharing<1> {
    typedef struct alone type;
};

extern "C" __global__ void __launch_bounds__(THREADS)
    GM_KERNEL_NAME(const __grid_constant__ struct gm_moe_align_params p) {
    griddep_follow();
    moe_align<sharing<CLUSTER>::type>(p);
}
