/* SPDX-License-Identifier: Apache-2.0 */
/* The inner loop: the instructions of one path. */
#include "sim/machine/schedule.h"

#include "host/cuda_abi.h"
#include "sim/barriers/barriers.h"
#include "sim/report/watch.h"

/* An instruction that had to wait is done. */
static void wait_over(struct sim_path *path, const struct ptx_instruction *i) {
    struct sim_warp *const warp = path->warp;
    if (sim_traced(warp->machine)) {
        char text[96];
        sim_wait_text(path, text, sizeof text);
        sim_trace(warp->cta, warp, PTX_NONE, i->line, path->waits_since, path->time, "wait", "%s", text);
    }
    path->waiting = false;
    path->wait.kind = SIM_WAIT_NONE;
}

/* All lanes of the path have exited. */
static enum sim_run leave(struct sim_path *path) {
    struct sim_warp *const warp = path->warp;
    sim_path_end(path, 0);
    if (!(warp->lanes & ~warp->exited))
        sim_warp_end(warp);
    return SIM_RUN_GONE;
}

/* Code that ends without ret. */
static enum sim_run fall_off(struct sim_path *path) {
    path->warp->exited |= path->mask;
    sim_progress(path->warp->cluster);
    return leave(path);
}

static enum sim_run fault(struct sim_machine *machine) {
    sim_fail(machine, CUDA_ERROR_LAUNCH_FAILED);
    return SIM_RUN_GONE;
}

/* `lanes` have come to the instruction, its guard lets those of `mask` run it. */
static enum sim_next run_instruction(struct sim_path *path, const struct ptx_instruction *i, uint32_t lanes,
                                     uint32_t mask) {
    struct sim_warp *const warp = path->warp;
    if (__builtin_expect(i->touches_wgmma, 0) && mask)
        sim_wgmma_check_touch(warp, i);
    if (__builtin_expect(warp->tainted == NULL, 1))
        return mask ? i->handler(warp, path, i, mask) : SIM_NEXT;
    sim_taint_before(warp, i, lanes, mask);
    const enum sim_next next = mask ? i->handler(warp, path, i, mask) : SIM_NEXT;
    if (next == SIM_NEXT && warp->tainted)
        sim_taint_after(warp, i, lanes, mask);
    return next;
}

enum sim_run sim_run_path(struct sim_path *path, uint64_t until) {
    struct sim_warp *const warp = path->warp;
    struct sim_machine *const machine = warp->machine;
    const struct ptx_function *const function = machine->function;
    const bool stepped = machine->watch && machine->watch->step;
    while (path->time < until) {
        if (path->pc == (uint32_t)path->stop) {
            sim_path_end(path, path->mask);
            return SIM_RUN_GONE;
        }
        if (path->pc >= function->count)
            return fall_off(path);
        const struct ptx_instruction *const i = &function->code[path->pc];
        const uint32_t mask = sim_guarded(warp, i, path->mask);
        warp->cluster->now = path->time;
        if (__builtin_expect(stepped, 0) && !sim_step(warp, path, i))
            return fault(machine);
        const enum sim_next next = run_instruction(path, i, path->mask, mask);
        if (next == SIM_WAIT)
            return SIM_RUN_WAITS;
        machine->executed[i->pc]++;
        machine->executed_lanes[i->pc] += (uint32_t)__builtin_popcount(mask);
        warp->instructions++;
        path->time++;
        path->stage = 0;
        if (__builtin_expect(path->waiting, 0))
            wait_over(path, i);
        if (next == SIM_NEXT)
            path->pc++;
        else if (next == SIM_EXITED)
            return leave(path);
        else if (next == SIM_FAULT)
            return fault(machine);
        else if (path->children)
            return SIM_RUN_GONE;
    }
    return SIM_RUN_READY;
}
