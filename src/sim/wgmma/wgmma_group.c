/* SPDX-License-Identifier: Apache-2.0 */
/* Warpgroups, and their groups of wgmma: commit, landing, wait. */
#include "sim/wgmma/wgmma.h"

#include <stdio.h>
#include <stdlib.h>

#include "sim/copies/tile_origin.h"
#include "sim/execute/instructions.h"
#include "sim/execute/lanes.h"
#include "sim/report/watch.h"

/* ---- warpgroups -------------------------------------------------------------------------------------------------- */

static void free_operations(struct wgmma_operation *operation) {
    while (operation) {
        struct wgmma_operation *const next = operation->next;
        sim_clocks_free(&operation->known);
        sim_clocks_free(&operation->flushed);
        free(operation);
        operation = next;
    }
}

bool sim_wgmma_cta_begin(struct sim_cta *cta) {
    const uint32_t groups = cta->warp_count / WGMMA_WARPS;
    cta->warpgroups = groups ? calloc(groups, sizeof *cta->warpgroups) : NULL;
    for (uint32_t w = 0; w < cta->warp_count; w++) {
        const uint32_t group = w / WGMMA_WARPS;
        cta->warps[w].warpgroup = cta->warpgroups && group < groups ? &cta->warpgroups[group] : NULL;
    }
    for (uint32_t g = 0; cta->warpgroups && g < groups; g++) {
        cta->warpgroups[g].cta = cta;
        cta->warpgroups[g].warp = &cta->warps[WGMMA_WARPS * g];
    }
    return cta->warpgroups || !groups;
}

void sim_wgmma_cta_end(struct sim_cta *cta) {
    for (uint32_t g = 0; cta->warpgroups && g < cta->warp_count / WGMMA_WARPS; g++) {
        struct sim_warpgroup *const warpgroup = &cta->warpgroups[g];
        free_operations(warpgroup->first);
        free_operations(warpgroup->unused);
        for (uint32_t w = 0; w < WGMMA_WARPS; w++)
            wgmma_registers_end(&warpgroup->registers[w]);
    }
    free(cta->warpgroups);
    cta->warpgroups = NULL;
    sim_tiles_free(cta);
    for (uint32_t w = 0; w < cta->warp_count; w++)
        cta->warps[w].warpgroup = NULL;
}

bool sim_wgmma_cta_busy(const struct sim_cta *cta, char *text, size_t bytes) {
    for (uint32_t g = 0; cta->warpgroups && g < cta->warp_count / WGMMA_WARPS; g++) {
        for (const struct wgmma_operation *o = cta->warpgroups[g].first; o; o = o->next) {
            if (o->waited)
                continue;
            snprintf(text, bytes, "the wgmma of line %u, which no warp has waited for", o->instruction->line);
            return true;
        }
    }
    return false;
}

/* What the first wgmma of a warpgroup needs. False: no memory. */
static bool begin(struct sim_warpgroup *warpgroup, struct sim_warp *warp) {
    if (warpgroup->rows)
        return true;
    const uint32_t rows = warp->machine->function->register_bytes / 128 + 1;
    for (uint32_t w = 0; w < WGMMA_WARPS; w++)
        if (!warpgroup->registers[w].touched && !wgmma_registers_begin(&warpgroup->registers[w], rows))
            return false;
    warpgroup->agent = sim_agent_new(warp->cluster, SIM_AGENT_WGMMA, warp->cta->rank, warpgroup->warp->index, 0, 0);
    warpgroup->rows = rows;
    return true;
}

