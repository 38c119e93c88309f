/* SPDX-License-Identifier: Apache-2.0 */
/* access-widths: 1 to 16 bytes a lane; broadcast: lanes that ask for the same word. */
#include <stdio.h>

#include "lab/bank_access.h"

/* ---- access-widths -------------------------------------------------------------------------------- */

/* Lane i at i * step bytes; a step is counted in widths of the access, or is a line of all banks. */
static int add_widths(struct lab *lab, enum bank_instruction instruction) {
    static const uint32_t steps[] = {1, 2, 4, 0};
    const uint32_t width = bank_width(instruction);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        const uint32_t step = steps[i] ? steps[i] * width : 128;
        uint32_t address[GM_LANES];
        for (uint32_t lane = 0; lane < GM_LANES; lane++)
            address[lane] = lane * step;
        if (!bank_add(lab, instruction, address, 0, NULL, "%s, a lane every %u bytes", bank_name(instruction), step))
            return -1;
    }
    return 0;
}

static int setup_widths(struct lab *lab) {
    if (bank_open(lab) != 0)
        return -1;
    for (int instruction = LOAD_B8; instruction <= STORE_V4; instruction++) {
        if (add_widths(lab, instruction) != 0)
            return -1;
    }
    return 0;
}

const struct lab_experiment access_widths = {
    .name = "access-widths",
    .title = "Accesses of 1 to 16 bytes a lane",
    .question = "How many wavefronts does an access take that has no conflicts, and from where on are there some?",
    .page = "vectors",
    .races_on_purpose = true,
    .setup = setup_widths,
    .prepare = bank_prepare,
    .check = bank_check,
    .conclude = bank_conclude,
};

/* ---- broadcast ------------------------------------------------------------------------------------ */

static uint32_t all_the_same(uint32_t lane) { (void)lane; return 0; }
static uint32_t halves_in_two_banks(uint32_t lane) { return lane / 16; }
static uint32_t halves_in_one_bank(uint32_t lane) { return lane / 16 * 32; }
static uint32_t odd_and_even_in_one_bank(uint32_t lane) { return lane % 2 * 32; }
static uint32_t eight_words(uint32_t lane) { return lane / 4; }
static uint32_t eight_words_in_one_bank(uint32_t lane) { return lane / 4 * 32; }
static uint32_t one_lane_elsewhere(uint32_t lane) { return lane == 31 ? 32 : 0; }
static uint32_t reversed(uint32_t lane) { return 31 - lane; }
static uint32_t pairs_1(uint32_t lane) { return lane & ~1u; }
static uint32_t pairs_2(uint32_t lane) { return lane & ~2u; }
static uint32_t pairs_4(uint32_t lane) { return lane & ~4u; }
static uint32_t fours(uint32_t lane) { return lane & ~3u; }
static uint32_t pairs_in_half_a_warp(uint32_t lane) { return lane < 16 ? lane & ~1u : lane; }
static uint32_t pairs_of_two_kinds(uint32_t lane) { return lane < 16 ? lane & ~1u : lane & ~2u; }
static uint32_t fragment_rows(uint32_t lane) { return lane / 8 * 8; }
static uint32_t fragment_columns(uint32_t lane) { return lane % 8; }

/* `place` is in units of the access's width. */
static const struct {
    const char *name, *why;
    uint32_t (*place)(uint32_t lane);
} words[] = {
    {"one word for all", "a broadcast", all_the_same},
    {"two words, two banks", "a multicast", halves_in_two_banks},
    {"two words, one bank", "halves of the warp", halves_in_one_bank},
    {"two words, one bank, odd and even", "which lanes share does not matter", odd_and_even_in_one_bank},
    {"eight words, eight banks", NULL, eight_words},
    {"eight words, one bank", "words count, not lanes", eight_words_in_one_bank},
    {"31 lanes one word, lane 31 the next line", NULL, one_lane_elsewhere},
    {"lane i the word 31 - i", "the order of the lanes does not matter", reversed},
};

static const struct {
    const char *name, *why;
    uint32_t (*place)(uint32_t lane);
} vectors[] = {
    {"one address for all", NULL, all_the_same},
    {"n and n xor 1 alike", "phases merge", pairs_1},
    {"n and n xor 2 alike", "phases merge", pairs_2},
    {"n and n xor 4 alike", "no merging", pairs_4},
    {"lanes 4n to 4n + 3 alike", NULL, fours},
    {"pairs in lanes 0-15 only", "the condition is for the whole warp", pairs_in_half_a_warp},
    {"xor 1 in lanes 0-15, xor 2 above", "one of the two conditions for the whole warp", pairs_of_two_kinds},
    {"the A fragment of a matrix product", "lanes 8n to 8n + 7 alike", fragment_rows},
    {"the B fragment of a matrix product", "lanes n, n + 8, n + 16, n + 24 alike", fragment_columns},
};

static int add_shared(struct lab *lab, enum bank_instruction instruction, uint32_t (*place)(uint32_t lane),
                      const char *name, const char *why) {
    uint32_t address[GM_LANES];
    for (uint32_t lane = 0; lane < GM_LANES; lane++)
        address[lane] = place(lane) * bank_width(instruction);
    return bank_add(lab, instruction, address, 0, why, "%s: %s", bank_name(instruction), name) ? 0 : -1;
}

static int setup_broadcast(struct lab *lab) {
    static const enum bank_instruction narrow[] = {LOAD_B32, STORE_B32};
    static const enum bank_instruction wide[] = {LOAD_V2, LOAD_V4, STORE_V2, STORE_V4};
    if (bank_open(lab) != 0)
        return -1;
    for (size_t i = 0; i < sizeof narrow / sizeof *narrow; i++) {
        for (size_t j = 0; j < sizeof words / sizeof *words; j++) {
            if (add_shared(lab, narrow[i], words[j].place, words[j].name, words[j].why) != 0)
                return -1;
        }
    }
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++) {
        const bool store = bank_kind(wide[i]) == GM_ACCESS_STORE;
        for (size_t j = 0; j < sizeof vectors / sizeof *vectors; j++) {
            if (add_shared(lab, wide[i], vectors[j].place, vectors[j].name, store ? NULL : vectors[j].why) != 0)
                return -1;
        }
    }
    return 0;
}

const struct lab_experiment broadcast = {
    .name = "broadcast",
    .title = "Broadcast and multicast",
    .question = "What does it cost when lanes ask for the same word?",
    .page = "banks",
    .races_on_purpose = true,
    .setup = setup_broadcast,
    .prepare = bank_prepare,
    .check = bank_check,
    .conclude = bank_conclude,
};
