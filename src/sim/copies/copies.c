/* SPDX-License-Identifier: Apache-2.0 */
/* What all copies have in common: their flights, their destinations, and who still uses a CTA's shared memory. */
#include "sim/copies/copies.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- set-up and end --------------------------------------------------------------------------------------------- */

void sim_copies_warp_begin(struct sim_warp *warp) {
    warp->cp_async = NULL; /* both are made by the first copy */
    warp->bulk = NULL;
}

void sim_copies_warp_end(struct sim_warp *warp) {
    free(warp->cp_async);
    warp->cp_async = NULL;
    sim_bulk_groups_free(warp);
}

/* ---- flights ---------------------------------------------------------------------------------------------------- */

/* The CTA whose memory a copy needs has gone. */
static bool is_stranded(const struct sim_copy *copy) {
    const struct sim_cta *gone = copy->reads && copy->reads->exited     ? copy->reads
                                 : copy->writes && copy->writes->exited ? copy->writes
                                                                        : NULL;
    if (!gone)
        return false;
    const struct sim_issue *issue = &copy->issue;
    if (gone == issue->warp->cta)
        sim_report(issue->warp, issue->i, SIM_REPORT_EXIT_IN_FLIGHT, issue->lane, 0,
                   "this copy was still under way when its CTA exited: nobody has waited for it");
    else
        sim_report(issue->warp, issue->i, SIM_REPORT_PEER_EXITED, issue->lane, 0,
                   "CTA %" PRIu32 " of the cluster exited while this copy into its shared memory was under way",
                   gone->rank);
    return true;
}

static void land(struct sim_flight *flight) {
    struct sim_copy *copy = (struct sim_copy *)flight;
    if (!is_stranded(copy)) {
        copy->move(copy);
        if (copy->barrier)
            sim_mbarrier_copy_land(copy->barrier, copy->stamp, copy->reported, copy->issue.warp, copy->issue.i);
    }
    sim_progress(flight->cluster);
}

void *sim_copy_new(const struct sim_issue *issue, size_t bytes, void (*move)(struct sim_copy *copy)) {
    struct sim_warp *warp = issue->warp;
    struct sim_copy *copy = sim_flight_new(warp->cluster, bytes, land);
    if (!copy) {
        sim_out_of_memory(warp->machine);
        return NULL;
    }
    copy->move = move;
    copy->issue = *issue;
    copy->issued = warp->cluster->now;
    return copy;
}

void sim_copy_queue(struct sim_copy *copy, enum sim_latency kind, uint64_t bytes) {
    sim_flight_queue(&copy->flight, sim_latency(kind, bytes));
}

bool sim_copies_cta_busy(const struct sim_cta *cta, char *text, size_t bytes) {
    for (const struct sim_flight *flight = cta->cluster->flights; flight; flight = flight->next) {
        const struct sim_copy *copy = (const struct sim_copy *)flight;
        if (flight->land != land || (copy->reads != cta && copy->writes != cta))
            continue;
        snprintf(text, bytes, "the copy that warp %" PRIu32 " of CTA %" PRIu32 " issued at line %" PRIu32,
                 copy->issue.warp->index, copy->issue.warp->cta->rank, copy->issue.i->line);
        return true;
    }
    return false;
}

enum sim_next sim_copy_refused(struct sim_warp *warp) {
    return sim_fail(warp->machine, CUDA_ERROR_LAUNCH_FAILED);
}

/* ---- shared memory ---------------------------------------------------------------------------------------------- */

bool sim_copy_locate(const struct sim_issue *issue, uint64_t address, uint32_t bytes, uint32_t align,
                     struct sim_cta **cta, uint32_t *offset) {
    const uint32_t narrow = address > UINT32_MAX ? UINT32_MAX - 127 : (uint32_t)address; /* beyond all shared memory */
    if (!sim_shared_locate(issue->warp, issue->i, issue->lane, narrow, bytes, align, cta, offset))
        return false;
    return !(*cta)->exited && (uint64_t)*offset + bytes <= (*cta)->shared_bytes;
}