bool wgmma_check_warp(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i, uint32_t mask,
                      enum sim_next *next) {
    *next = SIM_NEXT;
    if (!warp->warpgroup) {
        sim_report(warp, i, SIM_REPORT_ILLEGAL, PTX_NONE, 0,
                   "warp %u of %u belongs to no warpgroup: four whole warps from a multiple of four on", warp->index,
                   warp->cta->warp_count);
        *next = SIM_FAULT;
        return false;
    }
    if (!begin(warp->warpgroup, warp)) {
        *next = sim_out_of_memory(warp->machine);
        return false;
    }
    const uint32_t alive = warp->lanes & ~warp->exited;
    if (!sim_check_aligned(warp, path, i)) /* of several paths the one with the lowest lane stands for the warp */
        return path->mask & alive & -alive;
    if (mask != SIM_ALL_LANES)
        sim_report(warp, i, SIM_REPORT_DIVERGED, __builtin_ctz(~mask), 0,
                   "lane %d does not take part in an instruction of a whole warpgroup", __builtin_ctz(~mask));
    return true;
}

/* ---- operations -------------------------------------------------------------------------------------------------- */

static void release(struct sim_warp *warp, struct wgmma_operation *operation) {
    if (operation->issued & wgmma_bit(warp) && !(operation->waited & wgmma_bit(warp)))
        wgmma_registers_give(warp, operation);
    operation->waited |= (uint8_t)wgmma_bit(warp);
}

/* Operations that are over for all leave the list at its front. */
static void recycle(struct sim_warpgroup *warpgroup) {
    while (warpgroup->first && warpgroup->first->landed && warpgroup->first->waited == WGMMA_ALL) {
        struct wgmma_operation *const operation = warpgroup->first;
        warpgroup->first = operation->next;
        operation->next = warpgroup->unused;
        warpgroup->unused = operation;
        warpgroup->operations--;
    }
}

void wgmma_set(struct wgmma_operation *operation, const struct wgmma_operation *to) {
    const struct wgmma_operation old = *operation;
    *operation = *to;
    operation->next = old.next;
    operation->known = old.known;
    operation->flushed = old.flushed;
    operation->agents = old.agents;
}

