/* SPDX-License-Identifier: Apache-2.0 */
/* What the counters and the clock should say of a launch: gm_bank_cost() times the accesses, and which counter says so
 * exactly (docs/counters.md). */
#include "lab/bank_access.h"
#include "lab/bank_kernels.h"

#define PIPE_CONFLICTS(class)  "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_" class ".sum"
#define PIPE_WAVEFRONTS(class) "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_" class ".sum"
#define EXACT(class)           "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_" class ".sum"
#define ATOMIC                 {PIPE_CONFLICTS("atom"), PIPE_WAVEFRONTS("atom"), LAB_EXACT_WAVEFRONTS_ATOM}

const struct bank_counters *bank_counters(const struct bank_shot *shot) {
    static const struct bank_counters counters[] = {
        [GM_ACCESS_LOAD] = {LAB_CONFLICTS_LD, LAB_WAVEFRONTS_LD, LAB_EXACT_WAVEFRONTS_LD},
        [GM_ACCESS_STORE] = {LAB_CONFLICTS_ST, LAB_WAVEFRONTS_ST, LAB_EXACT_WAVEFRONTS_ST},
        [GM_ACCESS_LDMATRIX] = {LAB_CONFLICTS_LD, LAB_WAVEFRONTS_LD, EXACT("ldsm")},
        [GM_ACCESS_STMATRIX] = {LAB_CONFLICTS_ST, LAB_WAVEFRONTS_ST, EXACT("stsm")},
        [GM_ACCESS_CP_ASYNC] = {LAB_CONFLICTS_CP_ASYNC, NULL, EXACT("ldgsts")},
        [GM_ACCESS_ATOMIC] = ATOMIC,
        [GM_ACCESS_INCREMENT] = ATOMIC,
        [GM_ACCESS_CAS] = ATOMIC};
    return &counters[shot->access.kind];
}

/* Stores take their phases one by one: what they need for the same addresses tells whether a load's phases merge. */
bool bank_merges(const struct bank_shot *shot) {
    struct gm_access apart = shot->access;
    struct gm_bank_cost cost = {.size = sizeof cost};
    apart.kind = GM_ACCESS_STORE;
    return shot->access.kind == GM_ACCESS_LOAD && gm_bank_cost(&apart, &cost) == GM_OK && shot->cost.ideal < cost.ideal;
}

/* With several warps the pipe's counters take a store or an atomic that has lanes switched off for a little more than
 * it is: the experiment `arbitration`. */
static bool pipe_is_exact(const struct bank_shot *shot) {
    const bool writes = shot->access.kind == GM_ACCESS_STORE || shot->access.kind >= GM_ACCESS_ATOMIC;
    return !writes || shot->access.inactive == 0 || shot->warps == 1;
}

static void predict_counters(const struct bank_shot *shot, struct lab_point *point) {
    const struct bank_counters *counters = bank_counters(shot);
    const bool too_many = bank_merges(shot) && shot->cost.conflicts > 0; /* for the instruction's own counter */
    if (shot->instruction == CP_ASYNC_CG) {                              /* goes past L1, and so past the pipe */
        lab_quantity(point, "conflicts", counters->conflicts, 0, 0);
        return;
    }
    if (pipe_is_exact(shot))
        lab_quantity(point, "conflicts", counters->conflicts, (double)BANK_ACCESSES * shot->cost.conflicts, 0);
    lab_quantity(point, "wavefronts", too_many ? counters->wavefronts : counters->exact,
                 (double)BANK_ACCESSES * shot->cost.wavefronts, 0);
}

/* Shared memory serves a wavefront a cycle when all it has to do is that: no atomics, no waiting for global memory, and
 * no more than the 128 bytes a cycle that registers give or take. Of accesses that need one wavefront each the warps do
 * not issue one a cycle, so there it is shared memory that waits, and nothing is predicted. The tolerance is for the
 * barriers of a round and for the first and the last access. */
static void predict_cycles(const struct bank_shot *shot, struct lab_point *point) {
    const uint32_t lanes = (uint32_t)__builtin_popcount(~shot->access.inactive);
    const uint32_t register_bytes = shot->access.matrices ? 128 * shot->access.matrices : lanes * shot->access.width;
    if (shot->access.kind > GM_ACCESS_STMATRIX || shot->warps != BANK_WARPS || shot->cost.wavefronts < 2 ||
        register_bytes > 128 * shot->cost.wavefronts)
        return;
    point->cycles_predicted = (double)BANK_WARPS * BANK_REPEATS * shot->cost.wavefronts;
    point->cycles_tolerance = 0.15;
}

void bank_predict(const struct bank_shot *shot, struct lab_point *point) {
    predict_counters(shot, point);
    predict_cycles(shot, point);
}
