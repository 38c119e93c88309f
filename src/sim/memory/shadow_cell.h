/* SPDX-License-Identifier: Apache-2.0 */
/* The cells of the shadow and the access that goes over them: for shadow*.c, execute/transfer_shared.c,
 * copies/copy_async.c and copies/tile_origin.c. */
#ifndef SIM_SHADOW_CELL_H
#define SIM_SHADOW_CELL_H

#include "sim/machine/machine.h"
#include "sim/memory/shadow.h"

/*  A word's cell: two 64-bit words, so that neighbours are compared and copied at once.
 *
 *               0 .. 31        32 .. 43   44 .. 49   50        51       52 .. 55   56 .. 59       60 .. 63
 *      write    clock          agent      lane       async     atomic   bytes      initialised    tainted
 *      read     clock or set   agent      lane       is set    atomic   bytes      -              -
 *
 * write: the last write; `bytes` are those of the word that it covers. A byte that is neither initialised nor tainted
 * was never written. read: 0 (nobody since the last write), the one reader, or the number of an interned set of
 * readers. */
struct sim_cell {
    uint64_t write, read;
};

#define SIM_CELL_STAMP   ((UINT64_C(1) << 44) - 1) /* clock and agent */
#define SIM_CELL_LANE    (UINT64_C(63) << 44)
#define SIM_CELL_ASYNC   (UINT64_C(1) << 50)
#define SIM_CELL_SET     (UINT64_C(1) << 50)
#define SIM_CELL_ATOMIC  (UINT64_C(1) << 51)
#define SIM_CELL_BYTES   (UINT64_C(15) << 52)
#define SIM_CELL_INITIAL (UINT64_C(15) << 56)
#define SIM_CELL_TAINTED (UINT64_C(15) << 60)

enum {
    SIM_LANE_MIXED = 33, /* different bytes by different lanes: which of them is not kept */
    SIM_WHOLE_WORD = 15
};

static inline uint32_t sim_cell_clock(uint64_t bits) {
    return (uint32_t)bits;
}
static inline uint32_t sim_cell_agent(uint64_t bits) {
    return bits >> 32 & 0xfff;
}
static inline uint32_t sim_cell_lane(uint64_t bits) {
    return bits >> 44 & 63;
}
static inline uint32_t sim_cell_bytes(uint64_t bits) {
    return bits >> 52 & 15;
}
static inline uint64_t sim_cell_lane_bits(uint32_t lane) {
    return (uint64_t)lane << 44;
}
static inline uint64_t sim_cell_byte_bits(uint32_t bytes) {
    return (uint64_t)bytes << 52;
}

/* Where an access was made: the instruction's pc, and the last bits of the number that the warp gave this run of it. */
enum { SIM_TRACE_RUN_BITS = 10, SIM_TRACE_NO_PC = (1 << 22) - 1 };

struct sim_reader {
    uint64_t bits; /* as in a cell */
    uint32_t trace;
};

enum { SIM_READERS_MAX = 64 };

struct sim_shadow {
    struct sim_cell *cell;
    uint32_t *write_trace, *read_trace; /* of the last write, and of the last read */
    uint32_t words;
    struct sim_cta *cta;
    struct sim_read_sets *sets;
};

/* One access of a warp or a copy to one CTA's shared memory, span after span. The fields from `write_seen` on remember
 * the last verdict: neighbouring words nearly always were written and read by the same. */
struct sim_access {
    struct sim_shadow *shadow;
    struct sim_cta *cta;
    const struct sim_actor *actor;
    const uint32_t *known, *flushed; /* never NULL */
    uint64_t who;                    /* clock, agent, async or 0, atomic; without lane and bytes */
    uint32_t own_agent;              /* of the issuing warp */
    uint32_t trace;
    bool is_write;
    bool clean;                      /* nothing was reported */
    uint32_t never_written, tainted; /* bytes of words read: any */
    uint64_t write_seen;             /* a last write (whatever its lane) that needs no look any more */
    uint64_t read_seen;              /* a single reader (whatever its lane) likewise */
    uint64_t set_from, set_to;       /* reads: these readers and the actor are that set; writes: set_from is known */
};