struct wgmma_operation *wgmma_append(struct sim_warpgroup *warpgroup) {
    if (warpgroup->operations == WGMMA_OPERATIONS_MAX && warpgroup->first->landed) {
        for (uint32_t w = 0; w < WGMMA_WARPS; w++)
            release(&warpgroup->warp[w], warpgroup->first);
        recycle(warpgroup);
    }
    if (warpgroup->operations == WGMMA_OPERATIONS_MAX)
        return NULL;
    struct wgmma_operation *operation = warpgroup->unused, **last = &warpgroup->first;
    if (operation) {
        warpgroup->unused = operation->next;
        wgmma_set(operation, &(struct wgmma_operation){0});
        operation->next = NULL;
    } else if (!(operation = calloc(1, sizeof *operation))) {
        sim_out_of_memory(warpgroup->cta->machine);
        return NULL;
    }
    while (*last)
        last = &(*last)->next;
    *last = operation;
    warpgroup->operations++;
    return operation;
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

struct landing {
    struct sim_flight flight;
    struct sim_warpgroup *warpgroup;
    uint32_t group;
};

static void land_operation(struct sim_warpgroup *warpgroup, struct wgmma_operation *operation) {
    struct sim_warp *const warp = warpgroup->warp;
    operation->landed = true;
    if (operation->issued != WGMMA_ALL)
        sim_report(warp, operation->instruction, SIM_REPORT_DIVERGED, PTX_NONE, 0,
                   "only %d of the warpgroup's four warps have issued this operation before they committed it",
                   __builtin_popcount(operation->issued));
    else if (!operation->broken)
        wgmma_run(warpgroup, operation);
    if (sim_traced(warp->machine))
        sim_trace(warpgroup->cta, warp, PTX_NONE, operation->instruction->line, operation->time, warp->cluster->now,
                  "wgmma", "64x%ux%u, group %u", operation->b.rows, wgmma_k(operation), operation->group);
}

/* Groups land in order, whatever the order of their flights. */
static void land(struct sim_flight *flight) {
    const struct landing *const landing = (const struct landing *)flight;
    struct sim_warpgroup *const warpgroup = landing->warpgroup;
    for (struct wgmma_operation *o = warpgroup->first; o; o = o->next)
        if (!o->landed && o->group <= landing->group)
            land_operation(warpgroup, o);
    if (warpgroup->landed <= landing->group)
        warpgroup->landed = landing->group + 1;
    recycle(warpgroup);
    sim_progress(flight->cluster);
}

/* False: no memory. */
static bool launch(struct sim_warpgroup *warpgroup, uint32_t group) {
    struct sim_cluster *const cluster = warpgroup->cta->cluster;
    struct landing *const landing = sim_flight_new(cluster, sizeof *landing, land);
    uint64_t macs = 0;
    if (!landing)
        return false;
    landing->warpgroup = warpgroup;
    landing->group = group;
    for (const struct wgmma_operation *o = warpgroup->first; o; o = o->next)
        if (o->group == group)
            macs += (uint64_t)SIM_TILE_ROWS * o->b.rows * wgmma_k(o);
    sim_flight_queue(&landing->flight, sim_latency(SIM_LATENCY_WGMMA, macs));
    return true;
}

enum sim_next sim_do_wgmma_fence(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                 uint32_t mask) {
    enum sim_next next;
    if (wgmma_check_warp(warp, path, i, mask, &next))
        warp->warpgroup->registers[warp->index % WGMMA_WARPS].fences++;
    return next;
}

/* A group runs when all four warps have committed it. */
enum sim_next sim_do_wgmma_commit(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                  uint32_t mask) {
    enum sim_next next;
    if (!wgmma_check_warp(warp, path, i, mask, &next))
        return next;
    struct sim_warpgroup *const warpgroup = warp->warpgroup;
    warpgroup->committed[warp->index % WGMMA_WARPS]++;
    uint32_t by_all = UINT32_MAX;
    for (uint32_t w = 0; w < WGMMA_WARPS; w++)
        by_all = warpgroup->committed[w] < by_all ? warpgroup->committed[w] : by_all;
    for (; warpgroup->launched < by_all; warpgroup->launched++)
        if (!launch(warpgroup, warpgroup->launched))
            return sim_out_of_memory(warp->machine);
    return SIM_NEXT;
}

/* The operations of groups before `groups` are over for this warp: it may touch their registers, and knows that their
 * reads of shared memory are done. */
static void finish_wait(struct sim_warp *warp, uint32_t groups) {
    struct sim_warpgroup *const warpgroup = warp->warpgroup;
    uint32_t *const waited = &warpgroup->waited[warp->index % WGMMA_WARPS];
    for (struct wgmma_operation *o = warpgroup->first; o && *waited < groups; o = o->next)
        if (o->group < groups)
            release(warp, o);
    if (*waited < groups)
        *waited = groups;
    recycle(warpgroup);
    if (groups)
        sim_clocks_raise(warp->cluster, &warp->known, warpgroup->agent, groups);
}

enum sim_next sim_do_wgmma_wait(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                                uint32_t mask) {
    enum sim_next next;
    if (!wgmma_check_warp(warp, path, i, mask, &next))
        return next;
    const struct sim_warpgroup *const warpgroup = warp->warpgroup;
    const uint32_t committed = warpgroup->committed[warp->index % WGMMA_WARPS];
    const uint64_t pending = (uint64_t)i->operand[0].value;
    const uint32_t groups = pending < committed ? committed - (uint32_t)pending : 0;
    if (warpgroup->landed < groups) {
        path->wait =
            (struct sim_wait){.kind = warpgroup->launched < groups ? SIM_WAIT_WGMMA_ISSUE : SIM_WAIT_WGMMA_GROUP,
                              .value = (uint32_t)pending,
                              .cta_rank = warp->cta->rank};
        return SIM_WAIT;
    }
    finish_wait(warp, groups);
    return SIM_NEXT;
}
