/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of concurrent readers, each kept once: a cell names its set by number. */
#include <stdlib.h>
#include <string.h>

#include "sim/machine/machine.h"
#include "sim/memory/shadow_cell.h"

enum { SETS_MAX = 1 << 15, TABLE = 1 << 16 };

struct read_set {
    uint32_t first, count; /* of the members */
};

struct sim_read_sets {
    struct read_set *set;
    uint32_t count, room;
    struct sim_reader *member;
    uint32_t member_count, member_room;
    uint32_t *table; /* number + 1 by hash, open addressing; made when the first set is */
};

struct sim_read_sets *sim_read_sets_new(void) {
    return calloc(1, sizeof(struct sim_read_sets));
}

void sim_read_sets_free(struct sim_read_sets *sets) {
    if (!sets)
        return;
    free(sets->set);
    free(sets->member);
    free(sets->table);
    free(sets);
}

void sim_read_sets_reset(struct sim_read_sets *sets) {
    if (sets->count)
        memset(sets->table, 0, TABLE * sizeof *sets->table);
    sets->count = sets->member_count = 0;
}

uint32_t sim_readers_list(const struct sim_shadow *shadow, uint32_t word, struct sim_reader *members) {
    const uint64_t read = shadow->cell[word].read;
    if (read == 0)
        return 0;
    if (!(read & SIM_CELL_SET)) {
        members[0] = (struct sim_reader){read, shadow->read_trace[word]};
        return 1;
    }
    const struct read_set *set = &shadow->sets->set[(uint32_t)read];
    memcpy(members, &shadow->sets->member[set->first], set->count * sizeof *members);
    return set->count;
}

/* ---- interning -------------------------------------------------------------------------------------------------- */

/* Which lane it was matters only within a warp, and would make a set of its own for every word. */
static void forget_lane(struct sim_reader *member) {
    if (sim_cell_lane(member->bits) < SIM_LANE_COLLECTIVE)
        member->bits = (member->bits & ~SIM_CELL_LANE) | sim_cell_lane_bits(SIM_LANE_MIXED);
    member->trace |= (1u << SIM_TRACE_RUN_BITS) - 1; /* nor which run of the instruction */
}

/* By agent, so that the order of arrival makes no new set. */
static void sort_members(struct sim_reader *members, uint32_t count) {
    for (uint32_t m = 1; m < count; m++) {
        const struct sim_reader moved = members[m];
        uint32_t at = m;
        for (; at > 0 && (members[at - 1].bits >> 32) > (moved.bits >> 32); at--)
            members[at] = members[at - 1];
        members[at] = moved;
    }
}

static uint32_t hash_members(const struct sim_reader *members, uint32_t count) {
    uint64_t hash = count;
    for (uint32_t m = 0; m < count; m++)
        hash = ((hash ^ members[m].bits) * UINT64_C(0x9e3779b97f4a7c15) ^ hash >> 29) + members[m].trace;
    return (uint32_t)(hash >> 40) & (TABLE - 1);
}

static bool same_members(const struct sim_reader *a, const struct sim_reader *b, uint32_t count) {
    for (uint32_t m = 0; m < count; m++)
        if (a[m].bits != b[m].bits || a[m].trace != b[m].trace)
            return false;
    return true;
}

/* False: no memory. */
static bool grow(void **array, uint32_t *room, uint32_t needed, size_t size) {
    if (needed <= *room)
        return true;
    const uint32_t larger = 2 * needed + 64;
    void *grown = realloc(*array, larger * size);
    if (!grown)
        return false;
    *array = grown;
    *room = larger;
    return true;
}

/* Full: every cell keeps one reader of its set, and the sets begin anew. Races with the others go unseen. */
static void drop_sets(struct sim_shadow *shadow) {
    struct sim_reader members[SIM_READERS_MAX];
    for (uint32_t word = 0; word < shadow->words; word++) {
        if (!(shadow->cell[word].read & SIM_CELL_SET))
            continue;
        const uint32_t count = sim_readers_list(shadow, word, members);
        shadow->cell[word].read = members[count - 1].bits;
    }
    sim_read_sets_reset(shadow->sets);
}

/* False: no memory. */
static bool add_set(struct sim_read_sets *sets, const struct sim_reader *members, uint32_t count) {
    if (!grow((void **)&sets->set, &sets->room, sets->count + 1, sizeof *sets->set) ||
        !grow((void **)&sets->member, &sets->member_room, sets->member_count + count, sizeof *sets->member))
        return false;
    memcpy(&sets->member[sets->member_count], members, count * sizeof *members);
    sets->set[sets->count++] = (struct read_set){sets->member_count, count};
    sets->member_count += count;
    return true;
}

uint64_t sim_readers_intern(struct sim_shadow *shadow, struct sim_reader *members, uint32_t count,
                            const struct sim_reader *added) {
    struct sim_read_sets *sets = shadow->sets;
    if (!sets->table)
        sets->table = calloc(TABLE, sizeof *sets->table);
    if (!sets->table) {
        sim_out_of_memory(shadow->cta->machine);
        return added->bits;
    }
    if (count > SIM_READERS_MAX) {
        count = SIM_READERS_MAX;
        members[count - 1] = *added;
    }
    for (uint32_t m = 0; m < count; m++)
        forget_lane(&members[m]);
    sort_members(members, count);
    uint32_t slot = hash_members(members, count);
    for (; sets->table[slot]; slot = (slot + 1) & (TABLE - 1)) {
        const struct read_set *set = &sets->set[sets->table[slot] - 1];
        if (set->count == count && same_members(&sets->member[set->first], members, count))
            return SIM_CELL_SET | (sets->table[slot] - 1);
    }
    if (sets->count == SETS_MAX) {
        drop_sets(shadow);
        return added->bits;
    }
    if (!add_set(sets, members, count)) {
        sim_out_of_memory(shadow->cta->machine);
        return added->bits;
    }
    sets->table[slot] = sets->count;
    return SIM_CELL_SET | (sets->count - 1);
}
