/* SPDX-License-Identifier: Apache-2.0 */
/* What barriers hold, for the files of this folder, execute/execute_fence.c and
 * execute/transfer_shared.c only. */
#ifndef SIM_BARRIER_STATE_H
#define SIM_BARRIER_STATE_H

#include "sim/barriers/barriers.h"
#include "sim/memory/memory.h"
#include "sim/report/report.h"
#include "sim/report/watch.h"

enum {
    SIM_NAMED_BARRIERS = 16,
    SIM_MBARRIERS_MAX = 512,    /* of a CTA at most, a limit of the simulator */
    SIM_MBARRIER_MOST = 0xfffff /* arrivals and transactions: 2^20 - 1 */
};

/* ---- named barriers --------------------------------------------------------------------------------------- */

/* What bar.red makes of everybody's predicate. */
struct sim_reduction {
    uint32_t count;
    bool all, any;
};

/* One of the 16. A generation begins with the first arrival and ends when enough warps have come. */
struct sim_named_barrier {
    uint64_t generation;           /* completed so far */
    uint32_t expected;             /* threads, as the first to arrive said; 0: nobody has arrived */
    bool whole;                    /* somebody named no count: it is complete when all live warps have come */
    uint32_t line;                 /* of the first arrival */
    uint32_t arrivals;             /* of warps */
    uint32_t arrived, syncing;     /* warps, a bit each; those that wait */
    uint32_t lanes[SIM_CTA_WARPS]; /* of each warp, that have come */
    struct sim_reduction running, result[SIM_CTA_WARPS];
    struct sim_knowledge gathering;
};

struct sim_named_barriers {
    struct sim_named_barrier barrier[SIM_NAMED_BARRIERS];
    bool registers_known; /* the warps' register_limit is set (execute_fence.c) */
};

/* An instruction that waits at a named barrier has come to nothing yet: warps may have exited meanwhile. */
void sim_named_barriers_recheck(struct sim_cta *cta);

/* ---- the cluster barrier, fences --------------------------------------------------------------------------- */

/* Fences and relaxed accesses: fence, then relaxed arrive is a release; relaxed wait, then fence is an acquire. */
struct sim_fenced {
    struct sim_knowledge released; /* what the warp knew at its last fence */
    struct sim_knowledge observed; /* what relaxed waits have seen since */
};

struct sim_cluster_warp {
    uint32_t arrived; /* lanes that have arrived in the running generation */
    uint32_t owing;   /* lanes that have arrived, in this or the last one, and not waited yet */
    struct sim_fenced fenced;
};

struct sim_cluster_barrier {
    uint32_t cta_count;
    uint64_t generation; /* completed so far */
    struct sim_knowledge gathering, done;
    struct sim_cluster_warp *warps; /* [CTA][SIM_CTA_WARPS] */
};

static inline struct sim_cluster_warp *sim_cluster_warp(const struct sim_warp *warp) {
    return &warp->cluster->barrier->warps[warp->cta->rank * SIM_CTA_WARPS + warp->index];
}

void sim_cluster_barrier_recheck(struct sim_cluster *cluster);
/* The warp hands over what it knew at its last fence; takes what its relaxed waits saw. */
void sim_fenced_release(struct sim_warp *warp, struct sim_knowledge *to);
void sim_fenced_observe(struct sim_warp *warp, const struct sim_knowledge *from);
/* A fence of both directions; a fence for mbarrier inits only. */
void sim_fence(struct sim_warp *warp);
void sim_fence_inits(struct sim_warp *warp, uint32_t mask);

/* ---- mbarriers -------------------------------------------------------------------------------------------- */

