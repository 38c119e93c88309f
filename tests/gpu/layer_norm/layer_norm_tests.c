/* SPDX-License-Identifier: Apache-2.0 */
/* LayerNorm, as the harness knows it. */
#include "layer_norm/layer_norm_tests.h"

#include <stdlib.h>

#include "columns.h"
#include "common/makes_tokens.h"

static void add_tests(void) {
    add_ln_rows_tests();
    add_ln_api_tests();
}

TESTED_FUNCTIONS(layer_norm)

/* ---- an ordinary call ------------------------------------------------------------------------------ */

struct ordinary {
    struct placed_ln placed; /* first */
    struct ln_case lc;
    struct operand_memory memory;
};

/* Not in place and without a residual: it may be executed again. */
static struct call *new_call(bool lasting) {
    const bool slow = env.simulated || opt.self_test;
    struct ordinary *ordinary = calloc(1, sizeof *ordinary);
    if (!ordinary)
        exit(2);
    ordinary->lc =
        (struct ln_case){.rows = lasting && !slow ? 4000 : 37, .columns = 520, .eps = 1e-5f, .x_pad = 8, .out_pad = 8};
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
    ordinary->lc.weight_scale = scales[scale];
    ordinary->lc.inputs = other_inputs ? LN_POSITIVE : LN_NORMAL;
    return place_ln(result, &ordinary->lc, &ordinary->memory, &ordinary->placed);
}

/* ---- the self-test --------------------------------------------------------------------------------- */

/* The planted bugs are those of variants with x's type. */
static int64_t elements_of_cta(const struct gm_kernel *kernel) {
    const int32_t *c = kernel->columns;
    const int64_t elements =
        (int64_t)c[GM_LAYER_NORM_THREADS] * c[GM_LAYER_NORM_VECTORS] * c[GM_LAYER_NORM_VECTOR_BYTES];
    return c[GM_LAYER_NORM_MAKES] == GM_MAKES_any ? INT64_MAX : elements;
}

static const struct plant plants[] = {
    {LN_BUG_COLUMN_AFTER, "writes a column too many", "wrote beside", NULL},
    {LN_BUG_LOST_TAIL, "the last column does not count", "want", NULL},
    {LN_BUG_LOST_ROW, "the last row is not written", "never written", NULL},
    {LN_BUG_EPS_OUTSIDE, "eps outside the root", "want", NULL},
    {LN_BUG_OFFSET, "the offset is left out", "want", NULL},
    {LN_BUG_NO_WEIGHT, "a weight that is not there is 0", "no-weight", NULL},
    {LN_BUG_BIAS, "the bias is left out", "want", NULL},
    {LN_BUG_BIAS_FIRST, "the bias is added before the weight", "want", NULL},
    {LN_BUG_RESIDUAL, "the residual is not written", "residual[", NULL},
    {LN_BUG_OVER_READ, "reads a column too many", "nan", NULL},
    {LN_BUG_TRUNCATES, "truncates instead of rounding", "want", NULL},
    {LN_BUG_TRUNCATES, "truncates instead of rounding", "want", "layer_norm_rounds_without_bias"},
    {LN_BUG_EARLY, "rounds before the weight", "normalized late", "layer_norm_fuzz_sm80"},
    {LN_BUG_ONE_PASS, "the variance in one pass", " far ", NULL},
    {LN_BUG_UNBIASED, "the variance of one column less", "want", NULL},
    {LN_BUG_COUNT, "looks at no row count", "was written", NULL},
    {LN_BUG_LOST_SCALE, "the last scale is not written", "scales[", "layer_norm_fuzz_sm80"},
    {LN_BUG_ONE_NORM, "the second norm is left out", "residual-between", "layer_norm_fuzz_sm80"},
};

const struct tested_operation layer_norm_tests = {
    .name = "layer_norm",
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
    .compute = compute_ln,
    .elements_of_cta = elements_of_cta,
    .plants = plants,
    .plant_count = COUNT(plants),
};
