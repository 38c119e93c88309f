/* SPDX-License-Identifier: Apache-2.0 */
/* wgmma-base-offset: operands that do not begin with their pattern, and the descriptor's base offset. */
#include <stdio.h>

#include "lab/wgmma_read.h"

static int add(struct lab *lab, enum gm_major major, enum gm_swizzle_mode swizzle, uint32_t line,
               uint32_t base_offset) {
    const struct wgmma_shot shot = {.descriptor = {.size = sizeof shot.descriptor,
                                                   .start = line * 128,
                                                   .leading_bytes = 8192,
                                                   .stride_bytes = gm_swizzle_pattern_bytes(swizzle),
                                                   .base_offset = base_offset,
                                                   .swizzle = swizzle},
                                    .major = major};
    const char *why = base_offset == 0      ? "the phase comes from the absolute address"
                      : base_offset == line ? "the phase counts from the start, as in a pattern that begins there"
                                            : "the phase counts from elsewhere";
    return wgmma_add(lab, &shot, 1, why, "%s-major, %uB, start + %u, base offset %u", major == GM_K_MAJOR ? "K" : "MN",
                     gm_swizzle_span_bytes(swizzle), line * 128, base_offset)
               ? 0
               : -1;
}

/* Both ways to read a buffer that begins at this line of the pattern. */
static int add_both(struct lab *lab, enum gm_major major, enum gm_swizzle_mode swizzle, uint32_t line) {
    return add(lab, major, swizzle, line, 0) == 0 && add(lab, major, swizzle, line, line) == 0 ? 0 : -1;
}

/* Lines and base offsets that tell minus from plus and from exclusive or. */
static const uint32_t odd[][2] = {{0, 1}, {0, 2}, {0, 3}, {0, 4}, {0, 5}, {0, 6}, {0, 7}, {5, 2}, {2, 5}, {3, 6}};

static int setup(struct lab *lab) {
    if (wgmma_open(lab) != 0)
        return -1;
    for (uint32_t line = 0; line < 8; line++) {
        const int status =
            line ? add_both(lab, GM_K_MAJOR, GM_SWIZZLE_128B, line) : add(lab, GM_K_MAJOR, GM_SWIZZLE_128B, 0, 0);
        if (status != 0)
            return -1;
    }
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        if (add(lab, GM_K_MAJOR, GM_SWIZZLE_128B, odd[i][0], odd[i][1]) != 0)
            return -1;
    }
    for (uint32_t line = 1; line <= 3; line++) {
        if (add_both(lab, GM_K_MAJOR, GM_SWIZZLE_64B, line) != 0)
            return -1;
    }
    if (add_both(lab, GM_K_MAJOR, GM_SWIZZLE_32B, 1) != 0 || add_both(lab, GM_MN_MAJOR, GM_SWIZZLE_128B, 1) != 0)
        return -1;
    return add_both(lab, GM_MN_MAJOR, GM_SWIZZLE_128B, 3);
}

/* Of the points with, or without, a base offset: how many there are, and for how many the law holds. */
static void count(const struct lab *lab, bool with_base_offset, enum wgmma_law law, size_t *points, size_t *holds) {
    *points = *holds = 0;
    for (size_t i = 0; i < lab->point_count; i++) {
        if ((wgmma_shot_of(lab, i)->descriptor.base_offset != 0) == with_base_offset) {
            ++*points;
            *holds += wgmma_law_holds(lab, i, law);
        }
    }
}

static int conclude(struct lab *lab) {
    size_t points, holds;
    count(lab, false, LAW_ABSOLUTE, &points, &holds);
    lab_claim(
        lab, holds == points, false,
        "With base offset 0 the phase of the XOR is that of the absolute address: %zu of %zu operands. So what TMA "
        "wrote at any multiple of 128 is read right without a base offset.",
        holds, points);
    count(lab, true, LAW_LESS_BASE_OFFSET, &points, &holds);
    lab_claim(
        lab, holds == points, false,
        "A base offset b moves the phase back by b lines of 128 bytes: %zu of %zu operands. With b = start / 128 mod 8 "
        "it reads a pattern that was laid out from the start of its buffer.",
        holds, points);
    return 0;
}

const struct lab_experiment wgmma_base_offset = {
    .name = "wgmma-base-offset",
    .title = "The base offset of a WGMMA descriptor",
    .question = "When is a base offset needed, and what does it do?",
    .page = "wgmma-descriptors",
    .hopper = true,
    .setup = setup,
    .prepare = wgmma_prepare,
    .check = wgmma_check,
    .conclude = conclude,
};
