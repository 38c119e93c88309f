/* SPDX-License-Identifier: Apache-2.0 */
/* What the single step shows of a stopped warp. */
#ifndef PROGRAM_SIM_STEP_SHOW_H
#define PROGRAM_SIM_STEP_SHOW_H

#include "program/sim/simulator.h"

/* "CTA 0,0,0 warp 4, lanes ffffffff, tick 512" and the PTX line. */
void step_show_place(const struct simulator *simulator, struct gm_sim_view *view);
/* `around` PTX lines before and behind the stopped one. */
void step_show_lines(const struct simulator *simulator, struct gm_sim_view *view, uint32_t around);
/* One value when all active lanes agree, else all 32. False: there is no such register. */
bool step_show_register(const struct simulator *simulator, struct gm_sim_view *view, const char *name);
/* Every register that the instruction reads and writes. */
void step_show_operands(const struct simulator *simulator, struct gm_sim_view *view);
/* `bytes` of shared memory, a bank line of 128 bytes a row; span 32, 64, 128: above each 16-byte chunk the logical
 * chunk that a swizzle of this span keeps there; 0: none. False: outside the CTA's shared memory. */
bool step_show_shared(const struct simulator *simulator, struct gm_sim_view *view, uint32_t address, uint32_t bytes,
                      uint32_t span);
void step_show_mbarriers(const struct simulator *simulator, struct gm_sim_view *view);

#endif
