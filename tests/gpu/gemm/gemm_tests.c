/* SPDX-License-Identifier: Apache-2.0 */
/* GEMM, as the harness knows it. */
#include "gemm/gemm_tests.h"

#include <stdlib.h>

static void add_tests(void) {
    add_gemm_badinput_tests();
    add_gemm_rows_tests();
    add_gemm_stream_k_tests();
    add_gemm_copies_tests();
    add_gemm_pack_tests();
    add_gemm_fp8_tests();
    add_gemm_gate_tests();
    add_gemm_extended_tests();
    add_gemm_batch_tests();
    add_gemm_api_tests();
    add_gemm_early_tests();
    add_gemm_invariance_tests();
    add_gemm_large_tests();
    add_gemm_activations_tests();
    add_gemm_placement_tests();
    add_gemm_image_tests();
}

TESTED_FUNCTIONS(gemm)

/* ---- an ordinary call ------------------------------------------------------------------------------ */

struct ordinary {
    struct placed placed; /* first */
    struct gemm_case gc;
    struct buffers buffers;
};

static struct call *new_call(bool lasting) {
    const bool slow = env.simulated || opt.self_test;
    struct ordinary *ordinary = calloc(1, sizeof *ordinary);
    if (!ordinary)
        exit(2);
    ordinary->gc =
        lasting ? (struct gemm_case){.m = 200, .n = 264, .k = slow ? 136 : 8192}
                : (struct gemm_case){.m = 200, .n = 264, .k = 136, .a_pad = 8, .b_pad = 8, .c_pad = 8, .d_pad = 8};
    return &ordinary->placed.call;
}

static void free_call(struct call *call) {
    struct ordinary *ordinary = (struct ordinary *)call;
    free_buffers(&ordinary->buffers);
    free(ordinary);
}

static bool place_call(struct result *result, struct call *call, int scale, bool other_inputs) {
    static const float scales[SCALES] = {1, 2, -1, 0.5f, -2, 4};
    struct ordinary *ordinary = (struct ordinary *)call;
    ordinary->gc.alpha = scales[scale];
    ordinary->gc.inputs = other_inputs ? NORMAL : INTEGER;
    return place_gemm(result, &ordinary->gc, &ordinary->buffers, &ordinary->placed);
}

/* ---- the self-test --------------------------------------------------------------------------------- */

/* So that no such row is the smallest, in which the self-test plants the bugs of ordinary ones. */
enum { EXTENDED_COSTS = 1 << 20 };

static int64_t elements_of_cta(const struct gm_kernel *kernel) {
    struct variant variant;
    if (!read_variant((size_t)(kernel - gm_kernels), &variant))
        return 0;
    return (int64_t)variant.gemm.tile_m * variant.gemm.tile_n * (variant.gemm.extended ? EXTENDED_COSTS : 1);
}

static const struct plant plants[] = {
    {BUG_COLUMN_AFTER, "writes a column past N", "wrote right of D", NULL},
    {BUG_COLUMN_BEFORE, "writes before the row", "wrote left of D", NULL},
    {BUG_ROW_AFTER, "writes row M", "wrote below D", NULL},
    {BUG_ROW_BEFORE, "writes row -1", "wrote above D", NULL},
    {BUG_MISSED_TAIL, "drops the tail of K", "want", NULL},
    {BUG_OVER_READ, "reads past K", "nan", NULL},
    {BUG_TRUNCATES, "truncates instead of rounding", "want", NULL},
    {BUG_SWAPPED_BIAS, "bias along the other index", "bias-", NULL},
    {BUG_SWAPPED_BIAS, "bias along the other index", "bias-", "fuzz_all"},
    {BUG_BETA_ZERO_READS_C, "reads C when beta is 0", "C=NaN", NULL},
    {BUG_LOST_WAVE, "last tile not computed", "never written", NULL},
    {BUG_LOST_ROW, "last row not stored", "never written", NULL},
    {BUG_UNSTABLE, "one bit differs between runs", "gave other bits", NULL},
    {BUG_FLUSHES_DENORMALS, "flushes denormals", "special", NULL},
    {BUG_GELU_FORMS, "the other form of GELU", "gelu", NULL},
    {BUG_FP16_ACCUMULATION, "accumulates in fp16", "normal", NULL},
    {BUG_LOST_AMAX, "the last column is not in amax", "amax is", "what_is_easily_got_wrong_all"},
    {BUG_AMAX_DROPS_NAN, "a NaN does not reach amax", "amax is", "what_is_easily_got_wrong_all"},
    {BUG_EARLY_RESIDUAL, "the residual before the activation", "relu", "what_is_easily_got_wrong_all"},
    {BUG_LOST_SCALE, "the last scale of D is not written", "d_scales[", "groups_in_one_pass"},
    {BUG_SCALES_CHANGED, "scales of rows are those of columns", "scales", "what_is_easily_got_wrong_all"},
    {BUG_C_OF_D, "C is read as D's type", "want", "what_is_easily_got_wrong_all"},
};

const struct tested_operation gemm_tests = {
    .name = "gemm",
    .add_tests = add_tests,
    .plan = plan,
    .execute = execute,
    .in_one_call = in_one_call,
    .explain = explain,
    .fill_region = gemm_fill_region,
    .compare = gemm_compare,
    .new_call = new_call,
    .free_call = free_call,
    .place_call = place_call,
    .compute = gemm_compute,
    .elements_of_cta = elements_of_cta,
    .plants = plants,
    .plant_count = COUNT(plants),
};
