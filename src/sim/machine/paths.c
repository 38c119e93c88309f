/* SPDX-License-Identifier: Apache-2.0 */
/* Paths part at branches, meet again, and come together for instructions of many lanes.
 *
 *         parent: waits at `rejoin`, no lanes of its own; `arrived` collects them
 *        /      \
 *     child    child      run until pc == stop, their parent's rejoin point; then their lanes have arrived
 *
 * A loop that lanes leave one by one does not nest: a branch whose rejoin point is the path's own stop adds brothers
 * instead of children, and lanes that jump to the rejoin point itself arrive at once. */
#include "sim/machine/schedule.h"

#include "sim/report/report.h"

struct sim_path *sim_path_begin(struct sim_warp *warp, uint32_t mask, uint32_t pc, int32_t stop,
                                struct sim_path *parent, uint64_t time) {
    struct sim_queue *const queue = warp->cluster->queue;
    struct sim_path *const path = queue->spare;
    queue->spare = path->next;
    *path = (struct sim_path){
        .mask = mask, .pc = pc, .stop = stop, .parent = parent, .time = time, .next = warp->paths, .warp = warp};
    warp->paths = path;
    sim_queue_push(warp->cluster, path);
    return path;
}

static void forget(struct sim_path *path) {
    struct sim_queue *const queue = path->warp->cluster->queue;
    struct sim_path **link = &path->warp->paths;
    while (*link != path)
        link = &(*link)->next;
    *link = path->next;
    path->next = queue->spare;
    queue->spare = path;
}

void sim_path_end(struct sim_path *path, uint32_t arrived) {
    for (;;) {
        struct sim_path *const parent = path->parent;
        const uint64_t time = path->time;
        forget(path);
        if (!parent)
            return;
        parent->arrived |= arrived;
        if (parent->time < time)
            parent->time = time;
        if (--parent->children > 0)
            return;
        parent->mask = parent->arrived;
        parent->arrived = 0;
        if (parent->mask) {
            sim_queue_push(parent->warp->cluster, parent);
            return;
        }
        path = parent; /* all its lanes have exited */
        arrived = 0;
    }
}

enum sim_next sim_path_fork(struct sim_path *path, int32_t rejoin, uint32_t count, const uint32_t *target,
                            const uint32_t *lanes) {
    const bool nests = rejoin != PTX_NONE && rejoin != path->stop;
    struct sim_path *const parent = nests ? path : path->parent;
    const int32_t stop = nests ? rejoin : path->stop;
    bool here = nests; /* the path itself has been given lanes, or is to have none */
    if (nests) {
        path->pc = (uint32_t)rejoin;
        path->mask = 0;
    }
    for (uint32_t n = 0; n < count; n++) {
        if (parent && target[n] == (uint32_t)stop) {
            parent->arrived |= lanes[n];
        } else if (!here) {
            here = true;
            path->pc = target[n];
            path->mask = lanes[n];
        } else {
            sim_path_begin(path->warp, lanes[n], target[n], stop, parent, path->time);
            if (parent)
                parent->children++;
        }
    }
    return SIM_JUMPED;
}

enum sim_next sim_branch(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i, uint32_t taken,
                         uint32_t target) {
    const uint32_t others = path->mask & ~taken;
    (void)warp;
    if (!others || target == i->pc + 1) {
        path->pc = target;
        return SIM_JUMPED;
    }
    if (!taken) {
        path->pc = i->pc + 1;
        return SIM_JUMPED;
    }
    return sim_path_fork(path, i->rejoin, 2, (const uint32_t[]){i->pc + 1, target}, (const uint32_t[]){others, taken});
}

/* ---- instructions of many lanes --------------------------------------------------------------------------------- */

/* Lanes that cannot come before this path goes on: they wait for it where it is to rejoin them. */
static uint32_t lanes_that_wait_for(const struct sim_path *path) {
    uint32_t lanes = 0;
    for (const struct sim_path *parent = path->parent; parent; parent = parent->parent)
        lanes |= parent->arrived;
    return lanes;
}

static void step_over(struct sim_path *path, const struct ptx_instruction *i, uint64_t time) {
    path->pc = i->pc + 1;
    path->stage = 0;
    path->waiting = false;
    path->wait.kind = SIM_WAIT_NONE;
    if (path->time < time)
        path->time = time;
}

/* Is at the instruction, and not there to meet others first. */
static bool is_at(const struct sim_path *path, const struct ptx_instruction *i) {
    return path->children == 0 && path->pc == i->pc && path->stop != (int32_t)i->pc;
}

bool sim_gather(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i, uint32_t members,
                uint32_t *everyone) {
    const uint32_t mine = sim_guarded(warp, i, path->mask), wanted = members & warp->lanes & ~warp->exited;
    uint32_t here = mine;
    *everyone = mine & members;
    if (mine & ~members)
        sim_report(warp, i, SIM_REPORT_DIVERGED, __builtin_ctz(mine & ~members), 0,
                   "its lanes 0x%08x are not named by its member mask 0x%08x", mine & ~members, members);
    if (!(wanted & ~mine))
        return true;
    for (struct sim_path *other = warp->paths; other; other = other->next)
        if (is_at(other, i))
            here |= sim_guarded(warp, i, other->mask);
    const uint32_t missing = wanted & ~here;
    if (missing & lanes_that_wait_for(path)) {
        sim_report(warp, i, SIM_REPORT_DIVERGED, __builtin_ctz(missing), 0,
                   "lanes 0x%08x are named by the member mask 0x%08x but have taken another way around it", missing,
                   members);
        return true;
    }
    if (missing) {
        path->wait = (struct sim_wait){.kind = SIM_WAIT_LANES, .value = missing};
        return false;
    }
    *everyone = wanted;
    for (struct sim_path *other = warp->paths; other; other = other->next)
        if (other != path && is_at(other, i) && (sim_guarded(warp, i, other->mask) & wanted))
            step_over(other, i, path->time);
    sim_progress(warp->cluster);
    return true;
}

bool sim_check_aligned(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i) {
    const uint32_t missing = warp->lanes & ~warp->exited & ~path->mask;
    if (!missing)
        return true;
    sim_report(warp, i, SIM_REPORT_DIVERGED, __builtin_ctz(missing), 0,
               "all lanes of the warp must run it together, but lanes 0x%08x are elsewhere", missing);
    return false;
}
