/* SPDX-License-Identifier: Apache-2.0 */
/* The machine that runs a launch: clusters of CTAs of warps, their paths, and the time they keep.
 *
 * Divergence. A warp is a set of paths; a path is a set of lanes at one pc. A branch that its lanes disagree on turns
 * the path into a parent that waits at the branch's rejoin point and two children that run until they reach it. Every
 * path is scheduled on its own (independent thread scheduling), so lanes of a warp may wait for each other.
 *
 * Time. A path has a time in ticks, about one a warp-instruction; the runnable path of least time goes next, and copies
 * land when time passes their due tick. With a seed other than 0, run lengths and latencies are random. It is an
 * order of events, not a performance model.
 *
 * Waiting. A handler that cannot go on returns SIM_WAIT and is simply called again later. When every path waits and no
 * copy is in flight the cluster is stalled: mbarrier try_waits time out and return false (sim_cluster.stalled is true in
 * that round), and after many rounds of that without progress the launch is a deadlock. */
#ifndef SIM_MACHINE_H
#define SIM_MACHINE_H

#include "host/cuda_abi.h"
#include "sim/machine/clocks.h"
#include "sim/ptx/ptx.h"
#include "sim/sim.h"

/* ---- operands ---------------------------------------------------------------------------------------------------- */

/* Rows of a source (register or immediate) and of a destination register. */
#define SIM_SOURCE_32(warp, op) \
    ((const uint32_t *)((op)->kind == PTX_OPERAND_IMMEDIATE ? (op)->row : (const void *)((warp)->registers + (op)->reg)))
#define SIM_SOURCE_64(warp, op) \
    ((const uint64_t *)((op)->kind == PTX_OPERAND_IMMEDIATE ? (op)->row64 : (const void *)((warp)->registers + (op)->reg)))
#define SIM_ROW_32(warp, op) ((uint32_t *)((warp)->registers + (op)->reg))
#define SIM_ROW_64(warp, op) ((uint64_t *)((warp)->registers + (op)->reg))

/* ---- what a path waits for, for deadlock reports and the trace ---------------------------------------------------- */

enum sim_wait_kind {
    SIM_WAIT_NONE, SIM_WAIT_MBARRIER, SIM_WAIT_NAMED_BARRIER, SIM_WAIT_CLUSTER_BARRIER, SIM_WAIT_WGMMA_ISSUE,
    SIM_WAIT_WGMMA_GROUP, SIM_WAIT_BULK_GROUP, SIM_WAIT_CP_ASYNC_GROUP, SIM_WAIT_LANES, SIM_WAIT_REGISTERS, SIM_WAIT_REJOIN
};
struct sim_wait {
    enum sim_wait_kind kind;
    uint32_t address;        /* mbarrier's shared address, or the named barrier's number */
    uint32_t value;          /* parity, or groups that may stay pending, or threads expected */
    uint32_t cta_rank;       /* whose mbarrier */
};

struct sim_path {
    uint32_t mask;           /* lanes */
    uint32_t pc;
    int32_t stop;            /* ends when it reaches this pc; PTX_NONE: ends only by exit */
    struct sim_path *parent; /* to be told when this one ends */
    int children;            /* > 0: waits for them */
    uint32_t arrived;        /* lanes of ended children that wait at the rejoin point (parents) */
    uint64_t time;
    int stage;               /* a handler's own progress while it returns SIM_WAIT; 0 when an instruction begins */
    uint64_t token;          /* likewise: what it arrived at (a barrier's generation ...) */
    struct sim_wait wait;
    struct sim_path *next;   /* of the warp's list */
    struct sim_warp *warp;
    uint64_t turn;           /* who goes first among paths of equal time */
    uint64_t waits_since;    /* tick */
    bool waiting;            /* its instruction has returned SIM_WAIT and is to be called again */
};

/* cp.async of one warp: copies, commits, arrivals. See copy_async.h. */
struct sim_cp_async_state;
/* Bulk groups of the lanes that have any. See copy_groups.c. */
struct sim_bulk_state;

