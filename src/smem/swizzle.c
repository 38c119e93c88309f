/* SPDX-License-Identifier: Apache-2.0 */
/* Swizzles: a field of address bits is XORed with another field of the same address.
 *
 *   S > 0   .....YYY..ZZZ....   Z ^= Y      Z: bits M .. M+B-1        Y: the bits S places above Z
 *   S < 0   .....ZZZ..YYY....   Z ^= Y      Y: bits M .. M+B-1        Z: the bits |S| places above Y
 *                     |<M>|
 *
 * Y stays as it is, so applying the map twice gives the address back; and since |S| >= B, Y and Z do not overlap. */
#include "host/error.h"
#include "gristmill/smem.h"

#include <stdlib.h>

static uint32_t distance(struct gm_swizzle swizzle) {
    return swizzle.shift < 0 ? 0u - (uint32_t)swizzle.shift : (uint32_t)swizzle.shift;
}

/* Small enough that no shift below leaves 32 bits. */
static int in_range(struct gm_swizzle swizzle) {
    return swizzle.bits <= 32 && swizzle.base <= 32 && distance(swizzle) <= 32 &&
           swizzle.bits + swizzle.base + distance(swizzle) <= 32;
}

static int fields_overlap(struct gm_swizzle swizzle) {
    return swizzle.bits != 0 && distance(swizzle) < swizzle.bits;
}

enum gm_status gm_swizzle_check(struct gm_swizzle swizzle) {
    if (!in_range(swizzle))
        return gm_fail(GM_ERROR_INVALID_ARGUMENT,
                       "Swizzle<%u,%u,%d> touches bits beyond the 32 of an address: B + M + |S| may be at most 32",
                       swizzle.bits, swizzle.base, swizzle.shift);
    if (fields_overlap(swizzle))
        return gm_fail(GM_ERROR_INVALID_ARGUMENT,
                       "Swizzle<%u,%u,%d> XORs a field of %u bits with one only %u places away: |S| must be at least B",
                       swizzle.bits, swizzle.base, swizzle.shift, swizzle.bits, distance(swizzle));
    return GM_OK;
}

/* A swizzle that gm_swizzle_check() refuses leaves the address alone. */
uint32_t gm_swizzle_apply(struct gm_swizzle swizzle, uint32_t address) {
    if (swizzle.bits == 0 || !in_range(swizzle) || fields_overlap(swizzle))
        return address;
    const uint32_t mask = (1u << swizzle.bits) - 1; /* B <= |S|, so B <= 16 */
    if (swizzle.shift > 0)
        return address ^ (address >> swizzle.shift & mask << swizzle.base);
    return address ^ (address & mask << swizzle.base) << -swizzle.shift;
}

struct gm_swizzle gm_swizzle_of_mode(enum gm_swizzle_mode mode) {
    return (struct gm_swizzle){.bits = mode <= GM_SWIZZLE_128B ? (uint32_t)mode : 0, .base = 4, .shift = 3};
}

uint32_t gm_swizzle_span_bytes(enum gm_swizzle_mode mode) {
    return mode <= GM_SWIZZLE_128B ? 16u << mode : 0;
}

uint32_t gm_swizzle_pattern_bytes(enum gm_swizzle_mode mode) {
    return mode <= GM_SWIZZLE_128B ? 128u << mode : 0;
}

enum gm_status gm_swizzle_of_elements(struct gm_swizzle bytes, uint32_t element_bytes, struct gm_swizzle *elements) {
    enum gm_status status = gm_swizzle_check(bytes);
    if (status != GM_OK)
        return status;
    if (!elements)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "elements is NULL");
    if (element_bytes == 0 || element_bytes > 16 || (element_bytes & (element_bytes - 1)))
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "an element of %u bytes: a power of two up to 16 is wanted",
                       element_bytes);
    uint32_t log2 = 0;
    while (1u << log2 < element_bytes)
        log2++;
    if (bytes.bits != 0 && bytes.base < log2)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT,
                       "Swizzle<%u,%u,%d> moves pieces of %u bytes, which cuts elements of %u", bytes.bits, bytes.base,
                       bytes.shift, 1u << bytes.base, element_bytes);
    *elements = bytes;
    elements->base = bytes.base > log2 ? bytes.base - log2 : 0;
    return GM_OK;
}
