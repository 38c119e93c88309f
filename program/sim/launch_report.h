/* SPDX-License-Identifier: Apache-2.0 */
/* What a launch of a reader's kernel cost, by source line, and what would make shared memory cheaper. */
#ifndef PROGRAM_SIM_LAUNCH_REPORT_H
#define PROGRAM_SIM_LAUNCH_REPORT_H

#include "program/sim/simulator.h"

/* Accesses of one kind from one source line, or from one PTX line where there is no source. */
struct launch_row {
    const char *file; /* NULL: no source */
    uint32_t line;
    const char *access; /* "ld.shared" */
    uint32_t ptx_line;  /* the first */
    uint32_t width;
    uint64_t accesses, wavefronts, ideal, conflicts; /* shared memory */
    uint64_t requests, sectors, ideal_sectors;       /* global memory */
};

/* Prints the last launch's tables. 0, or -1 with a printed sentence. */
int launch_print_table(struct simulator *simulator);
/* Prints what launch_read_lines() reads, of the same lines. */
int launch_print_lines(struct simulator *simulator, FILE *out);
/* "copy.cu:12", or "PTX 88" without a source. */
void launch_place(const char *file, uint32_t line, char *text, size_t bytes);

/* ---- cures ------------------------------------------------------------------------------------------------------- */

/* The different accesses to shared memory of a launch. All zero: none yet. */
struct launch_accesses {
    struct launch_access *each; /* an open hash table */
    size_t count;
    bool full; /* there were more than are kept */
};
/* A gm_sim_access_fn: `accesses` is the struct. */
void launch_note_access(const struct gm_sim_access *access, void *accesses);
void launch_forget_accesses(struct launch_accesses *accesses);

/* For each array in shared memory with conflicts: the pad or the swizzle that removes some on these very addresses. */
void launch_print_cures(struct simulator *simulator, const struct gm_sim_ptx *ptx, size_t kernel,
                        uint32_t dynamic_bytes, const struct launch_accesses *accesses);

#endif
