/* SPDX-License-Identifier: Apache-2.0 */
/* The planner on models of real devices, over a table of its own and over the real one. */
#include "kernels.h"
#include "planned.h"

#include "host/occupancy.h"
#include "host/options.h"

#include <stdio.h>
#include <string.h>

static const struct gm_kernel rows[] = {
    SM90(128, 256, 4, 2, 1, w2),   SM90(128, 192, 4, 2, 1, p2),    SM90(128, 128, 6, 1, 1, p2),
    SM90(64, 256, 4, 1, 1, w1),    SM90(64, 128, 8, 1, 1, p2),     SM90(64, 64, 8, 1, 1, w1),
    SM90(64, 32, 10, 1, 1, w1),    SM80(128, 256, 32, 4, 2, 4, 1), SM80(128, 128, 32, 4, 2, 2, 1),
    SM80(64, 64, 32, 5, 2, 2, 1),  SM80(64, 128, 32, 4, 2, 2, 1),  SM80(16, 32, 128, 6, 1, 1, 4),
    SM80(16, 64, 128, 4, 1, 2, 4), SM80(32, 64, 128, 3, 1, 2, 4),
};
#define ROWS (sizeof rows / sizeof *rows)

static const struct gm_kernel *choice(const char *model, int64_t m, int64_t n, int64_t k, uint32_t mask) {
    const struct gm_device device = device_of(model);
    const struct gm_plan_options options = {.size = sizeof options, .arch_mask = mask};
    return choose(rows, ROWS, &device, problem_of(m, n, k), &options).kernel;
}

START_TEST(hopper_runs_big_problems_on_big_sm90_tiles) {
    static const int64_t sizes[][3] = {{8192, 8192, 8192}, {4096, 28672, 4096}, {16384, 16384, 16384}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const struct gm_kernel *row = choice("h200", sizes[i][0], sizes[i][1], sizes[i][2], 0);
        ck_assert_int_eq(row->arch, GM_ARCH_SM90);
        ck_assert_msg(tile_m_of(row) == 128 && tile_n_of(row) >= 128, "%s", row->name);
        ck_assert_ptr_eq(choice("h100", sizes[i][0], sizes[i][1], sizes[i][2], 0)->targets, row->targets);
    }
}
END_TEST

START_TEST(hopper_runs_few_rows_on_low_tiles_that_fill_the_sms) {
    for (int64_t m = 1; m <= 64; m *= 4) {
        const struct gm_kernel *row = choice("h200", m, 4096, 14336, 0);
        ck_assert_msg(tile_m_of(row) <= 64 && tile_n_of(row) <= 64, "m %d: %s", (int)m, row->name);
    }
    ck_assert_int_eq(tile_n_of(choice("h200", 64, 2112, 7168, 0)), 32);
    ck_assert_int_le(tile_n_of(choice("h200", 128, 4096, 7168, 0)), 64);
}
END_TEST

/* Copies that their threads would wait for pass under the multiplication before, where registers allow. */
START_TEST(few_tokens_with_odd_strides_run_on_rows_that_defer) {
    const struct gm_kernel *row = choice("h200", 16, 4096, 4095, 0);
    const struct gm_gemm_variant v = gm_gemm_variant(row);
    ck_assert_ptr_eq(row->family, &gm_family_gemm_sm80);
    ck_assert_msg(GM_SM80_DEFERS_STORES(v.tile_m, v.tile_n, v.tile_k, gm_sm80_warps(&v), row->type, row->smem_bytes),
                  "%s", row->name);
    ck_assert_int_eq(tile_m_of(row), 16);
    const struct gm_device h200 = device_of("h200");
    const struct gm_gemm_problem odd = normalized(problem_of(16, 4096, 4095));
    const struct gm_gemm_problem even = normalized(problem_of(16, 4096, 4096));
    ck_assert_double_gt(cost_us(row, &odd, &h200), 2 * cost_us(row, &even, &h200));
}
END_TEST

