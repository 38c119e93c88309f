/* SPDX-License-Identifier: Apache-2.0 */
/* What moves an mbarrier on: arrivals, expected bytes, bytes that come, copies. */
#include "sim/barriers/barrier_state.h"

#include <string.h>

/* ---- phases ----------------------------------------------------------------------------------------------- */

void sim_mbarrier_write_image(struct sim_mbarrier *barrier) {
    const uint64_t live = UINT64_C(1) << 62, phase = barrier->phase & 1, field = SIM_MBARRIER_MOST;
    barrier->image = live | phase << 61 | ((uint64_t)barrier->transactions & field) << 40 |
                     (barrier->pending & field) << 20 | (barrier->expected & field);
    memcpy(barrier->cta->shared + barrier->offset, &barrier->image, sizeof barrier->image);
}

static void trace(const struct sim_mbarrier *barrier, struct sim_warp *warp, const struct ptx_instruction *i, int lane,
                  const char *kind) {
    struct sim_cta *cta = warp ? warp->cta : barrier->cta;
    if (sim_traced(cta->machine))
        sim_trace(cta, warp, lane, i ? i->line : 0, cta->cluster->now, 0, kind, "%s phase %u",
                  sim_barrier_name(barrier->cta, barrier->offset).text, barrier->phase);
}

/* The state has changed: is the phase complete? */
static void settle(struct sim_mbarrier *barrier, const struct ptx_instruction *i) {
    struct sim_cluster *cluster = barrier->cta->cluster;
    if (barrier->pending == 0 && barrier->transactions == 0) {
        trace(barrier, NULL, i, PTX_NONE, "phase");
        barrier->phase++;
        barrier->pending = barrier->expected;
        sim_clocks_join(cluster, &barrier->completed.known, &barrier->running.known);
        sim_clocks_join(cluster, &barrier->completed.flushed, &barrier->running.flushed);
        sim_clocks_raise(cluster, &barrier->completed.known, barrier->agent, barrier->clock_base + barrier->phase);
        sim_progress(cluster);
    }
    sim_mbarrier_write_image(barrier);
}

/* ---- arrivals --------------------------------------------------------------------------------------------- */

/* The arrivals that an instruction asks for, as many as are possible. */
static uint32_t check_count(struct sim_mbarrier *barrier, struct sim_warp *warp, const struct ptx_instruction *i,
                            int lane, uint64_t count) {
    if (count < 1 || count > SIM_MBARRIER_MOST)
        sim_report(warp, i, SIM_REPORT_BARRIER, lane, barrier->offset, "%llu arrivals at once at %s: it takes 1 to %d",
                   (unsigned long long)count, sim_barrier_name(barrier->cta, barrier->offset).text, SIM_MBARRIER_MOST);
    else if (count > barrier->pending)
        sim_report(warp, i, SIM_REPORT_BARRIER, lane, barrier->offset,
                   "one arrival too many at %s: %llu arrive, and phase %u waits for %u more of %u and for %lld bytes",
                   sim_barrier_name(barrier->cta, barrier->offset).text, (unsigned long long)count, barrier->phase,
                   barrier->pending, barrier->expected, (long long)barrier->transactions);
    return count > barrier->pending ? barrier->pending : (uint32_t)count;
}

void sim_mbarrier_count(struct sim_mbarrier *barrier, struct sim_warp *warp, const struct ptx_instruction *i, int lane,
                        uint64_t count) {
    trace(barrier, warp, i, lane, "arrive");
    barrier->pending -= check_count(barrier, warp, i, lane, count);
    sim_progress(barrier->cta->cluster);
    settle(barrier, i);
}

/* arrive_drop: the phases after this one expect so many fewer. */
void sim_mbarrier_drop(struct sim_mbarrier *barrier, struct sim_warp *warp, const struct ptx_instruction *i, int lane,
                       uint64_t count) {
    if (count > barrier->expected)
        sim_report(warp, i, SIM_REPORT_BARRIER, lane, barrier->offset,
                   "%llu arrivals dropped from %s, which expects %u", (unsigned long long)count,
                   sim_barrier_name(barrier->cta, barrier->offset).text, barrier->expected);
    barrier->expected -= count > barrier->expected ? barrier->expected : (uint32_t)count;
}

