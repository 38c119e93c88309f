/* SPDX-License-Identifier: Apache-2.0 */
/* dequantize, as the harness knows them. */
#include "dequantize/dequantize_tests.h"

#include <stdlib.h>

#include "columns.h"

static void add_tests(void) {
    add_dequantize_rows_tests();
    add_dequantize_api_tests();
}

TESTED_FUNCTIONS(dequantize)

/* ---- an ordinary call ------------------------------------------------------------------------------ */

struct ordinary {
    struct placed_dequantize placed; /* first */
    struct dequantize_case dc;
    struct operand_memory memory;
};

static struct call *new_call(bool lasting) {
    const bool slow = env.simulated || opt.self_test;
    struct ordinary *ordinary = calloc(1, sizeof *ordinary);
    if (!ordinary)
        exit(2);
    ordinary->dc = (struct dequantize_case){
        .rows = lasting && !slow ? 4000 : 37, .columns = 520, .scaling = GM_SCALE_GROUP, .x_pad = 8, .out_pad = 8};
    return &ordinary->placed.placed.call;
}

static void free_call(struct call *call) {
    struct ordinary *ordinary = (struct ordinary *)call;
    free_placed(&ordinary->placed.placed);
    free_operands(&ordinary->memory);
    free(ordinary);
}

static bool place_call(struct result *result, struct call *call, int scale, bool other_inputs) {
    static const float times[SCALES] = {1, 2, -1, 0.5f, -2, 4};
    struct ordinary *ordinary = (struct ordinary *)call;
    ordinary->dc.times = times[scale];
    ordinary->dc.seed = other_inputs;
    return place_dequantize(result, &ordinary->dc, &ordinary->memory, &ordinary->placed);
}

/* ---- the self-test --------------------------------------------------------------------------------- */

static int64_t elements_of_cta(const struct gm_kernel *kernel) {
    const int32_t *c = kernel->columns;
    return (int64_t)c[GM_DEQUANTIZE_THREADS] * c[GM_DEQUANTIZE_VECTORS] * c[GM_DEQUANTIZE_ELEMENTS];
}

static const struct plant plants[] = {
    {DEQUANTIZE_BUG_COLUMN_AFTER, "writes a column too many", "wrote beside", NULL},
    {DEQUANTIZE_BUG_LOST_TAIL, "the last column is not written", "never written", NULL},
    {DEQUANTIZE_BUG_LOST_ROW, "the last row is not written", "never written", NULL},
    {DEQUANTIZE_BUG_NEXT_SCALE, "takes the next group's scale", "group", NULL},
    {DEQUANTIZE_BUG_ORDER, "scales by row and by column change places", "want", NULL},
    {DEQUANTIZE_BUG_NAN_BYTE, "the byte 0xff is 2^128", "e8m0", NULL},
    {DEQUANTIZE_BUG_ZERO_BYTE, "the byte 0 is 0", "e8m0", NULL},
    {DEQUANTIZE_BUG_LOST_SIGN, "-0 becomes +0", "is 0x0, want 0x8000", NULL},
    {DEQUANTIZE_BUG_ROUNDS_DOWN, "cuts off what does not fit", "want", NULL},
    {DEQUANTIZE_BUG_COUNT, "looks at no row count", "was written", NULL},
};

const struct tested_operation dequantize_tests = {
    .name = "dequantize",
    .add_tests = add_tests,
    .plan = plan,
    .execute = execute,
    .in_one_call = in_one_call,
    .explain = explain,
    .fill_region = fill_placed_region,
    .compare = compare_dequantize,
    .new_call = new_call,
    .free_call = free_call,
    .place_call = place_call,
    .compute = compute_dequantize,
    .elements_of_cta = elements_of_cta,
    .plants = plants,
    .plant_count = COUNT(plants),
};