START_TEST(a_budget_of_sms_is_kept) {
    const struct gm_device h200 = device_of("h200");
    struct gm_plan_options options = {.size = sizeof options, .sm_budget = 100};
    struct gm_device within = gm_device_under_budget(&h200, &options);
    ck_assert_int_eq(within.sm_count, 100);
    for (size_t i = 0; i < ROWS; i++)
        ck_assert_msg(gm_clusters_at_once(&rows[i], &within) * rows[i].cluster_ctas <= 100, "%s", rows[i].name);
    options.sm_budget = 1000; /* more than there are */
    ck_assert_int_eq(gm_device_under_budget(&h200, &options).sm_count, h200.sm_count);
    options.sm_budget = 0;
    ck_assert_int_eq(gm_device_under_budget(&h200, &options).sm_count, h200.sm_count);
    options.sm_budget = 1; /* no cluster fits */
    within = gm_device_under_budget(&h200, &options);
    const struct gm_gemm_problem p = problem_of(512, 512, 512);
    ck_assert_int_eq(judge(&rows[0], &within, p, &options).reason, GM_REASON_SMS);
    assert_judged("clusters have 2 CTAs");
    ck_assert_ptr_nonnull(choose(rows, ROWS, &within, p, &options).kernel);
}
END_TEST

static enum gm_reason invariantly(const struct gm_kernel *row, struct gm_gemm_problem p, const char *kernel) {
    const struct gm_device h200 = device_of("h200");
    const struct gm_plan_options options = {
        .size = sizeof options, .kernel = kernel, .flags = GM_PLAN_BATCH_INVARIANT, .workspace_limit = 64 << 20};
    const struct gm_verdict verdict = judge(row, &h200, p, &options);
    ck_assert_int_eq(verdict.division, GM_DIVISION_NONE);
    ck_assert_uint_eq(verdict.workspace_bytes, 0);
    return verdict.reason;
}

/* No K that CTAs share, no division, and one path for every M. */
START_TEST(a_batch_invariant_plan_has_one_order_of_k) {
    static const struct gm_kernel shares_k = SM90(128, 128, 6, 1, 1, w2k2);
    const struct gm_kernel *sm90 = &rows[2], *sm80 = &rows[8], *sliced = &rows[12];
    const struct gm_gemm_problem even = problem_of(300, 2112, 7168), odd = problem_of(1, 512, 513);
    const struct gm_gemm_problem odd_d = problem_of(300, 2111, 7168);
    ck_assert_int_eq(invariantly(sm90, even, NULL), GM_ACCEPTED);
    ck_assert_int_eq(invariantly(sm90, odd_d, NULL), GM_ACCEPTED);
    ck_assert_int_eq(invariantly(sm80, odd_d, NULL), GM_REASON_ORDER);
    ck_assert_int_eq(invariantly(&shares_k, even, NULL), GM_REASON_ORDER);
    assert_judged("2 CTAs share the K of a tile");
    ck_assert_int_eq(invariantly(sm80, even, NULL), GM_REASON_ORDER);
    assert_judged("wgmma's order of K");
    ck_assert_int_eq(invariantly(sliced, odd, NULL), GM_REASON_ORDER);
    assert_judged("4 warps share the K of a tile");
    ck_assert_int_eq(invariantly(sliced, odd, sliced->name), GM_REASON_ORDER);
    ck_assert_int_eq(invariantly(sm80, even, sm80->name), GM_ACCEPTED);
    ck_assert_int_eq(invariantly(sm80, odd, NULL), GM_ACCEPTED);
    ck_assert_int_eq(invariantly(sm90, odd, NULL), GM_REASON_STRIDE); /* one row of A; but others have more */
}
END_TEST

/* ---- gemv ------------------------------------------------------------------------------------------ */

static const struct gm_kernel few_rows[] = {
    SM90(64, 64, 12, 1, 1, w1),     SM90(64, 32, 16, 1, 1, w1),   SM90(16, 64, 16, 1, 1, w1s),
    SM80(128, 128, 32, 4, 2, 2, 1), SM80(64, 64, 32, 5, 2, 2, 1), GEMV(SM90, 1, 16, 1, 8),
    GEMV(SM90, 1, 4, 4, 2),         GEMV(SM90, 2, 16, 1, 8),      GEMV(SM80, 1, 16, 1, 8),
    GEMV(SM80, 1, 4, 4, 2),         GEMV(SM80, 2, 16, 1, 8),      GEMV(SM90, 1, 2, 8, 1),
    GEMV(SM90, 2, 4, 4, 2),
};

