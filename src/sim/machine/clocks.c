/* SPDX-License-Identifier: Apache-2.0 */
/* Vector clocks: who knows of what. See clocks.h for what an entry means. */
#include "sim/machine/clocks.h"

#include <stdlib.h>
#include <string.h>

#include "sim/machine/machine.h"

uint32_t sim_agent_new(struct sim_cluster *cluster, enum sim_agent_kind kind, uint32_t cta_rank, uint32_t warp,
                       uint32_t lane, uint32_t address) {
    struct sim_agents *agents = cluster->agents;
    if (agents->count == 0)
        agents->count = 1; /* 0 is nobody */
    if (agents->count >= SIM_AGENTS_MAX)
        return SIM_AGENTS_MAX - 1;
    agents->agent[agents->count] = (struct sim_agent){kind, cta_rank, warp, lane, address};
    return agents->count++;
}

/* False: no memory, and the launch ends: what is not known from here on would be reported as races. */
static bool has_entries(struct sim_cluster *cluster, struct sim_clocks *clocks) {
    if (!clocks->entry)
        clocks->entry = calloc(SIM_AGENTS_MAX, sizeof *clocks->entry);
    if (!clocks->entry)
        sim_out_of_memory(cluster->machine);
    return clocks->entry != NULL;
}

void sim_clocks_join(struct sim_cluster *cluster, struct sim_clocks *into, const struct sim_clocks *from) {
    if (!from->entry || into == from || !has_entries(cluster, into))
        return;
    uint32_t *restrict to = into->entry;
    const uint32_t *restrict other = from->entry;
    const uint32_t agents = cluster->agents->count, count = agents < SIM_AGENTS_MAX ? agents : SIM_AGENTS_MAX;
    for (uint32_t agent = 0; agent < count; agent++)
        to[agent] = other[agent] > to[agent] ? other[agent] : to[agent];
}

void sim_clocks_raise(struct sim_cluster *cluster, struct sim_clocks *clocks, uint32_t agent, uint32_t clock) {
    if (agent != SIM_AGENT_NONE && agent < SIM_AGENTS_MAX && has_entries(cluster, clocks) &&
        clocks->entry[agent] < clock)
        clocks->entry[agent] = clock;
}

void sim_clocks_reset(struct sim_clocks *clocks, uint32_t agent_count) {
    if (clocks->entry)
        memset(clocks->entry, 0, (agent_count < SIM_AGENTS_MAX ? agent_count : SIM_AGENTS_MAX) * sizeof *clocks->entry);
}

void sim_clocks_free(struct sim_clocks *clocks) {
    free(clocks->entry);
    clocks->entry = NULL;
}

/* ---- what a warp does ------------------------------------------------------------------------------------------- */

void sim_warp_knowledge_begin(struct sim_warp *warp) {
    warp->agent = sim_agent_new(warp->cluster, SIM_AGENT_WARP, warp->cta->rank, warp->index, 0, 0);
    warp->clock = 1;
}

struct sim_stamp sim_warp_stamp(const struct sim_warp *warp) {
    return (struct sim_stamp){warp->agent, warp->clock};
}

void sim_release(struct sim_warp *warp, struct sim_knowledge *to) {
    sim_clocks_join(warp->cluster, &to->known, &warp->known);
    sim_clocks_join(warp->cluster, &to->flushed, &warp->flushed);
    sim_clocks_raise(warp->cluster, &to->known, warp->agent, warp->clock);
    warp->clock++;
}

void sim_acquire(struct sim_warp *warp, const struct sim_knowledge *from) {
    sim_clocks_join(warp->cluster, &warp->known, &from->known);
    sim_clocks_join(warp->cluster, &warp->flushed, &from->flushed);
}

void sim_knowledge_free(struct sim_knowledge *knowledge) {
    sim_clocks_free(&knowledge->known);
    sim_clocks_free(&knowledge->flushed);
}

void sim_warp_step(struct sim_warp *warp) {
    sim_clocks_raise(warp->cluster, &warp->known, warp->agent, warp->clock);
    warp->clock++;
}

/* The clock goes on, so that what the warp stores after the fence is not taken for flushed. */
void sim_flush(struct sim_warp *warp) {
    sim_clocks_join(warp->cluster, &warp->flushed, &warp->known);
    sim_clocks_raise(warp->cluster, &warp->flushed, warp->agent, warp->clock);
    warp->clock++;
}
