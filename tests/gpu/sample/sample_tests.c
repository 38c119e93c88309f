/* SPDX-License-Identifier: Apache-2.0 */
/* Sampling, as the harness knows it. */
#include "sample/sample_tests.h"

#include <stdlib.h>

static void add_tests(void) {
    add_sample_rows_tests();
    add_sample_api_tests();
}

TESTED_FUNCTIONS(sample)

/* ---- an ordinary call ------------------------------------------------------------------------------ */

struct ordinary {
    struct placed_sample placed; /* first */
    struct sample_case sc;
    struct operand_memory memory;
};

static struct call *new_call(bool lasting) {
    const bool slow = env.simulated || opt.self_test;
    struct ordinary *ordinary = calloc(1, sizeof *ordinary);
    if (!ordinary)
        exit(2);
    ordinary->sc = (struct sample_case){
        .rows = lasting && !slow ? 4000 : 9, .columns = 520, .temperature = 1, .top_k = 50, .top_p = 0.95f, .pad = 8};
    return &ordinary->placed.placed.call;
}

static void free_call(struct call *call) {
    struct ordinary *ordinary = (struct ordinary *)call;
    free_placed(&ordinary->placed.placed);
    free_operands(&ordinary->memory);
    free(ordinary);
}

static bool place_call(struct result *result, struct call *call, int scale, bool other_inputs) {
    struct ordinary *ordinary = (struct ordinary *)call;
    ordinary->sc.seed = (uint64_t)scale * 2 + other_inputs;
    return place_sample(result, &ordinary->sc, &ordinary->memory, &ordinary->placed);
}

/* ---- the self-test --------------------------------------------------------------------------------- */

static int64_t elements_of_cta(const struct gm_kernel *kernel) {
    (void)kernel;
    return 1;
}

static const struct plant plants[] = {
    {SAMPLE_BUG_ROW_AFTER, "writes an id too many", "wrote beside", NULL},
    {SAMPLE_BUG_LOST_ROW, "the last row is not written", "never written", NULL},
    {SAMPLE_BUG_LOST_TAIL, "the last column is not looked at", "want", NULL},
    {SAMPLE_BUG_LAST_OF_EQUALS, "ties go to the highest column", "want", NULL},
    {SAMPLE_BUG_ONE_TOO_MANY, "top_k keeps one more", "top_k", NULL},
    {SAMPLE_BUG_DROPS_TIES, "what equals the k-th is dropped", "want", NULL},
    {SAMPLE_BUG_P_OF_ALL, "top_p is a share of all", "top_p", NULL},
    {SAMPLE_BUG_P_WITHOUT_LAST, "what completes top_p is dropped", "top_p", NULL},
    {SAMPLE_BUG_MIN_P_OF_SUM, "min_p is relative to the sum", "min_p", NULL},
    {SAMPLE_BUG_NAN_WINS, "NaN is the largest", "want", NULL},
    {SAMPLE_BUG_PLACE, "the noise depends on the row's place", "want", NULL},
    {SAMPLE_BUG_STEP, "looks at no step of the row", "by row", NULL},
    {SAMPLE_BUG_SHORT_SEED, "looks at half of the seed", "want", NULL},
    {SAMPLE_BUG_LOGPROB, "the logprob of what is kept", "logprobs", NULL},
    {SAMPLE_BUG_COUNT, "looks at no row count", "was written", NULL},
};

const struct tested_operation sample_tests = {
    .name = "sample",
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
    .compute = compute_sample,
    .elements_of_cta = elements_of_cta,
    .plants = plants,
    .plant_count = COUNT(plants),
};
