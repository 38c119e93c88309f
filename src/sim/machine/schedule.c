/* SPDX-License-Identifier: Apache-2.0 */
/* One step of a cluster: the ready path of least time runs for a while, or a copy lands, or, when nobody can go on and
 * nothing is in flight, a stalled round: mbarrier try_waits time out. */
#include "sim/machine/schedule.h"

enum { QUANTUM = 64, ALONE = 4096, TIME_OUT = 100 };
/* With a seed: how long the laggard pauses between its runs, so that others may do all their work meanwhile, as behind a miss
 * of the instruction cache. */
enum { LONG_PAUSE = 65536 };

/* ---- stalled rounds --------------------------------------------------------------------------------------------- */

enum { ROUNDS_MAX = 300000, FIRST_LOOK = 4096, IDLE_MAX = 50000000, ROUNDS_LOOKED_AT = 4, ROUNDS_BETWEEN_LOOKS = 1024 };

/* The same state as one round ago, and nothing but waiting since: no further round can differ. Unless the wait loop
 * reads global memory, where another cluster may write. */
static enum sim_step judge_round(struct sim_cluster *cluster) {
    struct sim_queue *const queue = cluster->queue;
    const uint64_t rounds = ++cluster->stalls;
    if (rounds > ROUNDS_LOOKED_AT && rounds % ROUNDS_BETWEEN_LOOKS > 1 && rounds < ROUNDS_MAX)
        return SIM_STEP_RAN;
    const uint64_t state = sim_state_of(cluster), polls = sim_polls(cluster->machine);
    const bool same = rounds > 1 && state == queue->state, polled = polls != queue->polls;
    queue->state = state;
    queue->polls = polls;
    if (same || rounds >= ROUNDS_MAX)
        return polled ? SIM_STEP_POLLING : SIM_STEP_DEADLOCK;
    return SIM_STEP_RAN;
}

/* Every parked path tries once more, told that its time is up. */
static enum sim_step stalled_round(struct sim_cluster *cluster) {
    struct sim_queue *const queue = cluster->queue;
    const enum sim_step verdict = judge_round(cluster);
    if (verdict != SIM_STEP_RAN)
        return verdict;
    const uint64_t progress = cluster->progress;
    const uint32_t count = queue->parked_count;
    cluster->now += TIME_OUT;
    for (uint32_t n = 0; n < count && !cluster->machine->fault; n++) {
        struct sim_path *const path = queue->parked[n];
        path->time = path->time < cluster->now ? cluster->now : path->time;
        cluster->stalled = true;
        const enum sim_run run = sim_run_path(path, path->time + 1);
        cluster->stalled = false;
        queue->parked[n] = run == SIM_RUN_WAITS ? path : NULL;
        if (run == SIM_RUN_READY)
            sim_queue_push(cluster, path);
    }
    const uint32_t parked = queue->parked_count;
    queue->parked_count = 0;
    for (uint32_t n = 0; n < parked; n++)
        if (queue->parked[n])
            queue->parked[queue->parked_count++] = queue->parked[n];
    const bool moved = queue->parked_count < parked || cluster->progress != progress || cluster->flights;
    return moved || cluster->machine->fault ? SIM_STEP_RAN : SIM_STEP_DEADLOCK;
}

/* ---- a step ----------------------------------------------------------------------------------------------------- */

uint64_t sim_cluster_time(const struct sim_cluster *cluster) {
    if (cluster->queue->ready)
        return cluster->queue->heap[0]->time;
    return cluster->flights && cluster->flights->due > cluster->now ? cluster->flights->due : cluster->now;
}

/* Until when the path may run: a little beyond the next one, and until the next flight lands. */
static uint64_t until(struct sim_cluster *cluster, const struct sim_path *path) {
    const struct sim_queue *const queue = cluster->queue;
    uint64_t time = queue->ready ? queue->heap[0]->time + QUANTUM : path->time + ALONE;
    if (cluster->machine->options->seed)
        time = path->time + 1 + sim_random(cluster) % QUANTUM;
    if (cluster->flights && cluster->flights->due < time)
        time = cluster->flights->due;
    return time > path->time ? time : path->time + 1;
}

static uint64_t pause_of(struct sim_cluster *cluster, const struct sim_path *path) {
    return sim_random(cluster) % (path->warp == cluster->laggard ? LONG_PAUSE : SIM_PAUSE);
}

static void run_first(struct sim_cluster *cluster) {
    struct sim_path *const path = sim_queue_pop(cluster);
    const struct sim_warp *const warp = path->warp;
    const uint64_t before = warp->instructions;
    const enum sim_run run = sim_run_path(path, until(cluster, path));
    cluster->idle_instructions += warp->instructions - before;
    if (run == SIM_RUN_WAITS) {
        sim_queue_park(cluster, path);
    } else if (run == SIM_RUN_READY) {
        if (cluster->machine->options->seed)
            path->time += pause_of(cluster, path);
        sim_queue_push(cluster, path);
    }
}

/* Nothing has happened for long. */
static enum sim_step look_at_loops(struct sim_cluster *cluster) {
    if (cluster->idle_instructions > IDLE_MAX)
        return SIM_STEP_POLLING;
    cluster->queue->next_look = 2 * cluster->idle_instructions;
    const enum sim_step verdict = sim_judge_loops(cluster);
    return verdict == SIM_STEP_DEADLOCK && sim_release_lanes(cluster) ? SIM_STEP_RAN : verdict;
}

enum sim_step sim_cluster_step(struct sim_cluster *cluster) {
    struct sim_queue *const queue = cluster->queue;
    if (cluster->progress != queue->counted_at) {
        queue->counted_at = cluster->progress;
        cluster->stalls = cluster->idle_instructions = 0;
        queue->next_look = FIRST_LOOK;
    }
    if (queue->parked_count && cluster->progress != queue->woken_at)
        sim_queue_wake(cluster);
    if (cluster->flights && (!queue->ready || cluster->flights->due <= queue->heap[0]->time)) {
        sim_flight_land(cluster);
    } else if (queue->ready) {
        run_first(cluster);
        if (cluster->idle_instructions > queue->next_look)
            return look_at_loops(cluster);
    } else {
        return queue->parked_count ? stalled_round(cluster) : SIM_STEP_ENDED;
    }
    return SIM_STEP_RAN;
}
