/* SPDX-License-Identifier: Apache-2.0 */
/* The rules: may this access of this word be made, by what its cell says of earlier ones? */
#include <string.h>

#include "sim/memory/shadow_cell.h"
#include "sim/sim.h"

/* How an earlier access is ordered before this one. */
enum order {
    KNOWN,     /* the actor knows that it is over: true for every lane */
    SAME_LANE, /* the lane itself made it: program order */
    NOWHERE    /* not at all: a race */
};

static bool is_known(const struct sim_access *access, uint64_t earlier) {
    return access->known[sim_cell_agent(earlier)] >= sim_cell_clock(earlier);
}

static enum order order_of(const struct sim_access *access, uint64_t earlier, uint32_t lane) {
    const uint32_t agent = sim_cell_agent(earlier), by = sim_cell_lane(earlier);
    if (is_known(access, earlier))
        return KNOWN;
    if (agent == access->own_agent && (by == SIM_LANE_MIXED || (by == lane && lane < SIM_LANE_COLLECTIVE)))
        return SAME_LANE;
    return NOWHERE;
}

/* The lanes of one instruction do not race with each other: one of them wins. */
static bool same_instruction(const struct sim_access *access, uint64_t write, uint32_t trace) {
    return trace == access->trace && ((write ^ access->who) & SIM_CELL_STAMP) == 0;
}

static bool both_atomic(const struct sim_access *access, uint64_t earlier) {
    return access->who & earlier & SIM_CELL_ATOMIC;
}

/* An access through the async proxy sees generic writes only after a proxy fence. */
static bool lacks_fence(const struct sim_access *access, uint64_t write) {
    return access->actor->proxy == SIM_PROXY_ASYNC && !(write & SIM_CELL_ASYNC) &&
           access->flushed[sim_cell_agent(write)] < sim_cell_clock(write);
}

/* ---- the last write --------------------------------------------------------------------------------------------- */

/* Against the last write. True: nothing stands against it, and no lane's access of a word with such a write needs to be
 * looked at again. */
static bool judge_last_write(struct sim_access *access, uint32_t word, uint32_t bytes, uint32_t lane, uint64_t write) {
    const uint32_t trace = access->shadow->write_trace[word];
    if (!(sim_cell_bytes(write) & bytes))
        return bytes == SIM_WHOLE_WORD;
    if (both_atomic(access, write))
        return bytes == SIM_WHOLE_WORD;
    if (access->is_write && same_instruction(access, write, trace))
        return false;
    const enum order order = order_of(access, write, lane);
    if (order == NOWHERE)
        sim_shadow_report(access, access->is_write ? SIM_REPORT_WRITE_BEFORE_WRITTEN : SIM_REPORT_READ_BEFORE_WRITTEN,
                          word, lane, write, trace);
    else if (lacks_fence(access, write))
        sim_shadow_report(access, SIM_REPORT_PROXY, word, lane, write, trace);
    else
        return order == KNOWN && bytes == SIM_WHOLE_WORD;
    return false;
}

/* ---- reads ------------------------------------------------------------------------------------------------------ */

/* The reader's lane when two accesses at one clock become one. */
static uint32_t join_lanes(uint64_t before, uint64_t mine) {
    if (sim_cell_lane(before) == sim_cell_lane(mine))
        return sim_cell_lane(mine);
    return sim_cell_bytes(before) == sim_cell_bytes(mine) && sim_cell_lane(before) != SIM_LANE_MIXED
               ? SIM_LANE_COLLECTIVE
               : SIM_LANE_MIXED;
}

/* Takes an earlier reader into the new one, if whoever comes after the new one comes after the earlier one as well: it
 * is known, or the same agent's. False: both must be kept. */
static bool absorb(const struct sim_access *access, uint64_t before, uint64_t *mine) {
    const bool known = is_known(access, before), same_agent = sim_cell_agent(before) == sim_cell_agent(*mine);
    if (((before ^ *mine) & SIM_CELL_STAMP) ==
        0) { /* one agent at one clock: all bytes count, nobody can tell them apart */
        const uint64_t lane = sim_cell_lane_bits(join_lanes(before, *mine));
        *mine =
            (before & SIM_CELL_STAMP) | lane | (before & *mine & SIM_CELL_ATOMIC) | ((before | *mine) & SIM_CELL_BYTES);
        return true;
    }
    if ((sim_cell_bytes(before) & ~sim_cell_bytes(*mine)) || (*mine & ~before & SIM_CELL_ATOMIC))
        return false;
    if (known)
        return true;
    if (!same_agent || sim_cell_clock(before) > sim_cell_clock(*mine))
        return false;
    *mine = (*mine & ~SIM_CELL_LANE) | sim_cell_lane_bits(join_lanes(before, *mine));
    return true;
}

