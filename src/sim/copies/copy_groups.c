/* SPDX-License-Identifier: Apache-2.0 */
/* Bulk groups: cp.async.bulk.commit_group and wait_group[.read]. Each thread has its own.
 *
 *      copy copy commit   copy commit   copy
 *      \___group 1____/   \group 2_/    the open group: number 3
 *
 * wait_group N lets the newest N committed groups stay under way. Copies of a group pass two points: their source has
 * been read (.read waits for that), and their destination is written. */
#include "sim/copies/copies.h"

#include <stdlib.h>

enum { RING = 64 }; /* groups counted apart; those 64 apart share a counter, and are waited for together */

struct lane_groups {
    uint32_t committed, agent;
    uint32_t reading[RING], writing[RING]; /* copies of group n under way: [n % RING] */
};

struct sim_bulk_state {
    struct lane_groups *lane[PTX_LANES];
};

void sim_bulk_groups_free(struct sim_warp *warp) {
    for (int lane = 0; warp->bulk && lane < PTX_LANES; lane++)
        free(warp->bulk->lane[lane]);
    free(warp->bulk);
    warp->bulk = NULL;
}

/* Made when it is first needed. NULL: out of memory. */
static struct lane_groups *groups_of(struct sim_warp *warp, int lane) {
    if (!warp->bulk)
        warp->bulk = calloc(1, sizeof *warp->bulk);
    if (warp->bulk && !warp->bulk->lane[lane])
        warp->bulk->lane[lane] = calloc(1, sizeof **warp->bulk->lane);
    if (!warp->bulk || !warp->bulk->lane[lane]) {
        sim_out_of_memory(warp->machine);
        return NULL;
    }
    return warp->bulk->lane[lane];
}

bool sim_bulk_group_begin(const struct sim_issue *issue, struct sim_stamp *stamp, uint32_t *group) {
    struct sim_warp *warp = issue->warp;
    struct lane_groups *groups = groups_of(warp, issue->lane);
    if (!groups)
        return false;
    if (groups->agent == SIM_AGENT_NONE)
        groups->agent =
            sim_agent_new(warp->cluster, SIM_AGENT_BULK_READ, warp->cta->rank, warp->index, (uint32_t)issue->lane, 0);
    *group = groups->committed + 1;
    *stamp = (struct sim_stamp){groups->agent, *group};
    groups->reading[*group % RING]++;
    groups->writing[*group % RING]++;
    return true;
}

void sim_bulk_group_read(const struct sim_issue *issue, uint32_t group) {
    if (issue->warp->bulk)
        issue->warp->bulk->lane[issue->lane]->reading[group % RING]--;
}

void sim_bulk_group_written(const struct sim_issue *issue, uint32_t group) {
    if (issue->warp->bulk)
        issue->warp->bulk->lane[issue->lane]->writing[group % RING]--;
}

enum sim_next sim_do_bulk_commit(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                 uint32_t mask) {
    (void)path;
    (void)i;
    for (; mask; mask &= mask - 1) {
        struct lane_groups *groups = groups_of(warp, __builtin_ctz(mask));
        if (!groups)
            return SIM_FAULT;
        groups->committed++;
    }
    return SIM_NEXT;
}

/* The groups up to `last` have passed the point that `under_way` counts. */
static bool have_passed(const uint32_t under_way[RING], uint32_t last) {
    for (uint32_t back = 0; back < RING && back < last; back++) {
        if (under_way[(last - back) % RING])
            return false;
    }
    return true;
}

enum sim_next sim_do_bulk_wait(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                               uint32_t mask) {
    const uint64_t pending = (uint64_t)i->operand[0].value;
    const bool reads_only = i->choice[0] != 0;
    path->wait = (struct sim_wait){.kind = SIM_WAIT_BULK_GROUP, .value = (uint32_t)pending};
    for (uint32_t lanes = warp->bulk ? mask : 0; lanes; lanes &= lanes - 1) {
        const struct lane_groups *groups = warp->bulk->lane[__builtin_ctz(lanes)];
        if (!groups || groups->committed <= pending)
            continue;
        const uint32_t last = groups->committed - (uint32_t)pending;
        if (!have_passed(groups->reading, last) || (!reads_only && !have_passed(groups->writing, last)))
            return SIM_WAIT;
    }
    for (uint32_t lanes = warp->bulk ? mask : 0; lanes; lanes &= lanes - 1) {
        const struct lane_groups *groups = warp->bulk->lane[__builtin_ctz(lanes)];
        if (groups && groups->agent != SIM_AGENT_NONE && groups->committed > pending)
            sim_clocks_raise(warp->cluster, &warp->known, groups->agent, groups->committed - (uint32_t)pending);
    }
    path->wait.kind = SIM_WAIT_NONE;
    return SIM_NEXT;
}
