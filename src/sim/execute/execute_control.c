/* SPDX-License-Identifier: Apache-2.0 */
/* Branches, exits, and what else steers a path. */
#include "sim/execute/instructions.h"
#include "sim/machine/schedule.h"
#include "sim/report/report.h"

enum sim_next sim_do_branch(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                            uint32_t mask) {
    return sim_branch(warp, path, i, mask, (uint32_t)i->operand[0].value);
}

/* Lanes that want a target which the list does not have: hardware jumps anywhere. */
static enum sim_next refuse_index(struct sim_warp *warp, const struct ptx_instruction *i, int lane, uint32_t index) {
    sim_report(warp, i, SIM_REPORT_ILLEGAL, lane, 0, "index %u of a list of %u branch targets", index,
               i->operand[1].count);
    return SIM_FAULT;
}

enum sim_next sim_do_branch_indexed(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                    uint32_t mask) {
    const uint32_t *const index = SIM_SOURCE_32(warp, &i->operand[0]);
    const struct ptx_operand *const targets = &warp->machine->function->elements[i->operand[1].first];
    uint32_t target[PTX_LANES + 1], lanes[PTX_LANES + 1], count = 0;
    if (path->mask & ~mask) {
        target[0] = i->pc + 1;
        lanes[count++] = path->mask & ~mask;
    }
    for (uint32_t left = mask; left; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        if (index[lane] >= i->operand[1].count)
            return refuse_index(warp, i, lane, index[lane]);
        const uint32_t to = (uint32_t)targets[index[lane]].value;
        uint32_t n = 0;
        while (n < count && target[n] != to)
            n++;
        if (n == count) {
            target[n] = to;
            lanes[count++] = 0;
        }
        lanes[n] |= UINT32_C(1) << lane;
    }
    if (count > 1)
        return sim_path_fork(path, i->rejoin, count, target, lanes);
    path->pc = target[0];
    return SIM_JUMPED;
}

enum sim_next sim_do_exit_lanes(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                uint32_t mask) {
    warp->exited |= mask;
    path->mask &= ~mask;
    sim_progress(warp->cluster); /* others may have waited for just these lanes */
    if (!path->mask)
        return SIM_EXITED;
    path->pc = i->pc + 1;
    return SIM_JUMPED;
}

enum sim_next sim_do_trap(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                          uint32_t mask) {
    (void)path;
    sim_report(warp, i, SIM_REPORT_TRAP, __builtin_ctz(mask), 0, "lanes 0x%08x ran a trap", mask);
    return SIM_FAULT;
}

/* A nanosecond is taken for a tick; the longest of the lanes counts. */
enum sim_next sim_do_sleep(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                           uint32_t mask) {
    const uint32_t *const lanes = SIM_SOURCE_32(warp, &i->operand[0]), longest = 1000000;
    uint32_t ticks = 0;
    for (; mask; mask &= mask - 1) {
        const uint32_t lane = lanes[__builtin_ctz(mask)];
        ticks = lane > ticks ? lane : ticks;
    }
    path->time += ticks < longest ? ticks : longest;
    return SIM_NEXT;
}
