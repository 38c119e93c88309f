/* SPDX-License-Identifier: Apache-2.0 */
/* The ring of stages between producer and consumers: a full and an empty mbarrier per stage.
 *
 *   producer                               consumer
 *   pipeline_acquire: wait empty[slot]     pipeline_wait: wait full[slot]
 *   expect bytes, issue TMA                multiply
 *   (TMA completes full[slot])             pipeline_release: arrive on empty[slot] of every CTA of the cluster
 *
 * With multicast a stage is written by several CTAs, so each producer waits for the consumers of all of them. */
#ifndef GM_SM90_PIPELINE_CUH
#define GM_SM90_PIPELINE_CUH

#include "common/named_barrier.cuh"
#include "sm90/cluster.cuh"
#include "sm90/mbarrier.cuh"

struct pipeline {
    uint32_t full_addr, empty_addr; /* shared addresses of full[0] and empty[0] */
};

/* Where in the ring a role stands: the slot, and the parity of the current trip. */
struct pipeline_state {
    uint32_t slot, phase;
};

/* One slot's barriers, by one thread; fence_mbarrier_init() has to follow. `readers`: arrivals that free the stage;
 * `writers`: that fill it, beside TMA's bytes. */
static __device__ __forceinline__ void pipeline_init(struct pipeline p, uint32_t slot, uint32_t readers,
                                                     uint32_t writers = 1) {
    mbarrier_init(p.full_addr + 8 * slot, writers);
    mbarrier_init(p.empty_addr + 8 * slot, readers);
}

template <int STAGES> static __device__ __forceinline__ void pipeline_next(struct pipeline_state &s) {
    if (++s.slot == STAGES)
        s.slot = 0, s.phase ^= 1;
}

/* Where a ring of so many slots stands for its user number `count`. One number is fewer registers than two states. */
template <int SLOTS> static __device__ __forceinline__ struct pipeline_state state_at(uint32_t count) {
    return {count % SLOTS, count / SLOTS % 2};
}

/* Skips the stages of a tile that another warpgroup consumes. */
template <int STAGES> static __device__ __forceinline__ void pipeline_skip(struct pipeline_state &s, uint32_t stages) {
    const uint32_t slot = s.slot + stages;
    s.phase ^= (slot / STAGES) & 1;
    s.slot = slot % STAGES;
}

static __device__ __forceinline__ void pipeline_acquire(struct pipeline p, struct pipeline_state s, uint32_t bytes) {
    mbarrier_wait(p.empty_addr + 8 * s.slot, s.phase ^ 1);
    mbarrier_arrive_expect_tx(p.full_addr + 8 * s.slot, bytes);
}

/* The producer's last act in a cluster: every slot has come back. A CTA may not exit while its peers still arrive on
 * its barriers; what they multicast into it, its own consumers have waited for. */
template <int STAGES>
static __device__ __forceinline__ void pipeline_drain(struct pipeline p, struct pipeline_state s) {
    for (int i = 0; i < STAGES; ++i) {
        mbarrier_wait(p.empty_addr + 8 * s.slot, s.phase ^ 1);
        pipeline_next<STAGES>(s);
    }
}

static __device__ __forceinline__ void pipeline_wait(struct pipeline p, struct pipeline_state s) {
    mbarrier_wait(p.full_addr + 8 * s.slot, s.phase);
}

/* Called by a whole warpgroup; its thread i tells CTA i of those that share its stages. */
template <int SHARERS>
static __device__ __forceinline__ void pipeline_release(struct pipeline p, uint32_t slot, uint32_t thread) {
    if (SHARERS == 1) {
        if (thread == 0)
            mbarrier_arrive(p.empty_addr + 8 * slot);
    } else if (thread < SHARERS) {
        mbarrier_arrive_remote(p.empty_addr + 8 * slot, thread);
    }
}

#endif