/* Adds the reader to those of the cell. */
static uint64_t add_reader(struct sim_access *access, uint32_t word, uint64_t mine) {
    struct sim_reader members[SIM_READERS_MAX + 1], new = {mine, access->trace};
    const uint32_t count = sim_readers_list(access->shadow, word, members);
    uint32_t kept = 0;
    for (uint32_t m = 0; m < count; m++)
        if (!absorb(access, members[m].bits, &new.bits))
            members[kept++] = members[m];
    if (kept == 0)
        return new.bits;
    members[kept] = new;
    return sim_readers_intern(access->shadow, members, kept + 1, &new);
}

void sim_access_judge_read(struct sim_access *access, uint32_t word, uint32_t bytes, uint32_t lane) {
    struct sim_cell *cell = &access->shadow->cell[word];
    const uint64_t mine = access->who | sim_cell_byte_bits(bytes) | sim_cell_lane_bits(lane), before = cell->read;
    const uint32_t initialised = cell->write >> 56 & 15, tainted = cell->write >> 60;
    access->never_written |= bytes & ~(initialised | tainted);
    access->tainted |= bytes & tainted;
    if (judge_last_write(access, word, bytes, lane, cell->write))
        access->write_seen = cell->write;
    cell->read = before ? add_reader(access, word, mine) : mine;
    access->shadow->read_trace[word] = access->trace;
    access->set_from = UINT64_MAX; /* it may name a set that is no more */
    if (bytes != SIM_WHOLE_WORD || !before)
        return;
    if (cell->read & SIM_CELL_SET) {
        access->set_from = before;
        access->set_to = cell->read;
    } else if (!(before & SIM_CELL_SET) && cell->read == mine && is_known(access, before)) {
        access->read_seen = before;
    }
}

/* ---- writes ----------------------------------------------------------------------------------------------------- */

/* Against those who have read it since. True: all of them are known to be done, whatever the lane. */
static bool judge_readers(struct sim_access *access, uint32_t word, uint32_t bytes, uint32_t lane) {
    struct sim_reader members[SIM_READERS_MAX + 1];
    const uint32_t count = sim_readers_list(access->shadow, word, members);
    bool known = true;
    for (uint32_t m = 0; m < count; m++) {
        const uint64_t read = members[m].bits;
        if (!(sim_cell_bytes(read) & bytes) || both_atomic(access, read)) {
            known = false;
            continue;
        }
        const enum order order = order_of(access, read, lane);
        known &= order == KNOWN;
        if (order == NOWHERE) {
            sim_shadow_report(access, SIM_REPORT_WRITE_BEFORE_READ, word, lane, read, members[m].trace);
            break;
        }
    }
    return known;
}

/* A part of the word: what the same agent wrote at the same clock stays on record, together with this. */
static uint64_t joined_write(const struct sim_access *access, uint64_t before, uint32_t bytes, uint32_t lane) {
    const uint64_t mine = access->who | sim_cell_byte_bits(bytes) | sim_cell_lane_bits(lane);
    const uint64_t state = (before & ~(sim_cell_byte_bits(bytes) << 8) & SIM_CELL_TAINTED) |
                           ((before | sim_cell_byte_bits(bytes) << 4) & SIM_CELL_INITIAL);
    if (bytes == SIM_WHOLE_WORD || ((before ^ mine) & SIM_CELL_STAMP) != 0 || sim_cell_bytes(before) == bytes ||
        !sim_cell_bytes(before) || ((before ^ mine) & (SIM_CELL_ASYNC | SIM_CELL_ATOMIC)))
        return mine | state;
    const uint32_t joined_lane = sim_cell_lane(before) == lane ? lane : SIM_LANE_MIXED;
    return access->who | ((before | mine) & SIM_CELL_BYTES) | sim_cell_lane_bits(joined_lane) | state;
}

void sim_access_judge_write(struct sim_access *access, uint32_t word, uint32_t bytes, uint32_t lane) {
    struct sim_cell *cell = &access->shadow->cell[word];
    if (judge_last_write(access, word, bytes, lane, cell->write))
        access->write_seen = cell->write;
    if (cell->read) {
        if (judge_readers(access, word, bytes, lane) && bytes == SIM_WHOLE_WORD) {
            if (cell->read & SIM_CELL_SET)
                access->set_from = cell->read;
            else
                access->read_seen = cell->read;
        }
        if (bytes == SIM_WHOLE_WORD)
            cell->read = 0;
        else if (!(cell->read & SIM_CELL_SET)) /* the readers of the other bytes stay */
            cell->read &= sim_cell_bytes(cell->read) & ~bytes ? ~sim_cell_byte_bits(bytes) : 0;
    }
    cell->write = joined_write(access, cell->write, bytes, lane);
    access->shadow->write_trace[word] = access->trace;
}
