/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of a race: who did the other access, where, and what would have ordered the two. */
#include <stdio.h>

#include "sim/memory/shadow_cell.h"
#include "sim/report/report.h"

/* " at line 210", or nothing when the line is not known. */
static const char *place(char *text, size_t bytes, const struct sim_access *access, uint32_t trace) {
    const struct ptx_function *function = access->cta->machine->function;
    const uint32_t pc = trace >> SIM_TRACE_RUN_BITS;
    text[0] = '\0';
    if (function && function->code && pc < function->count)
        snprintf(text, bytes, " at line %u", function->code[pc].line);
    return text;
}

/* The other party is a warp, by its own loads or stores. */
static void describe_warp(char *text, size_t bytes, const struct sim_access *access, const struct sim_agent *agent,
                          uint64_t other, const char *verb, const char *where) {
    const struct sim_warp *warp = access->actor->warp;
    const uint32_t lane = sim_cell_lane(other);
    char who[64];
    if (lane < SIM_LANE_COLLECTIVE)
        snprintf(who, sizeof who, "lane %u of ", lane);
    else
        who[0] = '\0';
    if (sim_cell_agent(other) == warp->agent)
        snprintf(text, bytes, "%sthis warp %s it%s and no __syncwarp lies between", who, verb, where);
    else if (agent->cta_rank == warp->cta->rank)
        snprintf(text, bytes, "%swarp %u %s it%s and no barrier lies between", who, agent->warp, verb, where);
    else
        snprintf(text, bytes, "%swarp %u of CTA %u of the cluster %s it%s and no cluster barrier lies between", who,
                 agent->warp, agent->cta_rank, verb, where);
}

static void describe_other(char *text, size_t bytes, const struct sim_access *access, uint64_t other, bool wrote,
                           const char *where) {
    const struct sim_agents *agents = access->actor->warp->cluster->agents;
    const struct sim_agent *agent = &agents->agent[sim_cell_agent(other)];
    switch (agent->kind) {
    case SIM_AGENT_WARP:
        describe_warp(text, bytes, access, agent, other, wrote ? "wrote" : "read", where);
        break;
    case SIM_AGENT_MBARRIER:
        snprintf(text, bytes,
                 "the copy issued%s that reports to the mbarrier at 0x%x of CTA %u has not been waited for", where,
                 agent->address, agent->cta_rank);
        break;
    case SIM_AGENT_CP_ASYNC:
        snprintf(text, bytes, "the cp.async of warp %u%s has not been waited for (cp.async.wait_group, then a barrier)",
                 agent->warp, where);
        break;
    case SIM_AGENT_BULK_READ:
        snprintf(
            text, bytes,
            "the bulk copy that warp %u issued%s may still read it (cp.async.bulk.wait_group.read, then a barrier)",
            agent->warp, where);
        break;
    case SIM_AGENT_WGMMA:
        snprintf(text, bytes, "the wgmma%s of warpgroup %u may still read it (wgmma.wait_group, then a barrier)", where,
                 agent->warp / 4);
        break;
    }
}

static void describe_proxy(char *text, size_t bytes, const struct sim_access *access, uint64_t other,
                           const char *where) {
    const struct sim_agents *agents = access->actor->warp->cluster->agents;
    const struct sim_agent *agent = &agents->agent[sim_cell_agent(other)];
    snprintf(text, bytes, "%s of warp %u wrote it%s through the generic proxy and no fence.proxy.async lies between",
             agent->kind == SIM_AGENT_CP_ASYNC ? "a cp.async" : "a store", agent->warp, where);
}

/* One report for an access: what is wrong with one word is mostly wrong with the next. */
void sim_shadow_report(struct sim_access *access, enum gm_sim_report_kind kind, uint32_t word, uint32_t lane,
                       uint64_t other, uint32_t other_trace) {
    struct sim_warp *warp = access->actor->warp;
    char text[300] = "", where[32];
    if (!access->clean || !warp)
        return;
    access->clean = false;
    place(where, sizeof where, access, other_trace);
    if (kind == SIM_REPORT_PROXY)
        describe_proxy(text, sizeof text, access, other, where);
    else
        describe_other(text, sizeof text, access, other, kind != SIM_REPORT_WRITE_BEFORE_READ, where);
    const uint32_t address = access->cta == warp->cta ? word * 4 : SIM_CLUSTER_ADDRESS(access->cta->rank, word * 4);
    sim_report(warp, access->actor->instruction, kind, lane < SIM_LANE_COLLECTIVE ? (int)lane : PTX_NONE, address,
               "%s 0x%x of shared memory: %s", access->is_write ? "overwrites" : "reads", address, text);
}
