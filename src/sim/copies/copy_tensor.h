/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes of tensor maps, within copy_tensor*.c. */
#ifndef SIM_COPY_TENSOR_H
#define SIM_COPY_TENSOR_H

#include "sim/copies/copies.h"
#include "sim/copies/tensor_map.h"

enum { SIM_BOX_ROW_MAX = 256 * 8 }; /* bytes: 256 elements of 8 */

/* A box: rows of elements that are neighbours in the innermost dimension.
 *
 *            x = at[0]                              pitch
 *      0       |        dims[0]                |<----------->|
 *      |-------[--------|----]                 [ row 0  ] ... [ row 1  ] ...
 *              [first last)  ] row_bytes       in shared memory, the rows swizzled */
struct sim_box {
    struct sim_tensor_map map;
    int64_t at[SIM_TENSOR_RANK_MAX];         /* the first element, innermost first; im2col: the first pixel */
    uint32_t offset[3];                      /* im2col: the position inside the filter, W first */
    uint32_t delivered[SIM_TENSOR_RANK_MAX]; /* tiled: elements in each dimension */
    uint32_t rows, row_bytes, pitch;
    uint32_t flip_mask;   /* bits of a chunk's place that the swizzle flips */
    uint32_t first, last; /* of a row's bytes, [first, last) lie in the tensor */
    bool whole;           /* all elements lie in the tensor */
};

/* The row at which a walk through a box stands. */
struct sim_box_walk {
    int64_t at[SIM_TENSOR_RANK_MAX];
    uint32_t step[SIM_TENSOR_RANK_MAX];
};

/* Completes a box whose map, `at` and `offset` are set. */
void sim_box_measure(struct sim_box *box);
void sim_box_begin(const struct sim_box *box, struct sim_box_walk *walk);
void sim_box_next(const struct sim_box *box, struct sim_box_walk *walk);
/* Whether the row lies in the tensor (as far as its innermost coordinate does), and the address of its byte 0, which
 * may lie before the tensor. */
bool sim_box_row(const struct sim_box *box, const struct sim_box_walk *walk, uint64_t *address);
void sim_box_next_pixel(const struct sim_box *box, struct sim_box_walk *walk); /* copy_tensor_im2col.c */

/* Row `row` of a box at `offset` of shared memory. */
void sim_box_put(const struct sim_box *box, uint8_t *shared, uint32_t offset, uint32_t row, const uint8_t *from);
void sim_box_get(const struct sim_box *box, const uint8_t *shared, uint32_t offset, uint32_t row, uint8_t *to);

/* Marks what a load will write. */
void sim_box_mark_write(const struct sim_box *box, struct sim_cta *cta, uint32_t offset, const struct sim_actor *actor);
/* Marks what a store will read: what lies in the tensor. True: some of it was never written. */
bool sim_box_mark_read(const struct sim_box *box, struct sim_cta *cta, uint32_t offset, const struct sim_actor *actor);

/* "map[0] box {64,128} at (0,256)", for the trace. */
void sim_box_describe(const struct sim_box *box, uint64_t map_address, char *text, size_t bytes);

/* Stores and reductions. */
struct sim_tensor_issue {
    struct sim_issue issue;
    uint64_t map_address;
    const struct sim_box *box;
};
bool sim_tensor_store(const struct sim_tensor_issue *tensor, uint64_t from, enum sim_reduction_kind kind);

#endif
