/* SPDX-License-Identifier: Apache-2.0 */
/* axpby, as the harness knows them. */
#include "axpby/axpby_tests.h"

#include <stdlib.h>

#include "columns.h"

static void add_tests(void) {
    add_axpby_rows_tests();
    add_axpby_api_tests();
}

TESTED_FUNCTIONS(axpby)

/* ---- an ordinary call ------------------------------------------------------------------------------ */

struct ordinary {
    struct placed_axpby placed; /* first */
    struct axpby_case ac;
    struct operand_memory memory;
};

static struct call *new_call(bool lasting) {
    const bool slow = env.simulated || opt.self_test;
    struct ordinary *ordinary = calloc(1, sizeof *ordinary);
    if (!ordinary)
        exit(2);
    ordinary->ac = (struct axpby_case){
        .rows = lasting && !slow ? 4000 : 37, .columns = 520, .terms = GM_AXPBY_X_AND_Y, .x_pad = 8, .out_pad = 8};
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
    ordinary->ac.scale = scales[scale];
    ordinary->ac.seed = other_inputs;
    return place_axpby(result, &ordinary->ac, &ordinary->memory, &ordinary->placed);
}

/* ---- the self-test --------------------------------------------------------------------------------- */

static int64_t elements_of_cta(const struct gm_kernel *kernel) {
    const int32_t *c = kernel->columns;
    return (int64_t)c[GM_AXPBY_THREADS] * c[GM_AXPBY_SLOTS] * c[GM_AXPBY_ELEMENTS];
}

static const struct plant plants[] = {
    {AXPBY_BUG_COLUMN_AFTER, "writes a column too many", "wrote beside", NULL},
    {AXPBY_BUG_LOST_TAIL, "the last column is not written", "never written", NULL},
    {AXPBY_BUG_LOST_ROW, "the last row is not written", "never written", NULL},
    {AXPBY_BUG_FACTORS, "alpha and beta change places", "x-and-y", NULL},
    {AXPBY_BUG_NO_GAMMA, "gamma is left out", "want", NULL},
    {AXPBY_BUG_ADDS_ZERO, "a gamma of 0 is added", "is 0x0, want 0x80", NULL},
    {AXPBY_BUG_TWO_ROUNDINGS, "a product is rounded before it is added", "want", NULL},
    {AXPBY_BUG_DOUBLE, "an int32 is not rounded to fp32", "int32", NULL},
    {AXPBY_BUG_CUTS, "integers are cut off", "int", NULL},
    {AXPBY_BUG_WRAPS, "integers are not saturated", "to int8", NULL},
    {AXPBY_BUG_OVERFLOWS, "what is too large becomes NaN", "to e", NULL},
    {AXPBY_BUG_COUNT, "looks at no row count", "was written", NULL},
};

const struct tested_operation axpby_tests = {
    .name = "axpby",
    .add_tests = add_tests,
    .plan = plan,
    .execute = execute,
    .in_one_call = in_one_call,
    .explain = explain,
    .fill_region = fill_placed_region,
    .compare = compare_axpby,
    .new_call = new_call,
    .free_call = free_call,
    .place_call = place_call,
    .compute = compute_axpby,
    .elements_of_cta = elements_of_cta,
    .plants = plants,
    .plant_count = COUNT(plants),
};
