/* SPDX-License-Identifier: Apache-2.0 */
/* cp.async.commit_group, wait_group, wait_all and mbarrier.arrive. */
#include "sim/copies/copy_async.h"

#include <stdlib.h>

struct sim_cp_async_state *sim_cp_async_state(struct sim_warp *warp) {
    if (!warp->cp_async) {
        warp->cp_async = calloc(1, sizeof *warp->cp_async);
        if (warp->cp_async)
            warp->cp_async->agent =
                sim_agent_new(warp->cluster, SIM_AGENT_CP_ASYNC, warp->cta->rank, warp->index, 0, 0);
        else
            sim_out_of_memory(warp->machine);
    }
    return warp->cp_async;
}

/* An event closes the open group: of the lanes that commit, or (0) of nobody, where only the stamps go on. */
static void close_group(struct sim_cp_async_state *state, uint32_t lanes) {
    state->events++;
    state->commits[state->events % SIM_CP_ASYNC_RING] = lanes;
}

enum sim_next sim_do_cp_async_commit(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                     uint32_t mask) {
    (void)path;
    (void)i;
    struct sim_cp_async_state *state = sim_cp_async_state(warp);
    if (!state)
        return SIM_FAULT;
    close_group(state, mask);
    return SIM_NEXT;
}

/* The event that closed the newest group of a lane that may not stay under way; 0: there is none. */
static uint32_t last_to_wait_for(const struct sim_cp_async_state *state, int lane, uint32_t pending) {
    const uint32_t told = state->events < SIM_CP_ASYNC_RING ? state->events : SIM_CP_ASYNC_RING;
    for (uint32_t back = 0; back < told; back++) {
        const uint32_t event = state->events - back;
        if (state->commits[event % SIM_CP_ASYNC_RING] >> lane & 1 && pending-- == 0)
            return event;
    }
    return state->events - told; /* beyond what is told apart: all of those */
}

static bool have_landed(const struct sim_cp_async_state *state, uint32_t last) {
    for (uint32_t back = 0; state->total_under_way && back < SIM_CP_ASYNC_RING && back < last; back++) {
        if (state->under_way[(last - back) % SIM_CP_ASYNC_RING])
            return false;
    }
    return true;
}

/* The warp learns what all of the waiting lanes have waited for; those without a copy that was not waited for do not
 * hold the others up. It has one clock for all lanes: lanes that took another branch count as if they had waited too.
 */
static void learn(struct sim_warp *warp, const struct sim_cp_async_state *state, uint32_t mask) {
    uint32_t least = UINT32_MAX, most = 0;
    for (; mask; mask &= mask - 1) {
        const int lane = __builtin_ctz(mask);
        if (state->last[lane] > state->waited[lane])
            least = state->waited[lane] < least ? state->waited[lane] : least;
        most = state->waited[lane] > most ? state->waited[lane] : most;
    }
    const uint32_t clock = least < most ? least : most;
    if (clock > sim_clock_of(&warp->known, state->agent))
        sim_clocks_raise(warp->cluster, &warp->known, state->agent, clock);
}

static enum sim_next wait_for_groups(struct sim_warp *warp, struct sim_path *path, uint32_t mask, uint32_t pending) {
    struct sim_cp_async_state *state = warp->cp_async;
    uint32_t last[PTX_LANES], newest = 0;
    for (uint32_t lanes = mask; lanes; lanes &= lanes - 1) {
        const int lane = __builtin_ctz(lanes);
        last[lane] = last_to_wait_for(state, lane, pending);
        newest = last[lane] > newest ? last[lane] : newest;
    }
    path->wait = (struct sim_wait){.kind = SIM_WAIT_CP_ASYNC_GROUP, .value = pending};
    if (!have_landed(state, newest))
        return SIM_WAIT;
    for (uint32_t lanes = mask; lanes; lanes &= lanes - 1) {
        const int lane = __builtin_ctz(lanes);
        state->waited[lane] = last[lane] > state->waited[lane] ? last[lane] : state->waited[lane];
    }
    learn(warp, state, mask);
    path->wait.kind = SIM_WAIT_NONE;
    path->stage = 0;
    return SIM_NEXT;
}

enum sim_next sim_do_cp_async_wait(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                   uint32_t mask) {
    const uint64_t pending = (uint64_t)i->operand[0].value;
    if (!warp->cp_async)
        return SIM_NEXT;
    return wait_for_groups(warp, path, mask, pending < UINT32_MAX ? (uint32_t)pending : UINT32_MAX);
}

