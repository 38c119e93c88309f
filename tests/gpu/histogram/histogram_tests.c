/* SPDX-License-Identifier: Apache-2.0 */
/* Histograms, as the harness knows them. */
#include "histogram/histogram_tests.h"

#include <stdlib.h>

#include "columns.h"

static void add_tests(void) {
    add_histogram_rows_tests();
    add_histogram_api_tests();
}

TESTED_FUNCTIONS(histogram)

/* ---- an ordinary call ------------------------------------------------------------------------------ */

struct ordinary {
    struct placed_histogram placed; /* first */
    struct histogram_case hc;
    struct histogram_memory memory;
};

static struct call *new_call(bool lasting) {
    const bool slow = env.simulated || opt.self_test;
    struct ordinary *ordinary = calloc(1, sizeof *ordinary);
    if (!ordinary)
        exit(2);
    ordinary->hc = (struct histogram_case){
        .rows = lasting && !slow ? 4000 : 37, .columns = 520, .bins = 100, .type = GM_FP32, .x_pad = 8};
    return &ordinary->placed.placed.call;
}

static void free_call(struct call *call) {
    struct ordinary *ordinary = (struct ordinary *)call;
    free_placed_histogram(&ordinary->placed);
    free_histogram_memory(&ordinary->memory);
    free(ordinary);
}

static bool place_call(struct result *result, struct call *call, int scale, bool other_inputs) {
    struct ordinary *ordinary = (struct ordinary *)call;
    ordinary->hc.seed = (uint64_t)scale * 2 + other_inputs;
    return place_histogram(result, &ordinary->hc, &ordinary->memory, &ordinary->placed);
}

/* ---- the self-test --------------------------------------------------------------------------------- */

static int64_t elements_of_cta(const struct gm_kernel *kernel) {
    const int32_t *c = kernel->columns;
    return (int64_t)c[GM_HISTOGRAM_THREADS] * c[GM_HISTOGRAM_VECTORS] * gm_type_bytes(kernel->type);
}

static const struct plant plants[] = {
    {HISTOGRAM_BUG_COUNT_AFTER, "writes a count too many", "wrote beside", NULL},
    {HISTOGRAM_BUG_LOST_COUNT, "the last count is not written", "never written", NULL},
    {HISTOGRAM_BUG_LOST_ROW, "the last row is not read", "want", NULL},
    {HISTOGRAM_BUG_LOST_COLUMN, "the last column is not read", "want", NULL},
    {HISTOGRAM_BUG_UPPER, "what lies on the upper end is not counted", "edges", "histogram_sm80_fp32_t1024_v4_s99"},
    {HISTOGRAM_BUG_CLAMPS, "what lies beyond the bins is in the last one", "want", NULL},
    {HISTOGRAM_BUG_NEAREST, "bins are rounded to nearest", "want", "histogram_sm80_fp32_t1024_v4_s99"},
    {HISTOGRAM_BUG_WIDTH, "looks at no width", "want", NULL},
    {HISTOGRAM_BUG_FIRST, "looks at no first value", "want", NULL},
    {HISTOGRAM_BUG_OVERWRITES, "writes where it is to add", "added", NULL},
    {HISTOGRAM_BUG_ADDS, "adds where it is to write", "written", NULL},
    {HISTOGRAM_BUG_CARRY, "counts of 64 bits are added by halves", "wide", NULL},
    {HISTOGRAM_BUG_ROW_COUNT, "looks at no row count", "count", NULL},
};

const struct tested_operation histogram_tests = {
    .name = "histogram",
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
    .compute = compute_histogram,
    .elements_of_cta = elements_of_cta,
    .plants = plants,
    .plant_count = COUNT(plants),
};