static const struct gm_kernel *choice_of_few(const char *model, int64_t m, int64_t n, int64_t k,
                                             const struct gm_plan_options *options) {
    const struct gm_device device = device_of(model);
    const struct gm_kernel *chosen =
        choose(few_rows, sizeof few_rows / sizeof *few_rows, &device, problem_of(m, n, k), options).kernel;
    ck_assert_ptr_nonnull(chosen);
    return chosen;
}

START_TEST(one_or_two_rows_that_tma_cannot_load_are_gemvs) {
    static const int64_t sizes[][2] = {{64, 65}, {2112, 7167}, {4097, 4095}, {129280, 7169}, {512, 513}, {7168, 257}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int64_t m = 1; m <= 2; m++) {
            const struct gm_kernel *hopper = choice_of_few("h200", m, sizes[i][0], sizes[i][1], NULL);
            const struct gm_kernel *ampere = choice_of_few("a100", m, sizes[i][0], sizes[i][1], NULL);
            ck_assert_msg(hopper->family == &gm_family_gemv && hopper->arch == GM_ARCH_SM90 && tile_m_of(hopper) == m,
                          "%d x %d x %d: %s", (int)m, (int)sizes[i][0], (int)sizes[i][1], hopper->name);
            ck_assert_msg(ampere->family == &gm_family_gemv && ampere->arch == GM_ARCH_SM80 && tile_m_of(ampere) <= m,
                          "%d x %d x %d: %s", (int)m, (int)sizes[i][0], (int)sizes[i][1], ampere->name);
        }
}
END_TEST

/* Three or four rows of A make a gemv row read B twice, which pays where B is next to nothing: 3 x 320 x 1792 takes 2.2
 * us by gemv and 2.6 by TMA's best, 3 x 1536 x 1536 4.6 and 3.7. */
START_TEST(where_tma_loads_more_than_two_rows_are_its) {
    static const int64_t sizes[][2] = {{64, 64},     {1536, 1536},   {7168, 2048},  {2112, 7168},
                                       {4096, 4096}, {129280, 7168}, {24576, 1536}, {1216, 2176}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int64_t m = 3; m <= 4; m++) {
            const struct gm_kernel *row = choice_of_few("h200", m, sizes[i][0], sizes[i][1], NULL);
            ck_assert_msg(row->family == &gm_family_gemm_sm90, "%d x %d x %d: %s", (int)m, (int)sizes[i][0],
                          (int)sizes[i][1], row->name);
        }
    ck_assert_ptr_eq(choice_of_few("h200", 3, 320, 1792, NULL)->family, &gm_family_gemv);
}
END_TEST

/* What the sm80 model promises beside TMA's rows is taken with a margin: at 8 x 640 x 12288 it promised less than any
 * of them and took half as long again. */
START_TEST(where_tma_loads_sm80_is_no_choice) {
    static const struct gm_kernel table[] = {SM90(128, 256, 4, 1, 1, w2), SM80(128, 64, 64, 3, 2, 2, 1)};
    const struct gm_device device = device_of("h200");
    struct gm_gemm_problem p = problem_of(100, 16384, 256);
    const double by_tma = judge(&table[0], &device, p, NULL).predicted_us;
    ck_assert_double_lt(judge(&table[1], &device, p, NULL).predicted_us, by_tma);
    ck_assert_ptr_eq(choose(table, 2, &device, p, NULL).kernel, &table[0]);
    p.lda = 257; /* TMA cannot load it */
    ck_assert_ptr_eq(choose(table, 2, &device, p, NULL).kernel, &table[1]);
}
END_TEST

