/* SPDX-License-Identifier: Apache-2.0 */
/* moe_route, as the harness knows it. */
#include "moe_route/moe_route_tests.h"

#include <stdlib.h>

static void add_tests(void) {
    add_route_rows_tests();
    add_route_api_tests();
}

TESTED_FUNCTIONS(moe_route)

/* ---- an ordinary call ------------------------------------------------------------------------------ */

struct ordinary {
    struct placed_route placed; /* first */
    struct route_case rc;
    struct operand_memory memory;
};

static struct call *new_call(bool lasting) {
    const bool slow = env.simulated || opt.self_test;
    struct ordinary *ordinary = calloc(1, sizeof *ordinary);
    if (!ordinary)
        exit(2);
    ordinary->rc = (struct route_case){.tokens = lasting && !slow ? 20000 : 37,
                                       .experts = 72,
                                       .k = 6,
                                       .groups = 1,
                                       .top_groups = 1,
                                       .inputs = ROUTE_NORMAL,
                                       .logits_pad = 8};
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
    ordinary->rc.factor = scales[scale];
    ordinary->rc.seed = other_inputs;
    return place_route(result, &ordinary->rc, &ordinary->memory, &ordinary->placed);
}

/* ---- the self-test --------------------------------------------------------------------------------- */

static int64_t elements_of_cta(const struct gm_kernel *kernel) {
    return kernel->threads;
}

static const struct plant plants[] = {
    {ROUTE_BUG_SLOT_AFTER, "writes a slot too many", "wrote beside", NULL},
    {ROUTE_BUG_LOST_SLOT, "the last slot is not written", "never written", NULL},
    {ROUTE_BUG_LOST_TOKEN, "the last token is not routed", "never written", NULL},
    {ROUTE_BUG_HIGH_ID, "of equals the highest comes first", "ids", NULL},
    {ROUTE_BUG_NAN_FIRST, "NaN comes first", "special", NULL},
    {ROUTE_BUG_NO_BIAS, "the bias is left out", "biased", NULL},
    {ROUTE_BUG_BIAS_WEIGHS, "the bias is in a sigmoid's weights", "sigmoid", NULL},
    {ROUTE_BUG_ONE_BEST, "a group's score is its largest", "sigmoid", NULL},
    {ROUTE_BUG_ALL_GROUPS, "all groups are chosen from", "sigmoid", NULL},
    {ROUTE_BUG_NO_SCALE, "the scale is left out", "scale", NULL},
    {ROUTE_BUG_PLAIN, "nothing is renormalised", "weights", NULL},
    {ROUTE_BUG_NO_SHIFT, "exponentials of the logits", "weights", NULL},
    {ROUTE_BUG_COUNT, "looks at no row count", "was written", NULL},
};

const struct tested_operation moe_route_tests = {
    .name = "moe_route",
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
    .compute = compute_route,
    .elements_of_cta = elements_of_cta,
    .plants = plants,
    .plant_count = COUNT(plants),
};