void sim_mbarrier_arrive(struct sim_mbarrier *barrier, struct sim_warp *warp, const struct ptx_instruction *i,
                         uint32_t count) {
    if (barrier->cta->exited || !barrier->live)
        return; /* reported when it exited */
    sim_release(warp, &barrier->running);
    sim_mbarrier_count(barrier, warp, i, PTX_NONE, count);
}

void sim_mbarrier_add_pending(struct sim_mbarrier *barrier, struct sim_warp *warp, const struct ptx_instruction *i,
                              uint32_t count) {
    if (count > SIM_MBARRIER_MOST - barrier->pending) {
        sim_report(warp, i, SIM_REPORT_BARRIER, PTX_NONE, barrier->offset, "more than %d arrivals pending at %s",
                   SIM_MBARRIER_MOST, sim_barrier_name(barrier->cta, barrier->offset).text);
        count = SIM_MBARRIER_MOST - barrier->pending;
    }
    barrier->pending += count;
    sim_mbarrier_write_image(barrier);
}

/* ---- transactions ----------------------------------------------------------------------------------------- */

/* Adds to the bytes that are missing. They stay within what 64 bits can add up, whatever a kernel does. */
static void add_transactions(struct sim_mbarrier *barrier, struct sim_warp *warp, const struct ptx_instruction *i,
                             int lane, int64_t bytes) {
    const int64_t most = SIM_MBARRIER_MOST;
    barrier->transactions += bytes;
    if (barrier->transactions >= -most && barrier->transactions <= most)
        return;
    sim_report(warp, i, SIM_REPORT_TRANSACTIONS, lane, barrier->offset,
               "%s has %lld bytes outstanding in phase %u: it counts from -%d to %d",
               sim_barrier_name(barrier->cta, barrier->offset).text, (long long)barrier->transactions, barrier->phase,
               SIM_MBARRIER_MOST, SIM_MBARRIER_MOST);
    barrier->transactions = barrier->transactions < 0 ? -most : most;
}

void sim_mbarrier_expect(struct sim_mbarrier *barrier, struct sim_warp *warp, const struct ptx_instruction *i, int lane,
                         int64_t bytes) {
    barrier->expect_at = i;
    add_transactions(barrier, warp, i, lane, bytes);
    sim_mbarrier_write_image(barrier);
}

void sim_mbarrier_pay(struct sim_mbarrier *barrier, struct sim_warp *warp, const struct ptx_instruction *i, int lane,
                      int64_t bytes) {
    add_transactions(barrier, warp, i, lane, -bytes);
    sim_progress(barrier->cta->cluster);
    settle(barrier, i);
}

/* ---- copies ----------------------------------------------------------------------------------------------- */

struct sim_stamp sim_mbarrier_copy_begin(struct sim_mbarrier *barrier) {
    barrier->under_way++;
    barrier->last_copy = barrier->clock_base + barrier->phase + 1;
    return (struct sim_stamp){barrier->agent, barrier->last_copy};
}

/* Already now: the running phase does not complete before the copy has landed. */
void sim_mbarrier_copy_releases(struct sim_mbarrier *barrier, struct sim_warp *warp) {
    sim_release(warp, &barrier->running);
}

void sim_mbarrier_copy_land(struct sim_mbarrier *barrier, struct sim_stamp stamp, uint32_t bytes, struct sim_warp *warp,
                            const struct ptx_instruction *i) {
    const uint32_t now = barrier->clock_base + barrier->phase + 1;
    if (barrier->under_way)
        barrier->under_way--;
    if (barrier->cta->exited || !barrier->live)
        return; /* reported when it exited, or was invalidated */
    if (stamp.clock != now)
        sim_report(
            warp, i, SIM_REPORT_TRANSACTIONS, PTX_NONE, barrier->offset,
            "%u bytes come to %s in phase %u, and the copy was issued in phase %u: that phase was told to expect too "
            "few bytes, and was complete before they came",
            bytes, sim_barrier_name(barrier->cta, barrier->offset).text, barrier->phase,
            stamp.clock - barrier->clock_base - 1);
    sim_mbarrier_pay(barrier, warp, i, PTX_NONE, bytes);
}