START_TEST(more_rows_are_no_gemv) {
    const struct gm_device h200 = device_of("h200");
    const struct gm_kernel *gemv = &few_rows[5];
    const struct gm_gemm_problem p = problem_of(9, 4096, 4097);
    for (int64_t m = 9; m <= 64; m++) {
        ck_assert_ptr_ne(choice_of_few("h200", m, 4096, 4097, NULL)->family, &gm_family_gemv);
        ck_assert_ptr_ne(choice_of_few("a100", m, 4096, 4096, NULL)->family, &gm_family_gemv);
    }
    ck_assert_int_eq(judge(gemv, &h200, p, NULL).reason, GM_REASON_SIZE);
    assert_judged("M = 9");
    const struct gm_plan_options named = {.size = sizeof named, .kernel = gemv->name, .workspace_limit = 64 << 20};
    const struct gm_verdict verdict = judge(gemv, &h200, p, &named);
    ck_assert_int_eq(verdict.reason, GM_ACCEPTED);
    ck_assert_int_eq(verdict.division, GM_DIVISION_NONE);
}
END_TEST

START_TEST(a_batch_invariant_plan_is_no_gemv) {
    struct gm_plan_options options = {.size = sizeof options, .flags = GM_PLAN_BATCH_INVARIANT};
    ck_assert_ptr_ne(choice_of_few("h200", 1, 4096, 4097, &options)->family, &gm_family_gemv);
    ck_assert_ptr_ne(choice_of_few("a100", 1, 4096, 4096, &options)->family, &gm_family_gemv);
    const struct gm_device h200 = device_of("h200");
    struct gm_gemm_problem p = problem_of(1, 4096, 4097);
    options.kernel = few_rows[5].name;
    ck_assert_int_eq(judge(&few_rows[5], &h200, p, &options).reason, GM_REASON_ORDER);
}
END_TEST

/* ---- devices and options ----------------------------------------------------------------------------- */

START_TEST(fewer_sms_take_longer) {
    struct gm_device h200 = device_of("h200");
    const struct gm_gemm_problem p = normalized(problem_of(4096, 4096, 4096));
    const double all = cost_us(&rows[1], &p, &h200);
    h200.sm_count = 66;
    ck_assert_double_gt(cost_us(&rows[1], &p, &h200), 1.5 * all);
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
    ck_assert_msg(tile_m_of(big) * tile_n_of(big) >= 128 * 128, "%s", big->name);
    ck_assert_msg(tile_m_of(small) * tile_n_of(small) < 128 * 128, "%s", small->name);
}
END_TEST

/* Of fp8, whose types the caller says. */
static enum gm_arch arch_of(const char *model, struct gm_gemm_problem p) {
    const struct gm_device device = device_of(model);
    const struct gm_kernel *kernel = choose(gm_kernels, gemm_count(), &device, p, NULL).kernel;
    ck_assert_msg(kernel != NULL, "%s: %d x 4096 x %d", model, (int)p.m, (int)p.k);
    ck_assert_int_eq(kernel->type, p.has_b_type ? GM_E5M2 : GM_E4M3);
    return kernel->arch;
}

static enum gm_arch arch_of_e4m3(const char *model, int64_t m, int64_t k, int64_t lda) {
    struct gm_gemm_problem p = problem_of(m, 4096, k);
    p.ab_type = GM_E4M3, p.lda = lda;
    return arch_of(model, p);
}

static enum gm_arch arch_of_pair(const char *model, enum gm_type a, int64_t m, int64_t k, int amax) {
    struct gm_gemm_problem p = problem_of(m, 4096, k);
    p.ab_type = a, p.has_b_type = 1, p.b_type = a == GM_E5M2 ? GM_E4M3 : GM_E5M2, p.amax = amax;
    return arch_of(model, p);
}

/* wgmma takes it as it is wherever TMA may load, however kind a model is to kernels that decode it. */
START_TEST(e4m3_is_decoded_where_there_is_no_wgmma_of_it) {
    static const char *const models[] = {"a100", "a10", "rtx4090"};
    for (int64_t m = 1; m <= 4096; m *= 8) {
        for (size_t i = 0; i < sizeof models / sizeof *models; i++)
            ck_assert_int_eq(arch_of_e4m3(models[i], m, 4096, 0), GM_ARCH_SM80);
        ck_assert_int_eq(arch_of_e4m3("h200", m, 4096, 0), GM_ARCH_SM90);
    }
    ck_assert_int_eq(arch_of_e4m3("h200", 64, 4096, 4100), GM_ARCH_SM80);
    ck_assert_int_eq(arch_of_e4m3("h200", 64, 0, 0), GM_ARCH_SM80);
}
END_TEST

