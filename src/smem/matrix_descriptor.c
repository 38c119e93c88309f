/* SPDX-License-Identifier: Apache-2.0 */
/* The 64-bit shared-memory descriptor of a WGMMA operand, and where WGMMA reads an element through it.
 *
 *   bits  0-13  start address / 16             bits 49-51  base offset: phase of the pattern, 0 .. 7
 *        16-29  leading byte offset / 16            62-63  swizzle: 0 none, 1 128B, 2 64B, 3 32B
 *        32-45  stride byte offset / 16             others 0                       [PTX ISA, wgmma; CuTe] */
#include "smem/matrix_descriptor.h"

#include "host/structs.h"

#define UNIT        16u
#define FIELD_MASK  UINT64_C(0x3fff)
#define FIELD_LIMIT (1u << 18)
#define START_BIT   0
#define LEADING_BIT 16
#define STRIDE_BIT  32
#define PHASE_BIT   49
#define MODE_BIT    62
#define GROUP       8u /* rows, or k, of a core matrix */

/* Indexed by enum gm_swizzle_mode; it is its own inverse. */
static const unsigned mode_code[] = {
    [GM_SWIZZLE_NONE] = 0, [GM_SWIZZLE_32B] = 3, [GM_SWIZZLE_64B] = 2, [GM_SWIZZLE_128B] = 1};

static enum gm_status check_field(const char *name, uint32_t bytes) {
    if (bytes % UNIT)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "the %s of %u bytes is no multiple of 16", name, bytes);
    if (bytes >= FIELD_LIMIT)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "the %s of %u bytes does not fit its 14 bits: at most %u", name,
                       bytes, FIELD_LIMIT - UNIT);
    return GM_OK;
}

static enum gm_status take_descriptor(const struct gm_matrix_descriptor **descriptor,
                                      struct gm_matrix_descriptor *today) {
    enum gm_status status = GM_TAKE(*descriptor, today, "descriptor");
    if (status != GM_OK)
        return status;
    const struct gm_matrix_descriptor *fields = *descriptor;
    status = check_field("start address", fields->start);
    if (status == GM_OK)
        status = check_field("leading byte offset", fields->leading_bytes);
    if (status == GM_OK)
        status = check_field("stride byte offset", fields->stride_bytes);
    if (status != GM_OK)
        return status;
    if (fields->base_offset > 7)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "the base offset %u is not one of 0 to 7", fields->base_offset);
    if ((unsigned)fields->swizzle > GM_SWIZZLE_128B)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "swizzle mode %d is not one of 0 to 3", (int)fields->swizzle);
    return GM_OK;
}

enum gm_status gm_matrix_descriptor_encode(const struct gm_matrix_descriptor *fields, uint64_t *bits) {
    struct gm_matrix_descriptor today;
    enum gm_status status = take_descriptor(&fields, &today);
    if (status != GM_OK)
        return status;
    if (!bits)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "bits is NULL");
    *bits = (uint64_t)(fields->start / UNIT) << START_BIT | (uint64_t)(fields->leading_bytes / UNIT) << LEADING_BIT |
            (uint64_t)(fields->stride_bytes / UNIT) << STRIDE_BIT | (uint64_t)fields->base_offset << PHASE_BIT |
            (uint64_t)mode_code[fields->swizzle] << MODE_BIT;
    return GM_OK;
}

static uint32_t field_bytes(uint64_t bits, int at) {
    return (uint32_t)(bits >> at & FIELD_MASK) * UNIT;
}

enum gm_status gm_matrix_descriptor_decode(uint64_t bits, struct gm_matrix_descriptor *fields) {
    const uint64_t known = FIELD_MASK << START_BIT | FIELD_MASK << LEADING_BIT | FIELD_MASK << STRIDE_BIT |
                           UINT64_C(7) << PHASE_BIT | UINT64_C(3) << MODE_BIT;
    enum gm_status status = GM_CHECK_OUTPUT(fields, "descriptor");
    if (status != GM_OK)
        return status;
    if (bits & ~known)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "0x%016llx sets bit %d, which belongs to no field of a descriptor",
                       (unsigned long long)bits, __builtin_ctzll(bits & ~known));
    const struct gm_matrix_descriptor found = {.start = field_bytes(bits, START_BIT),
                                               .leading_bytes = field_bytes(bits, LEADING_BIT),
                                               .stride_bytes = field_bytes(bits, STRIDE_BIT),
                                               .base_offset = (uint32_t)(bits >> PHASE_BIT & 7),
                                               .swizzle = (enum gm_swizzle_mode)mode_code[bits >> MODE_BIT]};
    GM_OUTPUT(fields, &found);
    return GM_OK;
}

