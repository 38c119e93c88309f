/* SPDX-License-Identifier: Apache-2.0 */
/* The rotary embedding, as the harness knows it. */
#include "rope/rope_tests.h"

#include <stdlib.h>

#include "columns.h"

static void add_tests(void) {
    add_rope_rows_tests();
    add_rope_api_tests();
}

TESTED_FUNCTIONS(rope)

/* ---- an ordinary call ------------------------------------------------------------------------------ */

struct ordinary {
    struct placed_rope placed; /* first */
    struct rope_case rc;
    struct operand_memory memory;
};

static struct call *new_call(bool lasting) {
    const bool slow = env.simulated || opt.self_test;
    struct ordinary *ordinary = calloc(1, sizeof *ordinary);
    if (!ordinary)
        exit(2);
    ordinary->rc = (struct rope_case){
        .tokens = lasting && !slow ? 4000 : 11, .q_heads = 4, .kv_heads = 2, .head_dim = 64, .rotary_dim = 64};
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
    ordinary->rc.scale = scales[scale];
    ordinary->rc.inputs = ROPE_NORMAL;
    ordinary->rc.seed = other_inputs;
    return place_rope(result, &ordinary->rc, &ordinary->memory, &ordinary->placed);
}

/* ---- the self-test --------------------------------------------------------------------------------- */

static int64_t elements_of_cta(const struct gm_kernel *kernel) {
    const int32_t *c = kernel->columns;
    return (int64_t)c[GM_ROPE_THREADS] * c[GM_ROPE_HEADS] * c[GM_ROPE_VECTOR_BYTES];
}

static const struct plant plants[] = {
    {ROPE_BUG_ELEMENT_AFTER, "writes an element behind a head", "wrote beside", NULL},
    {ROPE_BUG_LOST_HEAD, "the last head is not written", "never written", NULL},
    {ROPE_BUG_LOST_TOKEN, "the last token is not written", "never written", NULL},
    {ROPE_BUG_PAIRING, "the other pairs", "want", NULL},
    {ROPE_BUG_SIGN, "rotates the other way", "want", NULL},
    {ROPE_BUG_REST, "what is not rotated becomes 0", "want", NULL},
    {ROPE_BUG_EARLY, "rounds products", "late", "rope_fuzz_sm80"},
    {ROPE_BUG_NORM_OF_ROTARY, "the norm is of rotated elements", "norm", NULL},
    {ROPE_BUG_OFFSET, "the weight's offset is left out", "norm", NULL},
    {ROPE_BUG_SKIPS_NOTHING, "a negative slot is slot 0", "_cache[", NULL},
    {ROPE_BUG_PAGE, "a page from its end", "_cache[", NULL},
    {ROPE_BUG_UNSATURATED, "NaN of what is too large", "append-e4m3", NULL},
    {ROPE_BUG_MULTIPLIES, "multiplies by 1 / scale", "append-e4m3", NULL},
    {ROPE_BUG_FLAG, "the error flag is not set", "error_flag", NULL},
    {ROPE_BUG_COUNT, "looks at no row count", "was written", NULL},
};

const struct tested_operation rope_tests = {
    .name = "rope",
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
    .compute = compute_rope,
    .elements_of_cta = elements_of_cta,
    .plants = plants,
    .plant_count = COUNT(plants),
};
