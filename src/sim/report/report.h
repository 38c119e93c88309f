/* SPDX-License-Identifier: Apache-2.0 */
/* What the simulator found wrong, each with PTX line, CTA, warp, lane and address. */
#ifndef SIM_REPORT_H
#define SIM_REPORT_H

#include "host/cuda_abi.h"
#include "sim/machine/machine.h"

/* The kinds are SIM_REPORT_* in sim.h. Writes one report; the sentence gives the numbers ("the copy issued at line 210
 * has not been waited for"). One report per (kind, line): repeats are counted. `lane` PTX_NONE: no lane in particular.
 * Kinds that hardware traps on (sim_report_is_fault()) also set machine->fault, unless it is set already. `i` may be NULL:
 * no instruction (deadlock, exit). */
void sim_report(struct sim_warp *warp, const struct ptx_instruction *i, enum gm_sim_report_kind kind, int lane,
                uint64_t address, const char *format, ...) __attribute__((format(printf, 6, 7)));
/* Adds to a text, as far as there is room. */
void sim_append(char *text, size_t bytes, const char *format, ...) __attribute__((format(printf, 3, 4)));
bool sim_report_is_fault(enum gm_sim_report_kind kind);

/* Reads of tainted registers that matter: called by stores to global memory, by addresses, by branches. Reports
 * SIM_REPORT_UNINITIALISED when a lane of `mask` of the operand is tainted. */
void sim_check_defined(struct sim_warp *warp, const struct ptx_instruction *i, const struct ptx_operand *operand,
                       uint32_t mask, const char *what);

struct sim_reports {
    struct gm_sim_report *report;
    size_t count, room;
    uint64_t total;
};
void sim_reports_free(struct sim_reports *reports);

#endif
