/* SPDX-License-Identifier: Apache-2.0 */
/* Wavefronts and bank conflicts: every access to shared memory is put to the bank model (src/smem), whose answers are
 * remembered, since a kernel repeats a handful of patterns. */
#include <string.h>

#include "gristmill/smem.h"
#include "sim/report/counters_state.h"
#include "sim/report/watch.h"

/* ---- patterns ---------------------------------------------------------------------------------------------------- */

/*  What an access costs depends only on where its lanes lie relative to the line of 128 bytes that the first one is in:
 *
 *      line 0x4000: lane 0 at 0x4008, lane 1 at 0x4010, ...      key: 8, 16, ...
 */
enum { LINE_BYTES = 128, PATTERNS = 2048 };

struct pattern {
    uint32_t relative[PTX_LANES]; /* 0 for lanes that take no part */
    uint32_t mask;
    uint8_t kind, width; /* width 0: an empty place */
    bool merges;         /* a load of which neighbouring phases are served together */
    bool known;          /* the model has such an access */
    uint16_t wavefronts, ideal, conflicts;
};

/* Launches are serialised, so one cache serves all; an entry is the function of its key alone and never goes stale. */
static struct pattern patterns[PATTERNS];

static void fill_key(struct pattern *key, enum gm_access_kind kind, const uint64_t addresses[PTX_LANES], uint32_t mask,
                     uint32_t width) {
    const uint32_t line = (uint32_t)addresses[__builtin_ctz(mask)] & ~(uint32_t)(LINE_BYTES - 1);
    if (mask == UINT32_MAX) {
        for (uint32_t lane = 0; lane < PTX_LANES; lane++)
            key->relative[lane] = (uint32_t)addresses[lane] - line;
    } else {
        for (uint32_t lane = 0; lane < PTX_LANES; lane++)
            key->relative[lane] = ((uint32_t)addresses[lane] - line) & (0 - (mask >> lane & 1));
    }
    key->mask = mask;
    key->kind = (uint8_t)kind;
    key->width = (uint8_t)width;
}

static bool same_key(const struct pattern *a, const struct pattern *b) {
    return a->mask == b->mask && a->kind == b->kind && a->width == b->width &&
           memcmp(a->relative, b->relative, sizeof a->relative) == 0;
}

static uint32_t hash_key(const struct pattern *key) {
    uint32_t hash = key->mask * 0x9e3779b1u + key->kind * 0x85ebca6bu + key->width;
    for (uint32_t lane = 0; lane < PTX_LANES; lane++)
        hash += key->relative[lane] * (0x27d4eb2fu + 2 * 0x165667b1u * lane);
    return (hash ^ hash >> 15) * 0x2c1b3c6du >> 21; /* 11 bits: PATTERNS */
}

static struct gm_access access_of(const struct pattern *key) {
    struct gm_access access = {
        .size = sizeof access, .kind = (enum gm_access_kind)key->kind, .width = key->width, .inactive = ~key->mask};
    /* Lanes may lie below the line that the keys count from: whole lines more change nothing. */
    for (uint32_t lane = 0; lane < PTX_LANES; lane++)
        access.address[lane] = (key->relative[lane] + (1u << 28)) & 0x7fffffff;
    return access;
}

/* Asks the model. Stores take their phases one by one, so what they need tells whether a load's phases merge. */
static void answer(struct pattern *pattern) {
    struct gm_access access = access_of(pattern);
    struct gm_bank_cost cost = {.size = sizeof cost}, apart = {.size = sizeof apart};
    pattern->known = gm_bank_cost(&access, &cost) == GM_OK;
    pattern->wavefronts = pattern->known ? (uint16_t)cost.wavefronts : 0;
    pattern->ideal = pattern->known ? (uint16_t)cost.ideal : 0;
    pattern->conflicts = pattern->known ? (uint16_t)cost.conflicts : 0;
    pattern->merges = false;
    if (pattern->known && access.kind == GM_ACCESS_LOAD) {
        access.kind = GM_ACCESS_STORE;
        pattern->merges = gm_bank_cost(&access, &apart) == GM_OK && cost.ideal < apart.ideal;
    }
}

/* The pattern of the key; `*last` is where the instruction's previous access was, most often the same. */
static const struct pattern *find_pattern(struct pattern *key, uint32_t *last) {
    if (same_key(&patterns[*last], key))
        return &patterns[*last];
    *last = hash_key(key);
    if (!same_key(&patterns[*last], key)) {
        answer(key);
        patterns[*last] = *key;
    }
    return &patterns[*last];
}

/* ---- counting ---------------------------------------------------------------------------------------------------- */