void sim_access_begin(struct sim_access *access, struct sim_cta *cta, const struct sim_actor *actor, bool is_write);
/* [offset, offset + bytes) must lie in the CTA's shared memory. Words go to lanes, 1 << lane_shift each, from `lane`
 * on; SIM_ONE_LANE: all to one. */
enum { SIM_ONE_LANE = 31 };
void sim_access_span(struct sim_access *access, uint32_t offset, uint32_t bytes, uint32_t lane, uint32_t lane_shift);

/* Whole words, `bytes` from offset[lane] on for every lane of the mask. */
void sim_access_read_lanes(struct sim_access *access, const uint32_t offset[PTX_LANES], uint32_t mask, uint32_t bytes);
void sim_access_write_lanes(struct sim_access *access, const uint32_t offset[PTX_LANES], uint32_t mask, uint32_t bytes);

/* shadow_judge.c: one word, the long way. */
void sim_access_judge_read(struct sim_access *access, uint32_t word, uint32_t bytes, uint32_t lane);
void sim_access_judge_write(struct sim_access *access, uint32_t word, uint32_t bytes, uint32_t lane);

/* A whole word, the fast way. The caller then sets the word's trace. */
static inline bool sim_same_but_lane(uint64_t a, uint64_t b) {
    return ((a ^ b) & ~SIM_CELL_LANE) == 0;
}
static inline void sim_access_read_word(struct sim_access *access, struct sim_cell *cells, uint32_t word,
                                        uint32_t lane) {
    struct sim_cell *cell = &cells[word];
    const uint64_t who = access->who | sim_cell_byte_bits(SIM_WHOLE_WORD), mine = sim_cell_lane_bits(lane);
    const uint64_t before = cell->read & SIM_CELL_LANE;
    if (!sim_same_but_lane(cell->write, access->write_seen))
        sim_access_judge_read(access, word, SIM_WHOLE_WORD, lane);
    else if (cell->read == 0 || sim_same_but_lane(cell->read, access->read_seen))
        cell->read = who | mine;
    else if (sim_same_but_lane(cell->read, who)) /* the warp itself, at the same clock */
        cell->read = who | (before == mine || before == sim_cell_lane_bits(SIM_LANE_MIXED)
                                ? before
                                : sim_cell_lane_bits(SIM_LANE_COLLECTIVE));
    else if (cell->read == access->set_from)
        cell->read = access->set_to;
    else
        sim_access_judge_read(access, word, SIM_WHOLE_WORD, lane);
}
static inline void sim_access_write_word(struct sim_access *access, struct sim_cell *cells, uint32_t word,
                                         uint32_t lane) {
    struct sim_cell *cell = &cells[word];
    if ((cell->write == 0 || sim_same_but_lane(cell->write, access->write_seen)) &&
        (cell->read == 0 || sim_same_but_lane(cell->read, access->read_seen) || cell->read == access->set_from))
        *cell = (struct sim_cell){
            access->who | sim_cell_byte_bits(SIM_WHOLE_WORD) | SIM_CELL_INITIAL | sim_cell_lane_bits(lane), 0};
    else
        sim_access_judge_write(access, word, SIM_WHOLE_WORD, lane);
}
/* shadow_readers.c: sets of readers. `members` has room for SIM_READERS_MAX. */
struct sim_read_sets *sim_read_sets_new(void);
void sim_read_sets_free(struct sim_read_sets *sets);
void sim_read_sets_reset(struct sim_read_sets *sets);
uint32_t sim_readers_list(const struct sim_shadow *shadow, uint32_t word, struct sim_reader *members);
/* The cell's `read` for these; `*added` is the one that came last, kept when there is no room for all. */
uint64_t sim_readers_intern(struct sim_shadow *shadow, struct sim_reader *members, uint32_t count,
                            const struct sim_reader *added);

/* shadow_report.c */
void sim_shadow_report(struct sim_access *access, enum gm_sim_report_kind kind, uint32_t word, uint32_t lane,
                       uint64_t other, uint32_t other_trace);

#endif