struct sim_mbarrier {
    struct sim_cta *cta;
    uint32_t offset;
    bool live;                                         /* between init and inval */
    bool overwritten;                                  /* since its init, by something that is no mbarrier operation */
    uint32_t overwritten_line;                         /* 0: not known */
    const struct ptx_instruction *init_at, *expect_at; /* the init; the last expect_tx */
    int init_lane;
    struct sim_stamp init, fenced; /* the init; its fence towards the async proxy and the peers */
    uint32_t agent;
    uint32_t expected, pending;   /* arrivals: of every phase; still missing in the running one */
    uint32_t phase;               /* phases completed */
    uint32_t clock_base;          /* the agent's clock at init: it never goes back, also over inval and another init */
    int64_t transactions;         /* bytes expected minus bytes that came, in the running phase */
    uint32_t under_way;           /* copies begun that have not landed */
    uint32_t last_copy;           /* clock of the last copy begun; 0: none */
    uint64_t image;               /* the 8 bytes as they must be in shared memory */
    struct sim_knowledge running; /* of all that have arrived */
    struct sim_knowledge completed; /* the same, when the last phase completed: what waits acquire */
};

struct sim_mbarriers {
    struct sim_mbarrier **all; /* in the order of first init; stay at their place, as copies in flight point to them */
    uint32_t count;
    uint16_t *at; /* [offset / 8]: 1 + index in `all`, 0: none */
    uint32_t slots;
    uint32_t low, high;        /* all inits are in [low, high) */
    uint32_t unfenced;         /* live ones without `fenced` */
    struct sim_clocks at_exit; /* what the warps that have exited knew */
};

/* The object that was initialised at an offset, live or not; NULL: none ever was. */
struct sim_mbarrier *sim_mbarrier_lookup(const struct sim_cta *cta, uint32_t offset);
/* The mbarrier that a lane's address names, for the warp to use: like sim_mbarrier_find(). */
struct sim_mbarrier *sim_mbarrier_at(struct sim_warp *warp, const struct ptx_instruction *i, int lane,
                                     uint64_t address);
void sim_mbarrier_init(struct sim_warp *warp, const struct ptx_instruction *i, int lane, uint64_t address,
                       uint64_t count);
void sim_mbarrier_invalidate(struct sim_warp *warp, const struct ptx_instruction *i, int lane, uint64_t address);
/* `count` arrivals without what they release; expect_tx; complete_tx. */
void sim_mbarrier_count(struct sim_mbarrier *barrier, struct sim_warp *warp, const struct ptx_instruction *i, int lane,
                        uint64_t count);
void sim_mbarrier_drop(struct sim_mbarrier *barrier, struct sim_warp *warp, const struct ptx_instruction *i, int lane,
                       uint64_t count);
void sim_mbarrier_expect(struct sim_mbarrier *barrier, struct sim_warp *warp, const struct ptx_instruction *i, int lane,
                         int64_t bytes);
void sim_mbarrier_pay(struct sim_mbarrier *barrier, struct sim_warp *warp, const struct ptx_instruction *i, int lane,
                      int64_t bytes);
/* Shows the state in the object's 8 bytes of shared memory. */
void sim_mbarrier_write_image(struct sim_mbarrier *barrier);
/* A fence of the warp's lanes `mask` covers the inits that they made. */
void sim_mbarriers_fenced(struct sim_warp *warp, uint32_t mask);

/* The barrier in words: "full+8 (0x34010)". */
struct sim_barrier_name {
    char text[96];
};
struct sim_barrier_name sim_barrier_name(const struct sim_cta *cta, uint32_t offset);

/* ---- lanes ------------------------------------------------------------------------------------------------ */

static inline uint32_t sim_live_lanes(const struct sim_warp *warp) {
    return warp->lanes & ~warp->exited;
}

/* All lanes of the warp must run it: none is elsewhere, and none has a false guard. Otherwise SIM_REPORT_DIVERGED. */
static inline void sim_check_all_lanes(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                       uint32_t mask) {
    if (mask != path->mask)
        sim_report(warp, i, SIM_REPORT_DIVERGED, __builtin_ctz(path->mask & ~mask), 0,
                   "all lanes of a warp must run this, and the guard is false for some (it is true for 0x%x)", mask);
    else
        sim_check_aligned(warp, path, i);
}

/* Misuse that leaves nothing to go on with: the launch ends. */
static inline enum sim_next sim_hopeless(struct sim_warp *warp) {
    return sim_fail(warp->machine, CUDA_ERROR_LAUNCH_FAILED);
}

#endif
