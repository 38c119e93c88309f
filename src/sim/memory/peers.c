/* SPDX-License-Identifier: Apache-2.0 */
/* The last use that each warp of a cluster has made of each CTA's shared memory. */
#include "sim/memory/peers.h"

#include <stdlib.h>

#include "sim/report/report.h"

struct use {
    struct sim_stamp stamp; /* of the accessor, the latest */
    const struct ptx_instruction *instruction;
};

struct sim_peers {
    uint32_t cta_count;
    struct use use[]; /* [target CTA][accessor CTA][SIM_CTA_WARPS] */
};

struct sim_peers *sim_peers_new(uint32_t cta_count) {
    const size_t uses = (size_t)cta_count * cta_count * SIM_CTA_WARPS;
    struct sim_peers *peers = calloc(1, sizeof *peers + uses * sizeof *peers->use);
    if (peers)
        peers->cta_count = cta_count;
    return peers;
}

void sim_peers_free(struct sim_peers *peers) {
    free(peers);
}

static struct use *use_of(struct sim_peers *peers, const struct sim_cta *target, uint32_t rank, uint32_t warp) {
    return &peers->use[((size_t)target->rank * peers->cta_count + rank) * SIM_CTA_WARPS + warp];
}

/* The instruction that the warp runs now: of the path whose time it is. */
static const struct ptx_instruction *running_instruction(const struct sim_warp *warp) {
    const struct ptx_function *function = warp->machine->function;
    const struct sim_path *path = warp->paths;
    while (path && path->next && (path->children || path->time != warp->cluster->now))
        path = path->next;
    return path && function && path->pc < function->count ? &function->code[path->pc] : NULL;
}

void sim_peer_used(struct sim_warp *warp, struct sim_cta *target) {
    struct sim_peers *peers = warp->cluster->peers;
    if (target == warp->cta || !peers || target->rank >= peers->cta_count)
        return;
    struct use *use = use_of(peers, target, warp->cta->rank, warp->index);
    const struct sim_stamp now = sim_warp_stamp(warp);
    if (use->stamp.clock == now.clock)
        return; /* the same stretch between two releases */
    use->stamp = now;
    use->instruction = running_instruction(warp);
}

void sim_peers_check(struct sim_cta *cta, const struct sim_clocks *known) {
    struct sim_cluster *cluster = cta->cluster;
    for (uint32_t c = 0; cluster->peers && c < cluster->cta_count; c++)
        for (uint32_t w = 0; w < cluster->ctas[c].warp_count; w++) {
            const struct use *use = use_of(cluster->peers, cta, c, w);
            if (use->stamp.agent == SIM_AGENT_NONE || sim_knows(known, use->stamp))
                continue;
            sim_report(&cluster->ctas[c].warps[w], use->instruction, SIM_REPORT_PEER_EXITED, PTX_NONE, 0,
                       "CTA %u of the cluster exits, and does not know that warp %u of CTA %u is done with its shared "
                       "memory: a barrier of the cluster after this instruction and before the exit is missing",
                       cta->rank, w, c);
        }
}
