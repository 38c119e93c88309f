/* SPDX-License-Identifier: Apache-2.0 */
/* What the walk's kernel and its launches agree on. */
#ifndef LAB_TMA_WALK_H
#define LAB_TMA_WALK_H

#include <stdint.h>

enum { WALK_BOX_WORDS = 32, WALK_THREADS = 32 };

/* A stage is `boxes` boxes side by side, each 128 bytes x `box_rows` rows. */
struct walk_shape {
    uint32_t tiles, blocks; /* of box_rows rows; of `boxes` boxes along a row */
    uint32_t boxes, box_rows, stages;
    uint32_t sms, step; /* the SMs that take part: every step-th of the first `sms`; 0: a CTA of any */
};

#define WALK_BOX_BYTES(shape)   ((shape).box_rows * WALK_BOX_WORDS * 4)
#define WALK_STAGE_BYTES(shape) ((shape).boxes * WALK_BOX_BYTES(shape))

#endif