/* Both orders have kernels of both epilogues, one of either side of wgmma and the same of mma.sync. */
START_TEST(e5m2_may_be_a_or_b) {
    static const enum gm_type types[] = {GM_E5M2, GM_E4M3};
    for (int i = 0; i < 4; i++)
        for (int64_t m = 1; m <= 4096; m *= 8) {
            ck_assert_int_eq(arch_of_pair("h200", types[i % 2], m, 4096, i / 2), GM_ARCH_SM90);
            ck_assert_int_eq(arch_of_pair("a100", types[i % 2], m, 4096, i / 2), GM_ARCH_SM80);
            ck_assert_int_eq(arch_of_pair("rtx4090", types[i % 2], m, 4096, i / 2), GM_ARCH_SM80);
            ck_assert_int_eq(arch_of_pair("h200", types[i % 2], m, 0, i / 2), GM_ARCH_SM80);
        }
}
END_TEST

/* wgmma's M side is A, or of swapped kernels B: the other order is refused by name. */
START_TEST(e5m2_is_on_the_m_side) {
    const struct gm_device device = device_of("h200");
    for (size_t i = 0; i < gemm_count(); i++) {
        const struct gm_kernel *row = &gm_kernels[i];
        if (row->type != GM_E5M2 || row->family != &gm_family_gemm_sm90)
            continue;
        struct gm_gemm_problem p = problem_for(row, 128, 4096, 4096);
        const struct gm_plan_options named = {.size = sizeof named, .kernel = row->name};
        ck_assert_ptr_eq(choose(gm_kernels, gemm_count(), &device, p, &named).kernel, row);
        const enum gm_type a = p.ab_type;
        p.ab_type = p.b_type, p.b_type = a;
        ck_assert_ptr_null(choose(gm_kernels, gemm_count(), &device, p, &named).kernel);
    }
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
                ck_assert_msg(tile_m_of(choice(models[d], m, n, k, GM_ARCH_SM80)) == 16, "%s: %d x %d x %d", models[d],
                              (int)m, (int)n, (int)k);
            for (int64_t m = 1024; m <= 4096; m *= 2)
                ck_assert_msg(tile_m_of(choice(models[d], m, n, k, GM_ARCH_SM80)) >= 64, "%s: %d x %d x %d", models[d],
                              (int)m, (int)n, (int)k);
        }
    ck_assert_int_eq(tile_m_of(choice("a100", 32, 4096, 4096, 0)), 32);
    ck_assert_int_eq(tile_m_of(choice("h200", 4, 4096, 4097, 0)), 16);
}
END_TEST

START_TEST(rows_beyond_99_kb_stay_off_8_6_and_8_9) {
    static const char *const models[] = {"a10", "rtx4090"};
    const struct gm_kernel big[] = {SM80(128, 256, 64, 3, 2, 4, 1), SM80(64, 64, 32, 5, 2, 2, 1)};
    ck_assert_int_gt(big[0].smem_bytes, 101376);
    const struct gm_gemm_problem p = problem_of(4096, 4096, 4096);
    for (size_t i = 0; i < 2; i++) {
        const struct gm_device device = device_of(models[i]);
        ck_assert_ptr_eq(choose(big, 2, &device, p, NULL).kernel, &big[1]);
        ck_assert_int_eq(judge(&big[0], &device, p, NULL).reason, GM_REASON_SMEM);
    }
    const struct gm_device a100 = device_of("a100");
    ck_assert_int_eq(judge(&big[0], &a100, p, NULL).reason, GM_ACCEPTED);
}
END_TEST

START_TEST(a_mask_forces_the_path) {
    ck_assert_int_eq(choice("h200", 4096, 4096, 4096, GM_ARCH_SM80)->arch, GM_ARCH_SM80);
    ck_assert_int_eq(choice("h200", 4096, 4096, 4096, GM_ARCH_SM90)->arch, GM_ARCH_SM90);
    ck_assert_int_eq(choice("h200", 4096, 4096, 4096, GM_ARCH_SM80 | GM_ARCH_SM90)->arch, GM_ARCH_SM90);
}
END_TEST

