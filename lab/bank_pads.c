/* SPDX-License-Identifier: Apache-2.0 */
/* scalar-pads: a column of a tile of 32 rows of words, one word a lane, by the pad of the rows, or with the columns of each
 * row in another order. */
#include <stdio.h>

#include "lab/bank_access.h"

enum { ROWS = GM_LANES, COLUMN = 5 };

/* Where the columns of a row lie. */
enum order { IN_ORDER, BY_XOR, BY_ROTATION };

static const struct {
    const char *label, *why;
    uint32_t width, pad;
    enum order order;
} ways[] = {
    {"32 columns, no pad", "a pitch of 32", 32, 0, IN_ORDER},
    {"32 columns, pad 1", "the pitch of 33 is odd", 32, 1, IN_ORDER},
    {"32 columns, pad 2", "gcd(34, 32) = 2", 32, 2, IN_ORDER},
    {"32 columns, pad 3", "the pitch of 35 is odd too", 32, 3, IN_ORDER},
    {"32 columns, pad 4", "gcd(36, 32) = 4", 32, 4, IN_ORDER},
    {"32 columns, pad 8", "gcd(40, 32) = 8", 32, 8, IN_ORDER},
    {"32 columns, pad 16", "gcd(48, 32) = 16", 32, 16, IN_ORDER},
    {"32 columns, column xor row", "no pad: the row picks one of 32 orders", 32, 0, BY_XOR},
    {"32 columns, column + row mod 32", "no pad: the row is rotated by its number", 32, 0, BY_ROTATION},
    {"31 columns, no pad", "an odd width wants no pad", 31, 0, IN_ORDER},
    {"31 columns, pad 1", "the pad makes the pitch 32", 31, 1, IN_ORDER},
    {"48 columns, no pad", "gcd(48, 32) = 16", 48, 0, IN_ORDER},
    {"48 columns, pad 1", "the pitch of 49 is odd", 48, 1, IN_ORDER},
    {"64 columns, no pad", "a pitch of 64", 64, 0, IN_ORDER},
    {"64 columns, pad 1", "the pitch of 65 is odd", 64, 1, IN_ORDER},
    {"80 columns, no pad", "gcd(80, 32) = 16", 80, 0, IN_ORDER},
    {"80 columns, pad 1", "the pitch of 81 is odd", 80, 1, IN_ORDER},
};

enum { WAYS = sizeof ways / sizeof *ways };

static uint32_t pitch_of(size_t way) {
    return ways[way].width + ways[way].pad;
}

static uint32_t column_address(size_t way, uint32_t row) {
    const enum order order = ways[way].order;
    const uint32_t at = order == BY_XOR ? COLUMN ^ row : order == BY_ROTATION ? (COLUMN + row) % GM_BANKS : COLUMN;
    return 4 * (row * pitch_of(way) + at);
}

static int setup(struct lab *lab) {
    if (bank_open(lab) != 0)
        return -1;
    for (size_t way = 0; way < WAYS; way++) {
        uint32_t address[GM_LANES];
        for (uint32_t lane = 0; lane < ROWS; lane++)
            address[lane] = column_address(way, lane);
        if (!bank_add(lab, LOAD_B32, address, 0, ways[way].why, "%s", ways[way].label))
            return -1;
    }
    return 0;
}

/* The rule beside the model: rows in order conflict gcd(pitch, 32) ways. */
static void conclude_rule(struct lab *lab) {
    size_t agree = 0, asked = 0;
    for (size_t way = 0; way < WAYS; way++) {
        if (ways[way].order != IN_ORDER)
            continue;
        asked++;
        agree += lab_counted(&lab->points[way], "conflicts") ==
                 (double)BANK_ACCESSES * (bank_ways_of_stride(pitch_of(way)) - 1);
    }
    lab_claim(lab, agree == asked, false,
              "A column of rows of p words, pad included, has gcd(p, 32) ways: counted so for %zu of %zu pitches.",
              agree, asked);
}

/* An article has it that pads of 2 and 4 words only halve the conflicts. */
static void conclude_article(struct lab *lab) {
    const double none = lab_counted(lab_find(lab, "32 columns, no pad"), "wavefronts");
    const double two = lab_counted(lab_find(lab, "32 columns, pad 2"), "wavefronts");
    const double four = lab_counted(lab_find(lab, "32 columns, pad 4"), "wavefronts");
    lab_claim(
        lab, two * 16 == none && four * 8 == none, false,
        "A pad of 2 words leaves %.0f of %.0f wavefronts, one of 4 leaves %.0f: a sixteenth and an eighth, where an "
        "article says half.",
        two, none, four);
}

static int conclude(struct lab *lab) {
    if (lab->has_counts) {
        conclude_rule(lab);
        conclude_article(lab);
    }
    const double none = lab_find(lab, "32 columns, no pad")->cycles, one = lab_find(lab, "32 columns, pad 1")->cycles;
    const double swizzled = lab_find(lab, "32 columns, column xor row")->cycles;
    lab_claim(lab, one < 0.06 * none && swizzled < 0.06 * none, true,
              "The clock says the same: %.0f cycles without a pad, %.0f with a pad of 1 word, %.0f with the XOR.", none,
              one, swizzled);
    return bank_conclude(lab);
}

const struct lab_experiment scalar_pads = {
    .name = "scalar-pads",
    .title = "Which pad a column of words needs",
    .question = "How many conflicts does each pad, or an order of the columns without a pad, leave a column of words?",
    .page = "padding",
    .setup = setup,
    .prepare = bank_prepare,
    .check = bank_check,
    .conclude = conclude,
};
