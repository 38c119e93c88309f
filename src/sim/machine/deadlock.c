/* SPDX-License-Identifier: Apache-2.0 */
/* The report of a launch that cannot end: who waits for what. */
#include "sim/machine/schedule.h"

#include <stdio.h>

#include "sim/barriers/barriers.h"
#include "sim/report/report.h"

enum { GROUPS_MAX = 16, STORY_BYTES = 400 };

/* "mbarrier 0x34010 of CTA 1 (parity 0)" */
void sim_wait_text(const struct sim_path *path, char *text, size_t bytes) {
    const struct sim_wait *const wait = &path->wait;
    switch (path->waiting ? wait->kind : SIM_WAIT_NONE) {
    case SIM_WAIT_NONE:
        snprintf(text, bytes, "something that does not happen");
        return;
    case SIM_WAIT_MBARRIER:
        snprintf(text, bytes, "mbarrier 0x%x of CTA %u (parity %u)", wait->address, wait->cta_rank, wait->value);
        return;
    case SIM_WAIT_NAMED_BARRIER:
        snprintf(text, bytes, "barrier %u of %u threads", wait->address, wait->value);
        return;
    case SIM_WAIT_CLUSTER_BARRIER:
        snprintf(text, bytes, "the cluster's barrier");
        return;
    case SIM_WAIT_WGMMA_ISSUE:
        snprintf(text, bytes, "the other warps of its warpgroup");
        return;
    case SIM_WAIT_WGMMA_GROUP:
    case SIM_WAIT_BULK_GROUP:
    case SIM_WAIT_CP_ASYNC_GROUP:
        snprintf(text, bytes, "its %s groups, all but %u",
                 wait->kind == SIM_WAIT_WGMMA_GROUP  ? "wgmma"
                 : wait->kind == SIM_WAIT_BULK_GROUP ? "bulk copy"
                                                     : "cp.async",
                 wait->value);
        return;
    case SIM_WAIT_LANES:
        snprintf(text, bytes, "its warp's lanes 0x%08x", wait->value);
        return;
    case SIM_WAIT_REGISTERS:
        snprintf(text, bytes, "%u registers a thread", wait->value);
        return;
    case SIM_WAIT_REJOIN:
        snprintf(text, bytes, "lanes that took the other way");
        return;
    }
}

/* Paths of a CTA that wait at one instruction for one thing. */
struct group {
    const struct sim_path *first;
    uint64_t warps; /* a bit each */
};

static bool same(const struct sim_path *a, const struct sim_path *b) {
    return a->warp->cta == b->warp->cta && a->pc == b->pc && a->waiting == b->waiting && a->wait.kind == b->wait.kind &&
           a->wait.address == b->wait.address && a->wait.value == b->wait.value && a->wait.cta_rank == b->wait.cta_rank;
}

static uint32_t add(struct group *groups, uint32_t count, const struct sim_path *path) {
    const uint64_t bit = UINT64_C(1) << (path->warp->index & 63);
    for (uint32_t n = 0; n < count; n++)
        if (same(groups[n].first, path)) {
            groups[n].warps |= bit;
            return count;
        }
    if (count == GROUPS_MAX)
        return count;
    groups[count] = (struct group){path, bit};
    return count + 1;
}

static uint32_t group_paths(const struct sim_cluster *cluster, struct group groups[GROUPS_MAX]) {
    uint32_t count = 0;
    for (uint32_t c = 0; c < cluster->cta_count; c++)
        for (uint32_t w = 0; w < cluster->ctas[c].warp_count; w++)
            for (const struct sim_path *path = cluster->ctas[c].warps[w].paths; path; path = path->next)
                if (path->children == 0)
                    count = add(groups, count, path);
    return count;
}

/* " 0, 2-5" */
static void append_warps(char *text, size_t bytes, uint64_t warps) {
    const char *separator = " ";
    for (unsigned first = 0; first < 64; first++) {
        if (!(warps >> first & 1))
            continue;
        unsigned last = first;
        while (last < 63 && warps >> (last + 1) & 1)
            last++;
        sim_append(text, bytes, last > first ? "%s%u-%u" : "%s%u", separator, first, last);
        separator = ", ";
        first = last;
    }
}

static const struct ptx_instruction *instruction_of(const struct sim_path *path) {
    const struct ptx_function *const function = path->warp->machine->function;
    return path->pc < function->count ? &function->code[path->pc] : NULL;
}

/* "warps 4-7 of CTA 0 at line 210 wait for mbarrier 0x34010 of CTA 0 (parity 1)" */
static void append_group(char *text, size_t bytes, const struct group *group) {
    const struct sim_path *const path = group->first;
    const struct ptx_instruction *const i = instruction_of(path);
    const bool several = group->warps & (group->warps - 1);
    char what[96];
    sim_append(text, bytes, several ? "warps" : "warp");
    append_warps(text, bytes, group->warps);
    sim_append(text, bytes, " of CTA %u", path->warp->cta->rank);
    if (path->mask != path->warp->lanes)
        sim_append(text, bytes, " (lanes 0x%x)", path->mask);
    sim_append(text, bytes, " at line %u ", i ? i->line : 0);
    if (!path->waiting) {
        sim_append(text, bytes, several ? "run in circles" : "runs in circles");
        return;
    }
    sim_wait_text(path, what, sizeof what);
    sim_append(text, bytes, several ? "wait for %s" : "waits for %s", what);
}

/* The whole story at the first instruction, and at every other one who waits there. */
void sim_report_deadlock(struct sim_cluster *cluster) {
    struct group groups[GROUPS_MAX];
    const uint32_t count = group_paths(cluster, groups);
    char story[STORY_BYTES] = "";
    sim_fail(cluster->machine, CUDA_ERROR_LAUNCH_TIMEOUT);
    for (uint32_t n = 0; n < count; n++) {
        sim_append(story, sizeof story, n ? "; " : "");
        append_group(story, sizeof story, &groups[n]);
    }
    sim_append(story, sizeof story, ". ");
    sim_barriers_describe(cluster, story, sizeof story);
    for (uint32_t n = 0; n < count; n++) {
        const struct sim_path *const path = groups[n].first;
        char own[STORY_BYTES] = "";
        append_group(own, sizeof own, &groups[n]);
        sim_report(path->warp, instruction_of(path), SIM_REPORT_DEADLOCK, PTX_NONE, path->wait.address, "%s",
                   n ? own : story);
    }
}