START_TEST(odd_strides_of_a_and_b_and_empty_k_fall_back_to_sm80) {
    ck_assert_int_eq(choice("h200", 512, 512, 1001, 0)->arch, GM_ARCH_SM80);
    ck_assert_int_eq(choice("h200", 512, 1001, 512, 0)->arch, GM_ARCH_SM90); /* D's are taken by both */
    ck_assert_int_eq(choice("h200", 512, 512, 0, 0)->arch, GM_ARCH_SM80);
    ck_assert_int_eq(choice("h200", 1, 1001, 512, 0)->arch, GM_ARCH_SM90); /* one row of D: no stride to step */
}
END_TEST

START_TEST(the_first_of_equal_rows_wins) {
    const struct gm_kernel twins[] = {rows[0], rows[0]};
    const struct gm_device device = device_of("h200");
    const struct gm_gemm_problem p = problem_of(4096, 4096, 4096);
    ck_assert_ptr_eq(choose(twins, 2, &device, p, NULL).kernel, &twins[0]);
}
END_TEST

START_TEST(test_rows_are_chosen_by_name_only) {
    struct gm_kernel table[] = {rows[0], rows[8]};
    table[0].production = 0;
    const struct gm_device device = device_of("h200");
    const struct gm_gemm_problem p = problem_of(4096, 4096, 4096);
    ck_assert_ptr_eq(choose(table, 2, &device, p, NULL).kernel, &table[1]);
    const struct gm_verdict verdict = judge(&table[0], &device, p, NULL);
    ck_assert_int_eq(verdict.reason, GM_REASON_NOT_PRODUCTION);
    ck_assert(verdict.predicted_us > 0);
    const struct gm_plan_options options = {.size = sizeof options, .kernel = table[0].name};
    ck_assert_ptr_eq(choose(table, 2, &device, p, &options).kernel, &table[0]);
}
END_TEST

START_TEST(unknown_architectures_get_the_ptx_rows) {
    struct gm_device device = device_of("h200");
    const struct gm_gemm_problem p = problem_of(4096, 4096, 4096);
    device.cc_major = 12;
    ck_assert_int_eq(choose(rows, ROWS, &device, p, NULL).kernel->arch, GM_ARCH_SM80);
    device.cc_major = 7, device.cc_minor = 5;
    ck_assert_ptr_null(choose(rows, ROWS, &device, p, NULL).kernel);
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
            struct gm_gemm_problem p =
                problem_of(sizes[shape % n_sizes], sizes[shape / n_sizes % n_sizes], sizes[shape / n_sizes / n_sizes]);
            p.ab_type = variant & 1 ? GM_FP16 : GM_BF16;
            p.a_major = variant & 2 ? GM_MN_MAJOR : GM_K_MAJOR;
            p.b_major = variant & 4 ? GM_MN_MAJOR : GM_K_MAJOR;
            p.a_align = p.b_align = p.d_align = 2;
            if ((double)p.m * (double)p.n > 1e13 || gm_gemm_normalize(&p) != GM_OK)
                continue; /* D of 20 TB: no memory holds it */
            ck_assert_msg(choose(gm_kernels, gemm_count(), &device, p, NULL).kernel != NULL,
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
    tcase_add_test(cases, e4m3_is_decoded_where_there_is_no_wgmma_of_it);
    tcase_add_test(cases, e5m2_may_be_a_or_b);
    tcase_add_test(cases, e5m2_is_on_the_m_side);
    tcase_add_test(cases, few_tokens_take_low_tiles_where_there_is_no_tma);
    tcase_add_test(cases, rows_beyond_99_kb_stay_off_8_6_and_8_9);
    tcase_add_test(cases, a_mask_forces_the_path);
    tcase_add_test(cases, odd_strides_of_a_and_b_and_empty_k_fall_back_to_sm80);
    tcase_add_test(cases, the_first_of_equal_rows_wins);
    tcase_add_test(cases, test_rows_are_chosen_by_name_only);
    tcase_add_test(cases, unknown_architectures_get_the_ptx_rows);
    suite_add_tcase(suite, cases);
    TCase *table = tcase_create("every legal shape");
    tcase_set_tags(table, "long"); /* half a minute under valgrind */
    tcase_add_test(table, the_table_accepts_every_legal_shape);
    suite_add_tcase(suite, table);
    return suite;
}
