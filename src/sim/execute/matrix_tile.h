/* SPDX-License-Identifier: Apache-2.0 */
/* What mma and wgmma are made of. All operands come in core matrices: 8 rows of 16 bytes. A register of a fragment is
 * one (lane 4 g + q holds bytes 4 q .. 4 q + 3 of row g), and so is what wgmma reads of shared memory at a time.
 *
 * Operands are widened to fp32 (in which products of any two of their elements are exact), multiplied with the sums of
 * one instruction kept apart, and these are then added to the accumulators. In the hardware the sums are cut off at
 * some bits below the largest product: results agree bit for bit where they are exact.
 *
 * Columns of a product are stored block by block of 8 columns: 0 2 4 6 1 3 5 7, because that is how a pair of
 * accumulator registers holds them: lane 4 g + q has columns 2 q and 2 q + 1 of row g in the one and the other. */
#ifndef SIM_MATRIX_TILE_H
#define SIM_MATRIX_TILE_H

#include "sim/machine/machine.h"

enum sim_element {
    SIM_ELEMENT_F16,
    SIM_ELEMENT_BF16,
    SIM_ELEMENT_TF32,
    SIM_ELEMENT_E4M3,
    SIM_ELEMENT_E5M2,
    SIM_ELEMENT_S8BIT,
    SIM_ELEMENT_U8BIT
};
enum sim_accumulator { SIM_ACCUMULATE_F32, SIM_ACCUMULATE_F16, SIM_ACCUMULATE_S32 };

enum { SIM_CORE_ROWS = 8, SIM_CORE_BYTES = 16, SIM_TILE_ROWS = 64, SIM_TILE_COLUMNS = 256, SIM_TILE_DEPTH = 32 };

uint32_t sim_element_bytes(enum sim_element element);

/* `count` elements, a multiple of 8, one after the other. */
void sim_widen(enum sim_element element, const void *from, float *to, uint32_t count);

/* Where column n of a product is stored. */
static inline uint32_t sim_column(uint32_t n) {
    return (n & ~7u) | (n & 1) << 2 | (n >> 1 & 3);
}

/* c[rows][columns] = a[rows][depth] * b[depth][columns], columns stored as said above in b and c. rows: a multiple of
 * 4; columns: of 8. */
void sim_multiply(const float *a, const float *b, float *c, uint32_t rows, uint32_t columns, uint32_t depth);

/* A fragment of 16 rows in `registers` registers becomes a[16][depth]; one of 8 columns becomes b[depth][8]. */
void sim_fragment_rows(enum sim_element element, const uint32_t *const *registers, uint32_t count, float *a);
void sim_fragment_columns(enum sim_element element, const uint32_t *const *registers, uint32_t count, float *b);

/* Adds 8 rows of a block of 8 columns, `stride` floats from row to row, to its accumulators: two registers, or one of
 * pairs for fp16 (then `odd` is not used). d = c + sums; c NULL: d = sums. */
struct sim_accumulators {
    uint32_t *d_even, *d_odd;
    const uint32_t *c_even, *c_odd;
};
void sim_accumulate(enum sim_accumulator type, const struct sim_accumulators *registers, const float *sums,
                    uint32_t stride, bool saturate);

#endif
