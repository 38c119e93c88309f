/* SPDX-License-Identifier: Apache-2.0 */
/* Gated linear units, as the harness knows them. */
#include "glu/glu_tests.h"

#include <stdlib.h>

#include "columns.h"
#include "common/makes_tokens.h"

static void add_tests(void) {
    add_glu_rows_tests();
    add_glu_api_tests();
}

TESTED_FUNCTIONS(glu)

/* ---- an ordinary call ------------------------------------------------------------------------------ */

struct ordinary {
    struct placed_glu placed; /* first */
    struct glu_case gc;
    struct operand_memory memory;
};

static struct call *new_call(bool lasting) {
    const bool slow = env.simulated || opt.self_test;
    struct ordinary *ordinary = calloc(1, sizeof *ordinary);
    if (!ordinary)
        exit(2);
    ordinary->gc = (struct glu_case){
        .rows = lasting && !slow ? 4000 : 37, .columns = 520, .activation = GM_ACT_SILU, .gate_pad = 8, .out_pad = 8};
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
    ordinary->gc.scale = scales[scale];
    ordinary->gc.inputs = GLU_NORMAL;
    ordinary->gc.seed = other_inputs;
    return place_glu(result, &ordinary->gc, &ordinary->memory, &ordinary->placed);
}

/* ---- the self-test --------------------------------------------------------------------------------- */

/* The planted bugs are those of variants with out of the type. */
static int64_t elements_of_cta(const struct gm_kernel *kernel) {
    const int32_t *c = kernel->columns;
    if (c[GM_GLU_MAKES] == GM_MAKES_any)
        return INT64_MAX;
    return (int64_t)c[GM_GLU_THREADS] * c[GM_GLU_VECTORS] * c[GM_GLU_VECTOR_BYTES];
}

static const struct plant plants[] = {
    {GLU_BUG_COLUMN_AFTER, "writes a column too many", "wrote beside", NULL},
    {GLU_BUG_LOST_TAIL, "the last column is not written", "never written", NULL},
    {GLU_BUG_LOST_ROW, "the last row is not written", "never written", NULL},
    {GLU_BUG_SWAPPED, "gate and up change places", "want", NULL},
    {GLU_BUG_NO_LIMIT, "nothing is clamped", "limit 0.75", NULL},
    {GLU_BUG_LIMITS_GATE_BELOW, "the gate is clamped from below", "limit 0.75", NULL},
    {GLU_BUG_OFFSET, "the offset is left out", "offset 1", NULL},
    {GLU_BUG_GELU_FORMS, "the other GELU", "gelu", NULL},
    {GLU_BUG_DROPS_NAN, "a clamped NaN becomes a number", "special", NULL},
    {GLU_BUG_EARLY, "rounds before the product", "late", "glu_fuzz_sm80"},
    {GLU_BUG_COUNT, "looks at no row count", "was written", NULL},
    {GLU_BUG_LOST_SCALE, "the last scale is not written", "scales[", "glu_fuzz_sm80"},
    {GLU_BUG_NAN_HAS_NO_SIZE, "NaN does not count in a scale", "two calls", "glu_quantised_is_two_calls_sm80"},
    {GLU_BUG_OUT_EARLY, "rounds what is quantised", " late", "glu_fuzz_sm80"},
};

const struct tested_operation glu_tests = {
    .name = "glu",
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
    .compute = compute_glu,
    .elements_of_cta = elements_of_cta,
    .plants = plants,
    .plant_count = COUNT(plants),
};