/* ---- where an element is read ------------------------------------------------------------------- */

enum gm_status gm_wgmma_operand_check(const struct gm_wgmma_operand *operand) {
    const uint32_t bytes = operand->element_bytes;
    if ((unsigned)operand->major > GM_MN_MAJOR)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "major %d is neither 0 (K) nor 1 (MN)", (int)operand->major);
    if (bytes != 1 && bytes != 2 && bytes != 4)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "WGMMA has no elements of %u bytes, only of 1, 2 and 4", bytes);
    if (operand->major == GM_MN_MAJOR && bytes != 2)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "an MN-major operand has elements of 2 bytes, not %u", bytes);
    if (operand->rows < 8 || operand->rows > 256 || operand->rows % 8)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "an operand has 8, 16, .. 256 rows along M or N, not %u",
                       operand->rows);
    return GM_OK;
}

/*  Without a swizzle the operand is made of core matrices, 8 rows of 16 bytes one right below the other; with one, of
 *  8 rows as wide as the span:
 *
 *      major  swizzle   a row is       the next row   8 rows on   the next column of the same row
 *      K      none      16 bytes of k  + 16           + SBO       + LBO   (16 bytes of k)
 *      K      span      span of k      + span         + SBO       none: one instruction stays within the span
 *      MN     none      16 bytes of m  + 16           + LBO       + SBO   (16 bytes of m)
 *      MN     span      span of m      + span         + SBO       + LBO   (a span of m)
 *
 *  where a row of an MN-major operand is one k, and its m runs along the row. */
static uint32_t unswizzled_address(const struct gm_matrix_descriptor *d, const struct gm_wgmma_operand *operand,
                                   uint32_t row, uint32_t k) {
    const int mn = operand->major == GM_MN_MAJOR, plain = d->swizzle == GM_SWIZZLE_NONE;
    const uint32_t width = gm_swizzle_span_bytes(d->swizzle);
    const uint32_t line = mn ? k : row, byte = (mn ? row : k) * operand->element_bytes;
    const uint32_t eight_on = mn && plain ? d->leading_bytes : d->stride_bytes;
    const uint32_t next_column = mn && plain ? d->stride_bytes : d->leading_bytes;
    return d->start + line % GROUP * width + line / GROUP * eight_on + byte % width + byte / width * next_column;
}

/* The XOR takes its phase from the address itself; a base offset moves it back by that many lines of 128 bytes. */
static uint32_t swizzled_address(enum gm_swizzle_mode mode, uint32_t base_offset, uint32_t address) {
    const uint32_t line = address - base_offset * 128;
    return address ^ line ^ gm_swizzle_apply(gm_swizzle_of_mode(mode), line);
}

uint32_t gm_wgmma_element(const struct gm_matrix_descriptor *d, const struct gm_wgmma_operand *operand, uint32_t row,
                          uint32_t k) {
    return swizzled_address(d->swizzle, d->base_offset, unswizzled_address(d, operand, row, k));
}

enum gm_status gm_wgmma_address(const struct gm_matrix_descriptor *descriptor, const struct gm_wgmma_operand *operand,
                                uint32_t row, uint32_t k, uint32_t *address) {
    struct gm_matrix_descriptor descriptor_today;
    struct gm_wgmma_operand operand_today;
    enum gm_status status = take_descriptor(&descriptor, &descriptor_today);
    if (status == GM_OK)
        status = GM_TAKE(operand, &operand_today, "operand");
    if (status == GM_OK)
        status = gm_wgmma_operand_check(operand);
    if (status != GM_OK)
        return status;
    if (!address)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "address is NULL");
    if (row >= operand->rows || k >= GM_WGMMA_K_BYTES / operand->element_bytes)
        return gm_fail(GM_ERROR_INVALID_ARGUMENT, "element (%u, %u) lies outside an instruction's operand of %u x %u",
                       row, k, operand->rows, GM_WGMMA_K_BYTES / operand->element_bytes);
    *address = gm_wgmma_element(descriptor, operand, row, k);
    return GM_OK;
}
