/* SPDX-License-Identifier: Apache-2.0 */
/* atomics: lanes that meet on one word, and on one bank. cp-async: where its destination conflicts. */
#include <stdio.h>

#include "lab/bank_access.h"

/* ---- atomics -------------------------------------------------------------------------------------- */

/* Groups of k neighbours: on one word each, or on k words of one bank; different groups in different banks. */
static uint32_t on_one_word(uint32_t lane, uint32_t k) {
    return lane / k * 4;
}

static uint32_t in_one_bank(uint32_t lane, uint32_t k) {
    return (lane % k * GM_BANKS + lane / k) * 4;
}

static int add_groups(struct lab *lab, enum bank_instruction instruction, uint32_t (*place)(uint32_t, uint32_t),
                      const char *where) {
    for (uint32_t k = 1; k <= GM_LANES; k *= 2) {
        uint32_t address[GM_LANES];
        for (uint32_t lane = 0; lane < GM_LANES; lane++)
            address[lane] = place(lane, k);
        if (!bank_add(lab, instruction, address, 0, NULL, "%s, %u lanes %s", bank_name(instruction), k, where))
            return -1;
    }
    return 0;
}

static int setup_atomics(struct lab *lab) {
    if (bank_open(lab) != 0)
        return -1;
    for (int instruction = RED_ADD; instruction <= RED_MAX; instruction++) {
        if (add_groups(lab, instruction, on_one_word, "on a word") != 0 ||
            add_groups(lab, instruction, in_one_bank, "on words of a bank") != 0)
            return -1;
    }
    return 0;
}

const struct lab_experiment atomics = {
    .name = "atomics",
    .title = "Atomics on shared memory",
    .question = "Do atomics of several lanes share a word?",
    .page = "banks",
    .races_on_purpose = true,
    .setup = setup_atomics,
    .prepare = bank_prepare,
    .check = bank_check,
    .conclude = bank_conclude,
};

/* ---- cp-async ------------------------------------------------------------------------------------- */

static uint32_t side_by_side(uint32_t lane, uint32_t width) { return lane * width; }
static uint32_t every_second(uint32_t lane, uint32_t width) { return lane * width * 2; }
static uint32_t every_fourth(uint32_t lane, uint32_t width) { return lane * width * 4; }
static uint32_t one_column(uint32_t lane, uint32_t width) { (void)width; return lane * 128; }
static uint32_t padded_column(uint32_t lane, uint32_t width) { return lane * (128 + width); }
static uint32_t one_place(uint32_t lane, uint32_t width) { (void)lane; (void)width; return 0; }
static uint32_t eight_places(uint32_t lane, uint32_t width) { return lane / 4 * width; }
static uint32_t swizzled_column(uint32_t lane, uint32_t width) {
    (void)width;
    return gm_swizzle_apply(gm_swizzle_of_mode(GM_SWIZZLE_128B), lane * 128);
}

static const struct {
    const char *name, *why;
    uint32_t (*place)(uint32_t lane, uint32_t width);
} destinations[] = {
    {"side by side", NULL, side_by_side},
    {"every second place", NULL, every_second},
    {"every fourth place", NULL, every_fourth},
    {"one column of 128-byte rows", NULL, one_column},
    {"one column of padded rows", "a pad of the width", padded_column},
    {"one column, 128B swizzle", NULL, swizzled_column},
    {"four lanes to a place", "no two lanes share, not even the same word", eight_places},
    {"all lanes to one place", "no two lanes share, not even the same word", one_place},
};

static int setup_cp_async(struct lab *lab) {
    if (bank_open(lab) != 0)
        return -1;
    for (int instruction = CP_ASYNC_4; instruction <= CP_ASYNC_CG; instruction++) {
        for (size_t i = 0; i < sizeof destinations / sizeof *destinations; i++) {
            uint32_t address[GM_LANES];
            for (uint32_t lane = 0; lane < GM_LANES; lane++)
                address[lane] = destinations[i].place(lane, bank_width((enum bank_instruction)instruction));
            if (!bank_add(lab, (enum bank_instruction)instruction, address, 0,
                          instruction == CP_ASYNC_CG ? "past L1: not seen by the counter" : destinations[i].why,
                          "%s, %s", bank_name((enum bank_instruction)instruction), destinations[i].name))
                return -1;
        }
    }
    return 0;
}

const struct lab_experiment cp_async = {
    .name = "cp-async",
    .title = "The destination of cp.async",
    .question = "What do conflicts cost where cp.async writes?",
    .page = "cp-async",
    .races_on_purpose = true,
    .setup = setup_cp_async,
    .prepare = bank_prepare,
    .check = bank_check,
    .conclude = bank_conclude,
};
