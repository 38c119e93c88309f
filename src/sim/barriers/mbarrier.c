/* SPDX-License-Identifier: Apache-2.0 */
/* The mbarriers of a CTA: a table beside shared memory, found by offset.
 *
 *   pending          arrivals still missing in the running phase
 *   transactions     bytes expected minus bytes that came
 *   both 0           the phase completes: phase + 1, pending = expected
 *
 * Whoever arrives releases what it knows into `running`; at completion that becomes `completed`, which waits acquire.
 * `running` is never emptied: operations on one barrier are a chain of read-modify-writes, so a wait on a later phase
 * follows the arrivals of the earlier ones as well [PTX ISA, observation order].
 *
 * The object's 8 bytes in shared memory hold an image of its state. If they are not as they were left, something wrote
 * over them. */
#include "sim/barriers/barrier_state.h"

#include <stdlib.h>
#include <string.h>

enum { BYTES = 8 };

struct sim_mbarriers *sim_mbarriers_new(void) {
    return calloc(1, sizeof(struct sim_mbarriers));
}

void sim_mbarriers_free(struct sim_mbarriers *mbarriers) {
    if (!mbarriers)
        return;
    for (uint32_t b = 0; b < mbarriers->count; b++) {
        sim_knowledge_free(&mbarriers->all[b]->running);
        sim_knowledge_free(&mbarriers->all[b]->completed);
        free(mbarriers->all[b]);
    }
    sim_clocks_free(&mbarriers->at_exit);
    free(mbarriers->all);
    free(mbarriers->at);
    free(mbarriers);
}

/* As the warp's own instructions would name it. */
static uint32_t address_of(const struct sim_warp *warp, const struct sim_cta *cta, uint32_t offset) {
    return warp->cta == cta ? offset : SIM_CLUSTER_ADDRESS(cta->rank, offset);
}

/* ---- finding one ------------------------------------------------------------------------------------------ */

struct sim_mbarrier *sim_mbarrier_lookup(const struct sim_cta *cta, uint32_t offset) {
    const struct sim_mbarriers *mbarriers = cta->mbarriers;
    const uint32_t slot = offset / BYTES;
    if (offset % BYTES || slot >= mbarriers->slots || !mbarriers->at[slot])
        return NULL;
    return mbarriers->all[mbarriers->at[slot] - 1];
}

static bool has_image(const struct sim_mbarrier *barrier) {
    return memcmp(barrier->cta->shared + barrier->offset, &barrier->image, BYTES) == 0;
}

static bool is_valid(struct sim_warp *warp, const struct ptx_instruction *i, int lane, struct sim_cta *cta,
                     uint32_t offset, struct sim_mbarrier *barrier) {
    const uint32_t address = address_of(warp, cta, offset);
    if (!barrier) {
        sim_report(warp, i, SIM_REPORT_BARRIER, lane, address,
                   "there is no mbarrier at 0x%x: none was initialised there", address);
        return false;
    }
    if (!barrier->live) {
        sim_report(warp, i, SIM_REPORT_BARRIER, lane, address,
                   "the mbarrier %s was invalidated, and not initialised again", sim_barrier_name(cta, offset).text);
        return false;
    }
    if (!barrier->overwritten && has_image(barrier))
        return true;
    barrier->overwritten = true;
    if (barrier->overwritten_line)
        sim_report(warp, i, SIM_REPORT_BARRIER, lane, address, "the mbarrier %s was overwritten by line %u",
                   sim_barrier_name(cta, offset).text, barrier->overwritten_line);
    else
        sim_report(warp, i, SIM_REPORT_BARRIER, lane, address, "the mbarrier %s was overwritten since its last use",
                   sim_barrier_name(cta, offset).text);
    return false;
}

/* The lane that made the init knows of it; everybody else must have heard. */
static bool knows_init(const struct sim_warp *warp, int lane, const struct sim_mbarrier *barrier) {
    return sim_knows(&warp->known, barrier->init) ||
           (barrier->init.agent == warp->agent && (lane < 0 || lane == barrier->init_lane));
}

/* The async proxy and the peers must be told by a fence, which the user must know of. */
static bool knows_fence(const struct sim_warp *warp, const struct sim_mbarrier *barrier) {
    if (sim_knows(&warp->flushed, barrier->init))
        return true;
    return barrier->fenced.agent != SIM_AGENT_NONE &&
           (barrier->fenced.agent == warp->agent || sim_knows(&warp->known, barrier->fenced));
}

