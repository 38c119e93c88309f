/* SPDX-License-Identifier: Apache-2.0 */
/* What barriers have to say when warps and CTAs exit, and when nobody moves any more.
 *
 * When a CTA exits its shared memory goes. Nothing may still be on its way there: no copy that has not landed, none
 * that landed and that no warp of the CTA has waited for (with another timing it would come too late), and no access of
 * a peer that the CTA does not know to be over. */
#include "sim/barriers/barrier_state.h"
#include "sim/memory/peers.h"

/* ---- exit ------------------------------------------------------------------------------------------------- */

static void join_at_exit(struct sim_cta *cta, const struct sim_warp *warp) {
    sim_clocks_join(cta->cluster, &cta->mbarriers->at_exit, &warp->known);
    sim_clocks_raise(cta->cluster, &cta->mbarriers->at_exit, warp->agent, warp->clock);
}

void sim_barriers_warp_exited(struct sim_warp *warp) {
    join_at_exit(warp->cta, warp);
    sim_named_barriers_recheck(warp->cta);
    if (warp->cluster->barrier)
        sim_cluster_barrier_recheck(warp->cluster);
}

static void check_mbarrier(const struct sim_mbarrier *barrier, const struct sim_clocks *known, struct sim_warp *last) {
    const struct ptx_instruction *at = barrier->expect_at ? barrier->expect_at : barrier->init_at;
    if (barrier->under_way)
        sim_report(last, at, SIM_REPORT_EXIT_IN_FLIGHT, PTX_NONE, barrier->offset,
                   "the CTA exits while %u copies that report to its mbarrier %s have not landed", barrier->under_way,
                   sim_barrier_name(barrier->cta, barrier->offset).text);
    else if (barrier->live && barrier->transactions)
        sim_report(last, at, SIM_REPORT_TRANSACTIONS, PTX_NONE, barrier->offset,
                   "the CTA exits, and its mbarrier %s in phase %u has had %lld bytes %s",
                   sim_barrier_name(barrier->cta, barrier->offset).text, barrier->phase,
                   (long long)(barrier->transactions > 0 ? barrier->transactions : -barrier->transactions),
                   barrier->transactions > 0 ? "fewer than it was told to expect" : "more than it was told to expect");
    else if (barrier->last_copy && sim_clock_of(known, barrier->agent) < barrier->last_copy)
        sim_report(
            last, at, SIM_REPORT_EXIT_IN_FLIGHT, PTX_NONE, barrier->offset,
            "the CTA exits, and none of its warps has waited for the copies that report to its mbarrier %s in phase "
            "%u: they may land after the exit",
            sim_barrier_name(barrier->cta, barrier->offset).text, barrier->last_copy - barrier->clock_base - 1);
}

/* setmaxnreg is for all four warps of a warpgroup: in the end they have as many registers each. */
static void check_registers(const struct sim_cta *cta) {
    enum { WARPGROUP = 4 };
    for (uint32_t w = 0; cta->named->registers_known && w < cta->warp_count; w++) {
        const uint32_t first = w / WARPGROUP * WARPGROUP;
        if (cta->warps[w].register_limit != cta->warps[first].register_limit)
            sim_report(
                &cta->warps[w], NULL, SIM_REPORT_REGISTERS, PTX_NONE, 0,
                "warp %u exits with %u registers a thread, and warp %u of the same warpgroup with %u: all four must "
                "execute the same setmaxnreg",
                w, cta->warps[w].register_limit, first, cta->warps[first].register_limit);
    }
}

void sim_barriers_cta_exited(struct sim_cta *cta, struct sim_warp *last) {
    const struct sim_mbarriers *mbarriers = cta->mbarriers;
    char text[256] = "";
    join_at_exit(cta, last);
    for (uint32_t b = 0; b < mbarriers->count; b++)
        check_mbarrier(mbarriers->all[b], &mbarriers->at_exit, last);
    if (sim_copies_cta_busy(cta, text, sizeof text))
        sim_report(last, NULL, SIM_REPORT_EXIT_IN_FLIGHT, PTX_NONE, 0, "the CTA exits too early: %s", text);
    if (sim_wgmma_cta_busy(cta, text, sizeof text))
        sim_report(last, NULL, SIM_REPORT_EXIT_IN_FLIGHT, PTX_NONE, 0, "the CTA exits too early: %s", text);
    check_registers(cta);
    sim_peers_check(cta, &mbarriers->at_exit);
}

/* ---- who waits for what ----------------------------------------------------------------------------------- */

/* Somebody of the cluster waits like this. */
static bool is_awaited(const struct sim_cta *cta, enum sim_wait_kind kind, uint32_t address) {
    for (uint32_t w = 0; w < cta->warp_count; w++)
        for (const struct sim_path *path = cta->warps[w].paths; path; path = path->next)
            if (path->wait.kind == kind && path->wait.address == address)
                return true;
    return false;
}

static void describe_cta(const struct sim_cta *cta, char *text, size_t bytes) {
    for (uint32_t b = 0; b < cta->mbarriers->count; b++) {
        const struct sim_mbarrier *barrier = cta->mbarriers->all[b];
        if (is_awaited(cta, SIM_WAIT_MBARRIER, barrier->offset))
            sim_append(text, bytes, "%s of CTA %u: phase %u, %u arrivals and %lld bytes missing\n",
                       sim_barrier_name(cta, barrier->offset).text, cta->rank, barrier->phase, barrier->pending,
                       (long long)barrier->transactions);
    }
    for (uint32_t b = 0; b < SIM_NAMED_BARRIERS; b++) {
        const struct sim_named_barrier *barrier = &cta->named->barrier[b];
        if (is_awaited(cta, SIM_WAIT_NAMED_BARRIER, b))
            sim_append(text, bytes, "barrier %u of CTA %u: %u of %u threads have come\n", b, cta->rank,
                       barrier->arrivals * PTX_LANES, barrier->expected);
    }
    if (is_awaited(cta, SIM_WAIT_REGISTERS, 0))
        sim_append(text, bytes, "setmaxnreg.inc of CTA %u: %u registers are free\n", cta->rank, cta->register_pool);
}

/* Warps that have not come to the cluster barrier: of every CTA the first, and how many. */
static void describe_cluster_barrier(const struct sim_cluster *cluster, char *text, size_t bytes) {
    for (uint32_t c = 0; c < cluster->cta_count; c++) {
        const struct sim_cta *cta = &cluster->ctas[c];
        uint32_t missing = 0, first = 0;
        for (uint32_t w = cta->warp_count; w-- > 0;)
            if (sim_live_lanes(&cta->warps[w]) & ~sim_cluster_warp(&cta->warps[w])->arrived)
                missing++, first = w;
        if (missing)
            sim_append(text, bytes, "the cluster barrier: %u warps of CTA %u have not arrived, warp %u the first\n",
                       missing, cta->rank, first);
    }
}

void sim_barriers_describe(struct sim_cluster *cluster, char *text, size_t bytes) {
    bool cluster_barrier = false;
    for (uint32_t c = 0; c < cluster->cta_count; c++) {
        describe_cta(&cluster->ctas[c], text, bytes);
        cluster_barrier |= is_awaited(&cluster->ctas[c], SIM_WAIT_CLUSTER_BARRIER, 0);
    }
    if (cluster_barrier)
        describe_cluster_barrier(cluster, text, bytes);
}
