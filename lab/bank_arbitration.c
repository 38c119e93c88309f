/* SPDX-License-Identifier: Apache-2.0 */
/* arbitration: the pipe's counter beside the one that counts each instruction by itself, and where each is exact. */
#include <math.h>
#include <stdio.h>

#include "lab/bank_access.h"
#include "lab/bank_kernels.h"
#include "lab/bank_random.h"

enum { ALL = 0, EVERY_FOURTH_OFF = 0x11111111 };

#define BY_INSTRUCTION "wavefronts"
#define BY_PIPE        "wavefronts of the pipe"

/* Lane i at i * step bytes. */
static const struct {
    enum bank_instruction instruction;
    uint32_t step, inactive;
} patterns[] = {
    {LOAD_B32, 8, ALL},  {LOAD_B32, 8, EVERY_FOURTH_OFF},  {STORE_B32, 4, ALL}, {STORE_B32, 4, EVERY_FOURTH_OFF},
    {STORE_B32, 8, ALL}, {STORE_B32, 8, EVERY_FOURTH_OFF}, {STORE_V4, 16, ALL}, {STORE_V4, 16, EVERY_FOURTH_OFF},
    {ATOM_ADD, 8, ALL},  {ATOM_ADD, 8, EVERY_FOURTH_OFF},
};

enum { PATTERNS = sizeof patterns / sizeof *patterns };

/* Loads of random-access whose phases merge and that conflict, which is where the instruction's counter goes wrong. */
static const struct {
    enum bank_instruction instruction;
    uint32_t seed;
} merged[] = {{LOAD_V2, 1}, {LOAD_V2, 5}, {LOAD_V4, 1}, {LOAD_V4, 5}};

enum { MERGED = sizeof merged / sizeof *merged };

/* In this order: all patterns with one warp, all with 25, the merged loads with 25. */
static bool is_alone(size_t point) {
    return point < PATTERNS;
}

/* The tolerance is for what arbitration may add; that it takes nothing away is a claim. */
static int add_pattern(struct lab *lab, size_t pattern, uint32_t warps) {
    const enum bank_instruction instruction = patterns[pattern].instruction;
    const bool masked = patterns[pattern].inactive != ALL;
    uint32_t address[GM_LANES];
    struct bank_shot shot;
    char label[64];
    for (uint32_t lane = 0; lane < GM_LANES; lane++)
        address[lane] = lane * patterns[pattern].step;
    snprintf(label, sizeof label, "%s every %u bytes, %s, %u warp%s", bank_name(instruction), patterns[pattern].step,
             masked ? "24 lanes" : "all lanes", warps, warps == 1 ? "" : "s");
    if (bank_shot_fill(&shot, instruction, address, patterns[pattern].inactive) != 0)
        return -1;
    shot.warps = warps;
    struct lab_point *point = bank_add_shot(lab, &shot, NULL, label);
    if (!point)
        return -1;
    const struct bank_counters *counters = bank_counters(&shot);
    const double wavefronts = (double)BANK_ACCESSES * shot.cost.wavefronts;
    point->quantity_count = 0;
    lab_quantity(point, BY_INSTRUCTION, counters->exact, wavefronts, 0);
    lab_quantity(point, BY_PIPE, counters->wavefronts, wavefronts, masked && warps > 1 ? 0.05 : 0);
    return 0;
}

/* The instruction's counter takes a conflict of merged phases for two wavefronts. The pipe and the clock do not. */
static int add_merged(struct lab *lab, enum bank_instruction instruction, uint32_t seed) {
    uint32_t address[GM_LANES], inactive;
    struct bank_shot shot;
    char label[64];
    bank_random_pattern(instruction, seed, address, &inactive);
    snprintf(label, sizeof label, "%s, merged, pattern %u, %u warps", bank_name(instruction), seed, BANK_WARPS);
    if (bank_shot_fill(&shot, instruction, address, inactive) != 0)
        return -1;
    struct lab_point *point = bank_add_shot(lab, &shot, NULL, label);
    if (!point)
        return -1;
    const struct bank_counters *counters = bank_counters(&shot);
    point->quantity_count = 0;
    lab_quantity(point, BY_INSTRUCTION, counters->exact,
                 (double)BANK_ACCESSES * (shot.cost.ideal + 2 * shot.cost.conflicts), 0);
    lab_quantity(point, BY_PIPE, counters->wavefronts, (double)BANK_ACCESSES * shot.cost.wavefronts, 0);
    return 0;
}

static int setup(struct lab *lab) {
    if (bank_open(lab) != 0)
        return -1;
    for (size_t i = 0; i < 2 * PATTERNS; i++) {
        if (add_pattern(lab, i % PATTERNS, i < PATTERNS ? 1 : BANK_WARPS) != 0)
            return -1;
    }
    for (size_t i = 0; i < MERGED; i++) {
        if (add_merged(lab, merged[i].instruction, merged[i].seed) != 0)
            return -1;
    }
    return 0;
}

/* ---- claims --------------------------------------------------------------------------------------- */

static double excess(struct lab *lab, size_t point, const char *quantity) {
    const double wavefronts = (double)BANK_ACCESSES * bank_shot_of(lab, &lab->points[point])->cost.wavefronts;
    return lab_counted(&lab->points[point], quantity) - wavefronts;
}

static void claim_patterns(struct lab *lab) {
    size_t by_instruction = 0, alone = 0, below = 0, above = 0;
    double most = 0;
    for (size_t i = 0; i < 2 * PATTERNS; i++) {
        const double pipe = excess(lab, i, BY_PIPE);
        by_instruction += excess(lab, i, BY_INSTRUCTION) == 0;
        alone += is_alone(i) && pipe == 0;
        below += !is_alone(i) && !(pipe >= 0);
        above += !is_alone(i) && pipe > 0;
        most = is_alone(i) ? most : fmax(most, pipe);
    }
    lab_claim(
        lab, by_instruction == 2 * PATTERNS, false,
        "Counted for each instruction by itself, the wavefronts are exact with one warp and with 25: in %zu of %d "
        "launches.",
        by_instruction, 2 * PATTERNS);
    lab_claim(lab, alone == PATTERNS, false,
              "The pipe's counter is exact while one warp is alone: in %zu of %d launches.", alone, PATTERNS);
    lab_claim(lab, below == 0, false,
              "With 25 warps it is below the prediction in %zu of %d launches, and above it in %zu, by %.0f at most of "
              "%d accesses.",
              below, PATTERNS, above, most, BANK_ACCESSES);
}

static void claim_merged(struct lab *lab) {
    size_t too_many = 0, by_pipe = 0;
    for (size_t i = 2 * PATTERNS; i < lab->point_count; i++) {
        too_many += excess(lab, i, BY_INSTRUCTION) > 0;
        by_pipe += excess(lab, i, BY_PIPE) == 0;
    }
    lab_claim(lab, too_many == MERGED && by_pipe == MERGED, false,
              "Loads whose phases merge and that conflict are the exception: the instruction's counter says too many "
              "wavefronts for %zu of %d of them, the pipe's is exact for %zu.",
              too_many, MERGED, by_pipe);
}

static int conclude(struct lab *lab) {
    if (lab->has_counts) {
        claim_patterns(lab);
        claim_merged(lab);
    }
    return 0;
}

const struct lab_experiment arbitration = {
    .name = "arbitration",
    .title = "The pipe's counters beside the instruction's",
    .question = "Which of the two kinds of counters is exact, and where?",
    .page = "banks",
    .races_on_purpose = true,
    .setup = setup,
    .prepare = bank_prepare,
    .check = bank_check,
    .conclude = conclude,
};
