/* SPDX-License-Identifier: Apache-2.0 */
/* convolution, as the harness knows it. */
#include "convolution/convolution_tests.h"

#include <stdlib.h>

#include "columns.h"
#include "common/convolution/params.h"

static void add_tests(void) {
    add_convolution_rows_tests();
    add_convolution_api_tests();
}

TESTED_FUNCTIONS(convolution)

/* ---- an ordinary call ------------------------------------------------------------------------------ */

struct ordinary {
    struct placed_convolution placed; /* first */
    struct convolution_case cc;
    struct operand_memory memory;
};

static struct call *new_call(bool lasting) {
    const bool slow = env.simulated || opt.self_test;
    struct ordinary *ordinary = calloc(1, sizeof *ordinary);
    if (!ordinary)
        exit(2);
    ordinary->cc = (struct convolution_case){.width = 136,
                                             .height = lasting && !slow ? 4000 : 7,
                                             .planes = 2,
                                             .filter_width = 3,
                                             .filter_height = 3,
                                             .edge = GM_CONVOLUTION_CLAMP,
                                             .x_pad = 8,
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
    ordinary->cc.factor = scales[scale];
    ordinary->cc.seed = other_inputs;
    return place_convolution(result, &ordinary->cc, &ordinary->memory, &ordinary->placed);
}

/* ---- the self-test --------------------------------------------------------------------------------- */

static int64_t elements_of_cta(const struct gm_kernel *kernel) {
    const int32_t *c = kernel->columns;
    return (int64_t)GM_CONVOLUTION_TILE_WIDTH *
           GM_CONVOLUTION_TILE_HEIGHT(c[GM_CONVOLUTION_THREADS], c[GM_CONVOLUTION_ROWS]);
}

static const struct plant plants[] = {
    {CONVOLUTION_BUG_COLUMN_AFTER, "writes a column too many", "wrote beside", NULL},
    {CONVOLUTION_BUG_LOST_TAIL, "the last column is not written", "out[", NULL},
    {CONVOLUTION_BUG_LOST_ROW, "the last row is not computed", "out[", NULL},
    {CONVOLUTION_BUG_LOST_TAP, "the last tap is left out", "want", NULL},
    {CONVOLUTION_BUG_TURNED, "the filter is turned around", "want", NULL},
    {CONVOLUTION_BUG_ANCHOR, "the anchor of an even number is left of the middle", "want", NULL},
    {CONVOLUTION_BUG_CLAMP, "clamps whatever the edge", "want", NULL},
    {CONVOLUTION_BUG_ONE_PERIOD, "wraps no more than once", "wrap", NULL},
    {CONVOLUTION_BUG_ORDER, "sums begin with the last row of the filter", "want", NULL},
    {CONVOLUTION_BUG_PRODUCT, "products are rounded", "want", "convolution_fuzz_sm80"},
    {CONVOLUTION_BUG_EARLY, "sums along x are rounded to the type", "separable", "convolution_fuzz_sm80"},
    {CONVOLUTION_BUG_PLANE, "all planes are made of the first", "want", NULL},
};

const struct tested_operation convolution_tests = {
    .name = "convolution",
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
    .compute = compute_convolution,
    .elements_of_cta = elements_of_cta,
    .plants = plants,
    .plant_count = COUNT(plants),
};
