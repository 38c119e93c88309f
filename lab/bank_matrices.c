/* SPDX-License-Identifier: Apache-2.0 */
/* ldmatrix, stmatrix: 8 x 8 matrices in tiles of several pitches, plain, padded and swizzled. */
#include <stdio.h>

#include "lab/bank_access.h"
#include "lab/bank_random.h"

/* 16 rows each. */
static const struct {
    const char *name, *why;
    uint32_t row_bytes, pitch_bytes;
    enum gm_swizzle_mode swizzle;
} layouts[] = {
    {"128-byte rows", "all rows begin on bank 0", 128, 128, GM_SWIZZLE_NONE},
    {"128-byte rows padded to 144", "the pitch in 16-byte chunks is odd", 128, 144, GM_SWIZZLE_NONE},
    {"128-byte rows, 128B swizzle", "eight rows in eight chunk columns", 128, 128, GM_SWIZZLE_128B},
    {"64-byte rows", "two rows a line", 64, 64, GM_SWIZZLE_NONE},
    {"64-byte rows padded to 80", "the pitch in 16-byte chunks is odd", 64, 80, GM_SWIZZLE_NONE},
    {"64-byte rows, 64B swizzle", "every second row moves on", 64, 64, GM_SWIZZLE_64B},
    {"32-byte rows", "four rows a line", 32, 32, GM_SWIZZLE_NONE},
    {"32-byte rows, 32B swizzle", "every fourth row moves on", 32, 32, GM_SWIZZLE_32B},
};

/* Lane l at row l mod 16, chunk l / 16: the A fragment of mma.m16n8k16. Rows 0-7 are all that x1 looks at. For x2 the
 * second matrix lies beside the first, as the B fragment wants it. */
static int add_layout(struct lab *lab, enum bank_instruction instruction, size_t layout) {
    const bool x2 = instruction == LDMATRIX_X2 || instruction == STMATRIX_X2;
    const struct gm_smem_tile tile = {.size = sizeof tile,
                                      .rows = 16,
                                      .row_bytes = layouts[layout].row_bytes,
                                      .pitch_bytes = layouts[layout].pitch_bytes,
                                      .swizzle = gm_swizzle_of_mode(layouts[layout].swizzle)};
    uint32_t address[GM_LANES];
    for (uint32_t lane = 0; lane < GM_LANES; lane++) {
        const uint32_t row = x2 ? lane % 8 : lane % 16, chunk = x2 ? lane / 8 % 2 : lane / 16;
        if (gm_smem_tile_address(&tile, row, chunk * 16, &address[lane]) != GM_OK)
            return gpu_fail_library(GM_ERROR_INVALID_ARGUMENT, "gm_smem_tile_address");
    }
    return bank_add(lab, instruction, address, 0, layouts[layout].why, "%s, %s", bank_name(instruction),
                    layouts[layout].name)
               ? 0
               : -1;
}

static int add_layouts(struct lab *lab, enum bank_instruction first, enum bank_instruction last) {
    for (int instruction = (int)first; instruction <= (int)last; instruction++) {
        for (size_t layout = 0; layout < sizeof layouts / sizeof *layouts; layout++) {
            if (add_layout(lab, (enum bank_instruction)instruction, layout) != 0)
                return -1;
        }
    }
    return 0;
}

static int setup_ldmatrix(struct lab *lab) {
    return bank_open(lab) == 0 ? add_layouts(lab, LDMATRIX_X1, LDMATRIX_X4_TRANS) : -1;
}

/* And rows at random, which random-access, not a Hopper experiment, leaves out. */
static int setup_stmatrix(struct lab *lab) {
    if (bank_open(lab) != 0 || add_layouts(lab, STMATRIX_X1, STMATRIX_X4_TRANS) != 0)
        return -1;
    for (int instruction = STMATRIX_X1; instruction <= STMATRIX_X4; instruction++) {
        if (bank_add_random(lab, instruction, 4) != 0)
            return -1;
    }
    return 0;
}

const struct lab_experiment ldmatrix = {
    .name = "ldmatrix",
    .title = "ldmatrix on plain, padded and swizzled tiles",
    .question = "Which layouts of a tile can ldmatrix read without conflicts?",
    .page = "vectors",
    .setup = setup_ldmatrix,
    .prepare = bank_prepare,
    .check = bank_check,
    .conclude = bank_conclude,
};

const struct lab_experiment stmatrix = {
    .name = "stmatrix",
    .title = "stmatrix on plain, padded and swizzled tiles",
    .question = "Does stmatrix follow the same rule as ldmatrix?",
    .page = "vectors",
    .hopper = true,
    .races_on_purpose = true,
    .setup = setup_stmatrix,
    .prepare = bank_prepare,
    .check = bank_check,
    .conclude = bank_conclude,
};
