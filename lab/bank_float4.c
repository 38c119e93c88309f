/* SPDX-License-Identifier: Apache-2.0 */
/* float4-pad: a column of a tile of 32 x 32 floats, read 16 bytes a lane, and which pad helps. */
#include <stdio.h>

#include "lab/bank_access.h"

enum { ROWS = 32, ROW_BYTES = 128 };

/* Each reads the same 512 bytes: 16 of every row, from column 0 on. */
static const struct {
    const char *label, *why;
    enum bank_instruction instruction;
    uint32_t pad_bytes;
    bool swizzled;
} ways[] = {
    {"v4, no pad", "eight lanes of a phase in one chunk column", LOAD_V4, 0, false},
    {"v4, pad of 4 words", "the pitch of 9 chunks is odd", LOAD_V4, 16, false},
    {"v4, pad of 8 words", "the pitch of 10 chunks is even", LOAD_V4, 32, false},
    {"v4, 128B swizzle, no pad", "chunk xor row", LOAD_V4, 0, true},
    {"v2, no pad", "twice for the 16 bytes", LOAD_V2, 0, false},
    {"v2, pad of 2 words", "twice for the 16 bytes", LOAD_V2, 8, false},
    {"b32, no pad", "four times for the 16 bytes", LOAD_B32, 0, false},
    {"b32, pad of 1 word", "four times for the 16 bytes: the pad that 16-byte lanes cannot have", LOAD_B32, 4, false},
};

static uint32_t column_address(size_t way, uint32_t row) {
    const uint32_t address = row * (ROW_BYTES + ways[way].pad_bytes);
    return ways[way].swizzled ? gm_swizzle_apply(gm_swizzle_of_mode(GM_SWIZZLE_128B), address) : address;
}

static int setup(struct lab *lab) {
    if (bank_open(lab) != 0)
        return -1;
    for (size_t way = 0; way < sizeof ways / sizeof *ways; way++) {
        uint32_t address[GM_LANES];
        for (uint32_t lane = 0; lane < ROWS; lane++)
            address[lane] = column_address(way, lane);
        if (!bank_add(lab, ways[way].instruction, address, 0, ways[way].why, "%s", ways[way].label))
            return -1;
    }
    return 0;
}

/* No launch: a misaligned load ends the program's context. The model refuses it with the lane and its address. */
static bool one_word_is_refused(void) {
    struct gm_access access = {.size = sizeof access, .kind = GM_ACCESS_LOAD, .width = 16};
    struct gm_bank_cost cost = {.size = sizeof cost};
    for (uint32_t row = 0; row < ROWS; row++)
        access.address[row] = row * (ROW_BYTES + 4);
    return gm_bank_cost(&access, &cost) == GM_ERROR_MISALIGNED;
}

static int conclude(struct lab *lab) {
    lab_claim(
        lab, one_word_is_refused(), false,
        "With a pad of 1 word the rows of 132 bytes do not begin on multiples of 16, so that 16-byte loads are illegal "
        "there; that pad is for loads of one word.");
    if (lab->has_counts) {
        const double padded = lab_counted(&lab->points[1], "conflicts"),
                     swizzled = lab_counted(&lab->points[3], "conflicts");
        lab_claim(
            lab, padded == 0 && swizzled == 0, false,
            "A pad of one whole vector, or the swizzle, removes every conflict of the 16-byte column: %.0f and %.0f "
            "are left.",
            padded, swizzled);
    }
    return bank_conclude(lab);
}

const struct lab_experiment float4_pad = {
    .name = "float4-pad",
    .title = "Which pad a column of float4 needs",
    .question = "Why is a pad of one word no help to 16-byte loads, and what is?",
    .page = "vectors",
    .setup = setup,
    .prepare = bank_prepare,
    .check = bank_check,
    .conclude = conclude,
};
