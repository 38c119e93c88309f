/* SPDX-License-Identifier: Apache-2.0 */
/* Between the files of the machine: paths, the queue that orders them by time, and clusters in their slots. */
#ifndef SIM_SCHEDULE_H
#define SIM_SCHEDULE_H

#include "sim/machine/machine.h"

/* A path is running, or ready (in the heap), or parked (its instruction returned SIM_WAIT; it is called again when
 * cluster->progress has changed), or waits for its children and is in neither. */
struct sim_queue {
    struct sim_path **heap; /* by (time, turn), the least first */
    struct sim_path **parked;
    struct sim_path *spare;   /* paths not in use */
    struct sim_path *storage; /* all paths */
    uint32_t ready, parked_count;
    uint64_t turns;        /* given out */
    uint64_t woken_at;     /* cluster->progress when the parked were last woken */
    uint64_t counted_at;   /* cluster->progress when stalls and idle_instructions began to count */
    uint64_t next_look;    /* idle_instructions at which loops are looked at again */
    uint64_t state, polls; /* in the last stalled round: hash of all registers; loads of global memory so far */
};

enum { SIM_PAUSE = 32 }; /* with a seed: below which a path's pauses are, between its runs and when it wakes */
enum { SIM_PATHS_PER_WARP = 2 * PTX_LANES }; /* a tree whose leaves, and inner forks' lanes, are distinct lanes */

/* ---- queue.c ---- */
void sim_queue_push(struct sim_cluster *cluster, struct sim_path *path);
struct sim_path *sim_queue_pop(struct sim_cluster *cluster);
void sim_queue_park(struct sim_cluster *cluster, struct sim_path *path);
/* All parked paths become ready, no earlier than the cluster's time. */
void sim_queue_wake(struct sim_cluster *cluster);

/* ---- paths.c ---- */
struct sim_path *sim_path_begin(struct sim_warp *warp, uint32_t mask, uint32_t pc, int32_t stop,
                                struct sim_path *parent, uint64_t time);
/* The path ends: all its lanes have exited, or `arrived` have come to its stop. */
void sim_path_end(struct sim_path *path, uint32_t arrived);
/* Lanes part: those of lanes[n] go on at target[n], all of them distinct; they meet at `rejoin`. */
enum sim_next sim_path_fork(struct sim_path *path, int32_t rejoin, uint32_t count, const uint32_t *target,
                            const uint32_t *lanes);
/* Lanes that run the path's instruction: its guard applied. */
static inline uint32_t sim_guarded(const struct sim_warp *warp, const struct ptx_instruction *i, uint32_t mask) {
    if (i->guard < 0)
        return mask;
    const uint32_t guard = *(const uint32_t *)(warp->registers + i->guard);
    return mask & (i->guard_negated ? ~guard : guard);
}

/* ---- run.c ---- */
enum sim_run { SIM_RUN_READY, SIM_RUN_WAITS, SIM_RUN_GONE };
/* Runs the path until its time is no longer below `until`. */
enum sim_run sim_run_path(struct sim_path *path, uint64_t until);

/* ---- step.c ---- */
/* Called before each instruction while a step function is set. False: the launch is to end. */
bool sim_step(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i);

/* ---- taint.c: called around instructions while warp->tainted ---- */
void sim_taint_before(struct sim_warp *warp, const struct ptx_instruction *i, uint32_t lanes, uint32_t mask);
void sim_taint_after(struct sim_warp *warp, const struct ptx_instruction *i, uint32_t lanes, uint32_t mask);
void sim_taint_clear(struct sim_warp *warp);

/* ---- special.c ---- */
void sim_special_registers(struct sim_warp *warp);

/* ---- schedule.c ---- */
enum sim_step {
    SIM_STEP_RAN,
    SIM_STEP_ENDED,    /* nothing is left to run, or in flight */
    SIM_STEP_DEADLOCK, /* nothing in this cluster can change any more */
    SIM_STEP_POLLING   /* the same, but it reads global memory: another cluster may change that */
};
enum sim_step sim_cluster_step(struct sim_cluster *cluster);
/* When the cluster does something next. */
uint64_t sim_cluster_time(const struct sim_cluster *cluster);

/* ---- flights.c ---- */
/* Lands the first flight of the cluster, which has one. */
void sim_flight_land(struct sim_cluster *cluster);
/* Frees the flights of a cluster that has ended: none lands any more. */
void sim_flights_forget(struct sim_cluster *cluster);

/* ---- state.c ---- */
/* A hash that goes on from another. */
uint64_t sim_hash(uint64_t hash, const uint8_t *bytes, size_t count);
/* A hash of all that the next instructions depend on, but for memory: writing that is progress. */
uint64_t sim_state_of(const struct sim_cluster *cluster);
/* Reads of global memory so far. */
uint64_t sim_polls(const struct sim_machine *machine);

/* ---- spin.c ---- */
/* SIM_STEP_RAN unless every ready path is in a loop that changes nothing. */
enum sim_step sim_judge_loops(struct sim_cluster *cluster);
/* Lanes that wait to rejoin a path which does not wait go on without it. False: there were none. */
bool sim_release_lanes(struct sim_cluster *cluster);

/* ---- deadlock.c ---- */
void sim_report_deadlock(struct sim_cluster *cluster);
/* "mbarrier 0x400 of CTA 1 (parity 0)" */
void sim_wait_text(const struct sim_path *path, char *text, size_t bytes);

/* ---- cluster.c ---- */
struct sim_slot {
    struct sim_cluster cluster;
    struct sim_queue queue;
    struct sim_agents agents;
    uint8_t *registers, *locals; /* of all warps, zero when a cluster begins */
    uint8_t *register_memory;    /* in which the registers are aligned */
    struct sim_warp *warps;
    bool running, polling; /* polling: set aside until others have done something */
    bool was_used;         /* by an earlier cluster */
    uint64_t set_aside_at;
    uint64_t looked_at, polls; /* idle_instructions and sim_polls() when it was last asked what it waits for */
    uint32_t shared_bytes;     /* of a CTA */
};
/* NULL: out of memory. */
struct sim_slot *sim_slot_new(struct sim_machine *machine);
void sim_slot_free(struct sim_slot *slot);
/* Puts the grid's cluster number `index` into the slot. False: out of memory. */
bool sim_slot_begin(struct sim_slot *slot, uint64_t index, uint64_t time);
void sim_slot_end(struct sim_slot *slot);
/* All lanes of the warp have exited. */
void sim_warp_end(struct sim_warp *warp);
uint32_t sim_shared_bytes(const struct sim_machine *machine);

#endif
