/* SPDX-License-Identifier: Apache-2.0 */
/* attention_merge, as the harness knows it. */
#include "attention_merge/attention_merge_tests.h"

#include <stdlib.h>

#include "columns.h"

static void add_tests(void) {
    add_merge_rows_tests();
    add_merge_api_tests();
}

TESTED_FUNCTIONS(attention_merge)

/* ---- an ordinary call ------------------------------------------------------------------------------ */

struct ordinary {
    struct placed_merge placed; /* first */
    struct merge_case mc;
    struct operand_memory memory;
};

static struct call *new_call(bool lasting) {
    const bool slow = env.simulated || opt.self_test;
    struct ordinary *ordinary = calloc(1, sizeof *ordinary);
    if (!ordinary)
        exit(2);
    ordinary->mc = (struct merge_case){.tokens = lasting && !slow ? 8000 : 11,
                                       .heads = 5,
                                       .head_dim = 128,
                                       .inputs = MERGE_NORMAL,
                                       .layout = MERGE_PADDED,
                                       .pad = 8};
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
    ordinary->mc.factor = scales[scale];
    ordinary->mc.seed = other_inputs;
    return place_merge(result, &ordinary->mc, &ordinary->memory, &ordinary->placed);
}

/* ---- the self-test --------------------------------------------------------------------------------- */

static int64_t elements_of_cta(const struct gm_kernel *kernel) {
    const int32_t *c = kernel->columns;
    return (int64_t)c[GM_ATTENTION_MERGE_THREADS] * c[GM_ATTENTION_MERGE_TOKENS] * c[GM_ATTENTION_MERGE_VECTOR_BYTES];
}

static const struct plant plants[] = {
    {MERGE_BUG_ELEMENT_AFTER, "writes an element too many", "wrote beside", NULL},
    {MERGE_BUG_LOST_TAIL, "the last element is not written", "out[", NULL},
    {MERGE_BUG_LOST_HEAD, "the last head is not computed", "out[", NULL},
    {MERGE_BUG_SWAPPED, "a has b's weight", "want", NULL},
    {MERGE_BUG_NO_MAXIMUM, "exp(lse) without a difference", "normal", NULL},
    {MERGE_BUG_ZERO_COUNTS, "what has no weight is multiplied by 0", "= nan", NULL},
    {MERGE_BUG_LOST_SIGN, "what has no weight adds +0", "of one side alone", NULL},
    {MERGE_BUG_NONE_IS_NAN, "-inf has a difference from -inf", "= nan", NULL},
    {MERGE_BUG_ALL_IS_NAN, "+inf has a difference from +inf", "= nan", NULL},
    {MERGE_BUG_BASE_2, "powers of 2", "normal", NULL},
    {MERGE_BUG_NO_SUM, "nothing is divided by the sum", "want", NULL},
    {MERGE_BUG_LSE_IS_LARGEST, "lse without the logarithm of the sum", "lse[", NULL},
    {MERGE_BUG_STRIDES, "b has a's strides", "want", NULL},
    {MERGE_BUG_COUNT, "looks at no row count", "was written", NULL},
};

const struct tested_operation attention_merge_tests = {
    .name = "attention_merge",
    .add_tests = add_tests,
    .plan = plan,
    .execute = execute,
    .in_one_call = in_one_call,
    .explain = explain,
    .fill_region = fill_placed_region,
    .compare = compare_merge,
    .new_call = new_call,
    .free_call = free_call,
    .place_call = place_call,
    .compute = compute_merge,
    .elements_of_cta = elements_of_cta,
    .plants = plants,
    .plant_count = COUNT(plants),
};
