/* SPDX-License-Identifier: Apache-2.0 */
/* The tests of GEMM, in their order, and the bugs that they must catch. */
#include "gemm_tests.h"

static void add_tests(void) {
    add_badinput_tests();
    add_rows_tests();
    add_stream_k_tests();
    add_api_tests();
    add_runtime_tests();
    add_relaunch_tests();
    add_early_tests();
    add_invariance_tests();
    add_large_tests();
    add_activations_tests();
    add_placement_tests();
    add_image_tests();
}

static int row_cost(size_t kernel) {
    struct kernel info;
    return read_kernel(kernel, &info) ? info.tile_m * info.tile_n : 0;
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
    {BUG_STALE_GRAPH, "replay launches nothing", "replay", "graph"},
    {BUG_STALE_NODE, "new parameters are not taken", "back to back", "relaunch"},
};

const struct test_operation test_operation_gemm = {
    .operation = &gm_operation_gemm,
    .add_tests = add_tests,
    .free_caches = free_logical_cache,
    .compute = standin_compute,
    .row_cost = row_cost,
    .plants = plants,
    .plant_count = COUNT(plants),
    .launching = "graph",
    .launching_not = "problems",
};
