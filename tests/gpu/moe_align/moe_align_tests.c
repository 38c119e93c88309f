/* SPDX-License-Identifier: Apache-2.0 */
/* moe_align, as the harness knows it. */
#include "moe_align/moe_align_tests.h"

#include <stdlib.h>

static void add_tests(void) {
    add_align_rows_tests();
    add_align_api_tests();
}

TESTED_FUNCTIONS(moe_align)

/* ---- an ordinary call ------------------------------------------------------------------------------ */

struct ordinary {
    struct placed_align placed; /* first */
    struct align_case ac;
    struct operand_memory memory;
};

static struct call *new_call(bool lasting) {
    const bool slow = env.simulated || opt.self_test;
    struct ordinary *ordinary = calloc(1, sizeof *ordinary);
    if (!ordinary)
        exit(2);
    ordinary->ac = (struct align_case){
        .tokens = lasting && !slow ? 200000 : 97, .k = 3, .experts = 20, .alignment = 8, .inverted = true};
    return &ordinary->placed.placed.call;
}

static void free_call(struct call *call) {
    struct ordinary *ordinary = (struct ordinary *)call;
    free_placed(&ordinary->placed.placed);
    free_operands(&ordinary->memory);
    free(ordinary);
}

static bool place_call(struct result *result, struct call *call, int scale, bool other_inputs) {
    struct ordinary *ordinary = (struct ordinary *)call;
    ordinary->ac.seed = (uint64_t)(2 * scale + other_inputs);
    return place_align(result, &ordinary->ac, &ordinary->memory, &ordinary->placed);
}

/* ---- the self-test --------------------------------------------------------------------------------- */

static int64_t elements_of_cta(const struct gm_kernel *kernel) {
    return (int64_t)kernel->threads * kernel->cluster_ctas;
}

static const struct plant plants[] = {
    {ALIGN_BUG_ROW_AFTER, "writes a row behind the last one", "wrote beside", NULL},
    {ALIGN_BUG_UNSTABLE, "slots of an expert come in reverse", "rows", NULL},
    {ALIGN_BUG_NO_PADDING, "rows without a slot are not written", "never written", NULL},
    {ALIGN_BUG_ALIGNED_START, "lengths are not rounded up", "offsets", NULL},
    {ALIGN_BUG_EMPTY_ROUNDED, "an expert without slots has rows", "offsets", NULL},
    {ALIGN_BUG_BAD_IS_LAST, "what is none's is the last expert's", "offsets", NULL},
    {ALIGN_BUG_LAST_OFFSET, "the last offset is not written", "never written", NULL},
    {ALIGN_BUG_NO_INVERSE, "the inverse of none's is not written", "inverse", NULL},
    {ALIGN_BUG_LOST_SLOT, "the last slot is not sorted", "never written", NULL},
    {ALIGN_BUG_COUNT, "looks at no row count", "offsets", NULL},
};

const struct tested_operation moe_align_tests = {
    .name = "moe_align",
    .add_tests = add_tests,
    .plan = plan,
    .execute = execute,
    .in_one_call = in_one_call,
    .explain = explain,
    .fill_region = fill_placed_region,
    .compare = compare_placed,
    .new_call = new_call,
    .free_call = free_call,
    .place_call = place_call,
    .compute = compute_align,
    .elements_of_cta = elements_of_cta,
    .plants = plants,
    .plant_count = COUNT(plants),
};
