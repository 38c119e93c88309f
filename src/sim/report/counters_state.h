/* SPDX-License-Identifier: Apache-2.0 */
/* What a launch has counted so far, and what is kept of the last one: shared by the files counters*.c only. */
#ifndef SIM_COUNTERS_STATE_H
#define SIM_COUNTERS_STATE_H

#include "sim/report/counters.h"

enum { SIM_COUNT_LOAD, SIM_COUNT_STORE, SIM_COUNT_DIRECTIONS };

/* Sums over the launch; plain numbers, so that keeping them is a copy. */
struct sim_totals {
    uint64_t wavefronts[SIM_SHARED_OPS], conflicts[SIM_SHARED_OPS], accesses[SIM_SHARED_OPS];
    uint64_t merged_conflicts;    /* of loads whose phases merge: the instruction's counter takes each for two */
    bool unknown[SIM_SHARED_OPS]; /* an access that the bank model does not have */
    bool partial_writes;          /* stores or atomics with lanes switched off */
    bool scattered_copies;        /* cp.async from a source that is not contiguous */
    uint64_t sectors[SIM_COUNT_DIRECTIONS], requests[SIM_COUNT_DIRECTIONS]; /* loads and stores of global memory */
    uint64_t global_accesses; /* warp-instructions on global memory of any kind, cp.async among them */
    uint64_t peer_bytes[SIM_COUNT_DIRECTIONS];
    uint64_t bulk_bytes[SIM_COUNT_DIRECTIONS], bulk_sectors[SIM_COUNT_DIRECTIONS];
    uint64_t received_sectors; /* of bulk loads: once for every CTA that a sector is delivered to */
    uint64_t class_instructions[SIM_CLASSES], class_lanes[SIM_CLASSES];
    uint64_t warps;
    bool unmodelled; /* wmma: what machine code makes of it is not known */
};

/* Of one instruction. */
struct sim_count_at {
    uint64_t wavefronts, conflicts, sectors, bytes;
    uint64_t accesses, ideal_wavefronts, requests, ideal_sectors;
    uint32_t width;
    uint32_t pattern; /* where in the cache of patterns its last access was found */
};

struct sim_counters {
    const struct ptx_function *function;
    struct sim_count_at *at; /* per pc; NULL until something is counted */
    struct sim_joins *joins; /* counters_join.c; likewise */
    uint64_t *results_read;  /* a bit per register row that some instruction reads; likewise */
    struct sim_totals totals;
};

/* The warp's counters, their tables ready. NULL: nothing is to be counted, or no memory, and then the launch ends. */
struct sim_counters *sim_counters_of(struct sim_warp *warp);

/* What is kept of the last launch that counted; `valid` is false when there was none. */
struct sim_kept {
    bool valid;
    struct sim_totals totals;
    struct gm_sim_line *lines; /* room for one for each instruction */
    size_t line_count;
    struct ptx_sources *sources;
    char *text;          /* the PTX, lines ended by '\n' until somebody asks for one */
    const char **starts; /* then: of every line, which end in NUL; NULL before */
    uint32_t text_lines;
};
extern struct sim_kept sim_kept;

/* ---- loads that the compiler of machine code joins (counters_join.c) -------------------------------------------- */

/* A load or store stands for `words` neighbours of 4 bytes beginning `before` bytes below its own address; 0 words: it
 * is part of another one and does not exist in machine code; 1: it is what it is. */
struct sim_join {
    uint8_t words, before;
};
struct sim_joins;
struct sim_joins *sim_joins_find(const struct ptx_function *function); /* NULL: no memory */
void sim_joins_free(struct sim_joins *joins);
struct sim_join sim_join_at(const struct sim_joins *joins, uint32_t pc);

#endif
