/* SPDX-License-Identifier: Apache-2.0 */
/* tma-alignment: what a tensor costs that begins on 16 bytes instead of 128. */
#include <stdio.h>

#include "lab/tma_stream.h"

enum { PITCH = 256, SECTOR = 32 };

static const uint32_t addresses[] = {0, 16, 32, 64, 112};
enum { ADDRESSES = sizeof addresses / sizeof *addresses };

static const struct {
    enum gm_swizzle_mode mode;
    const char *name;
} modes[] = {{GM_SWIZZLE_NONE, "none"}, {GM_SWIZZLE_128B, "128B"}};
enum { MODES = sizeof modes / sizeof *modes };

/* Sectors that a row of 128 bytes touches: 4, or 5 where it begins in the middle of one. */
static uint32_t sectors_of_row(uint32_t address) {
    return (address + STREAM_ROW_BYTES + SECTOR - 1) / SECTOR - address / SECTOR;
}

static int setup(struct lab *lab) {
    if (stream_open(lab, PITCH) != 0)
        return -1;
    for (size_t m = 0; m < MODES; m++) {
        for (size_t i = 0; i < ADDRESSES; i++) {
            const struct stream_shot shot = {
                .cluster = 1, .swizzle = modes[m].mode, .address = addresses[i], .pitch = PITCH};
            char label[64], change[160];
            snprintf(label, sizeof label, "%s, +%u", modes[m].name, addresses[i]);
            snprintf(change, sizeof change, "every row of 128 bytes touches %u sectors in %u lines of 128",
                     sectors_of_row(addresses[i]), addresses[i] % 128 ? 2 : 1);
            struct lab_point *point = stream_add(lab, &shot, label, change);
            if (!point)
                return -1;
            const double rows = stream_delivered(lab) / STREAM_ROW_BYTES;
            lab_quantity(point, "sectors received", LAB_SECTORS_TMA_LD, rows * sectors_of_row(addresses[i]), 0.005);
        }
    }
    return 0;
}

static int conclude(struct lab *lab) {
    for (size_t m = 0; m < MODES; m++) {
        const struct lab_point *aligned = &lab->points[m * ADDRESSES];
        for (size_t i = 1; i < ADDRESSES; i++) {
            const double ratio = lab->points[m * ADDRESSES + i].us / aligned->us;
            lab_claim(lab, ratio < 2.0, true, "%s: a tensor at +%u takes %.2f of the time of one on 256 bytes.",
                      modes[m].name, addresses[i], ratio);
        }
    }
    return 0;
}

const struct lab_experiment tma_alignment = {
    .name = "tma-alignment",
    .title = "What 16-byte alignment costs",
    .question = "Is a tensor slower to load when its rows begin on 16 bytes instead of 128?",
    .page = "tma",
    .hopper = true,
    .setup = setup,
    .prepare = stream_prepare,
    .check = stream_check,
    .conclude = conclude,
    .teardown = stream_close,
};