struct sim_mbarrier *sim_mbarrier_find(struct sim_warp *warp, const struct ptx_instruction *i, int lane,
                                       struct sim_cta *cta, uint32_t offset, bool async) {
    const uint32_t address = address_of(warp, cta, offset);
    if (cta->exited) {
        sim_report(warp, i, SIM_REPORT_PEER_EXITED, lane, address, "an mbarrier of CTA %u, which has exited",
                   cta->rank);
        return NULL;
    }
    struct sim_mbarrier *barrier = sim_mbarrier_lookup(cta, offset);
    if (!is_valid(warp, i, lane, cta, offset, barrier))
        return NULL;
    const uint32_t line = barrier->init_at ? barrier->init_at->line : 0;
    if (!knows_init(warp, lane, barrier))
        sim_report(warp, i, SIM_REPORT_BARRIER, lane, address,
                   "the init of the mbarrier %s at line %u is not known here: no barrier between them",
                   sim_barrier_name(cta, offset).text, line);
    else if ((async || warp->cta != cta) && !knows_fence(warp, barrier))
        sim_report(warp, i, SIM_REPORT_BARRIER, lane, address,
                   "%s uses the mbarrier %s, and after its init at line %u there was no fence.mbarrier_init (nor "
                   "fence.proxy.async)",
                   async ? "the async proxy" : "a peer", sim_barrier_name(cta, offset).text, line);
    return barrier;
}

struct sim_mbarrier *sim_mbarrier_at(struct sim_warp *warp, const struct ptx_instruction *i, int lane,
                                     uint64_t address) {
    struct sim_cta *cta;
    uint32_t offset;
    if ((address & SIM_WINDOW_MASK) == SIM_SHARED_WINDOW)
        address &= ~SIM_WINDOW_MASK;
    if (address > UINT32_MAX) {
        sim_report(warp, i, SIM_REPORT_OUT_OF_BOUNDS, lane, address,
                   "an mbarrier at 0x%llx, which is not shared memory", (unsigned long long)address);
        return NULL;
    }
    if (!sim_shared_locate(warp, i, lane, (uint32_t)address, BYTES, BYTES, &cta, &offset))
        return NULL;
    return sim_mbarrier_find(warp, i, lane, cta, offset, false);
}

/* ---- init and inval --------------------------------------------------------------------------------------- */

/* The tables, made at the CTA's first init. False: no memory. */
static bool has_tables(struct sim_cta *cta, struct sim_mbarriers *mbarriers) {
    if (mbarriers->slots)
        return true;
    if (!mbarriers->at)
        mbarriers->at = calloc(cta->shared_bytes / BYTES + 1, sizeof *mbarriers->at);
    if (!mbarriers->all)
        mbarriers->all = calloc(SIM_MBARRIERS_MAX, sizeof(struct sim_mbarrier *));
    if (!mbarriers->at || !mbarriers->all)
        return false;
    mbarriers->slots = cta->shared_bytes / BYTES;
    mbarriers->low = UINT32_MAX;
    return true;
}

/* A new object for an offset. NULL: no memory, and the launch ends. */
static struct sim_mbarrier *new_object(struct sim_cta *cta, uint32_t offset) {
    struct sim_mbarriers *mbarriers = cta->mbarriers;
    struct sim_mbarrier *barrier = has_tables(cta, mbarriers) ? calloc(1, sizeof *barrier) : NULL;
    if (!barrier) {
        sim_out_of_memory(cta->machine);
        return NULL;
    }
    barrier->cta = cta;
    barrier->offset = offset;
    barrier->agent = sim_agent_new(cta->cluster, SIM_AGENT_MBARRIER, cta->rank, 0, 0, offset);
    mbarriers->all[mbarriers->count++] = barrier;
    mbarriers->at[offset / BYTES] = (uint16_t)mbarriers->count;
    mbarriers->low = offset < mbarriers->low ? offset : mbarriers->low;
    mbarriers->high = offset + BYTES > mbarriers->high ? offset + BYTES : mbarriers->high;
    return barrier;
}

static void begin(struct sim_mbarrier *barrier, struct sim_warp *warp, const struct ptx_instruction *i, int lane,
                  uint64_t count) {
    barrier->clock_base += barrier->phase + (barrier->init_at != NULL);
    barrier->live = true;
    barrier->overwritten = false;
    barrier->overwritten_line = 0;
    barrier->init_at = i;
    barrier->init_lane = lane;
    barrier->init = sim_warp_stamp(warp);
    barrier->fenced = (struct sim_stamp){SIM_AGENT_NONE, 0};
    barrier->expected = barrier->pending = count < SIM_MBARRIER_MOST ? (uint32_t)count : SIM_MBARRIER_MOST;
    barrier->phase = 0;
    barrier->transactions = 0;
    barrier->cta->mbarriers->unfenced++;
    sim_mbarrier_write_image(barrier);
}

/* The CTA's own barrier, by an address that init or inval gives. False: reported. */
static bool locate_own(struct sim_warp *warp, const struct ptx_instruction *i, int lane, uint64_t address,
                       uint32_t *offset) {
    struct sim_cta *cta;
    if ((address & SIM_WINDOW_MASK) == SIM_SHARED_WINDOW)
        address &= ~SIM_WINDOW_MASK;
    if (address <= UINT32_MAX) {
        if (!sim_shared_locate(warp, i, lane, (uint32_t)address, BYTES, BYTES, &cta, offset))
            return false;
        if (cta == warp->cta)
            return true;
    }
    sim_report(warp, i, SIM_REPORT_BARRIER, lane, address,
               "0x%llx is not in the CTA's own shared memory: mbarriers are initialised and invalidated at home",
               (unsigned long long)address);
    return false;
}

