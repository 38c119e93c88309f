/* SPDX-License-Identifier: Apache-2.0 */
/* barrier.cluster, and the fences that turn relaxed arrivals into releases.
 *
 * A lane arrives, then waits. It owes a wait from its arrival on, and can owe one at a time, so that nobody gets more
 * than one generation ahead: a lane that owes a wait and is not among those that have arrived in the running generation
 * arrived in the last one, and may pass. */
#include "sim/barriers/barrier_state.h"
#include "sim/execute/instructions.h"

#include <stdlib.h>

struct sim_cluster_barrier *sim_cluster_barrier_new(struct sim_cluster *cluster) {
    struct sim_cluster_barrier *barrier = calloc(1, sizeof *barrier);
    if (!barrier)
        return NULL;
    const size_t warps = (size_t)cluster->cta_count * SIM_CTA_WARPS;
    barrier->cta_count = cluster->cta_count;
    barrier->warps = calloc(warps ? warps : 1, sizeof *barrier->warps);
    if (!barrier->warps) {
        sim_cluster_barrier_free(barrier);
        return NULL;
    }
    return barrier;
}

void sim_cluster_barrier_free(struct sim_cluster_barrier *barrier) {
    if (!barrier)
        return;
    for (size_t w = 0; barrier->warps && w < (size_t)barrier->cta_count * SIM_CTA_WARPS; w++) {
        sim_knowledge_free(&barrier->warps[w].fenced.released);
        sim_knowledge_free(&barrier->warps[w].fenced.observed);
    }
    sim_knowledge_free(&barrier->gathering);
    sim_knowledge_free(&barrier->done);
    free(barrier->warps);
    free(barrier);
}

/* ---- the barrier ------------------------------------------------------------------------------------------ */

static bool everybody_has_arrived(const struct sim_cluster *cluster) {
    for (uint32_t c = 0; c < cluster->cta_count; c++)
        for (uint32_t w = 0; w < cluster->ctas[c].warp_count; w++) {
            const struct sim_warp *warp = &cluster->ctas[c].warps[w];
            if (sim_live_lanes(warp) & ~sim_cluster_warp(warp)->arrived)
                return false; /* lanes that have exited count as arrived [PTX ISA, barrier.cluster] */
        }
    return true;
}

void sim_cluster_barrier_recheck(struct sim_cluster *cluster) {
    struct sim_cluster_barrier *barrier = cluster->barrier;
    uint32_t arrived = 0;
    for (size_t w = 0; w < (size_t)barrier->cta_count * SIM_CTA_WARPS; w++)
        arrived |= barrier->warps[w].arrived;
    if (!arrived || !everybody_has_arrived(cluster))
        return;
    for (size_t w = 0; w < (size_t)barrier->cta_count * SIM_CTA_WARPS; w++)
        barrier->warps[w].arrived = 0;
    const struct sim_knowledge gathered = barrier->gathering;
    barrier->gathering = barrier->done;
    barrier->done = gathered;
    sim_clocks_reset(&barrier->gathering.known, cluster->agents->count);
    sim_clocks_reset(&barrier->gathering.flushed, cluster->agents->count);
    barrier->generation++;
    sim_progress(cluster);
}

/* choice[0]: 1 .release, 2 .relaxed, 0 is .release; choice[1]: .aligned */
enum sim_next sim_do_cluster_arrive(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                    uint32_t mask) {
    enum { RELAXED = 2 };
    struct sim_cluster_barrier *barrier = warp->cluster->barrier;
    struct sim_cluster_warp *state = sim_cluster_warp(warp);
    if (i->choice[1])
        sim_check_all_lanes(warp, path, i, mask);
    if (state->owing & mask)
        sim_report(warp, i, SIM_REPORT_BARRIER, __builtin_ctz(state->owing & mask), 0,
                   "arrives at the cluster barrier for the second time without a wait between");
    if (i->choice[0] == RELAXED)
        sim_fenced_release(warp, &barrier->gathering);
    else
        sim_release(warp, &barrier->gathering);
    state->arrived |= mask;
    state->owing |= mask;
    if (sim_traced(warp->machine))
        sim_trace(warp->cta, warp, PTX_NONE, i->line, warp->cluster->now, 0, "arrive", "cluster barrier");
    sim_progress(warp->cluster);
    sim_cluster_barrier_recheck(warp->cluster);
    return SIM_NEXT;
}

/* choice[1]: .aligned */
enum sim_next sim_do_cluster_wait(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                  uint32_t mask) {
    struct sim_cluster_barrier *barrier = warp->cluster->barrier;
    struct sim_cluster_warp *state = sim_cluster_warp(warp);
    if (path->stage == 0) {
        if (i->choice[1])
            sim_check_all_lanes(warp, path, i, mask);
        if (mask & ~state->owing)
            sim_report(warp, i, SIM_REPORT_BARRIER, __builtin_ctz(mask & ~state->owing), 0,
                       "waits at the cluster barrier without having arrived");
        path->stage = 1;
    }
    if (state->arrived & mask)
        sim_cluster_barrier_recheck(warp->cluster); /* lanes may have exited */
    if (state->arrived & mask) {
        path->wait = (struct sim_wait){SIM_WAIT_CLUSTER_BARRIER, 0, 0, warp->cta->rank};
        return SIM_WAIT;
    }
    state->owing &= ~mask;
    sim_acquire(warp, &barrier->done);
    return SIM_NEXT;
}

/* ---- fences ----------------------------------------------------------------------------------------------- */

/*  writer                                     reader
 *      st a; fence; arrive.relaxed                wait.relaxed; fence; ld a       [PTX ISA, release and acquire
 * patterns] The relaxed arrive hands over what the warp knew at the fence, and the fence takes what the relaxed wait
 * saw. */
void sim_fence(struct sim_warp *warp) {
    struct sim_fenced *fenced = &sim_cluster_warp(warp)->fenced;
    sim_acquire(warp, &fenced->observed);
    sim_release(warp, &fenced->released);
}

/* fence.mbarrier_init.release.cluster: of all that the warp has done only the inits are handed over by a relaxed
 * arrive. As a clock is one number this is the warp's accesses up to here, and no one else's. */
void sim_fence_inits(struct sim_warp *warp, uint32_t mask) {
    struct sim_fenced *fenced = &sim_cluster_warp(warp)->fenced;
    sim_mbarriers_fenced(warp, mask);
    sim_clocks_raise(warp->cluster, &fenced->released.known, warp->agent, sim_warp_stamp(warp).clock);
    warp->clock++;
}

void sim_fenced_release(struct sim_warp *warp, struct sim_knowledge *to) {
    const struct sim_fenced *fenced = &sim_cluster_warp(warp)->fenced;
    sim_clocks_join(warp->cluster, &to->known, &fenced->released.known);
    sim_clocks_join(warp->cluster, &to->flushed, &fenced->released.flushed);
}

void sim_fenced_observe(struct sim_warp *warp, const struct sim_knowledge *from) {
    struct sim_fenced *fenced = &sim_cluster_warp(warp)->fenced;
    sim_clocks_join(warp->cluster, &fenced->observed.known, &from->known);
    sim_clocks_join(warp->cluster, &fenced->observed.flushed, &from->flushed);
}
