/* SPDX-License-Identifier: Apache-2.0 */
/* RMSNorm, as the harness knows it. */
#include "rms_norm/rms_norm_tests.h"

#include <stdlib.h>

#include "columns.h"
#include "common/makes_tokens.h"

static void add_tests(void) {
    add_norm_rows_tests();
    add_norm_api_tests();
}

TESTED_FUNCTIONS(rms_norm)

/* ---- an ordinary call ------------------------------------------------------------------------------ */

struct ordinary {
    struct placed_norm placed; /* first */
    struct norm_case nc;
    struct operand_memory memory;
};

/* Not in place and without a residual: it may be executed again. */
static struct call *new_call(bool lasting) {
    const bool slow = env.simulated || opt.self_test;
    struct ordinary *ordinary = calloc(1, sizeof *ordinary);
    if (!ordinary)
        exit(2);
    ordinary->nc = (struct norm_case){
        .rows = lasting && !slow ? 4000 : 37, .columns = 520, .eps = 1e-5f, .x_pad = 8, .out_pad = 8};
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
    ordinary->nc.weight_scale = scales[scale];
    ordinary->nc.inputs = other_inputs ? POSITIVE : NORMAL_ROWS;
    return place_norm(result, &ordinary->nc, &ordinary->memory, &ordinary->placed);
}

/* ---- the self-test --------------------------------------------------------------------------------- */

/* The planted bugs are those of variants with x's type. */
static int64_t elements_of_cta(const struct gm_kernel *kernel) {
    const int32_t *c = kernel->columns;
    const int64_t elements = (int64_t)c[GM_RMS_NORM_THREADS] * c[GM_RMS_NORM_VECTORS] * c[GM_RMS_NORM_VECTOR_BYTES];
    return c[GM_RMS_NORM_MAKES] == GM_MAKES_any ? INT64_MAX : elements;
}

static const struct plant plants[] = {
    {NORM_BUG_COLUMN_AFTER, "writes a column too many", "wrote beside", NULL},
    {NORM_BUG_LOST_TAIL, "the last column does not count", "want", NULL},
    {NORM_BUG_LOST_ROW, "the last row is not written", "never written", NULL},
    {NORM_BUG_EPS_OUTSIDE, "eps outside the root", "want", NULL},
    {NORM_BUG_OFFSET, "the offset is left out", "offset 1", NULL},
    {NORM_BUG_RESIDUAL, "the residual is not written", "residual[", NULL},
    {NORM_BUG_OVER_READ, "reads a column too many", "nan", NULL},
    {NORM_BUG_TRUNCATES, "truncates instead of rounding", "want", NULL},
    {NORM_BUG_TRUNCATES, "truncates instead of rounding", "want", "rms_norm_rounds_without_bias"},
    {NORM_BUG_EARLY, "rounds before the weight", "normalized late", "rms_norm_fuzz_sm80"},
    {NORM_BUG_LOST_HEAD, "the last head is not written", "heads", "rms_norm_of_heads"},
    {NORM_BUG_COUNT, "looks at no row count", "was written", NULL},
    {NORM_BUG_LOST_SCALE, "the last scale is not written", "scales[", "rms_norm_fuzz_sm80"},
    {NORM_BUG_DROPS_NAN, "NaN does not count in a scale", "two calls", "rms_norm_quantised_is_two_calls_sm80"},
    {NORM_BUG_ONE_NORM, "the second norm is left out", "residual-between", "rms_norm_fuzz_sm80"},
};

const struct tested_operation rms_norm_tests = {
    .name = "rms_norm",
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
    .compute = compute_norm,
    .elements_of_cta = elements_of_cta,
    .plants = plants,
    .plant_count = COUNT(plants),
};
