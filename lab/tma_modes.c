/* SPDX-License-Identifier: Apache-2.0 */
/* tma-modes and tma-phase: the image of shared memory that a TMA load leaves, in each swizzle mode and at each phase
 * of its pattern, against gm_swizzle_apply() on absolute addresses. */
#include <stdio.h>

#include "host/cuda_abi.h"
#include "lab/tma_image.h"

static const char *const mode_names[] = {"none", "32B", "64B", "128B"};

/* ---- tma-modes: buffers that begin on a multiple of 1024 ------------------------------------------- */

/* Boxes as wide as the span, or of any width without swizzle; 7 and 70 rows end in the middle of a pattern. */
static const struct {
    enum gm_swizzle_mode mode;
    uint32_t row_bytes, rows;
} boxes[] = {{GM_SWIZZLE_NONE, 16, 64},  {GM_SWIZZLE_NONE, 128, 64}, {GM_SWIZZLE_NONE, 256, 64},
             {GM_SWIZZLE_32B, 32, 64},   {GM_SWIZZLE_32B, 32, 70},   {GM_SWIZZLE_32B, 32, 256},
             {GM_SWIZZLE_64B, 64, 64},   {GM_SWIZZLE_64B, 64, 70},   {GM_SWIZZLE_64B, 64, 256},
             {GM_SWIZZLE_128B, 128, 7},  {GM_SWIZZLE_128B, 128, 64}, {GM_SWIZZLE_128B, 128, 70},
             {GM_SWIZZLE_128B, 128, 256}};

static const struct {
    int type;
    const char *name;
} wider[] = {{1, "u16"}, {2, "u32"}, {4, "u64"}};

static int setup_modes(struct lab *lab) {
    if (tma_open(lab) != 0)
        return -1;
    for (size_t i = 0; i < sizeof boxes / sizeof *boxes; i++) {
        struct tma_shot shot = tma_shot_of_bytes(boxes[i].mode, boxes[i].row_bytes, boxes[i].rows);
        shot.x = 48;
        shot.y = 5;
        if (!tma_add(lab, &shot, "the box's bytes at swizzle(address)", "%s, %u rows of %u bytes",
                     mode_names[boxes[i].mode], boxes[i].rows, boxes[i].row_bytes))
            return -1;
    }
    for (size_t i = 0; i < sizeof wider / sizeof *wider; i++) {
        struct tma_shot shot = tma_shot_of_bytes(GM_SWIZZLE_128B, 128, 64);
        shot.x = 48;
        shot = tma_as_elements(shot, wider[i].type);
        if (!tma_add(lab, &shot, "the same bytes as wider elements: the same image", "128B, 64 rows of 128 bytes as %s",
                     wider[i].name))
            return -1;
    }
    return 0;
}

static int conclude_modes(struct lab *lab) {
    const size_t correct = tma_count_correct(lab);
    lab_claim(
        lab, correct == lab->point_count, false,
        "Byte c of row r lies at swizzle(destination + r * row bytes + c) on absolute shared addresses: %zu of %zu "
        "images agree byte for byte, and what lies beside the box is untouched.",
        correct, lab->point_count);
    return 0;
}

const struct lab_experiment tma_modes = {
    .name = "tma-modes",
    .title = "TMA loads in the four swizzle modes",
    .question = "Where in shared memory does TMA put each byte of a box?",
    .page = "tma",
    .hopper = true,
    .setup = setup_modes,
    .prepare = tma_prepare,
    .check = tma_check,
    .conclude = conclude_modes,
};

/* ---- tma-phase: buffers that do not ---------------------------------------------------------------- */

/* Only multiples of 128 are legal destinations (PTX ISA, cp.async.bulk.tensor: shared memory aligned to 128 bytes), so
 * +16 and +64 are not run: the ISA leaves open what they would do. */
static int setup_phase(struct lab *lab) {
    enum { ROWS = 70 };
    if (tma_open(lab) != 0)
        return -1;
    for (int mode = GM_SWIZZLE_NONE; mode <= GM_SWIZZLE_128B; mode++) {
        const uint32_t pattern = gm_swizzle_pattern_bytes(mode);
        const uint32_t row_bytes = mode == GM_SWIZZLE_NONE ? 128 : gm_swizzle_span_bytes(mode);
        for (uint32_t offset = 0; offset < 1024; offset += 128) {
            struct tma_shot shot = tma_shot_of_bytes(mode, row_bytes, ROWS);
            shot.offset = offset;
            const uint32_t phase = offset % pattern;
            char change[sizeof((struct lab_point *)0)->change];
            snprintf(change, sizeof change, "%u bytes past a multiple of the pattern's %u: the XOR %s", phase, pattern,
                     phase ? "begins in its middle" : "begins at its start");
            if (!tma_add(lab, &shot, change, "%s at +%u", mode_names[mode], offset))
                return -1;
        }
    }
    return 0;
}

/* Points whose buffer begins in the middle of its mode's pattern. */
static int conclude_phase(struct lab *lab) {
    size_t shifted = 0, correct = 0;
    for (size_t i = 0; i < lab->point_count; i++) {
        const struct tma_shot *shot = tma_shot_of(lab, &lab->points[i]);
        const bool counts = shot->offset % gm_swizzle_pattern_bytes(shot->map.swizzle) != 0;
        shifted += counts;
        correct += counts && lab->points[i].result == LAB_CORRECT;
    }
    lab_claim(
        lab, correct == shifted, false,
        "The phase of the pattern comes from the absolute shared address, not from the start of the buffer: %zu of "
        "%zu buffers that begin in the middle of a pattern have the image of the absolute XOR.",
        correct, shifted);
    return 0;
}

const struct lab_experiment tma_phase = {
    .name = "tma-phase",
    .title = "Buffers that begin in the middle of a swizzle pattern",
    .question = "Does the XOR follow the absolute shared address or the start of the buffer?",
    .page = "swizzle",
    .hopper = true,
    .setup = setup_phase,
    .prepare = tma_prepare,
    .check = tma_check,
    .conclude = conclude_phase,
};
