/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes in shared memory: bounds, the shadow, uninitialised bytes, mbarriers in the way, counters. */
#include "sim/execute/transfer_shared.h"

#include "sim/barriers/barrier_state.h"
#include "sim/memory/shadow_cell.h"
#include "sim/report/counters.h"
#include "sim/report/report.h"

/* Inside the own CTA, aligned: nothing that needs a report. */
static inline bool is_plain(const struct sim_cta *cta, uint64_t address, uint32_t bytes, uint32_t align) {
    return address >= SIM_SHARED_RESERVED && address < cta->shared_bytes && bytes <= cta->shared_bytes - address &&
           (address & (align - 1)) == 0;
}

/* Words to a lane, as a shift. */
static uint32_t lane_shift(uint32_t bytes) {
    return (uint32_t)__builtin_ctz(bytes / 4);
}

/* ---- uninitialised and tainted bytes ---------------------------------------------------------------------------- */

enum { NEVER_WRITTEN = 1, TAINTED = 2 };

static uint32_t state_of(const struct sim_shadow *shadow, uint32_t offset, uint32_t bytes) {
    uint32_t state = 0;
    if (bytes == 4 && (shadow->cell[offset / 4].write & SIM_CELL_INITIAL) == SIM_CELL_INITIAL)
        return 0;
    for (uint32_t at = offset; at < offset + bytes; at++) {
        const uint64_t write = shadow->cell[at / 4].write;
        const bool tainted = write >> (60 + at % 4) & 1;
        state |= tainted ? TAINTED : write >> (56 + at % 4) & 1 ? 0 : NEVER_WRITTEN;
    }
    return state;
}

/* Some lane has read such bytes: which? */
static void examine_state(struct sim_warp *warp, const struct ptx_instruction *i, uint32_t bytes,
                          struct sim_lanes *lanes) {
    for (uint32_t left = lanes->shared; left; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        if (!lanes->at[lane] || !lanes->owner[lane]->shadow)
            continue;
        const uint32_t state = state_of(lanes->owner[lane]->shadow, lanes->offset[lane], bytes);
        if (state & NEVER_WRITTEN)
            sim_report(warp, i, SIM_REPORT_UNINITIALISED, lane, lanes->address[lane],
                       "reads %u bytes of shared memory at 0x%llx, not all of which were ever written", bytes,
                       (unsigned long long)lanes->address[lane]);
        else if (state & TAINTED)
            lanes->tainted |= 1u << lane;
    }
}

uint32_t sim_taint_read(const struct sim_lanes *lanes, uint32_t first, uint32_t bytes) {
    uint32_t tainted = 0;
    for (uint32_t left = lanes->shared & lanes->tainted; left; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        const struct sim_shadow *const shadow = lanes->owner[lane]->shadow;
        if (state_of(shadow, lanes->offset[lane] + first, bytes) & TAINTED)
            tainted |= 1u << lane;
    }
    return tainted;
}

void sim_taint_written(const struct sim_lanes *lanes, uint32_t mask, uint32_t first, uint32_t bytes) {
    for (uint32_t left = lanes->shared & mask; left; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        if (lanes->at[lane])
            sim_shadow_taint(lanes->owner[lane], lanes->offset[lane] + first, bytes);
    }
}

/* ---- lanes ------------------------------------------------------------------------------------------------------ */

/* The accesses of the lanes in turn; begun anew where the CTA changes. */
struct walk {
    struct sim_access access;
    struct sim_actor actor;
    struct sim_cta *cta;
    bool unclear; /* some lane has read bytes that are not initialised */
};

static void walk_to(struct walk *walk, struct sim_cta *cta, bool is_write) {
    walk->unclear |= walk->cta && (walk->access.never_written || walk->access.tainted);
    if (cta && cta->shadow)
        sim_access_begin(&walk->access, cta, &walk->actor, is_write);
    walk->cta = cta && cta->shadow ? cta : NULL;
}

