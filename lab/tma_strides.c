/* SPDX-License-Identifier: Apache-2.0 */
/* tma-strides: rows that repeat or overlap in global memory, and tensors that begin on 16 bytes only. */
#include <stdio.h>

#include "lab/tma_image.h"

enum { ROWS = 70 };

static const char *const mode_names[] = {"none", "32B", "64B", "128B"};

/* Rows `stride` bytes apart; below the row's bytes they overlap, and at 0 they are all the same. */
static int add_stride(struct lab *lab, enum gm_swizzle_mode mode, uint32_t stride) {
    const uint32_t row_bytes = mode == GM_SWIZZLE_NONE ? 128 : gm_swizzle_span_bytes(mode);
    struct tma_shot shot = tma_shot_of_bytes(mode, row_bytes, ROWS);
    shot.map.strides[0] = stride;
    char change[sizeof((struct lab_point *)0)->change];
    snprintf(change, sizeof change, "a row begins %u bytes after the one before it", stride);
    return tma_add(lab, &shot, change, "%s, rows of %u bytes, stride %u", mode_names[mode], row_bytes, stride) ? 0 : -1;
}

static int add_address(struct lab *lab, enum gm_swizzle_mode mode, uint32_t address) {
    const uint32_t row_bytes = mode == GM_SWIZZLE_NONE ? 128 : gm_swizzle_span_bytes(mode);
    struct tma_shot shot = tma_shot_of_bytes(mode, row_bytes, ROWS);
    shot.map.address = address;
    return tma_add(lab, &shot, "the swizzle works on shared addresses: where global memory begins must not matter",
                   "%s, tensor at +%u", mode_names[mode], address)
               ? 0
               : -1;
}

static int setup(struct lab *lab) {
    static const uint32_t strides[] = {0, 16, 48, 64}, addresses[] = {0, 16, 48, 64, 112};
    if (tma_open(lab) != 0)
        return -1;
    for (size_t i = 0; i < sizeof strides / sizeof *strides; i++) {
        if (add_stride(lab, GM_SWIZZLE_NONE, strides[i]) != 0 || add_stride(lab, GM_SWIZZLE_128B, strides[i]) != 0)
            return -1;
    }
    for (int mode = GM_SWIZZLE_NONE; mode <= GM_SWIZZLE_128B; mode++) {
        for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++) {
            if (add_address(lab, mode, addresses[i]) != 0)
                return -1;
        }
    }
    return 0;
}

static int conclude(struct lab *lab) {
    size_t strides = 0, strides_right = 0, addresses = 0, addresses_right = 0;
    for (size_t i = 0; i < lab->point_count; i++) {
        const struct tma_shot *shot = tma_shot_of(lab, &lab->points[i]);
        const bool right = lab->points[i].result == LAB_CORRECT;
        if (shot->map.strides[0] < 128) {
            strides++;
            strides_right += right;
        } else if (shot->map.address % 128) {
            addresses++;
            addresses_right += right;
        }
    }
    lab_claim(
        lab, strides_right == strides, false,
        "The driver accepts a row stride of 0 and strides shorter than a row, and the images are right: %zu of %zu.",
        strides_right, strides);
    lab_claim(
        lab, addresses_right == addresses, false,
        "A tensor may begin on any multiple of 16 bytes in every swizzle mode; the image is the same: %zu of %zu.",
        addresses_right, addresses);
    return 0;
}

const struct lab_experiment tma_strides = {
    .name = "tma-strides",
    .title = "Repeated, overlapping and barely aligned rows",
    .question = "May the rows of a tensor map repeat or overlap, and may it begin on 16 bytes?",
    .page = "tma",
    .hopper = true,
    .setup = setup,
    .prepare = tma_prepare,
    .check = tma_check,
    .conclude = conclude,
};
