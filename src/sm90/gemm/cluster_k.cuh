/* SPDX-License-Identifier: Apache-2.0 */
/* Cluster-k, cluster_k_exchange(): every CTA of a cluster has multiplied a range of K. The CTAs exchange partial sums
 * through distributed shared memory; each ends with the whole sum of its part of the tile.
 *
 *                 part 0      part 1                       1. my ring is drained: tell every peer (ready)
 *   CTA 0  acc  | keeps    | sends ->  |  CTA 1's ring     2. wait until every peer said so
 *   CTA 1  acc  | <- sends | keeps     |  CTA 0's ring     3. send, wait for what is sent to me (arrived)
 *                                                          4. add it, then hand the ring back to my producer (free)
 *
 * A thread sends its registers, in their order, to the thread of the same number: no layout conversion is needed, and
 * every access is coalesced, 16 bytes a thread. The order of the sum is own + ranks ascending: the same on every
 * run. */
#ifndef GM_SM90_GEMM_CLUSTER_K_CUH
#define GM_SM90_GEMM_CLUSTER_K_CUH

#include "sm90/cluster.cuh"
#include "sm90/gemm/constants.cuh"
#include "sm90/mbarrier.cuh"
#include "sm90/stmatrix.cuh"
#include "sm90/tma.cuh"

struct cluster_k_barriers {
    uint32_t ready_addr, free_addr, arrived_addr; /* shared addresses; arrived: one for each consumer */
};

static __device__ __forceinline__ struct cluster_k_barriers cluster_k_barriers_at(uint32_t base) {
    const uint32_t first = pipeline_at(base).empty_addr + 8 * STAGES;
    return {first, first + 8, first + 16};
}

static __device__ __forceinline__ void cluster_k_init(struct cluster_k_barriers bars) {
    mbarrier_init(bars.ready_addr, (CLUSTER_K - 1) * CONSUMERS);
    mbarrier_init(bars.free_addr, 128 * CONSUMERS);
    for (int consumer = 0; consumer < CONSUMERS; ++consumer)
        mbarrier_init(bars.arrived_addr + 8 * consumer, 1);
}

enum {
    INBOX_BYTES = ATOMS_M * MAX_PART_N / 2 * 4 * 128, /* of the largest part, from one consumer of one CTA */
};
static_assert(CLUSTER_K == 1 || (CLUSTER_K - 1) * CONSUMERS * INBOX_BYTES <= STAGES * STAGE_BYTES,
              "the parts fit the ring");

/* Where CTA `to` receives, in its ring, what consumer `consumer` of CTA `from` sends. */
static __device__ __forceinline__ uint32_t cluster_k_inbox(uint32_t base, int from, int to, int consumer) {
    return base + ((from - (from > to)) * CONSUMERS + consumer) * INBOX_BYTES;
}

/* How many accumulators of a thread belong to a part, of all atoms; and number i of them, in the order of sending. */
template <int PART> static __device__ __forceinline__ constexpr int cluster_k_count(void) {
    return ATOMS_M * part_size(PART) / 2;
}
template <int PART>
static __device__ __forceinline__ sum_t *cluster_k_registers(sum_t (&acc)[ATOMS_M][ATOM_REGISTERS], int i) {
    constexpr int of_atom = part_size(PART) / 2;
    return &acc[i / of_atom][part_first(PART) / 2 + i % of_atom];
}

/* Sends every part but my own to the CTA that owns it; for my own part it announces the bytes that arrive.
 * `thread_base` is the address of this thread's first byte in the ring. */
template <int PART = 0>
static __device__ __forceinline__ void cluster_k_send(sum_t (&acc)[ATOMS_M][ATOM_REGISTERS], uint32_t thread_base,
                                                      uint32_t arrived, int k_rank, int consumer) {
    if (PART != k_rank) {
        const uint32_t inbox = cluster_address(cluster_k_inbox(thread_base, k_rank, PART, consumer), PART);
        const uint32_t bar = cluster_address(arrived, PART);
#pragma unroll
        for (int i = 0; i < cluster_k_count<PART>(); i += 4) {
            const sum_t *r = cluster_k_registers<PART>(acc, i);
            st_async_v4(inbox + i * 512, bar, sum_copied(r[0]), sum_copied(r[1]), sum_copied(r[2]), sum_copied(r[3]));
        }
    } else if (threadIdx.x % 128 == 0) {
        mbarrier_arrive_expect_tx(arrived, (CLUSTER_K - 1) * cluster_k_count<PART>() * 4 * 128);
    }
    if constexpr (PART + 1 < CLUSTER_K)
        cluster_k_send<PART + 1>(acc, thread_base, arrived, k_rank, consumer);
}

/* Adds the partial sums that have arrived to my own part. */
template <int PART = 0>
static __device__ __forceinline__ void cluster_k_add(sum_t (&acc)[ATOMS_M][ATOM_REGISTERS], uint32_t thread_base,
                                                     int k_rank, int consumer) {
    if (PART == k_rank) {
#pragma unroll
        for (int slot = 0; slot < CLUSTER_K - 1; ++slot)
#pragma unroll
            for (int i = 0; i < cluster_k_count<PART>(); i += 4) {
                sum_t *r = cluster_k_registers<PART>(acc, i);
                float x, y, z, w;
                ld_shared_v4(thread_base + (slot * CONSUMERS + consumer) * INBOX_BYTES + i * 512, x, y, z, w);
                sum_add(r[0], x), sum_add(r[1], y), sum_add(r[2], z), sum_add(r[3], w);
            }
    }
    if constexpr (PART + 1 < CLUSTER_K)
        cluster_k_add<PART + 1>(acc, thread_base, k_rank, consumer);
}

/* Exchanges partial sums with the other CTAs of the cluster. After it, part `k_rank` of acc holds the whole sum; the
 * other parts hold nothing of use. */
static __device__ __forceinline__ void cluster_k_exchange(sum_t (&acc)[ATOMS_M][ATOM_REGISTERS], uint32_t base,
                                                          int k_rank, int consumer, uint32_t parity, uint32_t thread) {
    const struct cluster_k_barriers bars = cluster_k_barriers_at(base);
    const uint32_t arrived = bars.arrived_addr + 8 * consumer;
    if (thread < CLUSTER_K && thread != k_rank)
        mbarrier_arrive_remote(bars.ready_addr, thread);
    mbarrier_wait(bars.ready_addr, parity);
    cluster_k_send(acc, base + thread * 16, arrived, k_rank, consumer);
    mbarrier_wait(arrived, parity);
    cluster_k_add(acc, base + thread * 16, k_rank, consumer);
    fence_proxy_async(); /* what I read, TMA overwrites next */
    mbarrier_arrive(bars.free_addr);
}

#endif
