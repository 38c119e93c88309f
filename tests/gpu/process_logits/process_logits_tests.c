/* SPDX-License-Identifier: Apache-2.0 */
/* process_logits, as the harness knows it. */
#include "process_logits/process_logits_tests.h"

#include <stdlib.h>

#include "columns.h"

static void add_tests(void) {
    add_logits_rows_tests();
    add_logits_api_tests();
}

TESTED_FUNCTIONS(process_logits)

/* ---- an ordinary call ------------------------------------------------------------------------------ */

struct ordinary {
    struct placed_logits placed; /* first */
    struct logits_case lc;
    struct operand_memory memory;
};

/* It counts nothing: some calls are made twice on the same memory. */
static struct call *new_call(bool lasting) {
    const bool slow = env.simulated || opt.self_test;
    struct ordinary *ordinary = calloc(1, sizeof *ordinary);
    if (!ordinary)
        exit(2);
    ordinary->lc = (struct logits_case){.rows = lasting && !slow ? 4000 : 9,
                                        .columns = 520,
                                        .temperature = 0.75f,
                                        .repetition = 1.25f,
                                        .frequency = 0.5f,
                                        .presence = 0.25f,
                                        .has_counts = true,
                                        .has_mask = true,
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
    ordinary->lc.factor = scales[scale];
    ordinary->lc.seed = other_inputs;
    return place_logits(result, &ordinary->lc, &ordinary->memory, &ordinary->placed);
}

/* ---- the self-test --------------------------------------------------------------------------------- */

static int64_t elements_of_cta(const struct gm_kernel *kernel) {
    const int32_t *c = kernel->columns;
    return (int64_t)c[GM_PROCESS_LOGITS_THREADS] * c[GM_PROCESS_LOGITS_VECTORS] * c[GM_PROCESS_LOGITS_VECTOR_BYTES] /
           gm_type_bytes(kernel->type);
}

static const struct plant plants[] = {
    {LOGITS_BUG_COLUMN_AFTER, "writes a column too many", "wrote beside", NULL},
    {LOGITS_BUG_LOST_TAIL, "the last column is not written", "out[", NULL},
    {LOGITS_BUG_LOST_ROW, "the last row is not written", "out[", NULL},
    {LOGITS_BUG_ONE_SIDE, "repetition divides negative logits too", "want", NULL},
    {LOGITS_BUG_PROMPT_COUNTS, "presence is of the prompt's tokens too", "want", NULL},
    {LOGITS_BUG_BIAS_LAST, "the bias is added behind the penalties", "bias", NULL},
    {LOGITS_BUG_TWO_ROUNDINGS, "frequency * count is rounded", "want", NULL},
    {LOGITS_BUG_MASK_ADDS, "the mask adds -inf", "special", NULL},
    {LOGITS_BUG_LAST_LATER, "the last token is counted behind the penalties", "last", NULL},
    {LOGITS_BUG_WRAPS, "a full count wraps into the prompt's bit", "last", NULL},
    {LOGITS_BUG_NO_SLOT, "rows without a slot have the first one", "slots", NULL},
    {LOGITS_BUG_ROW_IS_SLOT, "looks at no slots", "slots", NULL},
    {LOGITS_BUG_COUNT, "looks at no row count", "was written", NULL},
};

const struct tested_operation process_logits_tests = {
    .name = "process_logits",
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
    .compute = compute_logits,
    .elements_of_cta = elements_of_cta,
    .plants = plants,
    .plant_count = COUNT(plants),
};
