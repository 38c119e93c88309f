/* SPDX-License-Identifier: Apache-2.0 */
/* Where a descriptor says that an operand lies.
 *
 * Whatever the mode, an operand comes in pieces of 16 bytes at multiples of 16. Where they would be without a swizzle
 * depends on the descriptor but for its start address, and is kept in a table; the XOR works on the whole address. */
#include "sim/wgmma/wgmma.h"

#include <stdio.h>

#include "gristmill/smem.h"

enum { TABLES = 32 };

/* Offsets from the start address, before the swizzle. Launches are serialised, so one set of tables is enough. */
struct offset_table {
    uint64_t key;
    bool filled;
    uint32_t offset[WGMMA_PIECES_MAX];
};
static struct offset_table tables[TABLES];

/* In units of 16-bit elements; narrower and wider ones have their 16 bytes in the same places. The swizzle is its own
 * inverse: applied to where an operand at address 0 is read, it gives the address before the swizzle. */
static void fill_table(struct offset_table *table, const struct wgmma_matrix *matrix,
                       const struct gm_matrix_descriptor *fields) {
    const struct gm_swizzle swizzle = gm_swizzle_of_mode(fields->swizzle);
    const struct gm_wgmma_operand operand = {.size = sizeof operand,
                                             .major = matrix->mn_major ? GM_MN_MAJOR : GM_K_MAJOR,
                                             .element_bytes = 2,
                                             .rows = matrix->rows};
    struct gm_matrix_descriptor origin = *fields;
    origin.start = 0;
    origin.base_offset = 0;
    for (uint32_t piece = 0; piece < wgmma_pieces(matrix); piece++) {
        const uint32_t in_line = matrix->rows / 8;
        const uint32_t row = matrix->mn_major ? piece % in_line * 8 : piece / 2;
        const uint32_t k = matrix->mn_major ? piece / in_line : piece % 2 * 8;
        uint32_t address = 0;
        gm_wgmma_address(&origin, &operand, row, k, &address);
        table->offset[piece] = gm_swizzle_apply(swizzle, address);
    }
}

static const struct offset_table *table_of(const struct wgmma_matrix *matrix,
                                           const struct gm_matrix_descriptor *fields) {
    const uint64_t key = (uint64_t)fields->leading_bytes << 40 | (uint64_t)fields->stride_bytes << 16 |
                         (uint64_t)matrix->rows << 4 | (uint64_t)fields->swizzle << 1 | matrix->mn_major;
    struct offset_table *const table = &tables[(key * UINT64_C(0x9e3779b97f4a7c15)) >> 59];
    if (!table->filled || table->key != key) {
        fill_table(table, matrix, fields);
        table->key = key;
        table->filled = true;
    }
    return table;
}

uint32_t wgmma_span(const struct wgmma_matrix *matrix) {
    struct gm_matrix_descriptor fields = {.size = sizeof fields};
    if (gm_matrix_descriptor_decode(matrix->descriptor, &fields) != GM_OK || fields.swizzle == GM_SWIZZLE_NONE)
        return 0;
    return gm_swizzle_span_bytes(fields.swizzle);
}

bool wgmma_addresses(const struct wgmma_matrix *matrix, uint32_t addresses[WGMMA_PIECES_MAX], char *why, size_t bytes) {
    static const uint32_t masks[] = {
        [GM_SWIZZLE_NONE] = 0, [GM_SWIZZLE_32B] = 0x10, [GM_SWIZZLE_64B] = 0x30, [GM_SWIZZLE_128B] = 0x70};
    struct gm_matrix_descriptor fields = {.size = sizeof fields};
    if (gm_matrix_descriptor_decode(matrix->descriptor, &fields) != GM_OK) {
        snprintf(why, bytes, "%s", gm_last_error());
        return false;
    }
    const struct offset_table *const table = table_of(matrix, &fields);
    const uint32_t mask = masks[fields.swizzle], phase = fields.base_offset * 128;
    for (uint32_t piece = 0; piece < wgmma_pieces(matrix); piece++) {
        const uint32_t address = fields.start + table->offset[piece];
        addresses[piece] = address ^ ((address - phase) >> 3 & mask);
    }
    return true;
}