static void locate_lane(struct sim_warp *warp, const struct ptx_instruction *i, int lane,
                        const struct sim_transfer *transfer, struct walk *walk, struct sim_lanes *lanes) {
    const uint64_t address = lanes->address[lane];
    struct sim_cta *owner = warp->cta;
    uint32_t offset = (uint32_t)address;
    if (!is_plain(owner, address, transfer->bytes, transfer->bytes)) {
        const uint32_t narrow = address > UINT32_MAX ? UINT32_MAX : offset; /* a 64-bit address is no shared one */
        if (!sim_shared_locate(warp, i, lane, narrow, transfer->bytes, transfer->bytes, &owner, &offset))
            return;
    }
    lanes->owner[lane] = owner;
    lanes->offset[lane] = offset;
    lanes->at[lane] = owner->shared + offset;
    if (transfer->is_write && !transfer->reads_too && owner != warp->cta)
        sim_progress(warp->cluster); /* the peer may wait for it in a loop */
    if (transfer->is_write && owner->mbarriers)
        sim_mbarrier_overwritten(warp, i, lane, owner, offset, transfer->bytes);
    if (walk->cta != owner)
        walk_to(walk, owner, transfer->is_write);
    if (walk->cta)
        sim_access_span(&walk->access, offset, transfer->bytes, (uint32_t)lane, SIM_ONE_LANE);
}

/* The lanes' offsets, as 32 bits; lanes that are off get that of one that is on. Then which bytes of shared memory they
 * reach: [*low, *high]. False: an address has more than 32 bits, or is not aligned. */
static bool survey(const uint64_t address[PTX_LANES], uint32_t mask, uint32_t bytes, uint32_t offset[PTX_LANES],
                   uint32_t *low, uint32_t *high) {
    const uint64_t first = address[__builtin_ctz(mask)];
    uint64_t any = first;
    for (uint32_t lane = 0; lane < PTX_LANES; lane++)
        offset[lane] = (uint32_t)address[lane];
    if (mask == UINT32_MAX) {
        for (uint32_t lane = 0; lane < PTX_LANES; lane++)
            any |= address[lane];
    } else {
        for (uint32_t off = ~mask; off; off &= off - 1)
            offset[__builtin_ctz(off)] = (uint32_t)first;
        for (uint32_t on = mask; on; on &= on - 1)
            any |= address[__builtin_ctz(on)];
    }
    uint32_t least = (uint32_t)first, most = (uint32_t)first;
    for (uint32_t lane = 0; lane < PTX_LANES; lane++) {
        least = offset[lane] < least ? offset[lane] : least;
        most = offset[lane] > most ? offset[lane] : most;
    }
    *low = least;
    *high = most + (bytes - 1);
    return any <= UINT32_MAX && (any & (bytes - 1)) == 0;
}

/* Where the CTA has ever had an mbarrier, it is told of the lanes' writes. */
static void tell_mbarriers(struct sim_warp *warp, const struct ptx_instruction *i, uint32_t mask, uint32_t bytes,
                           uint32_t low, uint32_t high, const struct sim_lanes *lanes) {
    const struct sim_mbarriers *mbarriers = warp->cta->mbarriers;
    if (!mbarriers || low >= mbarriers->high || high < mbarriers->low)
        return;
    for (uint32_t left = mask; left; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        sim_mbarrier_overwritten(warp, i, lane, warp->cta, lanes->offset[lane], bytes);
    }
}

