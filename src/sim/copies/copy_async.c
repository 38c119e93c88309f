/* SPDX-License-Identifier: Apache-2.0 */
/* cp.async: each lane copies 4, 8 or 16 bytes from global to shared memory, by the generic proxy. */
#include "sim/copies/copy_async.h"
#include "sim/memory/shadow_cell.h"

#include <stdlib.h>
#include <string.h>

struct async_copy {
    struct sim_copy copy;
    uint64_t serial; /* of the warp's copies, from 0 */
    uint32_t clock, mask, bytes;
    uint64_t from[PTX_LANES];
    uint32_t to[PTX_LANES];
    uint8_t read[PTX_LANES]; /* bytes to read; zeros follow */
};

/* ---- landing ---------------------------------------------------------------------------------------------------- */

static void copies_land(struct sim_copy *copy) {
    struct async_copy *c = (struct async_copy *)copy;
    struct sim_warp *warp = copy->issue.warp;
    for (uint32_t lanes = c->mask; lanes; lanes &= lanes - 1) {
        const int lane = __builtin_ctz(lanes);
        uint8_t *to = copy->writes->shared + c->to[lane];
        if (c->read[lane]) {
            const void *from = sim_global_read(warp, copy->issue.i, lane, c->from[lane], c->read[lane], 1);
            if (!from)
                return;
            memcpy(to, from, c->read[lane]);
        }
        memset(to + c->read[lane], 0, c->bytes - c->read[lane]);
    }
    sim_cp_async_landed(warp, c->clock, c->serial);
    if (sim_traced(warp->machine))
        sim_trace(warp->cta, warp, PTX_NONE, copy->issue.i->line, copy->issued, copy->flight.due, "copy",
                  "cp.async, %d lanes of %u bytes, from 0x%x on", __builtin_popcount(c->mask), c->bytes,
                  c->to[__builtin_ctz(c->mask)]);
}

/* ---- issue ------------------------------------------------------------------------------------------------------ */

/* Operands: [to], [from], bytes {, bytes to read or "ignore" predicate} {, cache policy}. */
static void find_reads(struct sim_warp *warp, const struct ptx_instruction *i, struct async_copy *c) {
    const bool hinted = i->choice[2] != 0;
    const struct ptx_operand *third = &i->operand[3];
    const bool is_policy = hinted && i->operand[4].kind == PTX_OPERAND_NONE;
    const bool is_predicate = i->operation->operands[3] != '?';
    uint32_t ignored = 0;
    if (is_predicate && third->kind == PTX_OPERAND_PREDICATE) {
        ignored = *(const uint32_t *)(const void *)(warp->registers + third->reg);
        ignored = third->negated ? ~ignored : ignored;
    } else if (is_predicate && third->kind == PTX_OPERAND_IMMEDIATE) {
        ignored = (third->value != 0) != third->negated ? UINT32_MAX : 0;
    }
    for (int lane = 0; lane < PTX_LANES; lane++) {
        const struct sim_issue issue = {warp, i, lane};
        uint32_t read = ignored >> lane & 1 ? 0 : c->bytes;
        if (!is_predicate && !is_policy && third->kind != PTX_OPERAND_NONE) {
            const uint32_t asked = sim_copy_value(&issue, third);
            read = asked < c->bytes ? asked : c->bytes; /* more than the copy's size is undefined */
        }
        c->read[lane] = (uint8_t)read;
    }
}

/* A lane's source is checked for its alignment even when nothing is read of it. */
static bool check_lane(const struct sim_issue *issue, const struct async_copy *c, uint64_t to, uint32_t *offset) {
    struct sim_cta *cta;
    if (c->from[issue->lane] % c->bytes) {
        sim_report(issue->warp, issue->i, SIM_REPORT_MISALIGNED, issue->lane, c->from[issue->lane],
                   "global address 0x%llx of a copy of %u bytes is not a multiple of them",
                   (unsigned long long)c->from[issue->lane], c->bytes);
        return false;
    }
    if (!sim_copy_locate(issue, to, c->bytes, c->bytes, &cta, offset))
        return false;
    if (cta == issue->warp->cta)
        return true;
    sim_report(issue->warp, issue->i, SIM_REPORT_ILLEGAL, issue->lane, to,
               "cp.async writes shared memory of its own CTA only, not of CTA %u", cta->rank);
    return false;
}

