/* SPDX-License-Identifier: Apache-2.0 */
/* embed, as the harness knows it. */
#include "embed/embed_tests.h"

#include <stdlib.h>

#include "columns.h"

static void add_tests(void) {
    add_embed_rows_tests();
    add_embed_api_tests();
}

TESTED_FUNCTIONS(embed)

/* ---- an ordinary call ------------------------------------------------------------------------------ */

struct ordinary {
    struct placed_embed placed; /* first */
    struct embed_case ec;
    struct operand_memory memory;
};

static struct call *new_call(bool lasting) {
    const bool slow = env.simulated || opt.self_test;
    struct ordinary *ordinary = calloc(1, sizeof *ordinary);
    if (!ordinary)
        exit(2);
    ordinary->ec = (struct embed_case){.tokens = lasting && !slow ? 4000 : 37,
                                       .columns = 520,
                                       .vocabulary = 61,
                                       .inputs = EMBED_NORMAL,
                                       .table_pad = 8,
                                       .out_pad = 8};
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
    ordinary->ec.factor = scales[scale];
    ordinary->ec.seed = other_inputs;
    return place_embed(result, &ordinary->ec, &ordinary->memory, &ordinary->placed);
}

/* ---- the self-test --------------------------------------------------------------------------------- */

static int64_t elements_of_cta(const struct gm_kernel *kernel) {
    const int32_t *c = kernel->columns;
    return (int64_t)c[GM_EMBED_THREADS] * c[GM_EMBED_VECTORS] * c[GM_EMBED_VECTOR_BYTES];
}

static const struct plant plants[] = {
    {EMBED_BUG_COLUMN_AFTER, "writes a column too many", "wrote beside", NULL},
    {EMBED_BUG_LOST_TAIL, "the last column is not written", "never written", NULL},
    {EMBED_BUG_LOST_ROW, "the last token is not looked up", "never written", NULL},
    {EMBED_BUG_NO_SCALE, "the scale is left out", "want", NULL},
    {EMBED_BUG_ROW_AFTER, "takes the row behind", "want", NULL},
    {EMBED_BUG_BAD_IS_FIRST, "an id out of range is taken for 0", "bad", NULL},
    {EMBED_BUG_BAD_IS_LEFT, "an id out of range leaves its row", "never written", NULL},
    {EMBED_BUG_LOW_HALF, "of 64-bit ids the low half is taken", "bad int64", NULL},
    {EMBED_BUG_NO_FLAG, "the error flag is never set", "error_flag", NULL},
    {EMBED_BUG_ALWAYS_FLAG, "the error flag is always set", "error_flag", NULL},
    {EMBED_BUG_COUNT, "looks at no row count", "was written", NULL},
};

const struct tested_operation embed_tests = {
    .name = "embed",
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
    .compute = compute_embed,
    .elements_of_cta = elements_of_cta,
    .plants = plants,
    .plant_count = COUNT(plants),
};
