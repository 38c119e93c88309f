/* SPDX-License-Identifier: Apache-2.0 */
/* Where the bytes of a tile come from. Tensor loads leave a note of what they write; wgmma asks whether the elements
 * that its descriptor leads to lie in rows and columns of the tensor, as a matrix does. Nothing else would tell a wrong
 * swizzle or exchanged strides from a right one: all the bytes are there, only in another order. */
#ifndef SIM_TILE_ORIGIN_H
#define SIM_TILE_ORIGIN_H

#include "sim/machine/machine.h"

struct sim_box;

/* A tensor load of this box was issued to `offset` of the CTA's shared memory. */
void sim_tile_written(struct sim_cta *cta, uint32_t offset, const struct sim_box *box, uint32_t line);
void sim_tiles_free(struct sim_cta *cta);

/* Of 16 bytes in shared memory: their place in the tensor. */
struct sim_origin {
    int64_t x;               /* along the innermost dimension, in bytes, and those that go on with it */
    int64_t y;               /* along the next one, likewise; im2col: the pixel of the box, counted from 0 */
    uint64_t others;         /* map and further coordinates, mixed to one number */
    uint32_t span, line;     /* of the load: its swizzle's span (0: none), its line */
    uint32_t barrier, phase; /* the agent it reported to, and when: clocks.h */
    uint32_t tile;           /* where its box begins in shared memory */
};
/* False: no tensor load wrote them, or something else has since. */
bool sim_origin_of(const struct sim_cta *cta, uint32_t address, struct sim_origin *origin);

#endif
