/* SPDX-License-Identifier: Apache-2.0 */
/* Permutations, as the harness knows them. */
#include "permute/permute_tests.h"

#include <stdlib.h>

#include "columns.h"

static void add_tests(void) {
    add_permute_rows_tests();
    add_permute_copies_tests();
    add_permute_api_tests();
}

TESTED_FUNCTIONS(permute)

/* ---- an ordinary call ------------------------------------------------------------------------------ */

struct ordinary {
    struct placed_permute placed; /* first */
    struct permute_case pc;
    struct operand_memory memory;
};

static struct call *new_call(bool lasting) {
    const bool slow = env.simulated || opt.self_test;
    struct ordinary *ordinary = calloc(1, sizeof *ordinary);
    if (!ordinary)
        exit(2);
    ordinary->pc = (struct permute_case){
        .rank = 2, .extents = {lasting && !slow ? 4000 : 72, 520}, .order = {1, 0}, .element_bytes = 2};
    pad_permute(&ordinary->pc, 8, 8);
    return &ordinary->placed.placed.call;
}

static void free_call(struct call *call) {
    struct ordinary *ordinary = (struct ordinary *)call;
    free_placed_permute(&ordinary->placed);
    free_operands(&ordinary->memory);
    free(ordinary);
}

static bool place_call(struct result *result, struct call *call, int scale, bool other_inputs) {
    struct ordinary *ordinary = (struct ordinary *)call;
    ordinary->pc.seed = (uint64_t)scale + (other_inputs ? SCALES : 0);
    return place_permute(result, &ordinary->pc, &ordinary->memory, &ordinary->placed);
}

/* ---- the self-test --------------------------------------------------------------------------------- */

static int64_t elements_of_cta(const struct gm_kernel *kernel) {
    const int32_t *c = kernel->columns;
    if (kernel->family == &gm_family_permute_tile)
        return (int64_t)c[GM_PERMUTE_TILE_WIDTH] * c[GM_PERMUTE_TILE_HEIGHT];
    if (kernel->family == &gm_family_permute_rows)
        return (int64_t)c[GM_PERMUTE_ROWS_THREADS] * c[GM_PERMUTE_ROWS_VECTORS] * 16;
    return (int64_t)c[GM_PERMUTE_THREADS] * c[GM_PERMUTE_VECTORS] * c[GM_PERMUTE_ELEMENTS];
}

static const struct plant plants[] = {
    {PERMUTE_BUG_ELEMENT_AFTER, "writes an element too many", "wrote beside", NULL},
    {PERMUTE_BUG_LOST_TAIL, "the last element is not written", "never written", NULL},
    {PERMUTE_BUG_LOST_MIDDLE, "one in the middle is not written", "never written", NULL},
    {PERMUTE_BUG_SWAPPED, "two elements change places", "want", NULL},
    {PERMUTE_BUG_BYTES, "an element has another one's first byte", "want", NULL},
    {PERMUTE_BUG_X_PITCH, "rows of x are taken for longer", "want", NULL},
    {PERMUTE_BUG_TRUNCATES, "a cast does not round", "want", "permute_fuzz_sm80"},
    {PERMUTE_BUG_DROPS_NAN, "a cast makes NaN a number", "special", "permute_fuzz_sm80"},
    {PERMUTE_BUG_FLUSHES, "a cast makes denormals 0", "want", "permute_fuzz_sm80"},
    {PERMUTE_BUG_SATURATES, "a cast saturates", "want", "permute_fuzz_sm80"},
    {PERMUTE_BUG_GAP, "writes between out's elements", "was written", NULL},
};

const struct tested_operation permute_tests = {
    .name = "permute",
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
    .compute = compute_permute,
    .elements_of_cta = elements_of_cta,
    .plants = plants,
    .plant_count = COUNT(plants),
};
