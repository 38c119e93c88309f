/* SPDX-License-Identifier: Apache-2.0 */
/* strided-reads, strided-writes: lane i at word i * stride, strides 1 to 33. */
#include <math.h>
#include <stdio.h>

#include "lab/bank_access.h"
#include "lab/bank_kernels.h"

enum { STRIDES = 33 };

static int setup(struct lab *lab, enum bank_instruction instruction) {
    if (bank_open(lab) != 0)
        return -1;
    for (uint32_t stride = 1; stride <= STRIDES; stride++) {
        uint32_t address[GM_LANES];
        for (uint32_t lane = 0; lane < GM_LANES; lane++)
            address[lane] = lane * stride * 4;
        if (!bank_add(lab, instruction, address, 0, NULL, "stride %u", stride))
            return -1;
    }
    return 0;
}

static int setup_reads(struct lab *lab) {
    return setup(lab, LOAD_B32);
}

static int setup_writes(struct lab *lab) {
    return setup(lab, STORE_B32);
}

/* The formula beside the model. Returns how many strides were counted to have one conflict less than ways. */
static size_t as_the_divisor_says(const struct lab *lab) {
    size_t agree = 0;
    for (uint32_t stride = 1; stride <= STRIDES; stride++) {
        const double conflicts = (double)BANK_ACCESSES * (bank_ways_of_stride(stride) - 1);
        agree += lab->points[stride - 1].quantities[0].counted == conflicts;
    }
    return agree;
}

/* Stride 1 is no measure: there shared memory waits for the warps, which do not issue one access a cycle. */
static int conclude(struct lab *lab) {
    const double first = lab->points[0].cycles, second = lab->points[1].cycles,
                 worst = lab->points[GM_BANKS - 1].cycles;
    const double accesses = BANK_WARPS * BANK_REPEATS, wavefront = (worst - second) / (GM_BANKS - 2) / accesses;
    if (lab->has_counts) {
        const size_t agree = as_the_divisor_says(lab);
        lab_claim(lab, agree == STRIDES, false,
                  "A stride of s words makes gcd(s, 32)-way conflicts: counted so for %zu of %d strides.", agree,
                  STRIDES);
    }
    lab_claim(
        lab, fabs(wavefront - 1) < 0.03, true,
        "The clock says the same: of the 30 wavefronts an access that stride 32 has more than stride 2, each takes "
        "%.3f cycles, where 1 is predicted.",
        wavefront);
    lab_claim(lab, first > accesses && first < second, true,
              "Without conflicts shared memory waits for instructions: %.2f cycles an access at stride 1, %.2f at "
              "stride 2.",
              first / accesses, second / accesses);
    return 0;
}

const struct lab_experiment strided_reads = {
    .name = "strided-reads",
    .title = "Strided reads",
    .question = "How many conflicts has a load in which the lanes read every s-th word?",
    .page = "banks",
    .setup = setup_reads,
    .prepare = bank_prepare,
    .check = bank_check,
    .conclude = conclude,
};

const struct lab_experiment strided_writes = {
    .name = "strided-writes",
    .title = "Strided writes",
    .question = "Do stores follow the same rule as loads?",
    .page = "banks",
    .races_on_purpose = true,
    .setup = setup_writes,
    .prepare = bank_prepare,
    .check = bank_check,
    .conclude = conclude,
};
