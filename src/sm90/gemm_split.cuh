/* SPDX-License-Identifier: Apache-2.0 */
/* Split K of gemm.cu: the CTAs of a cluster have each multiplied a range of K; they exchange partial sums through
 * distributed shared memory, so that each ends with the whole sum of its part of the tile. Included once.
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
    SPLIT_REGISTERS = ATOMS_M * PART_REGISTERS, /* of one part, per thread */
    SPLIT_BYTES = SPLIT_REGISTERS * 4 * 128,    /* of one part, per consumer */
};
static_assert(SPLITS == 1 || PART_REGISTERS % 4 == 0, "a part is sent 16 bytes at a time");
static_assert(SPLITS == 1 || (SPLITS - 1) * CONSUMERS * SPLIT_BYTES <= STAGES * STAGE_BYTES, "the parts fit the ring");

/* Where CTA `to` receives, in its ring, what consumer `consumer` of CTA `from` sends. */
static __device__ __forceinline__ uint32_t split_inbox(uint32_t base, int from, int to, int consumer) {
    return base + ((from - (from > to)) * CONSUMERS + consumer) * SPLIT_BYTES;
}

static __device__ __forceinline__ void split_send(const float (&acc)[ATOMS_M][ATOM_REGISTERS], uint32_t inbox,
                                                  uint32_t bar, int part) {
#pragma unroll
    for (int i = 0; i < SPLIT_REGISTERS; i += 4) {
        const float *r = &acc[i / PART_REGISTERS][part * PART_REGISTERS + i % PART_REGISTERS];
        st_async_v4(inbox + i * 512, bar, r[0], r[1], r[2], r[3]);
    }
}

static __device__ __forceinline__ void split_add(float (&acc)[ATOMS_M][ATOM_REGISTERS], uint32_t inbox, int part) {
#pragma unroll
    for (int i = 0; i < SPLIT_REGISTERS; i += 4) {
        float *r = &acc[i / PART_REGISTERS][part * PART_REGISTERS + i % PART_REGISTERS];
        float x, y, z, w;
        ld_shared_v4(inbox + i * 512, x, y, z, w);
        r[0] += x, r[1] += y, r[2] += z, r[3] += w;
    }
}

/* After it, part `k_rank` of acc holds the whole sum; the other parts are spent. */
static __device__ __forceinline__ void split_exchange(float (&acc)[ATOMS_M][ATOM_REGISTERS], uint32_t base, int k_rank,
                                                      int consumer, uint32_t parity, uint32_t thread) {
    const struct split_barriers bars = split_barriers_at(base);
    const uint32_t arrived = bars.arrived_addr + 8 * consumer;
    if (thread < SPLITS && thread != k_rank)
        mbarrier_arrive_remote(bars.ready_addr, thread);
    if (thread == 0)
        mbarrier_arrive_expect_tx(arrived, (SPLITS - 1) * SPLIT_BYTES);
    mbarrier_wait(bars.ready_addr, parity);
#pragma unroll
    for (int part = 0; part < SPLITS; ++part) {
        if (part != k_rank)
            split_send(acc, cluster_address(split_inbox(base, k_rank, part, consumer), part) + thread * 16,
                       cluster_address(arrived, part), part);
    }
    mbarrier_wait(arrived, parity);
#pragma unroll
    for (int part = 0; part < SPLITS; ++part) {
        if (part == k_rank)
#pragma unroll
            for (int slot = 0; slot < SPLITS - 1; ++slot)
                split_add(acc, base + (slot * CONSUMERS + consumer) * SPLIT_BYTES + thread * 16, part);
    }
    fence_proxy_async(); /* what I read, TMA overwrites next */
    mbarrier_arrive(bars.free_addr);
}

#endif