void sim_mbarrier_init(struct sim_warp *warp, const struct ptx_instruction *i, int lane, uint64_t address,
                       uint64_t count) {
    uint32_t offset;
    if (!locate_own(warp, i, lane, address, &offset))
        return;
    if (count < 1 || count > SIM_MBARRIER_MOST)
        sim_report(warp, i, SIM_REPORT_BARRIER, lane, offset, "an mbarrier for %llu arrivals: it takes 1 to %d",
                   (unsigned long long)count, SIM_MBARRIER_MOST);
    struct sim_mbarrier *barrier = sim_mbarrier_lookup(warp->cta, offset);
    if (!barrier && warp->cta->mbarriers->count == SIM_MBARRIERS_MAX) {
        sim_report(warp, i, SIM_REPORT_ILLEGAL, lane, offset, "the simulator keeps at most %d mbarriers of a CTA",
                   SIM_MBARRIERS_MAX);
        return;
    }
    if (!barrier && !(barrier = new_object(warp->cta, offset)))
        return;
    if (barrier->live && !barrier->overwritten)
        sim_report(warp, i, SIM_REPORT_BARRIER, lane, offset,
                   "the mbarrier %s is initialised again, after line %u, with no mbarrier.inval between",
                   sim_barrier_name(warp->cta, offset).text, barrier->init_at->line);
    const struct sim_actor actor = sim_warp_actor(warp, i, (uint8_t)lane, false);
    sim_shadow_write(warp->cta, offset, BYTES, &actor);
    begin(barrier, warp, i, lane, count);
}

void sim_mbarrier_invalidate(struct sim_warp *warp, const struct ptx_instruction *i, int lane, uint64_t address) {
    uint32_t offset;
    if (!locate_own(warp, i, lane, address, &offset))
        return;
    struct sim_mbarrier *barrier = sim_mbarrier_find(warp, i, lane, warp->cta, offset, false);
    if (!barrier)
        return;
    if (barrier->under_way || barrier->transactions)
        sim_report(warp, i, SIM_REPORT_BARRIER, lane, offset,
                   "the mbarrier %s is invalidated while %u copies are under way and %lld bytes are missing",
                   sim_barrier_name(warp->cta, offset).text, barrier->under_way, (long long)barrier->transactions);
    barrier->live = false;
}

void sim_mbarriers_fenced(struct sim_warp *warp, uint32_t mask) {
    struct sim_mbarriers *mbarriers = warp->cta->mbarriers;
    if (!mbarriers->unfenced)
        return;
    uint32_t unfenced = 0;
    for (uint32_t b = 0; b < mbarriers->count; b++) {
        struct sim_mbarrier *barrier = mbarriers->all[b];
        if (!barrier->live || barrier->fenced.agent != SIM_AGENT_NONE)
            continue;
        if (barrier->init.agent == warp->agent && (mask >> barrier->init_lane & 1))
            barrier->fenced = sim_warp_stamp(warp);
        else
            unfenced++;
    }
    mbarriers->unfenced = unfenced;
}

void sim_mbarrier_overwritten(struct sim_warp *warp, const struct ptx_instruction *i, int lane, struct sim_cta *cta,
                              uint32_t offset, uint32_t bytes) {
    const struct sim_mbarriers *mbarriers = cta->mbarriers;
    if (offset >= mbarriers->high || offset + (uint64_t)bytes <= mbarriers->low)
        return;
    for (uint64_t at = offset / BYTES * BYTES; at < offset + (uint64_t)bytes && at < mbarriers->high; at += BYTES) {
        struct sim_mbarrier *barrier = sim_mbarrier_lookup(cta, (uint32_t)at);
        if (!barrier || !barrier->live || barrier->overwritten)
            continue;
        barrier->overwritten = true;
        barrier->overwritten_line = i->line;
        sim_report(warp, i, SIM_REPORT_BARRIER, lane, address_of(warp, cta, (uint32_t)at),
                   "writes over the mbarrier %s (init at line %u), which was not invalidated",
                   sim_barrier_name(cta, (uint32_t)at).text, barrier->init_at->line);
    }
}

bool sim_mbarrier_view(const struct sim_cta *cta, size_t index, struct gm_sim_mbarrier *view) {
    const struct sim_mbarriers *mbarriers = cta->mbarriers;
    for (uint32_t b = 0; mbarriers && b < mbarriers->count; b++) {
        const struct sim_mbarrier *barrier = mbarriers->all[b];
        if (!barrier->live || index-- > 0)
            continue;
        *view = (struct gm_sim_mbarrier){barrier->offset, barrier->expected, barrier->pending, barrier->phase,
                                         barrier->transactions};
        return true;
    }
    return false;
}