/* Whole words of lanes anywhere in the own CTA, with nothing to report of their addresses. False: it is not so. */
static bool locate_plain(struct sim_warp *warp, const struct ptx_instruction *i, const struct sim_transfer *transfer,
                         uint32_t mask, bool side_by_side, struct walk *walk, struct sim_lanes *lanes) {
    struct sim_cta *cta = warp->cta;
    uint32_t low, high;
    if (transfer->bytes < 4 || !survey(lanes->address, mask, transfer->bytes, lanes->offset, &low, &high) ||
        low < SIM_SHARED_RESERVED || high >= cta->shared_bytes)
        return false;
    for (uint32_t lane = 0; lane < PTX_LANES; lane++)
        lanes->owner[lane] = cta;
    for (uint32_t lane = 0; lane < PTX_LANES; lane++)
        lanes->at[lane] = cta->shared + lanes->offset[lane];
    lanes->contiguous = side_by_side;
    if (transfer->is_write)
        tell_mbarriers(warp, i, mask, transfer->bytes, low, high, lanes);
    walk_to(walk, cta, transfer->is_write);
    if (!walk->cta)
        return true;
    if (side_by_side)
        sim_access_span(&walk->access, lanes->offset[0], transfer->bytes * PTX_LANES, 0, lane_shift(transfer->bytes));
    else if (transfer->is_write)
        sim_access_write_lanes(&walk->access, lanes->offset, mask, transfer->bytes);
    else
        sim_access_read_lanes(&walk->access, lanes->offset, mask, transfer->bytes);
    return true;
}

/* An atomic wants its word initialised although it writes it: looked at before the write makes it so. */
static void examine_atomic(struct sim_warp *warp, const struct ptx_instruction *i, const struct sim_transfer *transfer,
                           uint32_t mask, struct sim_lanes *lanes) {
    for (uint32_t left = mask; left; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        const uint64_t address = lanes->address[lane];
        struct sim_cta *owner = warp->cta;
        const uint32_t rank = (uint32_t)(address >> 24);
        if (rank && rank <= warp->cluster->cta_count)
            owner = &warp->cluster->ctas[rank - 1];
        if (!owner->shadow || !is_plain(owner, address & 0xffffff, transfer->bytes, transfer->bytes))
            continue;
        const uint32_t state = state_of(owner->shadow, (uint32_t)address & 0xffffff, transfer->bytes);
        if (state & NEVER_WRITTEN)
            sim_report(warp, i, SIM_REPORT_UNINITIALISED, lane, address,
                       "an atomic on shared memory at 0x%llx, which was never written", (unsigned long long)address);
        else if (state & TAINTED)
            lanes->tainted |= 1u << lane;
    }
}

static void count(struct sim_warp *warp, const struct ptx_instruction *i, const struct sim_transfer *transfer,
                  uint32_t mask, const struct sim_lanes *lanes) {
    uint32_t own = 0;
    for (uint32_t left = mask; left; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        own |= (uint32_t)(lanes->at[lane] && lanes->owner[lane] == warp->cta) << lane;
    }
    const enum sim_shared_op op = transfer->reads_too  ? SIM_SHARED_ATOMIC
                                  : transfer->is_write ? SIM_SHARED_STORE
                                                       : SIM_SHARED_LOAD;
    if (own)
        sim_count_shared(warp, i, op, lanes->address, own, transfer->bytes, transfer->increment, transfer->cas);
    if (mask & ~own)
        sim_count_peer(warp, i, transfer->is_write,
                       (uint64_t)transfer->bytes * (uint32_t)__builtin_popcount(mask & ~own));
}

void sim_locate_shared(struct sim_warp *warp, const struct ptx_instruction *i, const struct sim_transfer *transfer,
                       uint32_t mask, bool side_by_side, struct sim_lanes *lanes) {
    struct walk walk; /* `access` is begun when a CTA is walked to */
    walk.actor = sim_warp_actor(warp, i, 0, transfer->is_atomic);
    walk.cta = NULL;
    walk.unclear = false;
    if (transfer->reads_too)
        examine_atomic(warp, i, transfer, mask, lanes);
    if (!locate_plain(warp, i, transfer, mask, side_by_side, &walk, lanes)) {
        sim_lanes_nowhere(lanes, mask);
        for (uint32_t left = mask; left && !warp->machine->fault; left &= left - 1)
            locate_lane(warp, i, __builtin_ctz(left), transfer, &walk, lanes);
    }
    lanes->shared = mask;
    walk_to(&walk, NULL, false);
    if (walk.unclear)
        examine_state(warp, i, transfer->bytes, lanes);
    if (warp->machine->options && warp->machine->options->count)
        count(warp, i, transfer, mask, lanes);
}
