/* SPDX-License-Identifier: Apache-2.0 */
/* Attention, as the harness knows it. */
#include "attention/attention_tests.h"

#include <stdlib.h>

static void add_tests(void) {
    add_attention_rows_tests();
    add_attention_api_tests();
}

TESTED_FUNCTIONS(attention)

/* ---- an ordinary call ------------------------------------------------------------------------------ */

struct ordinary {
    struct placed_attention placed; /* first */
    struct attention_case ac;
    struct attention_memory memory;
};

static struct call *new_call(bool lasting) {
    const bool slow = env.simulated || opt.self_test;
    struct ordinary *ordinary = calloc(1, sizeof *ordinary);
    if (!ordinary)
        exit(2);
    ordinary->ac = (struct attention_case){
        .batch = lasting && !slow ? 8 : 2,
        .q_lens = {1, 2, 1, 1, 1, 1, 1, 1},
        .kv_lens = {5, lasting && !slow ? 1000 : 20, 300, 300, 300, 300, 300, 300},
        .q_heads = 2,
        .kv_heads = 1,
        .head_dim = 64,
        .v_head_dim = 64,
        .page_size = 16,
        .kv_layout = GM_ATTENTION_KV_PAGED,
        .mask = GM_ATTENTION_CAUSAL,
    };
    return &ordinary->placed.placed.call;
}

static void free_call(struct call *call) {
    struct ordinary *ordinary = (struct ordinary *)call;
    free_attention(&ordinary->placed, &ordinary->memory);
    free(ordinary);
}

static bool place_call(struct result *result, struct call *call, int scale, bool other_inputs) {
    static const float scales[SCALES] = {1, 2, -1, 0.5f, -2, 4};
    struct ordinary *ordinary = (struct ordinary *)call;
    ordinary->ac.v_scale = scales[scale];
    ordinary->ac.seed = other_inputs;
    return place_attention(result, &ordinary->ac, &ordinary->memory, &ordinary->placed);
}

/* ---- the self-test --------------------------------------------------------------------------------- */

static int64_t elements_of_cta(const struct gm_kernel *kernel) {
    return kernel->smem_bytes; /* those of q, k and v */
}

static const struct plant plants[] = {
    {ATTENTION_BUG_ELEMENT_AFTER, "writes an element too many", "was written", NULL},
    {ATTENTION_BUG_LOST_ROW, "the last row is not written", "never written", NULL},
    {ATTENTION_BUG_LOST_TOKEN, "the last token is not read", "want", NULL},
    {ATTENTION_BUG_WINDOW, "a token more at the left", "window", NULL},
    {ATTENTION_BUG_CAUSAL_START, "aligned to the start", "want", NULL},
    {ATTENTION_BUG_PAGE, "the page behind the one that is named", "paged", NULL},
    {ATTENTION_BUG_GROUP, "heads go by turns", "want", NULL},
    {ATTENTION_BUG_CAP, "no soft cap", "cap", NULL},
    {ATTENTION_BUG_SINK, "the sink is left out of the sum", "sinks", NULL},
    {ATTENTION_BUG_SINK_LSE, "the sink is in lse", "sinks", NULL},
    {ATTENTION_BUG_BASE, "lse to the base of 2", "lse", NULL},
    {ATTENTION_BUG_EMPTY, "a row that sees nothing is not written", "never written", NULL},
    {ATTENTION_BUG_TREE, "looks at no tree mask", "tree", "attention_of_a_tree"},
    {ATTENTION_BUG_READS_BEHIND, "0 times what is behind the last token", "nan", NULL},
    {ATTENTION_BUG_DROPS_NAN, "NaN counts as hidden", "special", NULL},
    {ATTENTION_BUG_SCALE, "the scales of the first request are those of all", "scales 3", "attention_of_e4m3"},
    {ATTENTION_BUG_V_SCALE, "v has the scale of k", "scales", "attention_of_e4m3"},
    {ATTENTION_BUG_SCALE_HEAD, "a head has the scale of the next one", "scales", "attention_of_an_8_bit_cache"},
    {ATTENTION_BUG_SCALE_BEHIND_CAP, "scores are scaled when they are capped", "cap", "attention_of_an_8_bit_cache"},
    {ATTENTION_BUG_NAN_IS_480, "NaN of e4m3 is a number", "special", "attention_of_an_8_bit_cache"},
};

const struct tested_operation attention_tests = {
    .name = "attention",
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
    .compute = compute_attention,
    .elements_of_cta = elements_of_cta,
    .plants = plants,
    .plant_count = COUNT(plants),
};
