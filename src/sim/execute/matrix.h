/* SPDX-License-Identifier: Apache-2.0 */
/* What the instructions on matrices share. */
#ifndef SIM_MATRIX_H
#define SIM_MATRIX_H

#include "sim/machine/machine.h"
#include "sim/report/report.h"

/* Waits until the warp's lanes are all at this instruction (false: SIM_WAIT); reports lanes that have exited. The
 * instruction is then done for all 32. */
bool sim_matrix_gather(struct sim_warp *warp, struct sim_path *path, const struct ptx_instruction *i);

/* The elements of a vector operand. */
const struct ptx_operand *sim_vector(const struct sim_warp *warp, const struct ptx_operand *vector);

/* Lanes of a register that stem from uninitialised memory. `keep`: in addition to those that do already. */
void sim_set_taint(struct sim_warp *warp, const struct ptx_operand *element, uint32_t lanes, bool keep);
uint32_t sim_taint_of(const struct sim_warp *warp, const struct ptx_operand *element);
/* The lanes of an accumulator register that 8 rows of A and 8 columns of B spoil, each a bit where it is uninitialised.
 * `parities`: the columns that the register holds, 1 even, 2 odd, 3 both (pairs). */
uint32_t sim_spoilt_lanes(uint32_t rows, uint32_t columns, uint32_t parities);

#endif
