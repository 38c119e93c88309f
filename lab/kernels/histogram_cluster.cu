/* SPDX-License-Identifier: Apache-2.0 */
/* The histogram ladder, last step: the CTAs of a cluster merge their bins through distributed shared memory. And bins
 * that outgrow one SM, spread over the CTAs of a cluster. */
#include <stdint.h>

#include "histogram_copies.cuh"
#include "sm90/cluster.cuh"

enum {
    CLUSTER = HISTOGRAM_CLUSTER,
    LARGE_SHARE = HISTOGRAM_LARGE_SHARE,
    LARGE_LOADS = 4, /* vectors of a trip */
};

/* Step 5: each CTA of a cluster reads its share of the bins of all of them through distributed shared memory, and adds
 * their sums to global memory: one global atomic a bin and cluster, where step 4 makes one a CTA. */
extern "C" __global__ void __launch_bounds__(THREADS, HISTOGRAM_CTAS_PER_SM)
    lab_histogram_cluster(const uint32_t *__restrict__ from, uint32_t n, uint32_t *bins) {
    __shared__ struct copies copies;
    __shared__ uint32_t total[BINS];
    count_vectors(from, n, copies);
    add_up(copies, [&](uint32_t bin, uint32_t count) { total[bin] = count; });
    cluster_sync(); /* every CTA's bins are counted */
    if (threadIdx.x < BINS / CLUSTER) {
        const uint32_t bin = cluster_ctarank() * (BINS / CLUSTER) + threadIdx.x;
        const uint32_t address = (uint32_t)__cvta_generic_to_shared(&total[bin]);
        uint32_t sum = 0;
#pragma unroll
        for (uint32_t rank = 0; rank < CLUSTER; rank++)
            sum += ld_shared_cluster(cluster_address(address, rank));
        atomicAdd(&bins[bin], sum);
    }
    cluster_sync(); /* no CTA leaves while another reads its bins */
}

/* 131072 bins, a quarter of them in the shared memory of each of the cluster's CTAs. Every CTA reads its share of the
 * values and sends each to the CTA that keeps its bin: the upper bits of the bin are its rank, the lower ones the place
 * there. At last every CTA adds its quarter to global memory. */
extern "C" __global__ void __launch_bounds__(HISTOGRAM_LARGE_THREADS, 1)
    lab_histogram_large_cluster(const uint32_t *__restrict__ from, uint32_t n, uint32_t *bins) {
    extern __shared__ __align__(16) uint32_t share[];
    const uint32_t share_addr = (uint32_t)__cvta_generic_to_shared(share);
    for (uint32_t i = threadIdx.x; i < LARGE_SHARE; i += blockDim.x)
        share[i] = 0;
    cluster_sync(); /* every CTA's bins are empty */
    walk<LARGE_LOADS>(from, n, [&](uint32_t value) {
        const uint32_t bin = HISTOGRAM_LARGE_BIN(value);
        red_add_shared_cluster(cluster_address(share_addr + bin % LARGE_SHARE * 4, bin / LARGE_SHARE), 1);
    });
    cluster_sync(); /* every CTA has counted */
    uint32_t *quarter = bins + cluster_ctarank() * LARGE_SHARE;
    for (uint32_t i = threadIdx.x; i < LARGE_SHARE; i += blockDim.x)
        atomicAdd(&quarter[i], share[i]);
}
