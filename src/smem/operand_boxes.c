/* SPDX-License-Identifier: Apache-2.0 */
/* The boxes of an operand: where TMA writes its elements, and the descriptor that reads them.
 *
 *      K-major, 128B mode, bf16                     MN-major, 128B mode, bf16
 *      box 0        box 1                           box 0        box 1
 *      k 0 .. 63    k 64 .. 127                     m 0 .. 63    m 64 .. 127
 *      row 0        row 0            row = 128 B    k = 0        k = 0           row = 128 B
 *      row 1        row 1                           k = 1        k = 1
 *      ...          ...                             ...          ...
 *      K step: 32 bytes along a row                 K step: 16 rows down                                    */
#include "smem/operand_boxes.h"

#include <stdarg.h>

#include "smem/matrix_descriptor.h"
#include "host/tensor_map.h"
#include "host/text.h"

#define DESTINATION_ALIGNMENT 128u
#define SMEM_LIMIT            (1u << 18) /* what a descriptor's 14 bits of 16 bytes reach */
#define GROUP                 8u

int gm_boxes_refuse(char *why, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    gm_format(why, GM_BOXES_SENTENCE, format, arguments);
    va_end(arguments);
    return 0;
}

/* ---- what TMA writes ---------------------------------------------------------------------------- */

static int place(struct gm_operand_boxes *b, char *why) {
    const uint64_t end = b->destination + (uint64_t)b->count * b->box_bytes;
    if (b->destination % DESTINATION_ALIGNMENT)
        return gm_boxes_refuse(why, "the destination 0x%x is no multiple of the 128 bytes that TMA wants",
                               b->destination);
    if (b->count > 1 && b->box_bytes % DESTINATION_ALIGNMENT)
        return gm_boxes_refuse(why,
                               "a box has %u bytes, so the second would begin at 0x%x, no multiple of the 128 that TMA "
                               "wants",
                               b->box_bytes, b->destination + b->box_bytes);
    if (end > SMEM_LIMIT)
        return gm_boxes_refuse(why, "the boxes end at 0x%llx, beyond the 0x%x that a descriptor reaches",
                               (unsigned long long)end, SMEM_LIMIT);
    return 1;
}

int gm_operand_boxes_of(const struct gm_descriptor_question *question, struct gm_operand_boxes *boxes, char *why) {
    const struct gm_map_desc map = gm_map_desc_of(&question->map);
    char broken[sizeof((struct gm_rule *)0)->sentence];
    if (!gm_tensor_map_check(&map, broken, sizeof broken))
        return gm_boxes_refuse(why, "the tensor map is illegal: %s", broken);
    if (map.rank != 2)
        return gm_boxes_refuse(why, "a map of rank %u: only rank 2 can be compared", map.rank);
    const uint32_t element_bytes = gm_tensor_map_element_bytes(map.type);
    if (element_bytes != question->operand.element_bytes)
        return gm_boxes_refuse(why, "the map moves elements of %u bytes, the operand has %u", element_bytes,
                               question->operand.element_bytes);
    boxes->swizzle = question->map.swizzle;
    boxes->major = question->operand.major;
    boxes->element_bytes = element_bytes;
    boxes->destination = question->destination;
    boxes->count = question->boxes ? question->boxes : 1;
    boxes->inner_bytes = gm_tensor_map_delivered(&map, 0) * element_bytes;
    boxes->outer = gm_tensor_map_delivered(&map, 1);
    boxes->pitch = gm_tensor_map_row_pitch(&map);
    boxes->box_bytes = boxes->pitch * boxes->outer;
    return place(boxes, why);
}

uint32_t gm_operand_boxes_address(const struct gm_operand_boxes *b, uint32_t row, uint32_t k) {
    const uint32_t byte = (b->major == GM_K_MAJOR ? k : row) * b->element_bytes;
    const uint32_t line = b->major == GM_K_MAJOR ? row : k;
    const uint32_t address =
        b->destination + byte / b->inner_bytes * b->box_bytes + line * b->pitch + byte % b->inner_bytes;
    return gm_swizzle_apply(gm_swizzle_of_mode(b->swizzle), address);
}

uint32_t gm_operand_boxes_k_steps(const struct gm_operand_boxes *b) {
    const uint32_t k_bytes = b->major == GM_K_MAJOR ? b->count * b->inner_bytes : b->outer * b->element_bytes;
    return k_bytes / GM_WGMMA_K_BYTES;
}

