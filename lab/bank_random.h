/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses that nobody chose. */
#ifndef LAB_BANK_RANDOM_H
#define LAB_BANK_RANDOM_H

#include "lab/bank_access.h"

/* Pattern `seed` of an instruction, always the same one: aligned addresses within BANK_REACH, more or less crowded,
 * and, where the instruction allows it, some lanes switched off. */
void bank_random_pattern(enum bank_instruction instruction, uint32_t seed, uint32_t address[GM_LANES],
                         uint32_t *inactive);

/* Points of patterns 0 .. count - 1. 0, or -1 with a printed sentence. */
int bank_add_random(struct lab *lab, enum bank_instruction instruction, uint32_t count);

#endif
