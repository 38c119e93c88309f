/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions, as the harness knows them. */
#include "reduce/reduce_tests.h"

#include <stdlib.h>

#include "columns.h"

static void add_tests(void) {
    add_reduce_rows_tests();
    add_reduce_api_tests();
}

TESTED_FUNCTIONS(reduce)

/* ---- an ordinary call ------------------------------------------------------------------------------ */

struct ordinary {
    struct placed_reduce placed; /* first */
    struct reduce_case rc;
    struct reduce_memory memory;
};

static struct call *new_call(bool lasting) {
    const bool slow = env.simulated || opt.self_test;
    struct ordinary *ordinary = calloc(1, sizeof *ordinary);
    if (!ordinary)
        exit(2);
    ordinary->rc = (struct reduce_case){
        .rows = lasting && !slow ? 4000 : 37, .columns = 520, .x_pad = 8, .inputs = REDUCE_POSITIVE};
    return &ordinary->placed.placed.call;
}

static void free_call(struct call *call) {
    struct ordinary *ordinary = (struct ordinary *)call;
    free_placed_reduce(&ordinary->placed);
    free_reduce_memory(&ordinary->memory);
    free(ordinary);
}

static bool place_call(struct result *result, struct call *call, int scale, bool other_inputs) {
    static const float scales[SCALES] = {1, 2, -1, 0.5f, -2, 4};
    struct ordinary *ordinary = (struct ordinary *)call;
    ordinary->rc.scale = scales[scale];
    ordinary->rc.seed = other_inputs;
    return place_reduce(result, &ordinary->rc, &ordinary->memory, &ordinary->placed);
}

/* ---- the self-test --------------------------------------------------------------------------------- */

static int64_t elements_of_cta(const struct gm_kernel *kernel) {
    const int32_t *c = kernel->columns;
    return (int64_t)c[GM_REDUCE_THREADS] * c[GM_REDUCE_VECTORS] * c[GM_REDUCE_VECTOR_BYTES];
}

static const struct plant plants[] = {
    {REDUCE_BUG_RESULT_AFTER, "writes a result too many", "wrote beside", NULL},
    {REDUCE_BUG_LOST_RESULT, "the last result is not written", "never written", NULL},
    {REDUCE_BUG_LOST_ROW, "the last row is not read", "want", NULL},
    {REDUCE_BUG_LOST_COLUMN, "the last column is not read", "want", NULL},
    {REDUCE_BUG_MEAN, "the mean is not divided", "mean", NULL},
    {REDUCE_BUG_ROOT, "no square root is taken", "l2", NULL},
    {REDUCE_BUG_DROPS_NAN, "NaN is no extreme", "special", NULL},
    {REDUCE_BUG_LAST_TIE, "the last of equal ones", "arg", NULL},
    {REDUCE_BUG_LAST_NAN, "the last NaN", "arg", NULL},
    {REDUCE_BUG_ZEROS_DIFFER, "+0 is larger than -0", "arg", NULL},
    {REDUCE_BUG_ROUNDS_EARLY, "sums are rounded to bf16 on the way", "want", NULL},
    {REDUCE_BUG_COUNT, "looks at no row count", "count", NULL},
};

const struct tested_operation reduce_tests = {
    .name = "reduce",
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
    .compute = compute_reduce,
    .elements_of_cta = elements_of_cta,
    .plants = plants,
    .plant_count = COUNT(plants),
};