struct sim_warp {
    struct sim_cta *cta;
    struct sim_cluster *cluster;
    struct sim_machine *machine;
    uint32_t index;          /* in the CTA */
    uint8_t *registers;
    uint32_t lanes;          /* that exist (the last warp of a CTA may be partial) */
    uint32_t exited;
    struct sim_path *paths;
    uint32_t agent;          /* in the cluster's clocks (clocks.h) */
    uint32_t clock;          /* its own clock: the stamp of what it does now (clocks.h) */
    struct sim_clocks known; /* what happened before: C */
    struct sim_clocks flushed; /* of that, what a proxy fence has handed to the async proxy: P */
    struct sim_cp_async_state *cp_async;
    struct sim_bulk_state *bulk;
    struct sim_warpgroup *warpgroup;
    uint32_t wgmma_busy;     /* wgmma operations in flight that own registers of this warp */
    uint32_t *tainted;       /* NULL, or per register row the lanes whose value stems from uninitialised memory */
    uint32_t *tainted_predicates; /* likewise for predicates, by offset / 4; NULL with `tainted` */
    uint8_t *local;          /* lanes x local_bytes, or NULL */
    uint64_t instructions;   /* executed */
    uint32_t register_limit; /* setmaxnreg bookkeeping: registers a thread */
};

struct sim_cta {
    struct sim_cluster *cluster;
    struct sim_machine *machine;
    uint32_t rank;           /* in the cluster */
    uint32_t id[3];          /* %ctaid */
    struct sim_warp *warps;
    uint32_t warp_count, threads, live_warps;
    uint8_t *shared;         /* bytes [0, shared_bytes); the first SIM_SHARED_RESERVED are the system's */
    uint32_t shared_bytes;
    struct sim_shadow *shadow;             /* of `shared` (shadow.h) */
    struct sim_named_barriers *named;      /* barriers_named.c */
    struct sim_mbarriers *mbarriers;       /* mbarrier.c */
    struct sim_warpgroup *warpgroups;      /* wgmma.h */
    struct sim_tiles *tiles;               /* of tensor loads (tile_origin.h) */
    uint32_t register_pool;                /* registers not owned by a warp (setmaxnreg) */
    bool exited;
};

enum { SIM_CLUSTER_MAX = 16, SIM_CTA_WARPS = 32 }; /* CTAs of a cluster, warps of a CTA, at most */

/* 32-bit addresses of the shared::cluster window: (rank + 1) << 24 | offset. Below 1 << 24: the CTA's own. */
#define SIM_CLUSTER_ADDRESS(rank, offset) ((((uint32_t)(rank) + 1) << 24) | (uint32_t)(offset))

/* Something under way that lands later: a copy, a group of wgmmas, a store. */
struct sim_flight {
    uint64_t due;            /* tick */
    void (*land)(struct sim_flight *flight);  /* does it; the flight is then freed by the scheduler */
    struct sim_cluster *cluster;
    struct sim_flight *next, *previous;
    /* the kind's own fields follow: embed sim_flight first in a larger struct from sim_flight_new() */
};

struct sim_cluster {
    struct sim_machine *machine;
    struct sim_cta *ctas;
    uint32_t cta_count, id[3];
    uint64_t now;            /* time of the path that runs */
    struct sim_flight *flights;            /* by due tick */
    struct sim_flight *last_flight;
    struct sim_flight *latest_flight;      /* that was queued, or the next one if it has landed */
    struct sim_queue *queue;               /* its paths, in order of time: schedule.h */
    struct sim_agents *agents;             /* clocks.h */
    struct sim_cluster_barrier *barrier;
    struct sim_peers *peers;               /* who has used whose memory: peers.h */
    bool stalled;            /* in this round try_waits time out */
    uint64_t stalls;         /* rounds without progress */
    uint64_t progress;       /* counts events that end a stall: see sim_progress() */
    uint64_t idle_instructions; /* executed since the last progress */
    uint64_t random;         /* state of sim_random() */
    struct sim_warp *laggard; /* slower than all others; NULL without a seed */
};

/* One launch. */
struct sim_machine {
    const struct sim_device *device;       /* devices.h */
    struct sim_memory *memory;             /* global memory (memory.h) */
    struct ptx_function *function;
    const struct sim_options *options;     /* sim.h */
    uint32_t grid[3], block[3], cluster_dims[3];
    uint32_t dynamic_shared_bytes;
    uint8_t *params;                       /* function->parameter_bytes, 128-byte aligned */
    struct sim_counters *counters;         /* never NULL; counters.h */
    struct sim_reports *reports;           /* never NULL; report.h */
    struct sim_watch *watch;               /* trace and single step, or NULL; watch.h */
    uint64_t *executed;                    /* per pc: warp-instructions */
    uint64_t *executed_lanes;              /* per pc: lanes */
    int fault;                             /* CUresult that the launch ends with; 0 while all is well */
    uint32_t resident_clusters;            /* that the device holds at once: 1 or more */
    uint64_t serial;                       /* of this launch in the process, from 1 */
};