void sim_copy_addresses(struct sim_warp *warp, const struct ptx_instruction *i, int operand, uint32_t mask,
                        uint64_t addresses[PTX_LANES]) {
    sim_addresses(warp, &i->operand[operand], addresses);
    if (warp->tainted)
        sim_check_defined(warp, i, &i->operand[operand], mask, "the address");
}

struct sim_actor sim_copy_actor(const struct sim_issue *issue, struct sim_stamp stamp, enum sim_proxy proxy,
                                bool atomic) {
    return (struct sim_actor){.stamp = stamp,
                              .known = &issue->warp->known,
                              .flushed = &issue->warp->flushed,
                              .proxy = proxy,
                              .atomic = atomic,
                              .lane = (uint8_t)issue->lane,
                              .warp = issue->warp,
                              .instruction = issue->i};
}

void sim_copy_mark(struct sim_cta *cta, uint32_t offset, uint32_t bytes, const struct sim_actor *actor) {
    sim_shadow_write(cta, offset, bytes, actor);
    sim_mbarrier_overwritten(actor->warp, actor->instruction, actor->lane, cta, offset, bytes);
}

/* ---- destinations ----------------------------------------------------------------------------------------------- */

static bool add_receiver(const struct sim_issue *issue, struct sim_cta *cta, bool generic,
                         struct sim_receivers *receivers) {
    struct sim_mbarrier *barrier =
        sim_mbarrier_find(issue->warp, issue->i, issue->lane, cta, receivers->barrier_offset, !generic);
    if (!barrier)
        return false;
    /* A peer is used, but that needs no sim_peer_used(): its own barrier, which hears of the copy, knows at its exit
     * whether it was waited for. */
    receivers->receiver[receivers->count++] = (struct sim_receiver){cta, barrier};
    return true;
}

/* Bit r of the mask: the CTA of rank r gets the bytes at the same offset, and the signal at the same offset. */
static bool add_multicast(const struct sim_issue *issue, uint32_t ctas, struct sim_receivers *receivers) {
    struct sim_cluster *cluster = issue->warp->cluster;
    for (uint32_t rank = 0; rank < 32; rank++) {
        if (!(ctas >> rank & 1))
            continue;
        if (rank >= cluster->cta_count || rank >= SIM_CLUSTER_MAX) {
            sim_report(issue->warp, issue->i, SIM_REPORT_ILLEGAL, issue->lane, 0,
                       "the multicast mask 0x%" PRIx32 " names CTA %" PRIu32 " of a cluster of %" PRIu32, ctas, rank,
                       cluster->cta_count);
            return false;
        }
        if (cluster->ctas[rank].exited) {
            sim_report(issue->warp, issue->i, SIM_REPORT_PEER_EXITED, issue->lane, 0,
                       "the multicast mask 0x%" PRIx32 " names CTA %" PRIu32 ", which has exited", ctas, rank);
            return false;
        }
        if (!add_receiver(issue, &cluster->ctas[rank], false, receivers))
            return false;
    }
    return true;
}

bool sim_copy_receivers(const struct sim_issue *issue, const struct sim_destination *to,
                        struct sim_receivers *receivers) {
    struct sim_cta *cta, *barrier_cta;
    receivers->count = 0;
    if (!sim_copy_locate(issue, to->address, to->bytes, to->align, &cta, &receivers->offset) ||
        !sim_copy_locate(issue, to->barrier, 8, 8, &barrier_cta, &receivers->barrier_offset))
        return false;
    if (to->multicast)
        return add_multicast(issue, to->ctas, receivers);
    if (cta != barrier_cta) {
        sim_report(issue->warp, issue->i, SIM_REPORT_BARRIER, issue->lane, to->barrier,
                   "the copy goes to CTA %" PRIu32 ", but its mbarrier is CTA %" PRIu32 "'s: both must be in one CTA",
                   cta->rank, barrier_cta->rank);
        return false;
    }
    return add_receiver(issue, cta, to->generic, receivers);
}

void sim_copy_to(struct sim_copy *copy, const struct sim_receivers *receivers, uint32_t index, uint32_t bytes) {
    copy->writes = receivers->receiver[index].cta;
    copy->barrier = receivers->receiver[index].barrier;
    copy->barrier_offset = receivers->barrier_offset;
    copy->reported = bytes;
    copy->stamp = sim_mbarrier_copy_begin(copy->barrier);
}
