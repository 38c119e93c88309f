/* SPDX-License-Identifier: Apache-2.0 */
/* Cluster-k, split_exchange(): the CTAs of a cluster have each multiplied a range of K; they exchange partial sums
 * through distributed shared memory, so that each ends with the whole sum of its part of the tile.
 *
 *                 part 0      part 1                       1. my ring is drained: tell every peer (ready)
 *   CTA 0  acc  | keeps    | sends ->  |  CTA 1's ring     2. wait until every peer said so
 *   CTA 1  acc  | <- sends | keeps     |  CTA 0's ring     3. send, wait for what is sent to me (arrived)
 *                                                          4. add it, then hand the ring back to my producer (free)
 *
 * A thread sends to the thread of its own number, in the order of its registers: no layout changes hands, and every
 * access is 16 bytes a thread, side by side. The order of the sum is own + ranks ascending: the same on every run. */
#ifndef GM_SM90_GEMM_SPLIT_CUH
#define GM_SM90_GEMM_SPLIT_CUH

#include "sm90/cluster.cuh"
#include "sm90/gemm/constants.cuh"
#include "sm90/mbarrier.cuh"
#include "sm90/stmatrix.cuh"
#include "sm90/tma.cuh"

struct split_barriers {
    uint32_t ready_addr, free_addr, arrived_addr; /* arrived: one for each consumer */
};

static __device__ __forceinline__ struct split_barriers split_barriers_at(uint32_t base) {
    const uint32_t first = pipeline_at(base).empty_addr + 8 * STAGES;
    return {first, first + 8, first + 16};
}

static __device__ __forceinline__ void split_init(struct split_barriers bars) {
    mbarrier_init(bars.ready_addr, (SPLITS - 1) * CONSUMERS);
    mbarrier_init(bars.free_addr, 128 * CONSUMERS);
    for (int consumer = 0; consumer < CONSUMERS; ++consumer)
        mbarrier_init(bars.arrived_addr + 8 * consumer, 1);
}

enum {
    INBOX_BYTES = ATOMS_M * PART_MOST / 2 * 4 * 128, /* one part from one consumer */
};
static_assert(SPLITS == 1 || (SPLITS - 1) * CONSUMERS * INBOX_BYTES <= STAGES * STAGE_BYTES, "the parts fit the ring");

/* Where CTA `to` receives, in its ring, what consumer `consumer` of CTA `from` sends. */
static __device__ __forceinline__ uint32_t split_inbox(uint32_t base, int from, int to, int consumer) {
    return base + ((from - (from > to)) * CONSUMERS + consumer) * INBOX_BYTES;
}

/* Register i of a part, of all atoms, in the order in which they travel. */
template <int PART> static __device__ __forceinline__ constexpr int split_count(void) {
    return ATOMS_M * part_size(PART) / 2;
}
template <int PART>
static __device__ __forceinline__ float *split_registers(float (&acc)[ATOMS_M][ATOM_REGISTERS], int i) {
    constexpr int of_atom = part_size(PART) / 2;
    return &acc[i / of_atom][part_first(PART) / 2 + i % of_atom];
}

/* Every part but mine to the CTA that owns it; to mine, what I expect. `thread_base` is this thread's first byte. */
template <int PART = 0>
static __device__ __forceinline__ void split_send(float (&acc)[ATOMS_M][ATOM_REGISTERS], uint32_t thread_base,
                                                  uint32_t arrived, int k_rank, int consumer) {
    if (PART != k_rank) {
        const uint32_t inbox = cluster_address(split_inbox(thread_base, k_rank, PART, consumer), PART);
        const uint32_t bar = cluster_address(arrived, PART);
#pragma unroll
        for (int i = 0; i < split_count<PART>(); i += 4) {
            const float *r = split_registers<PART>(acc, i);
            st_async_v4(inbox + i * 512, bar, r[0], r[1], r[2], r[3]);
        }
    } else if (threadIdx.x % 128 == 0) {
        mbarrier_arrive_expect_tx(arrived, (SPLITS - 1) * split_count<PART>() * 4 * 128);
    }
    if constexpr (PART + 1 < SPLITS)
        split_send<PART + 1>(acc, thread_base, arrived, k_rank, consumer);
}

template <int PART = 0>
static __device__ __forceinline__ void split_add(float (&acc)[ATOMS_M][ATOM_REGISTERS], uint32_t thread_base,
                                                 int k_rank, int consumer) {
    if (PART == k_rank) {
#pragma unroll
        for (int slot = 0; slot < SPLITS - 1; ++slot)
#pragma unroll
            for (int i = 0; i < split_count<PART>(); i += 4) {
                float *r = split_registers<PART>(acc, i);
                float x, y, z, w;
                ld_shared_v4(thread_base + (slot * CONSUMERS + consumer) * INBOX_BYTES + i * 512, x, y, z, w);
                r[0] += x, r[1] += y, r[2] += z, r[3] += w;
            }
    }
    if constexpr (PART + 1 < SPLITS)
        split_add<PART + 1>(acc, thread_base, k_rank, consumer);
}

/* After it, part `k_rank` of acc holds the whole sum; the other parts are spent. */
static __device__ __forceinline__ void split_exchange(float (&acc)[ATOMS_M][ATOM_REGISTERS], uint32_t base, int k_rank,
                                                      int consumer, uint32_t parity, uint32_t thread) {
    const struct split_barriers bars = split_barriers_at(base);
    const uint32_t arrived = bars.arrived_addr + 8 * consumer;
    if (thread < SPLITS && thread != k_rank)
        mbarrier_arrive_remote(bars.ready_addr, thread);
    mbarrier_wait(bars.ready_addr, parity);
    split_send(acc, base + thread * 16, arrived, k_rank, consumer);
    mbarrier_wait(arrived, parity);
    split_add(acc, base + thread * 16, k_rank, consumer);
    fence_proxy_async(); /* what I read, TMA overwrites next */
    mbarrier_arrive(bars.free_addr);
}

#endif