uint32_t gm_operand_boxes_rows(const struct gm_operand_boxes *b) {
    return b->major == GM_K_MAJOR ? b->outer : b->count * b->inner_bytes / b->element_bytes;
}

/* ---- what reads it ------------------------------------------------------------------------------ */

/* Without a swizzle WGMMA reads rows 16 bytes apart, and TMA writes them as far apart as they are wide. With one both
 * keep rows a span apart; but what a row lacks of its span WGMMA must not ask for. */
static int is_wide_enough(const struct gm_operand_boxes *b, uint32_t rows, char *why) {
    const uint32_t span = gm_swizzle_span_bytes(b->swizzle);
    if (b->pitch != span)
        return gm_boxes_refuse(why,
                               "rows of the box lie %u bytes apart, and without a swizzle WGMMA reads rows 16 bytes "
                               "apart: the box must be %u elements wide",
                               b->pitch, span / b->element_bytes);
    if (b->swizzle && b->major == GM_K_MAJOR && b->inner_bytes < GM_WGMMA_K_BYTES)
        return gm_boxes_refuse(why, "a row of the box has %u bytes, and an instruction takes %u bytes of k",
                               b->inner_bytes, GM_WGMMA_K_BYTES);
    if (b->major == GM_MN_MAJOR && b->inner_bytes < span && b->inner_bytes < rows * b->element_bytes)
        return gm_boxes_refuse(why,
                               "a box holds %u of the %u rows, and WGMMA goes on to the next box after %u: the box "
                               "must be %u elements wide",
                               b->inner_bytes / b->element_bytes, rows, span / b->element_bytes,
                               span / b->element_bytes);
    return 1;
}

/* 8 rows on is SBO. Without a swizzle LBO leads to the next 16 bytes of k, which are the next box. */
static void describe_k_major(const struct gm_operand_boxes *b, struct gm_matrix_descriptor *d, uint32_t *k_step_bytes) {
    const int plain = b->swizzle == GM_SWIZZLE_NONE;
    d->stride_bytes = GROUP * b->pitch;
    d->leading_bytes = plain ? b->box_bytes : 16;                        /* 16: not used */
    *k_step_bytes = b->inner_bytes > GM_WGMMA_K_BYTES ? GM_WGMMA_K_BYTES /* along the row */
                    : plain                           ? 2 * b->box_bytes
                                                      : b->box_bytes;
}

/* 8 k on and the next box: SBO and LBO, which change places without a swizzle. */
static void describe_mn_major(const struct gm_operand_boxes *b, struct gm_matrix_descriptor *d,
                              uint32_t *k_step_bytes) {
    const uint32_t eight_on = GROUP * b->pitch;
    const int plain = b->swizzle == GM_SWIZZLE_NONE;
    d->stride_bytes = plain ? b->box_bytes : eight_on;
    d->leading_bytes = plain ? eight_on : b->box_bytes;
    *k_step_bytes = GM_WGMMA_K_BYTES / b->element_bytes / GROUP * eight_on;
}

int gm_operand_boxes_descriptor(const struct gm_operand_boxes *b, uint32_t rows,
                                struct gm_matrix_descriptor *descriptor, uint32_t *k_step_bytes, char *why) {
    const uint32_t k = GM_WGMMA_K_BYTES / b->element_bytes;
    if (!is_wide_enough(b, rows, why))
        return 0;
    if (b->major == GM_K_MAJOR && b->outer < rows)
        return gm_boxes_refuse(why, "the box has %u rows, the operand %u", b->outer, rows);
    if (b->major == GM_MN_MAJOR && b->outer < k)
        return gm_boxes_refuse(why, "the box is %u k deep, and an instruction takes %u", b->outer, k);
    *descriptor = (struct gm_matrix_descriptor){.size = sizeof *descriptor,
                                                .start = b->destination,
                                                .base_offset = 0, /* TMA and WGMMA take the phase from the address */
                                                .swizzle = b->swizzle};
    if (b->major == GM_K_MAJOR)
        describe_k_major(b, descriptor, k_step_bytes);
    else
        describe_mn_major(b, descriptor, k_step_bytes);
    return 1;
}
