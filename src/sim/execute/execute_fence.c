/* SPDX-License-Identifier: Apache-2.0 */
/* Fences, setmaxnreg, griddepcontrol. */
#include "sim/barriers/barrier_state.h"
#include "sim/execute/instructions.h"

/* choice[0]: 1 .global, which says nothing of shared memory; 0 all of it, 2 .shared::cta, 3 .shared::cluster */
enum sim_next sim_do_fence_proxy_async(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                       uint32_t mask) {
    enum { GLOBAL = 1 };
    (void)path;
    if (i->choice[0] == GLOBAL)
        return SIM_NEXT;
    sim_mbarriers_fenced(warp, mask);
    sim_flush(warp);
    return SIM_NEXT;
}

/* fence.proxy.async::generic.acquire and .release order the proxies and the threads at once. */
enum sim_next sim_do_fence_proxy_both(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                      uint32_t mask) {
    (void)path, (void)i;
    sim_mbarriers_fenced(warp, mask);
    sim_fence(warp);
    sim_flush(warp);
    return SIM_NEXT;
}

enum sim_next sim_do_fence_mbarrier_init(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                         uint32_t mask) {
    (void)path, (void)i;
    sim_fence_inits(warp, mask);
    return SIM_NEXT;
}

/* Every semantics and scope alike: a fence of a narrower scope than was needed goes unseen. */
enum sim_next sim_do_fence(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                           uint32_t mask) {
    (void)path, (void)i, (void)mask;
    sim_fence(warp);
    return SIM_NEXT;
}

/* Instructions that change nothing here: launches run one after the other, and maps are read from memory at each copy.
 */
enum sim_next sim_do_no_effect(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                               uint32_t mask) {
    (void)warp, (void)path, (void)i, (void)mask;
    return SIM_NEXT;
}

/* ---- setmaxnreg ------------------------------------------------------------------------------------------- */

enum { REGISTERS = 65536, REGISTERS_MOST = 255, STEP = 8, FEWEST = 24, MOST = 256, WARPGROUP = 4, INCREASE = 1 };

/* Registers a thread has at the start: what the CTA's threads can share of the SM's, but ptxas gives no more than the
 * kernel's largest setmaxnreg.inc asks for (a row of 256 threads starts with 232 and not 248). */
static uint32_t registers_at_start(const struct sim_cta *cta) {
    const struct ptx_function *function = cta->machine->function;
    const uint32_t threads = cta->threads ? cta->threads : 1;
    const uint32_t share = REGISTERS / threads;
    uint32_t asked = 0;
    for (uint32_t pc = 0; pc < function->count; pc++)
        if (function->code[pc].handler == sim_do_setmaxnreg && function->code[pc].choice[0] == INCREASE &&
            function->code[pc].operand[0].value > asked && function->code[pc].operand[0].value <= MOST)
            asked = (uint32_t)function->code[pc].operand[0].value;
    const uint32_t most = (share < REGISTERS_MOST ? share : REGISTERS_MOST) / STEP * STEP;
    return asked && asked < most ? asked : most;
}

/* The pool is what the warps give back; at the start every register belongs to a warp. */
static void begin_registers(struct sim_cta *cta) {
    if (cta->named->registers_known)
        return;
    const uint32_t registers = registers_at_start(cta);
    for (uint32_t w = 0; w < cta->warp_count; w++)
        cta->warps[w].register_limit = registers;
    cta->register_pool = 0;
    cta->named->registers_known = true;
}

static bool check_registers(struct sim_warp *warp, const struct ptx_instruction *i, bool increase, int64_t registers) {
    const uint32_t have = warp->register_limit, first = warp->index / WARPGROUP * WARPGROUP;
    if (registers < FEWEST || registers > MOST || registers % STEP)
        sim_report(warp, i, SIM_REPORT_REGISTERS, PTX_NONE, 0,
                   "setmaxnreg %lld: it must be a multiple of %d from %d to %d", (long long)registers, STEP, FEWEST,
                   MOST);
    else if (first + WARPGROUP > warp->cta->warp_count)
        sim_report(warp, i, SIM_REPORT_REGISTERS, PTX_NONE, 0,
                   "setmaxnreg is for whole warpgroups, and warp %u is in one of %u warps", warp->index,
                   warp->cta->warp_count - first);
    else if (increase && registers < have)
        sim_report(warp, i, SIM_REPORT_REGISTERS, PTX_NONE, 0,
                   "setmaxnreg.inc to %lld registers, and the threads have %u already", (long long)registers, have);
    else if (!increase && registers > have)
        sim_report(warp, i, SIM_REPORT_REGISTERS, PTX_NONE, 0,
                   "setmaxnreg.dec to %lld registers, and the threads have %u", (long long)registers, have);
    else
        return true;
    return false;
}

/* choice[0]: INCREASE .inc, 2 .dec */
enum sim_next sim_do_setmaxnreg(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                uint32_t mask) {
    struct sim_cta *cta = warp->cta;
    const bool increase = i->choice[0] == INCREASE;
    const int64_t registers = i->operand[0].value;
    if (path->stage == 0) {
        sim_check_all_lanes(warp, path, i, mask);
        begin_registers(cta);
        if (!check_registers(warp, i, increase, registers))
            return SIM_NEXT;
        path->stage = 1;
    }
    const uint32_t now = (uint32_t)registers, have = warp->register_limit;
    if (now > have && cta->register_pool < (now - have) * PTX_LANES) {
        path->wait = (struct sim_wait){SIM_WAIT_REGISTERS, 0, now, cta->rank};
        return SIM_WAIT;
    }
    if (now > have)
        cta->register_pool -= (now - have) * PTX_LANES;
    else
        cta->register_pool += (have - now) * PTX_LANES;
    warp->register_limit = now;
    sim_progress(warp->cluster);
    return SIM_NEXT;
}
