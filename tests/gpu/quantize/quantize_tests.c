/* SPDX-License-Identifier: Apache-2.0 */
/* Quantisers, as the harness knows them. */
#include "quantize/quantize_tests.h"

#include <stdlib.h>

#include "columns.h"

static void add_tests(void) {
    add_quantize_rows_tests();
    add_quantize_api_tests();
}

TESTED_FUNCTIONS(quantize)

/* ---- an ordinary call ------------------------------------------------------------------------------ */

struct ordinary {
    struct placed_quantize placed; /* first */
    struct quantize_case qc;
    struct operand_memory memory;
};

static struct call *new_call(bool lasting) {
    const bool slow = env.simulated || opt.self_test;
    struct ordinary *ordinary = calloc(1, sizeof *ordinary);
    if (!ordinary)
        exit(2);
    ordinary->qc = (struct quantize_case){.rows = lasting && !slow ? 4000 : 37,
                                          .columns = 520,
                                          .out_type = GM_E4M3,
                                          .scaling = GM_SCALE_GROUP,
                                          .x_pad = 8,
                                          .out_pad = 8};
    return &ordinary->placed.placed.call;
}

static void free_call(struct call *call) {
    struct ordinary *ordinary = (struct ordinary *)call;
    free_quantize(&ordinary->placed);
    free_operands(&ordinary->memory);
    free(ordinary);
}

static bool place_call(struct result *result, struct call *call, int scale, bool other_inputs) {
    static const float times[SCALES] = {1, 2, -1, 0.5f, -2, 4};
    struct ordinary *ordinary = (struct ordinary *)call;
    ordinary->qc.times = times[scale];
    ordinary->qc.inputs = QUANTIZE_NORMAL;
    ordinary->qc.seed = other_inputs;
    return place_quantize(result, &ordinary->qc, &ordinary->memory, &ordinary->placed);
}

/* ---- the self-test --------------------------------------------------------------------------------- */

static int64_t elements_of_cta(const struct gm_kernel *kernel) {
    const int32_t *c = kernel->columns;
    return (int64_t)c[GM_QUANTIZE_THREADS] * c[GM_QUANTIZE_VECTORS] * 8;
}

static const struct plant plants[] = {
    {QUANTIZE_BUG_COLUMN_AFTER, "writes a column too many", "wrote beside", NULL},
    {QUANTIZE_BUG_LOST_TAIL, "the last column is not written", "never written", NULL},
    {QUANTIZE_BUG_LOST_ROW, "the last row is not written", "never written", NULL},
    {QUANTIZE_BUG_LOST_SCALE, "the last scale of a row is not written", "scales[0, 0]", NULL},
    {QUANTIZE_BUG_OVERFLOWS, "what is too large becomes NaN", "448 +-", NULL},
    {QUANTIZE_BUG_DROPS_NAN, "a NaN does not reach the scale", "special", NULL},
    {QUANTIZE_BUG_INFINITE_SCALE, "an infinity reaches the scale", "infinite", NULL},
    {QUANTIZE_BUG_NO_FLOOR, "zeros are divided by 0", "zero", NULL},
    {QUANTIZE_BUG_ROUNDS_DOWN, "a power of 2 below the scale", "scales[0, 0]", NULL},
    {QUANTIZE_BUG_RECIPROCAL, "multiplies by the reciprocal", "division", NULL},
    {QUANTIZE_BUG_LOST_SIGN, "-0 becomes +0", "is 0x00, want 0x80", NULL},
    {QUANTIZE_BUG_ORDER, "scales by row and by column change places", "wrote beside", NULL},
    {QUANTIZE_BUG_OVERWRITES, "a smaller amax takes a larger scale's place", "amax-only", NULL},
    {QUANTIZE_BUG_COUNT, "looks at no row count", "was written", NULL},
};

const struct tested_operation quantize_tests = {
    .name = "quantize",
    .add_tests = add_tests,
    .plan = plan,
    .execute = execute,
    .in_one_call = in_one_call,
    .explain = explain,
    .fill_region = fill_placed_region,
    .compare = compare_quantize,
    .new_call = new_call,
    .free_call = free_call,
    .place_call = place_call,
    .compute = compute_quantize,
    .elements_of_cta = elements_of_cta,
    .plants = plants,
    .plant_count = COUNT(plants),
};
