/* SPDX-License-Identifier: Apache-2.0 */
/* The planner on models of real devices, over a table of its own and over the real one. */
#include "choose.h"
#include "cost.h"
#include "problem.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

/* A small table: what each test expects of the planner does not move with the registry. */
#define SM90(tm, tn, stages_, cm, cn, warps_)                                                                          \
    {.name = "sm90_" #tm "x" #tn "_" #cm "x" #cn "_" #warps_, .arch = GM_ARCH_SM90, .production = 1, .tile_m = tm,     \
     .tile_n = tn, .tile_k = 64, .stages = stages_, .cluster_m = cm, .cluster_n = cn, .warps = GM_WARPS_##warps_,      \
     .smem_map = GM_MAP_sw128, .threads = GM_SM90_THREADS(GM_WARPS_M(GM_WARPS_##warps_)), .registers = 168,            \
     .smem_bytes = GM_SM90_SMEM_BYTES(tm, tn, 64, stages_, GM_WARPS_##warps_), .targets = "sm_90a"}
#define SM80(tm, tn, tk, stages_, warps_)                                                                              \
    {.name = "sm80_" #tm "x" #tn "_" #warps_, .arch = GM_ARCH_SM80, .production = 1, .tile_m = tm, .tile_n = tn,       \
     .tile_k = tk, .stages = stages_, .cluster_m = 1, .cluster_n = 1, .warps = GM_WARPS_##warps_,                      \
     .smem_map = GM_MAP_xor, .threads = GM_SM80_THREADS(GM_WARPS_##warps_), .registers = 128,                          \
     .targets = "sm_80 sm_90 compute_80",                                                                              \
     .smem_bytes = GM_SM80_SMEM_BYTES(tm, tn, tk, stages_, GM_WARPS_##warps_, GM_LAYOUT_tn, GM_MAP_xor)}

static const struct gm_kernel rows[] = {
    SM90(128, 256, 4, 2, 1, w2), SM90(128, 192, 4, 2, 1, p2), SM90(128, 128, 6, 1, 1, p2), SM90(64, 256, 4, 1, 1, w1),
    SM90(64, 128, 8, 1, 1, p2),  SM90(64, 64, 8, 1, 1, w1),   SM90(64, 32, 10, 1, 1, w1),
    SM80(128, 256, 32, 4, w2x4), SM80(128, 128, 32, 4, w2x2), SM80(64, 64, 32, 5, w2x2),   SM80(64, 128, 32, 4, w2x2),
    SM80(16, 32, 128, 6, w1x1k4), SM80(16, 64, 128, 4, w1x2k4), SM80(32, 64, 128, 3, w1x2k4),
};
#define ROWS (sizeof rows / sizeof *rows)

static const struct gm_kernel *choice(const char *model, int64_t m, int64_t n, int64_t k, uint32_t mask) {
    const struct gm_device device = device_of(model);
    const struct gm_plan_options options = {.size = sizeof options, .arch_mask = mask};
    struct gm_gemm_problem p = problem_of(m, n, k), q;
    assert_ok(gm_problem_normalize(&p, &q));
    const int chosen = gm_choose(rows, ROWS, &device, &q, &options, NULL);
    return chosen < 0 ? NULL : &rows[chosen];
}

START_TEST(hopper_runs_big_problems_on_big_sm90_tiles) {
    static const int64_t sizes[][3] = {{8192, 8192, 8192}, {4096, 28672, 4096}, {16384, 16384, 16384}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const struct gm_kernel *row = choice("h200", sizes[i][0], sizes[i][1], sizes[i][2], 0);
        ck_assert_int_eq(row->arch, GM_ARCH_SM90);
        ck_assert_msg(row->tile_m == 128 && row->tile_n >= 128, "%s", row->name);
        ck_assert_ptr_eq(choice("h100", sizes[i][0], sizes[i][1], sizes[i][2], 0)->targets, row->targets);
    }
}
END_TEST

START_TEST(hopper_runs_few_rows_on_low_tiles_that_fill_the_sms) {
    for (int64_t m = 1; m <= 64; m *= 4) {
        const struct gm_kernel *row = choice("h200", m, 4096, 14336, 0);
        ck_assert_msg(row->tile_m <= 64 && row->tile_n <= 64, "m %d: %s", (int)m, row->name);
    }
    ck_assert_int_eq(choice("h200", 64, 2112, 7168, 0)->tile_n, 32);
    ck_assert_int_le(choice("h200", 128, 4096, 7168, 0)->tile_n, 64);
}
END_TEST

/* Copies that their threads would wait for pass under the multiplication before, where registers allow. */
START_TEST(few_tokens_with_odd_strides_run_on_rows_that_defer) {
    const struct gm_kernel *row = choice("h200", 16, 4096, 4095, 0);
    ck_assert_msg(GM_SM80_DEFERS(row->tile_m, row->tile_n, row->tile_k, row->warps, row->smem_bytes), "%s", row->name);
    ck_assert_int_eq(row->tile_m, 16);
    const struct gm_device h200 = device_of("h200");
    struct gm_gemm_problem odd = problem_of(16, 4096, 4095), even = problem_of(16, 4096, 4096), q;
    assert_ok(gm_problem_normalize(&odd, &q));
    const double odd_us = gm_cost_us(row, &q, &h200);
    assert_ok(gm_problem_normalize(&even, &q));
    ck_assert_double_gt(odd_us, 2 * gm_cost_us(row, &q, &h200));
}
END_TEST

START_TEST(a_budget_of_sms_is_kept) {
    const struct gm_device h200 = device_of("h200");
    struct gm_plan_options options = {.size = sizeof options, .sm_budget = 100};
    struct gm_device within = gm_device_within(&h200, &options);
    ck_assert_int_eq(within.sm_count, 100);
    for (size_t i = 0; i < ROWS; i++)
        ck_assert_msg(gm_clusters_at_once(&rows[i], &within) * gm_cluster_size(&rows[i]) <= 100, "%s", rows[i].name);
    options.sm_budget = 1000; /* more than there are */
    ck_assert_int_eq(gm_device_within(&h200, &options).sm_count, h200.sm_count);
    ck_assert_int_eq(gm_device_within(&h200, NULL).sm_count, h200.sm_count);
    options.sm_budget = 1; /* no cluster fits */
    within = gm_device_within(&h200, &options);
    struct gm_gemm_problem p = problem_of(512, 512, 512), q;
    char sentence[232];
    assert_ok(gm_problem_normalize(&p, &q));
    ck_assert_int_eq(gm_judge(&rows[0], &within, &q, &options, sentence, sizeof sentence).reason, GM_REASON_SMS);
    ck_assert_ptr_nonnull(strstr(sentence, "clusters have 2 CTAs"));
    ck_assert_int_ge(gm_choose(rows, ROWS, &within, &q, &options, NULL), 0);
}
END_TEST

static enum gm_reason invariantly(const struct gm_kernel *row, struct gm_gemm_problem p, const char *kernel,
                                  char sentence[232]) {
    const struct gm_device h200 = device_of("h200");
    const struct gm_plan_options options = {
        .size = sizeof options, .kernel = kernel, .flags = GM_PLAN_BATCH_INVARIANT, .workspace_limit = 64 << 20};
    struct gm_gemm_problem q;
    assert_ok(gm_problem_normalize(&p, &q));
    const struct gm_judgement judgement = gm_judge(row, &h200, &q, &options, sentence, 232);
    ck_assert_int_eq(judgement.split.shares, 0);
    return judgement.reason;
}

/* No K that CTAs share, no division, and one path for every M. */
START_TEST(a_batch_invariant_plan_has_one_order_of_k) {
    static const struct gm_kernel shares_k = SM90(128, 128, 6, 1, 1, w2k2);
    const struct gm_kernel *sm90 = &rows[2], *sm80 = &rows[8], *sliced = &rows[12];
    const struct gm_gemm_problem even = problem_of(300, 2112, 7168), odd = problem_of(1, 512, 513);
    char sentence[232];
    ck_assert_int_eq(invariantly(sm90, even, NULL, sentence), GM_ACCEPTED);
    ck_assert_int_eq(invariantly(&shares_k, even, NULL, sentence), GM_REASON_ORDER);
    ck_assert_ptr_nonnull(strstr(sentence, "2 CTAs share the K of a tile"));
    ck_assert_int_eq(invariantly(sm80, even, NULL, sentence), GM_REASON_ORDER);
    ck_assert_ptr_nonnull(strstr(sentence, "wgmma's order of K"));
    ck_assert_int_eq(invariantly(sliced, odd, NULL, sentence), GM_REASON_ORDER);
    ck_assert_ptr_nonnull(strstr(sentence, "4 warps share the K of a tile"));
    ck_assert_int_eq(invariantly(sliced, odd, sliced->name, sentence), GM_REASON_ORDER);
    ck_assert_int_eq(invariantly(sm80, even, sm80->name, sentence), GM_ACCEPTED);
    ck_assert_int_eq(invariantly(sm80, odd, NULL, sentence), GM_ACCEPTED);
    ck_assert_int_eq(invariantly(sm90, odd, NULL, sentence), GM_REASON_STRIDE); /* one row of A; but others have more */
}
END_TEST

/* ---- gemv ------------------------------------------------------------------------------------------ */

#define GEMV(arch_, tm, tn, tk, warps_)                                                                                \
    {.name = "gemv_" #arch_ "_" #tm "x" #tn, .family = GM_FAMILY_gemv, .arch = GM_ARCH_##arch_, .production = 1,       \
     .tile_m = tm, .tile_n = tn, .tile_k = tk, .stages = 4, .cluster_m = 1, .cluster_n = 1,                            \
     .warps = GM_WARPS_##warps_, .smem_map = GM_MAP_none, .threads = 256, .registers = 64, .targets = "sm_80",         \
     .smem_bytes = GM_GEMV_SMEM_BYTES(tm, tn, GM_WARPS_M(GM_WARPS_##warps_))}

static const struct gm_kernel few_rows[] = {
    SM90(64, 64, 12, 1, 1, w1),   SM90(64, 32, 16, 1, 1, w1),   SM90(16, 64, 16, 1, 1, w1s),
    SM80(128, 128, 32, 4, w2x2),  SM80(64, 64, 32, 5, w2x2),    GEMV(SM90, 1, 16, 256, w1x8),
    GEMV(SM90, 1, 4, 1024, w4x2), GEMV(SM90, 2, 16, 256, w1x8), GEMV(SM80, 1, 16, 256, w1x8),
    GEMV(SM80, 1, 4, 1024, w4x2), GEMV(SM80, 2, 16, 256, w1x8), GEMV(SM90, 1, 2, 2048, w8x1),
    GEMV(SM90, 2, 4, 1024, w4x2),
};

static const struct gm_kernel *choice_of_few(const char *model, int64_t m, int64_t n, int64_t k,
                                             const struct gm_plan_options *options) {
    const struct gm_device device = device_of(model);
    struct gm_gemm_problem p = problem_of(m, n, k), q;
    assert_ok(gm_problem_normalize(&p, &q));
    const int chosen = gm_choose(few_rows, sizeof few_rows / sizeof *few_rows, &device, &q, options, NULL);
    ck_assert_int_ge(chosen, 0);
    return &few_rows[chosen];
}

START_TEST(one_or_two_rows_that_tma_cannot_load_are_gemvs) {
    static const int64_t sizes[][2] = {{64, 65}, {2112, 7167}, {4097, 4095}, {129280, 7169}, {512, 513}, {7168, 257}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int64_t m = 1; m <= 2; m++) {
            const struct gm_kernel *hopper = choice_of_few("h200", m, sizes[i][0], sizes[i][1], NULL);
            const struct gm_kernel *ampere = choice_of_few("a100", m, sizes[i][0], sizes[i][1], NULL);
            ck_assert_msg(hopper->family == GM_FAMILY_gemv && hopper->arch == GM_ARCH_SM90 && hopper->tile_m == m,
                          "%d x %d x %d: %s", (int)m, (int)sizes[i][0], (int)sizes[i][1], hopper->name);
            ck_assert_msg(ampere->family == GM_FAMILY_gemv && ampere->arch == GM_ARCH_SM80 && ampere->tile_m <= m,
                          "%d x %d x %d: %s", (int)m, (int)sizes[i][0], (int)sizes[i][1], ampere->name);
        }
}
END_TEST

/* Three or four rows of A make a gemv row read B twice, which pays where B is next to nothing: 3 x 320 x 1792 takes 2.2 us
 * by gemv and 2.6 by TMA's best, 3 x 1536 x 1536 4.6 and 3.7. */
START_TEST(where_tma_loads_more_than_two_rows_are_its) {
    static const int64_t sizes[][2] = {{64, 64},     {1536, 1536},   {7168, 2048},  {2112, 7168},
                                       {4096, 4096}, {129280, 7168}, {24576, 1536}, {1216, 2176}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int64_t m = 3; m <= 4; m++) {
            const struct gm_kernel *row = choice_of_few("h200", m, sizes[i][0], sizes[i][1], NULL);
            ck_assert_msg(gm_uses_tma(row), "%d x %d x %d: %s", (int)m, (int)sizes[i][0], (int)sizes[i][1], row->name);
        }
    ck_assert_int_eq(choice_of_few("h200", 3, 320, 1792, NULL)->family, GM_FAMILY_gemv);
}
END_TEST

/* What the sm80 model promises beside TMA's rows is taken with a margin: at 8 x 640 x 12288 it promised less than any
 * of them and took half as long again. */
START_TEST(where_tma_loads_sm80_is_no_choice) {
    static const struct gm_kernel table[] = {SM90(128, 256, 4, 1, 1, w2), SM80(128, 64, 64, 3, w2x2)};
    const struct gm_device device = device_of("h200");
    struct gm_gemm_problem p = problem_of(100, 16384, 256), q;
    assert_ok(gm_problem_normalize(&p, &q));
    const double by_tma = gm_judge(&table[0], &device, &q, NULL, NULL, 0).predicted_us;
    ck_assert_double_lt(gm_judge(&table[1], &device, &q, NULL, NULL, 0).predicted_us, by_tma);
    ck_assert_int_eq(gm_choose(table, 2, &device, &q, NULL, NULL), 0);
    p.lda = 257; /* TMA cannot load it */
    assert_ok(gm_problem_normalize(&p, &q));
    ck_assert_int_eq(gm_choose(table, 2, &device, &q, NULL, NULL), 1);
}
END_TEST

START_TEST(more_rows_are_no_gemv) {
    char sentence[232];
    const struct gm_device h200 = device_of("h200");
    const struct gm_kernel *gemv = &few_rows[5];
    struct gm_gemm_problem p = problem_of(9, 4096, 4097), q;
    for (int64_t m = 9; m <= 64; m++) {
        ck_assert_int_eq(choice_of_few("h200", m, 4096, 4097, NULL)->family, GM_FAMILY_gemm);
        ck_assert_int_eq(choice_of_few("a100", m, 4096, 4096, NULL)->family, GM_FAMILY_gemm);
    }
    assert_ok(gm_problem_normalize(&p, &q));
    ck_assert_int_eq(gm_judge(gemv, &h200, &q, NULL, sentence, sizeof sentence).reason, GM_REASON_SIZE);
    ck_assert_ptr_nonnull(strstr(sentence, "M = 9"));
    const struct gm_plan_options named = {.size = sizeof named, .kernel = gemv->name, .workspace_limit = 64 << 20};
    const struct gm_judgement judgement = gm_judge(gemv, &h200, &q, &named, NULL, 0);
    ck_assert_int_eq(judgement.reason, GM_ACCEPTED);
    ck_assert_int_eq(judgement.split.shares, 0);
}
END_TEST

START_TEST(a_batch_invariant_plan_is_no_gemv) {
    struct gm_plan_options options = {.size = sizeof options, .flags = GM_PLAN_BATCH_INVARIANT};
    ck_assert_int_eq(choice_of_few("h200", 1, 4096, 4097, &options)->family, GM_FAMILY_gemm);
    ck_assert_int_eq(choice_of_few("a100", 1, 4096, 4096, &options)->family, GM_FAMILY_gemm);
    const struct gm_device h200 = device_of("h200");
    struct gm_gemm_problem p = problem_of(1, 4096, 4097), q;
    assert_ok(gm_problem_normalize(&p, &q));
    options.kernel = few_rows[5].name;
    ck_assert_int_eq(gm_judge(&few_rows[5], &h200, &q, &options, NULL, 0).reason, GM_REASON_ORDER);
}
END_TEST

/* ---- devices and options ----------------------------------------------------------------------------- */

START_TEST(fewer_sms_take_longer) {
    struct gm_device h200 = device_of("h200");
    struct gm_gemm_problem p = problem_of(4096, 4096, 4096), q;
    assert_ok(gm_problem_normalize(&p, &q));
    const double all = gm_cost_us(&rows[1], &q, &h200);
    h200.sm_count = 66;
    ck_assert_double_gt(gm_cost_us(&rows[1], &q, &h200), 1.5 * all);
}
END_TEST

START_TEST(ampere_runs_sm80_rows_only) {
    static const char *const models[] = {"a100", "a10", "rtx4090"};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        ck_assert_int_eq(choice(models[i], 4096, 4096, 4096, 0)->arch, GM_ARCH_SM80);
        ck_assert_ptr_null(choice(models[i], 4096, 4096, 4096, GM_ARCH_SM90));
    }
}
END_TEST

START_TEST(ampere_prefers_big_tiles_for_big_problems_and_small_ones_for_small) {
    const struct gm_kernel *big = choice("a100", 8192, 8192, 8192, 0), *small = choice("a100", 64, 4096, 4096, 0);
    ck_assert_msg(big->tile_m * big->tile_n >= 128 * 128, "%s", big->name);
    ck_assert_msg(small->tile_m * small->tile_n < 128 * 128, "%s", small->name);
}
END_TEST

/* Low tiles where few tokens leave the weights to be read, and nowhere else: each row of tiles reads them again. */
START_TEST(few_tokens_take_low_tiles_where_there_is_no_tma) {
    static const int64_t weights[][2] = {{4096, 4096}, {28672, 4096}, {4096, 14336}, {2112, 7168}, {1024, 512}};
    static const char *const models[] = {"a100", "a10", "rtx4090", "h200"};
    for (size_t d = 0; d < sizeof models / sizeof *models; d++)
        for (size_t i = 0; i < sizeof weights / sizeof *weights; i++) {
            const int64_t n = weights[i][0], k = weights[i][1];
            for (int64_t m = 1; m <= 16; m *= 16)
                ck_assert_msg(choice(models[d], m, n, k, GM_ARCH_SM80)->tile_m == 16, "%s: %d x %d x %d", models[d],
                              (int)m, (int)n, (int)k);
            for (int64_t m = 1024; m <= 4096; m *= 2)
                ck_assert_msg(choice(models[d], m, n, k, GM_ARCH_SM80)->tile_m >= 64, "%s: %d x %d x %d", models[d],
                              (int)m, (int)n, (int)k);
        }
    ck_assert_int_eq(choice("a100", 32, 4096, 4096, 0)->tile_m, 32);
    ck_assert_int_eq(choice("h200", 4, 4096, 4097, 0)->tile_m, 16);
}
END_TEST

START_TEST(rows_beyond_99_kb_stay_off_8_6_and_8_9) {
    static const char *const models[] = {"a10", "rtx4090"};
    const struct gm_kernel big[] = {SM80(128, 256, 64, 3, w2x4), SM80(64, 64, 32, 5, w2x2)};
    ck_assert_int_gt(big[0].smem_bytes, 101376);
    struct gm_gemm_problem p = problem_of(4096, 4096, 4096), q;
    assert_ok(gm_problem_normalize(&p, &q));
    for (size_t i = 0; i < 2; i++) {
        const struct gm_device device = device_of(models[i]);
        ck_assert_int_eq(gm_choose(big, 2, &device, &q, NULL, NULL), 1);
        ck_assert_int_eq(gm_judge(&big[0], &device, &q, NULL, NULL, 0).reason, GM_REASON_SMEM);
    }
    const struct gm_device a100 = device_of("a100");
    ck_assert_int_eq(gm_judge(&big[0], &a100, &q, NULL, NULL, 0).reason, GM_ACCEPTED);
}
END_TEST

START_TEST(a_mask_forces_the_path) {
    ck_assert_int_eq(choice("h200", 4096, 4096, 4096, GM_ARCH_SM80)->arch, GM_ARCH_SM80);
    ck_assert_int_eq(choice("h200", 4096, 4096, 4096, GM_ARCH_SM90)->arch, GM_ARCH_SM90);
    ck_assert_int_eq(choice("h200", 4096, 4096, 4096, GM_ARCH_SM80 | GM_ARCH_SM90)->arch, GM_ARCH_SM90);
}
END_TEST

START_TEST(odd_strides_and_empty_k_fall_back_to_sm80) {
    ck_assert_int_eq(choice("h200", 512, 512, 1001, 0)->arch, GM_ARCH_SM80);
    ck_assert_int_eq(choice("h200", 512, 1001, 512, 0)->arch, GM_ARCH_SM80);
    ck_assert_int_eq(choice("h200", 512, 512, 0, 0)->arch, GM_ARCH_SM80);
    ck_assert_int_eq(choice("h200", 1, 1001, 512, 0)->arch, GM_ARCH_SM90); /* one row of D: no stride to step */
}
END_TEST

START_TEST(the_first_of_equal_rows_wins) {
    const struct gm_kernel twins[] = {rows[0], rows[0]};
    const struct gm_device device = device_of("h200");
    struct gm_gemm_problem p = problem_of(4096, 4096, 4096), q;
    assert_ok(gm_problem_normalize(&p, &q));
    ck_assert_int_eq(gm_choose(twins, 2, &device, &q, NULL, NULL), 0);
}
END_TEST

START_TEST(test_rows_are_chosen_by_name_only) {
    struct gm_kernel table[] = {rows[0], rows[8]};
    table[0].production = 0;
    const struct gm_device device = device_of("h200");
    struct gm_gemm_problem p = problem_of(4096, 4096, 4096), q;
    assert_ok(gm_problem_normalize(&p, &q));
    ck_assert_int_eq(gm_choose(table, 2, &device, &q, NULL, NULL), 1);
    const struct gm_judgement judgement = gm_judge(&table[0], &device, &q, NULL, NULL, 0);
    ck_assert_int_eq(judgement.reason, GM_REASON_NOT_PRODUCTION);
    ck_assert(judgement.predicted_us > 0);
    const struct gm_plan_options options = {.size = sizeof options, .kernel = table[0].name};
    ck_assert_int_eq(gm_choose(table, 2, &device, &q, &options, NULL), 0);
}
END_TEST

START_TEST(unknown_architectures_get_the_ptx_rows) {
    struct gm_device device = device_of("h200");
    struct gm_gemm_problem p = problem_of(4096, 4096, 4096), q;
    assert_ok(gm_problem_normalize(&p, &q));
    device.cc_major = 12;
    ck_assert_int_eq(rows[gm_choose(rows, ROWS, &device, &q, NULL, NULL)].arch, GM_ARCH_SM80);
    device.cc_major = 7, device.cc_minor = 5;
    ck_assert_int_eq(gm_choose(rows, ROWS, &device, &q, NULL, NULL), -1);
}
END_TEST

/* The real table: no shape that is legal for the API is refused on any device with a row of its type and layout. */
START_TEST(the_table_accepts_every_legal_shape) {
    static const char *const models[] = {"a100", "h100", "h200", "a10", "rtx4090"};
    static const int64_t sizes[] = {0, 1, 3, 8, 63, 64, 65, 1000, 1001, 16384, INT32_MAX};
    const size_t n_sizes = sizeof sizes / sizeof *sizes;
    for (size_t d = 0; d < sizeof models / sizeof *models; d++) {
        const struct gm_device device = device_of(models[d]);
        for (size_t i = 0; i < n_sizes * n_sizes * n_sizes * 8; i++) {
            const size_t shape = i / 8, variant = i % 8;
            struct gm_gemm_problem p = problem_of(sizes[shape % n_sizes], sizes[shape / n_sizes % n_sizes],
                                                  sizes[shape / n_sizes / n_sizes]), q;
            p.ab_type = variant & 1 ? GM_FP16 : GM_BF16;
            p.a_major = variant & 2 ? GM_MN_MAJOR : GM_K_MAJOR;
            p.b_major = variant & 4 ? GM_MN_MAJOR : GM_K_MAJOR;
            p.a_align = p.b_align = p.d_align = 2;
            if ((double)p.m * (double)p.n > 1e13 || gm_problem_normalize(&p, &q) != GM_OK)
                continue; /* D of 20 TB: no memory holds it */
            ck_assert_msg(gm_choose(gm_kernels, gm_kernel_count(), &device, &q, NULL, NULL) >= 0,
                          "%s: %lld x %lld x %lld, variant %zu is refused by every row", models[d], (long long)p.m,
                          (long long)p.n, (long long)p.k, variant);
        }
    }
}
END_TEST

Suite *choose_suite(void) {
    Suite *suite = suite_create("choose");
    TCase *cases = tcase_create("planner");
    tcase_add_test(cases, hopper_runs_big_problems_on_big_sm90_tiles);
    tcase_add_test(cases, hopper_runs_few_rows_on_low_tiles_that_fill_the_sms);
    tcase_add_test(cases, few_tokens_with_odd_strides_run_on_rows_that_defer);
    tcase_add_test(cases, a_budget_of_sms_is_kept);
    tcase_add_test(cases, one_or_two_rows_that_tma_cannot_load_are_gemvs);
    tcase_add_test(cases, where_tma_loads_more_than_two_rows_are_its);
    tcase_add_test(cases, where_tma_loads_sm80_is_no_choice);
    tcase_add_test(cases, more_rows_are_no_gemv);
    tcase_add_test(cases, a_batch_invariant_plan_is_no_gemv);
    tcase_add_test(cases, a_batch_invariant_plan_has_one_order_of_k);
    tcase_add_test(cases, fewer_sms_take_longer);
    tcase_add_test(cases, ampere_runs_sm80_rows_only);
    tcase_add_test(cases, ampere_prefers_big_tiles_for_big_problems_and_small_ones_for_small);
    tcase_add_test(cases, few_tokens_take_low_tiles_where_there_is_no_tma);
    tcase_add_test(cases, rows_beyond_99_kb_stay_off_8_6_and_8_9);
    tcase_add_test(cases, a_mask_forces_the_path);
    tcase_add_test(cases, odd_strides_and_empty_k_fall_back_to_sm80);
    tcase_add_test(cases, the_first_of_equal_rows_wins);
    tcase_add_test(cases, test_rows_are_chosen_by_name_only);
    tcase_add_test(cases, unknown_architectures_get_the_ptx_rows);
    tcase_add_test(cases, the_table_accepts_every_legal_shape);
    tcase_set_timeout(cases, 60);
    suite_add_tcase(suite, cases);
    return suite;
}
