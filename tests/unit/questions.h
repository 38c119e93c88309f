/* SPDX-License-Identifier: Apache-2.0 */
/* Questions about a tensor map and a matrix descriptor, for the tests of suggestion and comparison. */
#ifndef GM_UNIT_QUESTIONS_H
#define GM_UNIT_QUESTIONS_H

#include "gristmill/smem.h"
#include "unit.h"

#include <string.h>

#define DESTINATION 0x2400u /* a multiple of every pattern */

/* Boxes one span wide that hold `rows` rows and at least 64 bytes of k. */
struct gm_descriptor_question question_of(enum gm_swizzle_mode mode, enum gm_major major, uint32_t element_bytes,
                                          uint32_t rows);
/* Fills in the suggested descriptor and K step. */
void suggest(struct gm_descriptor_question *question);
struct gm_descriptor_answer answer_of(const struct gm_descriptor_question *question);

/* Elements read from elsewhere, counted once more from the definitions. */
uint32_t count_wrong(const struct gm_descriptor_question *question, uint32_t k_steps);

/* All modes, majors and element sizes that go together, with 64, 64 + row_step, .. 256 rows. */
typedef void each_question(struct gm_descriptor_question question);
void for_every_operand(each_question *visit, uint32_t row_step);

#endif
