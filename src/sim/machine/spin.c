/* SPDX-License-Identifier: Apache-2.0 */
/* Loops that only look: a path that comes back to where it was with the registers that it had, while nothing happened
 * in its cluster, will do so for ever. It may wait for lanes of its own warp that wait for it where they are to rejoin;
 * those are then sent on alone. */
#include "sim/machine/schedule.h"

#include <stdlib.h>

enum { LOOP_MAX = 2048 }; /* instructions of a loop that is recognised */

static uint64_t registers_of(const struct sim_path *path) {
    const struct sim_warp *const warp = path->warp;
    return sim_hash(1, warp->registers, warp->machine->function->register_bytes);
}

/* Runs the path, which is in no queue. *run says how that ended. */
static bool goes_round(struct sim_path *path, enum sim_run *run) {
    const struct sim_cluster *const cluster = path->warp->cluster;
    const uint64_t progress = cluster->progress, registers = registers_of(path);
    const uint32_t pc = path->pc, mask = path->mask;
    for (uint32_t n = 0; n < LOOP_MAX; n++) {
        *run = sim_run_path(path, path->time + 1);
        if (*run != SIM_RUN_READY || cluster->progress != progress)
            return false;
        if (path->pc == pc && path->mask == mask && registers_of(path) == registers)
            return true;
    }
    return false;
}

enum sim_step sim_judge_loops(struct sim_cluster *cluster) {
    struct sim_queue *const queue = cluster->queue;
    const uint64_t polls = sim_polls(cluster->machine);
    const uint32_t count = queue->ready;
    if (count == 0)
        return SIM_STEP_RAN;
    struct sim_path **const paths = calloc(count, sizeof *paths);
    bool all = cluster->flights == NULL;
    if (!paths) {
        sim_out_of_memory(cluster->machine);
        return SIM_STEP_RAN;
    }
    for (uint32_t n = 0; n < count; n++)
        paths[n] = sim_queue_pop(cluster);
    for (uint32_t n = 0; n < count; n++) {
        enum sim_run run = SIM_RUN_READY;
        if (all && !cluster->machine->fault)
            all = goes_round(paths[n], &run);
        if (run == SIM_RUN_WAITS)
            sim_queue_park(cluster, paths[n]);
        else if (run == SIM_RUN_READY)
            sim_queue_push(cluster, paths[n]);
    }
    free(paths);
    if (!all || cluster->machine->fault)
        return SIM_STEP_RAN;
    return sim_polls(cluster->machine) != polls ? SIM_STEP_POLLING : SIM_STEP_DEADLOCK;
}

/* The lanes that wait for the path at the nearest rejoin point go on without it. */
static bool release(struct sim_path *path) {
    struct sim_path *parent = path->parent;
    while (parent && !parent->arrived)
        parent = parent->parent;
    if (!parent)
        return false;
    struct sim_path *const above = parent->parent;
    const uint32_t lanes = parent->arrived;
    parent->arrived = 0;
    if (above)
        above->children++;
    sim_path_begin(path->warp, lanes, parent->pc, parent->stop, above, path->time);
    return true;
}

bool sim_release_lanes(struct sim_cluster *cluster) {
    bool released = false;
    for (uint32_t c = 0; c < cluster->cta_count; c++)
        for (uint32_t w = 0; w < cluster->ctas[c].warp_count; w++)
            for (struct sim_path *path = cluster->ctas[c].warps[w].paths; path; path = path->next)
                if (path->children == 0 && !path->waiting)
                    released = release(path) || released;
    if (released)
        sim_progress(cluster);
    return released;
}
