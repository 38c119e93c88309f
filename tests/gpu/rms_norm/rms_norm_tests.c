/* SPDX-License-Identifier: Apache-2.0 */
/* RMSNorm, as the harness knows it. */
#include "rms_norm/rms_norm_tests.h"

#include <stdlib.h>

#include "columns.h"

/* The test group `image` runs one variant whose image --image has replaced, for the mutants. */
static void run_image(const struct test *test, struct result *result) {
    const struct gm_kernel *kernel = &gm_kernels[test->kernel];
    const int32_t *c = kernel->columns;
    const int64_t chunk = c[GM_RMS_NORM_VECTOR_BYTES] / gm_type_bytes(kernel->type);
    const int64_t held = (int64_t)c[GM_RMS_NORM_ROW_THREADS] * c[GM_RMS_NORM_VECTORS] * chunk;
    const int64_t columns[] = {held, held / 2 + chunk, c[GM_RMS_NORM_PASSES] == 2 ? held + 5 * chunk : chunk};
    struct norm_buffers buffers = {0};
    for (size_t i = 0; i < COUNT(columns); i++) {
        const struct norm_case nc = {.rows = 9,
                                     .columns = columns[i],
                                     .type = kernel->type,
                                     .eps = 0.5f,
                                     .weight_offset = 1,
                                     .residual = i != 1,
                                     .inputs = NORMAL_ROWS};
        if (!run_norm(result, &nc, kernel->name, 0, &buffers))
            break;
    }
    free_norm(&buffers);
}

static void add_tests(void) {
    add_norm_rows_tests();
    add_norm_early_tests();
    add_norm_api_tests();
    for (size_t i = 0; i < gm_kernel_count() && opt.test && strcmp(opt.test, "image") == 0; i++)
        if (gm_kernels[i].family->operation == &gm_operation_rms_norm)
            add_test("image", gm_kernels[i].name, run_image, (int)i, 0);
}

TESTED_FUNCTIONS(rms_norm)

/* ---- an ordinary call ------------------------------------------------------------------------------ */

struct ordinary {
    struct placed_norm placed; /* first */
    struct norm_case nc;
    struct norm_buffers buffers;
};

/* Not in place and without a residual: it may be executed again. */
static struct call *new_call(bool lasting) {
    const bool slow = env.simulated || opt.self_test;
    struct ordinary *ordinary = calloc(1, sizeof *ordinary);
    if (!ordinary)
        exit(2);
    ordinary->nc = (struct norm_case){
        .rows = lasting && !slow ? 4000 : 37, .columns = 520, .eps = 1e-5f, .x_pad = 8, .out_pad = 8};
    return &ordinary->placed.call;
}

static void free_call(struct call *call) {
    struct ordinary *ordinary = (struct ordinary *)call;
    free_norm(&ordinary->buffers);
    free(ordinary);
}

static bool place_call(struct result *result, struct call *call, int scale, bool other_inputs) {
    static const float scales[SCALES] = {1, 2, -1, 0.5f, -2, 4};
    struct ordinary *ordinary = (struct ordinary *)call;
    ordinary->nc.weight_scale = scales[scale];
    ordinary->nc.inputs = other_inputs ? POSITIVE : NORMAL_ROWS;
    return place_norm(result, &ordinary->nc, &ordinary->buffers, &ordinary->placed);
}

/* ---- the self-test --------------------------------------------------------------------------------- */

static int64_t elements_of_cta(const struct gm_kernel *kernel) {
    const int32_t *c = kernel->columns;
    return (int64_t)c[GM_RMS_NORM_THREADS] * c[GM_RMS_NORM_VECTORS] * c[GM_RMS_NORM_VECTOR_BYTES];
}

static const struct plant plants[] = {
    {NORM_BUG_COLUMN_AFTER, "writes a column too many", "wrote beside", NULL},
    {NORM_BUG_LOST_TAIL, "the last column does not count", "want", NULL},
    {NORM_BUG_LOST_ROW, "the last row is not written", "never written", NULL},
    {NORM_BUG_EPS_OUTSIDE, "eps outside the root", "want", NULL},
    {NORM_BUG_OFFSET, "the offset is left out", "offset 1", NULL},
    {NORM_BUG_RESIDUAL, "the residual is not written", "residual[", NULL},
    {NORM_BUG_OVER_READ, "reads a column too many", "nan", NULL},
    {NORM_BUG_TRUNCATES, "truncates instead of rounding", "want", NULL},
    {NORM_BUG_TRUNCATES, "truncates instead of rounding", "want", "rms_norm_rounds_without_bias"},
    {NORM_BUG_EARLY, "rounds before the weight", "normalized late", "rms_norm_fuzz_sm80"},
};

const struct tested_operation rms_norm_tests = {
    .name = "rms_norm",
    .add_tests = add_tests,
    .plan = plan,
    .execute = execute,
    .in_one_call = in_one_call,
    .explain = explain,
    .fill_region = fill_norm_region,
    .compare = compare_norm,
    .new_call = new_call,
    .free_call = free_call,
    .place_call = place_call,
    .compute = compute_norm,
    .elements_of_cta = elements_of_cta,
    .plants = plants,
    .plant_count = COUNT(plants),
};
