/* SPDX-License-Identifier: Apache-2.0 */
/* mbarrier.test_wait and mbarrier.try_wait: has the phase completed?
 *
 * With a parity p the answer is yes when the running phase has the other parity, so that a fresh barrier says yes to 1.
 * A try_wait holds the path until at least one of its lanes gets a yes, or until nothing else in the cluster moves:
 * then it says no, as hardware does after a while. */
#include "sim/barriers/barrier_state.h"
#include "sim/execute/instructions.h"

/* choice[] of both instructions */
enum { PARITY = 0, SEMANTICS = 1, RELAXED = 2 };

static bool has_passed(struct sim_warp *warp, const struct ptx_instruction *i, int lane, struct sim_mbarrier *barrier) {
    const uint64_t operand = sim_lane_value(warp, &i->operand[2], lane);
    if (i->choice[PARITY]) {
        if (operand > 1)
            sim_report(warp, i, SIM_REPORT_BARRIER, lane, barrier->offset, "a wait on parity %llu: it is 0 or 1",
                       (unsigned long long)operand);
        return (barrier->phase & 1) != (operand & 1);
    }
    const uint32_t phase = (uint32_t)(operand >> 32);
    if (barrier->phase - phase > 1)
        sim_report(
            warp, i, SIM_REPORT_BARRIER, lane, barrier->offset,
            "the state is of phase %u, and %s runs phase %u: only the running phase and the one before it can be "
            "tested",
            phase, sim_barrier_name(barrier->cta, barrier->offset).text, barrier->phase);
    return barrier->phase != phase;
}

static void acquire(struct sim_warp *warp, const struct ptx_instruction *i, const struct sim_mbarrier *barrier) {
    if (i->choice[SEMANTICS] == RELAXED)
        sim_fenced_observe(warp, &barrier->completed);
    else
        sim_acquire(warp, &barrier->completed);
}

/* What the lanes of an instruction wait for. */
struct outcome {
    uint32_t passed;              /* lanes */
    struct sim_mbarrier *barrier; /* of the last lane */
    bool impossible;              /* some lane's address names no barrier that can be waited for */
};

static struct outcome test(struct sim_warp *warp, const struct ptx_instruction *i, uint32_t mask) {
    uint64_t addresses[PTX_LANES], last = 0;
    struct outcome out = {0};
    struct sim_mbarrier *acquired = NULL;
    sim_addresses(warp, &i->operand[1], addresses);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int lane = __builtin_ctz(rest);
        if (!out.barrier || addresses[lane] != last)
            out.barrier = sim_mbarrier_at(warp, i, lane, addresses[lane]);
        if (out.barrier && out.barrier->cta != warp->cta) {
            sim_report(warp, i, SIM_REPORT_BARRIER, lane, addresses[lane],
                       "waits for an mbarrier of CTA %u: a CTA can only wait for its own", out.barrier->cta->rank);
            out.barrier = NULL;
        }
        if (!out.barrier) {
            out.impossible = true;
            return out;
        }
        last = addresses[lane];
        if (!has_passed(warp, i, lane, out.barrier))
            continue;
        out.passed |= UINT32_C(1) << lane;
        if (acquired != out.barrier)
            acquire(warp, i, out.barrier);
        acquired = out.barrier;
    }
    return out;
}

enum sim_next sim_do_mbarrier_test_wait(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                        uint32_t mask) {
    (void)path;
    const struct outcome out = test(warp, i, mask);
    if (out.impossible)
        return sim_hopeless(warp);
    sim_set_predicate(warp, &i->operand[0], out.passed, mask);
    return SIM_NEXT;
}

static bool gives_up(struct sim_cluster *cluster) {
    enum { ONE_IN = 16 };
    return cluster->stalled || (cluster->machine->options->seed && sim_random(cluster) % ONE_IN == 0);
}

enum sim_next sim_do_mbarrier_try_wait(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                       uint32_t mask) {
    const struct outcome out = test(warp, i, mask);
    if (out.impossible)
        return sim_hopeless(warp);
    if (!out.passed && !gives_up(warp->cluster)) {
        const uint64_t operand = sim_lane_value(warp, &i->operand[2], __builtin_ctz(mask));
        path->wait = (struct sim_wait){SIM_WAIT_MBARRIER, out.barrier->offset,
                                       (uint32_t)(i->choice[PARITY] ? operand : operand >> 32) & 1, warp->cta->rank};
        return SIM_WAIT;
    }
    sim_set_predicate(warp, &i->operand[0], out.passed, mask);
    return SIM_NEXT;
}