/* Runs a launch to its end. Returns the CUresult: 0, or what machine->fault became. */
int sim_machine_run(struct sim_machine *machine);

/* The launch ends with this CUresult, unless it ends with another already. Returns SIM_FAULT, for handlers. */
static inline enum sim_next sim_fail(struct sim_machine *machine, CUresult result) {
    if (!machine->fault)
        machine->fault = (int)result;
    return SIM_FAULT;
}
/* The same for an allocation that failed: nothing goes on without what it was for. */
static inline enum sim_next sim_out_of_memory(struct sim_machine *machine) {
    return sim_fail(machine, CUDA_ERROR_OUT_OF_MEMORY);
}

/* ---- operands, lane by lane ---------------------------------------------------------------------------------------- */

/* One lane of a register or immediate of any width; of a missing operand 0. */
static inline uint64_t sim_lane_value(const struct sim_warp *warp, const struct ptx_operand *operand, int lane) {
    if (operand->kind == PTX_OPERAND_IMMEDIATE)
        return operand->row64 ? ((const uint64_t *)operand->row64)[lane] : (uint64_t)operand->value;
    if (operand->kind != PTX_OPERAND_REGISTER)
        return 0;
    return operand->bits == 64 ? SIM_ROW_64(warp, operand)[lane] : SIM_ROW_32(warp, operand)[lane];
}

/* The lanes in which a source predicate, register or immediate, is true. */
static inline uint32_t sim_predicate(const struct sim_warp *warp, const struct ptx_operand *operand) {
    uint32_t lanes = 0;
    if (operand->kind == PTX_OPERAND_PREDICATE)
        lanes = *SIM_ROW_32(warp, operand);
    else if (operand->kind == PTX_OPERAND_IMMEDIATE)
        lanes = operand->value ? UINT32_MAX : 0;
    return operand->negated ? ~lanes : lanes;
}

/* Lanes of `mask` of a destination predicate become those of `bits`. */
static inline void sim_set_predicate(struct sim_warp *warp, const struct ptx_operand *operand, uint32_t bits,
                                     uint32_t mask) {
    if (operand->kind == PTX_OPERAND_PREDICATE) {
        uint32_t *const predicate = SIM_ROW_32(warp, operand);
        *predicate = (*predicate & ~mask) | (bits & mask);
    }
}

/* ---- for handlers --------------------------------------------------------------------------------------------------- */

/* A handler did something that others may wait for: an arrival, a store, a landing. Ends a stall. */
static inline void sim_progress(struct sim_cluster *cluster) {
    cluster->progress++;
}

/* A zeroed flight of `bytes` (>= sizeof(struct sim_flight)), to be queued with sim_flight_queue(): it lands `latency`
 * ticks after `cluster->now` (with a seed: at a random tick up to 4x that). */
void *sim_flight_new(struct sim_cluster *cluster, size_t bytes, void (*land)(struct sim_flight *flight));
void sim_flight_queue(struct sim_flight *flight, uint32_t latency);

/* 64 random bits of the cluster's own sequence (from the seed and the cluster's id). */
uint64_t sim_random(struct sim_cluster *cluster);

/* The branch: lanes `taken` of the path go to `target`, the others to the next instruction; they meet at i->rejoin. */
enum sim_next sim_branch(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i, uint32_t taken,
                         uint32_t target);

/* Lanes named by `members` that are alive must all have come to this instruction: true when they have (the handler then
 * runs once for all of them with *everyone = members that are here, and the other paths step over it); false: return
 * SIM_WAIT. For bar.warp.sync, shfl.sync, vote.sync, elect.sync, match.sync, ldmatrix, mma. The caller must apply the
 * result to all lanes of *everyone. */
bool sim_gather(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i, uint32_t members,
                uint32_t *everyone);

/* True when the path holds every lane of the warp that has not exited: what `.aligned` demands. Else writes the report
 * SIM_REPORT_DIVERGED and returns false. */
bool sim_check_aligned(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i);

/* The value of `lanes` of the register at this offset stems from uninitialised memory (or: `lanes` of predicate). */
void sim_taint(struct sim_warp *warp, uint32_t register_offset, uint32_t lanes);

/* Latencies in ticks, by kind (latency.c). */
enum sim_latency { SIM_LATENCY_GLOBAL_COPY, SIM_LATENCY_SHARED_COPY, SIM_LATENCY_WGMMA };
uint32_t sim_latency(enum sim_latency kind, uint64_t bytes_or_macs);

#endif
