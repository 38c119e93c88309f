/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax, as the harness knows it. */
#include "softmax/softmax_tests.h"

#include <stdlib.h>

#include "columns.h"

static void add_tests(void) {
    add_softmax_rows_tests();
    add_softmax_api_tests();
}

TESTED_FUNCTIONS(softmax)

/* ---- an ordinary call ------------------------------------------------------------------------------ */

struct ordinary {
    struct placed_softmax placed; /* first */
    struct softmax_case sc;
    struct operand_memory memory;
};

static struct call *new_call(bool lasting) {
    const bool slow = env.simulated || opt.self_test;
    struct ordinary *ordinary = calloc(1, sizeof *ordinary);
    if (!ordinary)
        exit(2);
    ordinary->sc = (struct softmax_case){
        .rows = lasting && !slow ? 4000 : 37, .columns = 520, .x_pad = 8, .out_pad = 8, .log = true};
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
    ordinary->sc.scale = scales[scale];
    ordinary->sc.inputs = SOFTMAX_NORMAL;
    ordinary->sc.seed = other_inputs;
    return place_softmax(result, &ordinary->sc, &ordinary->memory, &ordinary->placed);
}

/* ---- the self-test --------------------------------------------------------------------------------- */

static int64_t elements_of_cta(const struct gm_kernel *kernel) {
    const int32_t *c = kernel->columns;
    return (int64_t)c[GM_SOFTMAX_THREADS] * c[GM_SOFTMAX_VECTORS] * c[GM_SOFTMAX_VECTOR_BYTES];
}

static const struct plant plants[] = {
    {SOFTMAX_BUG_COLUMN_AFTER, "writes a column too many", "wrote beside", NULL},
    {SOFTMAX_BUG_LOST_TAIL, "the last column is not written", "never written", NULL},
    {SOFTMAX_BUG_LOST_ROW, "the last row is not written", "never written", NULL},
    {SOFTMAX_BUG_LOST_TERM, "the sum lacks the last column", "want", NULL},
    {SOFTMAX_BUG_NO_SHIFT, "the exponentials are of y itself", "want", NULL},
    {SOFTMAX_BUG_NO_CAP, "nothing is capped", "cap 3", NULL},
    {SOFTMAX_BUG_CAP_BEHIND, "the cap comes behind the temperature", "cap 3", NULL},
    {SOFTMAX_BUG_ONE_TEMPERATURE, "all rows have the first one's temperature", "temperatures", NULL},
    {SOFTMAX_BUG_LAST_OF_TIES, "greedy takes the last of ties", "temperatures", NULL},
    {SOFTMAX_BUG_DROPS_NAN, "NaN is passed over", "special", NULL},
    {SOFTMAX_BUG_ZEROS, "a row of -inf becomes zeros", "special", NULL},
    {SOFTMAX_BUG_LSE_LOG2, "lse is a binary logarithm", "lse[", NULL},
    {SOFTMAX_BUG_COUNT, "looks at no row count", "was written", NULL},
};

const struct tested_operation softmax_tests = {
    .name = "softmax",
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
    .compute = compute_softmax,
    .elements_of_cta = elements_of_cta,
    .plants = plants,
    .plant_count = COUNT(plants),
};
