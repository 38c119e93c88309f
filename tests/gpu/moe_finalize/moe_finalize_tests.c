/* SPDX-License-Identifier: Apache-2.0 */
/* moe_finalize, as the harness knows it. */
#include "moe_finalize/moe_finalize_tests.h"

#include <stdlib.h>

#include "columns.h"

static void add_tests(void) {
    add_finalize_rows_tests();
    add_finalize_api_tests();
}

TESTED_FUNCTIONS(moe_finalize)

/* ---- an ordinary call ------------------------------------------------------------------------------ */

struct ordinary {
    struct placed_finalize placed; /* first */
    struct finalize_case fc;
    struct operand_memory memory;
};

static struct call *new_call(bool lasting) {
    const bool slow = env.simulated || opt.self_test;
    struct ordinary *ordinary = calloc(1, sizeof *ordinary);
    if (!ordinary)
        exit(2);
    ordinary->fc = (struct finalize_case){.tokens = lasting && !slow ? 4000 : 19,
                                          .columns = 520,
                                          .k = 3,
                                          .x_rows = 41,
                                          .weighted = true,
                                          .slots = FINALIZE_ALL,
                                          .inputs = FINALIZE_NORMAL,
                                          .x_pad = 8,
                                          .out_pad = 8};
    return &ordinary->placed.placed.call;
}

static void free_call(struct call *call) {
    struct ordinary *ordinary = (struct ordinary *)call;
    free_placed(&ordinary->placed.placed);
    free_operands(&ordinary->memory);
    free(ordinary);
}

static bool place_call(struct result *result, struct call *call, int scale, bool other_inputs) {
    static const float scales[SCALES] = {1, 2, -1, 0.5f, -2, 4};
    struct ordinary *ordinary = (struct ordinary *)call;
    ordinary->fc.factor = scales[scale];
    ordinary->fc.seed = other_inputs;
    return place_finalize(result, &ordinary->fc, &ordinary->memory, &ordinary->placed);
}

/* ---- the self-test --------------------------------------------------------------------------------- */

static int64_t elements_of_cta(const struct gm_kernel *kernel) {
    const int32_t *c = kernel->columns;
    return (int64_t)c[GM_MOE_FINALIZE_THREADS] * c[GM_MOE_FINALIZE_VECTOR_BYTES];
}

static const struct plant plants[] = {
    {FINALIZE_BUG_COLUMN_AFTER, "writes a column too many", "wrote beside", NULL},
    {FINALIZE_BUG_LOST_TAIL, "the last column is not written", "out[", NULL},
    {FINALIZE_BUG_LOST_ROW, "the last token is not computed", "out[", NULL},
    {FINALIZE_BUG_LOST_SLOT, "the last slot is left out", "want", NULL},
    {FINALIZE_BUG_NO_RESIDUAL, "the residual is left out", "residual", NULL},
    {FINALIZE_BUG_NO_WEIGHT, "weights are left out", "weighted", NULL},
    {FINALIZE_BUG_NO_INVERSE, "slots are taken for rows", "want", NULL},
    {FINALIZE_BUG_BAD_IS_FIRST, "what is no row is row 0", "slots", NULL},
    {FINALIZE_BUG_BAD_WEIGHS, "the weight of what is no row counts", "= nan", NULL},
    {FINALIZE_BUG_EARLY, "every sum is rounded", "want", "moe_finalize_fuzz_sm80"},
    {FINALIZE_BUG_COUNT, "looks at no row count", "was written", NULL},
};

const struct tested_operation moe_finalize_tests = {
    .name = "moe_finalize",
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
    .compute = compute_finalize,
    .elements_of_cta = elements_of_cta,
    .plants = plants,
    .plant_count = COUNT(plants),
};