/* Lanes may share a word only when nobody asks what it was: the result's register is the sink, or is never read. */
static bool result_is_used(const struct sim_counters *counters, const struct ptx_instruction *i) {
    for (uint16_t w = 0; w < i->writes_count; w++) {
        const uint32_t row = counters->function->touched[i->writes_first + w] / 128;
        if (counters->results_read[row / 64] >> row % 64 & 1)
            return true;
    }
    return false;
}

static enum gm_access_kind kind_of(const struct sim_counters *counters, const struct ptx_instruction *i,
                                   enum sim_shared_op op, bool increment, bool cas) {
    switch (op) {
    case SIM_SHARED_LOAD:
        return GM_ACCESS_LOAD;
    case SIM_SHARED_STORE:
        return GM_ACCESS_STORE;
    case SIM_SHARED_LDMATRIX:
        return GM_ACCESS_LDMATRIX;
    case SIM_SHARED_STMATRIX:
        return GM_ACCESS_STMATRIX;
    case SIM_SHARED_CP_ASYNC:
        return GM_ACCESS_CP_ASYNC;
    default:
        return cas ? GM_ACCESS_CAS : increment && !result_is_used(counters, i) ? GM_ACCESS_INCREMENT : GM_ACCESS_ATOMIC;
    }
}

static void add_pattern(struct sim_counters *counters, struct sim_count_at *at, enum sim_shared_op op,
                        const struct pattern *pattern) {
    struct sim_totals *totals = &counters->totals;
    at->wavefronts += pattern->wavefronts;
    at->conflicts += pattern->conflicts;
    at->ideal_wavefronts += pattern->ideal;
    at->accesses++;
    at->width = pattern->width > at->width ? pattern->width : at->width;
    totals->wavefronts[op] += pattern->wavefronts;
    totals->conflicts[op] += pattern->conflicts;
    totals->accesses[op]++;
    totals->unknown[op] |= !pattern->known;
    if (pattern->merges)
        totals->merged_conflicts += pattern->conflicts;
    if ((op == SIM_SHARED_STORE || op == SIM_SHARED_ATOMIC) && pattern->mask != UINT32_MAX)
        totals->partial_writes = true;
}

/* Tells who asked to be told. */
static void tell(const struct sim_warp *warp, uint32_t line, const uint64_t addresses[PTX_LANES],
                 const struct pattern *pattern) {
    const struct sim_watch *watch = warp->machine->watch;
    if (!watch || !watch->access || !pattern->known)
        return;
    struct gm_sim_access access = {.line = line,
                                   .cta = {warp->cta->id[0], warp->cta->id[1], warp->cta->id[2]},
                                   .warp = (int)warp->index,
                                   .kind = pattern->kind,
                                   .width = pattern->width,
                                   .mask = pattern->mask,
                                   .wavefronts = pattern->wavefronts,
                                   .ideal = pattern->ideal,
                                   .conflicts = pattern->conflicts};
    for (uint32_t lane = 0; lane < PTX_LANES; lane++)
        access.address[lane] = (uint32_t)addresses[lane];
    watch->access(&access, watch->access_arg);
}

/* Loads and stores that machine code does in one, `before` bytes below. */
static void move_down(uint64_t moved[PTX_LANES], const uint64_t addresses[PTX_LANES], uint32_t before) {
    for (uint32_t lane = 0; lane < PTX_LANES; lane++)
        moved[lane] = addresses[lane] - before;
}

void sim_count_shared(struct sim_warp *warp, const struct ptx_instruction *i, enum sim_shared_op op,
                      const uint64_t addresses[PTX_LANES], uint32_t mask, uint32_t bytes, bool increment, bool cas) {
    struct sim_counters *counters = sim_counters_of(warp);
    uint64_t moved[PTX_LANES];
    struct pattern key;
    if (!counters || !mask || op >= SIM_SHARED_WGMMA)
        return;
    if (op == SIM_SHARED_LOAD || op == SIM_SHARED_STORE) {
        const struct sim_join join = sim_join_at(counters->joins, i->pc);
        if (join.words == 0)
            return;
        if (join.words > 1) {
            move_down(moved, addresses, join.before);
            addresses = moved;
            bytes = 4u * join.words;
        }
    }
    fill_key(&key, kind_of(counters, i, op, increment, cas), addresses, mask, bytes);
    struct sim_count_at *at = &counters->at[i->pc];
    const struct pattern *pattern = find_pattern(&key, &at->pattern);
    add_pattern(counters, at, op, pattern);
    tell(warp, i->line, addresses, pattern);
}

void sim_count_wgmma(struct sim_warp *warp, const struct ptx_instruction *i, uint64_t wavefronts) {
    struct sim_counters *counters = sim_counters_of(warp);
    if (!counters)
        return;
    counters->at[i->pc].wavefronts += wavefronts;
    counters->at[i->pc].accesses++;
    counters->totals.wavefronts[SIM_SHARED_WGMMA] += wavefronts;
    counters->totals.accesses[SIM_SHARED_WGMMA]++;
}