/* Checks all lanes; then marks what they will write, each as its own. */
static bool mark_lanes(struct sim_cp_async_state *state, const struct async_copy *c, const uint64_t to[PTX_LANES],
                       uint32_t offsets[PTX_LANES]) {
    struct sim_issue issue = c->copy.issue;
    struct sim_cta *cta = issue.warp->cta;
    for (uint32_t lanes = c->mask; lanes; lanes &= lanes - 1) {
        issue.lane = __builtin_ctz(lanes);
        if (!check_lane(&issue, c, to[issue.lane], &offsets[issue.lane]))
            return false;
        sim_mbarrier_overwritten(issue.warp, issue.i, issue.lane, cta, offsets[issue.lane], c->bytes);
        state->last[issue.lane] = c->clock;
    }
    const struct sim_actor actor =
        sim_copy_actor(&c->copy.issue, (struct sim_stamp){state->agent, c->clock}, SIM_PROXY_GENERIC, false);
    struct sim_access access;
    sim_access_begin(&access, cta, &actor, true);
    sim_access_write_lanes(&access, offsets, c->mask, c->bytes);
    return true;
}

static void count(const struct async_copy *c, const uint64_t to[PTX_LANES]) {
    struct sim_warp *warp = c->copy.issue.warp;
    uint32_t reading = 0;
    for (int lane = 0; lane < PTX_LANES; lane++)
        reading |= (uint32_t)(c->read[lane] != 0) << lane;
    if (c->copy.issue.i->choice[0] == 1) /* .cg is in none of the pipe's counters */
        sim_count_shared(warp, c->copy.issue.i, SIM_SHARED_CP_ASYNC, to, c->mask, c->bytes, false, false);
    if (reading & c->mask)
        sim_count_global(warp, c->copy.issue.i, false, c->from, reading & c->mask, c->bytes);
}

enum sim_next sim_do_cp_async(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i,
                              uint32_t mask) {
    (void)path;
    struct sim_cp_async_state *state = sim_cp_async_state(warp);
    const int64_t bytes = i->operand[2].value;
    const struct sim_issue issue = {warp, i, __builtin_ctz(mask)};
    if (!state)
        return SIM_FAULT;
    if (bytes != 16 && (i->choice[0] != 1 || (bytes != 4 && bytes != 8))) {
        sim_report(warp, i, SIM_REPORT_ILLEGAL, PTX_NONE, 0, "cp.async copies 4, 8 or 16 bytes, and .cg 16 only");
        return sim_copy_refused(warp);
    }
    struct async_copy *c = sim_copy_new(&issue, sizeof *c, copies_land);
    if (!c)
        return SIM_FAULT;
    uint64_t to[PTX_LANES];
    sim_copy_addresses(warp, i, 0, mask, to);
    sim_copy_addresses(warp, i, 1, mask, c->from);
    c->mask = mask;
    c->bytes = (uint32_t)bytes;
    c->clock = state->events + 1;
    c->copy.writes = warp->cta;
    find_reads(warp, i, c);
    if (!mark_lanes(state, c, to, c->to)) {
        free(c); /* not queued */
        return sim_copy_refused(warp);
    }
    c->serial = state->issued++;
    state->under_way[c->clock % SIM_CP_ASYNC_RING]++;
    state->total_under_way++;
    count(c, to);
    sim_copy_queue(&c->copy, SIM_LATENCY_GLOBAL_COPY, (uint64_t)c->bytes * (uint32_t)__builtin_popcount(mask));
    return SIM_NEXT;
}
