/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions on mbarriers that do not wait. Each active lane acts for itself, on the barrier its address names.
 *
 * Without a semantics qualifier an arrival is a release. A state (the token of arrive, for test_wait) is
 *     phase << 32 | arrivals pending before this one */
#include "sim/barriers/barrier_state.h"
#include "sim/execute/instructions.h"

enum { RELAXED = 2 }; /* of [.release|.relaxed] */

enum sim_next sim_do_mbarrier_init(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                   uint32_t mask) {
    uint64_t addresses[PTX_LANES];
    (void)path;
    sim_addresses(warp, &i->operand[0], addresses);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int lane = __builtin_ctz(rest);
        sim_mbarrier_init(warp, i, lane, addresses[lane], sim_lane_value(warp, &i->operand[1], lane) & UINT32_MAX);
    }
    return SIM_NEXT;
}

enum sim_next sim_do_mbarrier_inval(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                    uint32_t mask) {
    uint64_t addresses[PTX_LANES];
    (void)path;
    sim_addresses(warp, &i->operand[0], addresses);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int lane = __builtin_ctz(rest);
        sim_mbarrier_invalidate(warp, i, lane, addresses[lane]);
    }
    return SIM_NEXT;
}

/* ---- arrive ----------------------------------------------------------------------------------------------- */

/* What the words of the opcode say. */
struct arrival {
    bool drop, expect_tx, no_complete, relaxed;
};

static void write_state(struct sim_warp *warp, const struct ptx_operand *to, int lane, uint64_t state) {
    if (to->kind == PTX_OPERAND_REGISTER && to->bits == 64)
        SIM_ROW_64(warp, to)[lane] = state;
    else if (to->kind == PTX_OPERAND_REGISTER)
        SIM_ROW_32(warp, to)[lane] = (uint32_t)state;
}

static void arrive_lane(struct sim_warp *warp, const struct ptx_instruction *i, int lane, struct sim_mbarrier *barrier,
                        const struct arrival *how) {
    const bool given = i->operand[2].kind != PTX_OPERAND_NONE;
    const uint64_t operand = given ? sim_lane_value(warp, &i->operand[2], lane) & UINT32_MAX : 1;
    const uint64_t count = how->expect_tx ? 1 : operand;
    write_state(warp, &i->operand[0], lane, (uint64_t)barrier->phase << 32 | barrier->pending);
    if (how->expect_tx)
        sim_mbarrier_expect(barrier, warp, i, lane, (int32_t)operand);
    if (how->no_complete && count >= barrier->pending)
        sim_report(warp, i, SIM_REPORT_BARRIER, lane, barrier->offset,
                   "arrive.noComplete of %llu at %s, where %u are pending: it would complete the phase",
                   (unsigned long long)count, sim_barrier_name(barrier->cta, barrier->offset).text, barrier->pending);
    if (how->drop)
        sim_mbarrier_drop(barrier, warp, i, lane, count);
    sim_mbarrier_count(barrier, warp, i, lane, count);
}

/* state, [barrier] {, count | bytes} */
static enum sim_next arrive(struct sim_warp *warp, const struct ptx_instruction *i, uint32_t mask,
                            const struct arrival *how) {
    uint64_t addresses[PTX_LANES];
    struct sim_mbarrier *released = NULL;
    sim_addresses(warp, &i->operand[1], addresses);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int lane = __builtin_ctz(rest);
        struct sim_mbarrier *barrier = sim_mbarrier_at(warp, i, lane, addresses[lane]);
        if (!barrier) {
            write_state(warp, &i->operand[0], lane, 0);
            continue;
        }
        if (barrier != released && how->relaxed)
            sim_fenced_release(warp, &barrier->running);
        else if (barrier != released)
            sim_release(warp, &barrier->running);
        released = barrier;
        arrive_lane(warp, i, lane, barrier, how);
    }
    return SIM_NEXT;
}

/* choice[0]: 1 .arrive, 2 .arrive_drop; choice[1]: RELAXED */
enum sim_next sim_do_mbarrier_arrive(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                     uint32_t mask) {
    const struct arrival how = {.drop = i->choice[0] == 2, .relaxed = i->choice[1] == RELAXED};
    (void)path;
    return arrive(warp, i, mask, &how);
}

/* choice[0] as above; choice[1]: 1 .expect_tx, 2 .noComplete; choice[2]: RELAXED */
enum sim_next sim_do_mbarrier_arrive_with(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                          uint32_t mask) {
    const struct arrival how = {.drop = i->choice[0] == 2,
                                .expect_tx = i->choice[1] == 1,
                                .no_complete = i->choice[1] == 2,
                                .relaxed = i->choice[2] == RELAXED};
    (void)path;
    return arrive(warp, i, mask, &how);
}

/* ---- transactions ----------------------------------------------------------------------------------------- */

/* choice[0]: 1 .expect_tx, 2 .complete_tx. Both are relaxed: they hand nothing over. */
enum sim_next sim_do_mbarrier_transactions(struct sim_warp *warp, struct sim_path *path,
                                           const struct ptx_instruction *i, uint32_t mask) {
    uint64_t addresses[PTX_LANES];
    (void)path;
    sim_addresses(warp, &i->operand[0], addresses);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int lane = __builtin_ctz(rest);
        const int64_t bytes = (int32_t)sim_lane_value(warp, &i->operand[1], lane);
        struct sim_mbarrier *barrier = sim_mbarrier_at(warp, i, lane, addresses[lane]);
        if (barrier && i->choice[0] == 1)
            sim_mbarrier_expect(barrier, warp, i, lane, bytes);
        else if (barrier)
            sim_mbarrier_pay(barrier, warp, i, lane, bytes);
    }
    return SIM_NEXT;
}

enum sim_next sim_do_mbarrier_pending_count(struct sim_warp *warp, struct sim_path *path,
                                            const struct ptx_instruction *i, uint32_t mask) {
    (void)path;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int lane = __builtin_ctz(rest);
        write_state(warp, &i->operand[0], lane, sim_lane_value(warp, &i->operand[1], lane) & UINT32_MAX);
    }
    return SIM_NEXT;
}