/* A commit, and then a wait for everything. */
enum sim_next sim_do_cp_async_wait_all(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                       uint32_t mask) {
    (void)i;
    if (!warp->cp_async)
        return SIM_NEXT;
    if (path->stage == 0)
        close_group(warp->cp_async, mask);
    path->stage = 1;
    return wait_for_groups(warp, path, mask, 0);
}

/* ---- arrivals --------------------------------------------------------------------------------------------------- */

/* The waiter learns of the copies; the warp itself has not waited. */
static void arrive(struct sim_warp *warp, uint32_t agent, const struct sim_cp_async_arrival *arrival) {
    const uint32_t before = sim_clock_of(&warp->known, agent);
    sim_clocks_raise(warp->cluster, &warp->known, agent, arrival->clock);
    sim_mbarrier_arrive(arrival->barrier, warp, arrival->i, arrival->count);
    if (warp->known.entry && before < arrival->clock)
        warp->known.entry[agent] = before;
}

void sim_cp_async_landed(struct sim_warp *warp, uint32_t clock, uint64_t serial) {
    struct sim_cp_async_state *state = warp->cp_async;
    if (!state)
        return;
    state->under_way[clock % SIM_CP_ASYNC_RING]--;
    state->total_under_way--;
    for (uint32_t a = 0; state->arrivals && a < SIM_CP_ASYNC_ARRIVALS; a++) {
        struct sim_cp_async_arrival *arrival = &state->arrival[a];
        if (!arrival->barrier || serial >= arrival->before || --arrival->missing)
            continue;
        arrive(warp, state->agent, arrival);
        arrival->barrier = NULL;
        state->arrivals--;
    }
}

/* One arrival of `count` lanes on a barrier, now or when the copies issued so far have landed. */
static bool add_arrival(struct sim_warp *warp, const struct ptx_instruction *i, struct sim_mbarrier *barrier,
                        uint32_t count) {
    struct sim_cp_async_state *state = warp->cp_async;
    const struct sim_cp_async_arrival arrival = {
        barrier, i, count, state->events, state->issued, state->total_under_way};
    if (i->choice[0] == 0) /* not .noinc: the barrier waits for one more of each lane */
        sim_mbarrier_add_pending(barrier, warp, i, count);
    if (arrival.missing == 0) {
        arrive(warp, state->agent, &arrival);
        return true;
    }
    for (uint32_t a = 0; a < SIM_CP_ASYNC_ARRIVALS; a++) {
        if (!state->arrival[a].barrier) {
            state->arrival[a] = arrival;
            state->arrivals++;
            return true;
        }
    }
    return false;
}

enum sim_next sim_do_cp_async_arrive(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                     uint32_t mask) {
    struct sim_cp_async_state *state = sim_cp_async_state(warp);
    uint64_t addresses[PTX_LANES];
    if (!state)
        return SIM_FAULT;
    if (state->arrivals + PTX_LANES > SIM_CP_ASYNC_ARRIVALS) { /* a limit of the simulator: let some land first */
        path->wait = (struct sim_wait){.kind = SIM_WAIT_CP_ASYNC_GROUP};
        return SIM_WAIT;
    }
    path->wait.kind = SIM_WAIT_NONE;
    close_group(state, 0);
    sim_copy_addresses(warp, i, 0, mask, addresses);
    for (uint32_t left = mask; left;) {
        const struct sim_issue issue = {warp, i, __builtin_ctz(left)};
        uint32_t same = 0, offset;
        for (uint32_t lanes = left; lanes; lanes &= lanes - 1)
            same |= (uint32_t)(addresses[__builtin_ctz(lanes)] == addresses[issue.lane]) << __builtin_ctz(lanes);
        struct sim_cta *cta;
        if (!sim_copy_locate(&issue, addresses[issue.lane], 8, 8, &cta, &offset))
            return sim_copy_refused(warp);
        struct sim_mbarrier *barrier = sim_mbarrier_find(warp, i, issue.lane, cta, offset, false);
        if (!barrier || !add_arrival(warp, i, barrier, (uint32_t)__builtin_popcount(same)))
            return sim_copy_refused(warp);
        left &= ~same;
    }
    sim_progress(warp->cluster);
    return SIM_NEXT;
}
