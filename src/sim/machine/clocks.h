/* SPDX-License-Identifier: Apache-2.0 */
/* Who knows what: vector clocks, one entry per agent of a cluster.
 *
 * An agent is anything whose accesses can be ordered: a warp, an mbarrier (for the copies that report to it), a warp's
 * cp.async groups, a thread's bulk groups, a warpgroup's wgmma groups. An access is stamped (agent, clock):
 *
 *   agent        clock of an access                                       another knows it is over when its entry >= clock
 *   warp         warp's own clock; it rises at every release and fence     after a barrier or an mbarrier both took part in
 *   mbarrier     phases completed when the copy was issued, + 1            after a wait on that phase
 *   group kind   groups committed when it was issued, + 1                  after wait_group let that group pass
 *
 * A race is an access to bytes whose last writer (or, for a write, whose readers) the accessor does not know of. It is
 * found whatever order the schedule happened to take. Knowledge travels with every release / acquire pair: barriers
 * join the clocks of all who arrive into all who leave.
 *
 * The lanes of a warp are not ordered among each other either. A warp's own entry in its `known` says up to which clock
 * they are: __syncwarp raises it, and so does a barrier that the warp released to and came out of. A single lane's
 * mbarrier.arrive or fence does not, although the clock goes on.
 *
 * Each warp holds two clocks: `known`, and `flushed`: the part of `known` that a fence.proxy.async has handed to the
 * async proxy. A TMA or wgmma read of bytes written by generic stores needs them in `flushed`. */
#ifndef SIM_CLOCKS_H
#define SIM_CLOCKS_H

#include <stdbool.h>
#include <stdint.h>

enum { SIM_AGENTS_MAX = 4096, SIM_AGENT_NONE = 0 };

enum sim_agent_kind { SIM_AGENT_WARP, SIM_AGENT_MBARRIER, SIM_AGENT_CP_ASYNC, SIM_AGENT_BULK_READ, SIM_AGENT_WGMMA };

struct sim_clocks {
    uint32_t *entry; /* SIM_AGENTS_MAX, or NULL while all zero */
};

struct sim_stamp {
    uint32_t agent, clock; /* agent SIM_AGENT_NONE: none */
};

struct sim_agent {
    enum sim_agent_kind kind;
    uint32_t cta_rank, warp, lane; /* who it belongs to, as far as that makes sense for its kind */
    uint32_t address;              /* mbarrier: its shared address */
};

struct sim_agents {
    struct sim_agent agent[SIM_AGENTS_MAX]; /* 0 is SIM_AGENT_NONE */
    uint32_t count;
};

struct sim_cluster;
struct sim_warp;

/* A new agent. When all are taken, the last one is shared: races between its owners go unseen. */
uint32_t sim_agent_new(struct sim_cluster *cluster, enum sim_agent_kind kind, uint32_t cta_rank, uint32_t warp,
                       uint32_t lane, uint32_t address);

/* Without memory for an entry both end the cluster's launch. */
void sim_clocks_join(struct sim_cluster *cluster, struct sim_clocks *into, const struct sim_clocks *from);
void sim_clocks_raise(struct sim_cluster *cluster, struct sim_clocks *clocks, uint32_t agent, uint32_t clock);
/* All zero again; keeps the memory. */
void sim_clocks_reset(struct sim_clocks *clocks, uint32_t agent_count);
void sim_clocks_free(struct sim_clocks *clocks);
static inline uint32_t sim_clock_of(const struct sim_clocks *clocks, uint32_t agent) {
    return clocks->entry ? clocks->entry[agent] : 0;
}
static inline bool sim_knows(const struct sim_clocks *clocks, struct sim_stamp stamp) {
    return sim_clock_of(clocks, stamp.agent) >= stamp.clock;
}

/* What a release hands over and an acquire takes: both clocks at once. */
struct sim_knowledge {
    struct sim_clocks known, flushed;
};
/* The warp hands its knowledge over; then its own clock rises, so that what it does next is not part of it. */
void sim_release(struct sim_warp *warp, struct sim_knowledge *to);
void sim_acquire(struct sim_warp *warp, const struct sim_knowledge *from);
void sim_knowledge_free(struct sim_knowledge *knowledge);

/* A new warp: its agent, its own clock, and nothing known. */
void sim_warp_knowledge_begin(struct sim_warp *warp);
/* The stamp of what the warp itself does now. */
struct sim_stamp sim_warp_stamp(const struct sim_warp *warp);
/* bar.warp.sync and the like: accesses of other lanes before it are ordered before those after it. */
void sim_warp_step(struct sim_warp *warp);
/* fence.proxy.async: all that is known becomes flushed. */
void sim_flush(struct sim_warp *warp);

#endif
