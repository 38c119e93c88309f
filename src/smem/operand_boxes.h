/* SPDX-License-Identifier: Apache-2.0 */
/* The boxes of an operand: where TMA writes its elements, and the descriptor that reads them. */
#ifndef GM_OPERAND_BOXES_H
#define GM_OPERAND_BOXES_H

#include "gristmill/smem.h"

/* Boxes of a legal rank-2 map, side by side along the inner index, one after the other in memory. */
struct gm_operand_boxes {
    enum gm_swizzle_mode swizzle;
    enum gm_major major;    /* K: inner = k, outer = row; MN: inner = row, outer = k */
    uint32_t element_bytes; /* of the map and the operand alike */
    uint32_t destination;   /* a multiple of 128 */
    uint32_t count;
    uint32_t inner_bytes; /* a row of one box */
    uint32_t outer;       /* rows of one box */
    uint32_t pitch, box_bytes;
};

enum { GM_BOXES_SENTENCE = 320 };

/* Writes why something cannot be; returns 0. */
int gm_boxes_refuse(char *why, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* 1; or 0 and why the map's boxes hold no operand of this kind, whatever the descriptor says. */
int gm_operand_boxes_of(const struct gm_descriptor_question *question, struct gm_operand_boxes *boxes, char *why);

/* Where TMA writes the element. */
uint32_t gm_operand_boxes_address(const struct gm_operand_boxes *boxes, uint32_t row, uint32_t k);

/* K steps and rows that the boxes hold. */
uint32_t gm_operand_boxes_k_steps(const struct gm_operand_boxes *boxes);
uint32_t gm_operand_boxes_rows(const struct gm_operand_boxes *boxes);

/* The descriptor and K step that read `rows` rows of the boxes: 1; or 0 and why there is none. */
int gm_operand_boxes_descriptor(const struct gm_operand_boxes *boxes, uint32_t rows,
                                struct gm_matrix_descriptor *descriptor, uint32_t *k_step_bytes, char *why);

#endif
