/* SPDX-License-Identifier: Apache-2.0 */
/* What the pictures of one access say and show alike. */
#ifndef PROGRAM_SMEM_DRAW_BANK_H
#define PROGRAM_SMEM_DRAW_BANK_H

#include "program/smem/draw_canvas.h"
#include "smem/bank.h"

/* Finds an access's phases, as masks of lanes. Returns how many there are; complains, and returns -1, where it is none. */
int bank_find_phases(const struct gm_access *access, struct gm_access_shape *shape, uint32_t phases[GM_LANES]);

/* What is accessed, and its wavefronts, ideal and conflicts. */
void bank_put_verdict(struct canvas *canvas, const struct gm_access *access, const struct gm_bank_map *map);

/* The ground of a lane, by eights. */
uint32_t bank_lane_ground(uint32_t lane);

#endif
