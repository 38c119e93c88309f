/* SPDX-License-Identifier: Apache-2.0 */
/* One step of a cluster: the ready path of least time runs for a while, or a copy lands, or, when nobody can go on and
 * nothing is in flight, a stalled round: mbarrier try_waits time out. */
#include "sim/machine/schedule.h"

#include <stdlib.h>
#include <string.h>

enum { QUANTUM = 64, ALONE = 4096, TIME_OUT = 100 };

/* splitmix64 */
uint64_t sim_random(struct sim_cluster *cluster) {
    uint64_t z = cluster->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* ---- flights ---------------------------------------------------------------------------------------------------- */

void *sim_flight_new(struct sim_cluster *cluster, size_t bytes, void (*land)(struct sim_flight *flight)) {
    struct sim_flight *const flight = calloc(1, bytes);
    if (flight) {
        flight->cluster = cluster;
        flight->land = land;
    }
    return flight;
}

/* Most flights land after those that are under way, so the place is sought from the end. */
void sim_flight_queue(struct sim_flight *flight, uint32_t latency) {
    struct sim_cluster *const cluster = flight->cluster;
    uint64_t ticks = latency ? latency : 1;
    if (cluster->machine->options->seed)
        ticks += sim_random(cluster) % (3 * ticks + 1);
    flight->due = cluster->now + ticks;
    struct sim_flight *before = cluster->last_flight;
    while (before && before->due > flight->due)
        before = before->previous;
    flight->previous = before;
    flight->next = before ? before->next : cluster->flights;
    *(before ? &before->next : &cluster->flights) = flight;
    *(flight->next ? &flight->next->previous : &cluster->last_flight) = flight;
}

/* Takes the flight from the list before it lands: landing may queue another. */
static void land_first(struct sim_cluster *cluster) {
    struct sim_flight *const flight = cluster->flights;
    cluster->flights = flight->next;
    *(flight->next ? &flight->next->previous : &cluster->last_flight) = NULL;
    flight->next = NULL;
    if (cluster->now < flight->due)
        cluster->now = flight->due;
    flight->land(flight);
    free(flight);
    sim_progress(cluster);
}

/* ---- stalled rounds --------------------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * UINT64_C(0x9fb21c651e98df25);
    return hash ^ hash >> 29;
}

uint64_t sim_hash(uint64_t hash, const uint8_t *bytes, size_t count) {
    for (size_t at = 0; at + 8 <= count; at += 8) {
        uint64_t word;
        memcpy(&word, bytes + at, sizeof word);
        hash = mix(hash, word);
    }
    return hash;
}

/* All that the next instructions depend on, but for memory: writing that is progress. */
static uint64_t state_of(const struct sim_cluster *cluster) {
    uint64_t hash = 1;
    for (uint32_t c = 0; c < cluster->cta_count; c++)
        for (uint32_t w = 0; w < cluster->ctas[c].warp_count; w++) {
            const struct sim_warp *const warp = &cluster->ctas[c].warps[w];
            if (!warp->paths)
                continue;
            for (const struct sim_path *path = warp->paths; path; path = path->next)
                hash = mix(hash, path->pc | (uint64_t)path->mask << 32);
            hash = sim_hash(hash, warp->registers, cluster->machine->function->register_bytes);
        }
    return hash;
}

uint64_t sim_polls(const struct sim_machine *machine) {
    uint64_t polls = 0;
    for (uint32_t pc = 0; pc < machine->function->count; pc++) {
        const enum sim_class class = machine->function->code[pc].operation->class;
        if (class == SIM_CLASS_GLOBAL_LOAD || class == SIM_CLASS_GLOBAL_ATOMIC)
            polls += machine->executed[pc];
    }
    return polls;
}

enum { ROUNDS_MAX = 300000, FIRST_LOOK = 4096, IDLE_MAX = 50000000, ROUNDS_LOOKED_AT = 4, ROUNDS_BETWEEN_LOOKS = 1024 };

/* The same state as one round ago, and nothing but waiting since: no further round can differ. Unless the wait loop
 * reads global memory, where another cluster may write. */
static enum sim_step judge_round(struct sim_cluster *cluster) {
    struct sim_queue *const queue = cluster->queue;
    const uint64_t rounds = ++cluster->stalls;
    if (rounds > ROUNDS_LOOKED_AT && rounds % ROUNDS_BETWEEN_LOOKS > 1 && rounds < ROUNDS_MAX)
        return SIM_STEP_RAN;
    const uint64_t state = state_of(cluster), polls = sim_polls(cluster->machine);
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
            path->time += sim_random(cluster) % 32;
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
        land_first(cluster);
    } else if (queue->ready) {
        run_first(cluster);
        if (cluster->idle_instructions > queue->next_look)
            return look_at_loops(cluster);
    } else {
        return queue->parked_count ? stalled_round(cluster) : SIM_STEP_ENDED;
    }
    return SIM_STEP_RAN;
}
