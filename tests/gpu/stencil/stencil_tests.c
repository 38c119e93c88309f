/* SPDX-License-Identifier: Apache-2.0 */
/* stencil, as the harness knows it. */
#include "stencil/stencil_tests.h"

#include <stdlib.h>

#include "columns.h"
#include "common/stencil/params.h"

static void add_tests(void) {
    add_stencil_rows_tests();
    add_stencil_api_tests();
}

TESTED_FUNCTIONS(stencil)

/* ---- an ordinary call ------------------------------------------------------------------------------ */

struct ordinary {
    struct placed_stencil placed; /* first */
    struct stencil_case sc;
    struct operand_memory memory;
};

static struct call *new_call(bool lasting) {
    const bool slow = env.simulated || opt.self_test;
    struct ordinary *ordinary = calloc(1, sizeof *ordinary);
    if (!ordinary)
        exit(2);
    ordinary->sc = (struct stencil_case){.width = 136,
                                         .height = lasting && !slow ? 1000 : 3,
                                         .depth = lasting && !slow ? 4 : 2,
                                         .grids = 1,
                                         .shape = GM_STENCIL_STAR_7,
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
    ordinary->sc.factor = scales[scale];
    ordinary->sc.seed = other_inputs;
    return place_stencil(result, &ordinary->sc, &ordinary->memory, &ordinary->placed);
}

/* ---- the self-test --------------------------------------------------------------------------------- */

static int64_t elements_of_cta(const struct gm_kernel *kernel) {
    const int32_t *c = kernel->columns;
    return (int64_t)GM_STENCIL_TILE_WIDTH * GM_STENCIL_TILE_HEIGHT(c[GM_STENCIL_THREADS], c[GM_STENCIL_ROWS]);
}

static const struct plant plants[] = {
    {STENCIL_BUG_COLUMN_AFTER, "writes a column too many", "wrote beside", NULL},
    {STENCIL_BUG_LOST_TAIL, "the last column is not written", "out[", NULL},
    {STENCIL_BUG_LOST_PLANE, "the last plane is not computed", "out[", NULL},
    {STENCIL_BUG_LOST_TAP, "the last tap is left out", "want", NULL},
    {STENCIL_BUG_CORNERS, "taps of a star are taken for those of a box", "star 7", NULL},
    {STENCIL_BUG_TURNED, "rows and columns of taps change places", "want", NULL},
    {STENCIL_BUG_CLAMP, "clamps whatever the edge", "want", NULL},
    {STENCIL_BUG_DEPTH, "there are zeros ahead of the first plane, whatever the edge", "want", NULL},
    {STENCIL_BUG_ORDER, "sums begin with the last tap", "want", "stencil_fuzz_sm80"},
    {STENCIL_BUG_PRODUCT, "products are rounded", "want", "stencil_fuzz_sm80"},
    {STENCIL_BUG_ROUNDED, "a sum is rounded between planes", "want", "stencil_fuzz_sm80"},
    {STENCIL_BUG_GRID, "all grids are made of the first", "want", NULL},
};

const struct tested_operation stencil_tests = {
    .name = "stencil",
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
    .compute = compute_stencil,
    .elements_of_cta = elements_of_cta,
    .plants = plants,
    .plant_count = COUNT(plants),
};
