/* SPDX-License-Identifier: Apache-2.0 */
/* Plans: what they hold, and how their creation fails. */
#include "planned.h"

#include "host/gemm/launch.h"
#include "host/gemm_sm90/gemm_sm90.h"
#include "host/types.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

START_TEST(a_plan_tells_its_kernel_workspace_and_prediction) {
    struct gm_gemm_problem p = problem_of(4096, 4096, 4096);
    gm_plan *plan = NULL;
    assert_ok(gm_gemm_plan_create(context, &p, NULL, &plan));
    ck_assert_int_ge(gm_plan_kernel(plan), 0);
    ck_assert_int_lt(gm_plan_kernel(plan), (int)gemm_count());
    ck_assert(gm_plan_predicted_us(plan) > 10);
    ck_assert_uint_eq(gm_plan_workspace_bytes(plan), 0);
    gm_plan_destroy(plan);
}
END_TEST

START_TEST(null_plans_are_harmless) {
    ck_assert_int_eq(gm_plan_kernel(NULL), -1);
    ck_assert_uint_eq(gm_plan_workspace_bytes(NULL), 0);
    ck_assert(gm_plan_predicted_us(NULL) == 0);
    gm_plan_destroy(NULL);
}
END_TEST

START_TEST(the_plan_is_what_explain_says) {
    static const int64_t sizes[][3] = {{8192, 8192, 8192}, {1, 4096, 4096}, {100, 3000, 1001}, {64, 64, 0}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        struct gm_gemm_problem p = problem_of(sizes[s][0], sizes[s][1], sizes[s][2]);
        struct gm_device device = {.size = sizeof device};
        gm_plan *plan = NULL;
        size_t count = 0;
        struct gm_candidate *candidates = calloc(gemm_count(), sizeof *candidates);
        assert_ok(gm_context_device(context, &device));
        assert_ok(gm_gemm_explain(&device, &p, NULL, candidates, gemm_count(), &count));
        const enum gm_status status = gm_gemm_plan_create(context, &p, NULL, &plan);
        for (size_t i = 0; i < count; i++) {
            ck_assert_int_eq(candidates[i].chosen, status == GM_OK && gm_plan_kernel(plan) == (int)i);
            if (candidates[i].chosen)
                ck_assert_double_eq_tol(candidates[i].predicted_us, gm_plan_predicted_us(plan), 1e-9);
        }
        free(candidates);
        gm_plan_destroy(plan);
    }
}
END_TEST

START_TEST(every_row_can_be_planned_by_name) {
    for (size_t i = 0; i < gemm_count(); i++) {
        const struct gm_gemm_problem p = problem_for(&gm_kernels[i], 1000, 2000, 3008);
        gm_plan *plan = plan_for(&gm_kernels[i], &p);
        ck_assert_int_eq(gm_plan_kernel(plan), (int)i);
        gm_plan_destroy(plan);
    }
}
END_TEST

START_TEST(an_sm90_plan_holds_legal_maps_of_its_operands) {
    const struct gm_kernel *row = row_of(&gm_family_gemm_sm90);
    if (!row)
        return;
    const struct gm_gemm_problem p = problem_for(row, 1000, 2000, 3008);
    gm_plan *plan = plan_for(row, &p);
    const struct gm_gemm_variant v = gm_gemm_variant(row);
    const struct gm_gemm_maps maps = gm_gemm_sm90_maps(&v, &gm_gemm_planned_of(plan)->problem);
    const struct gm_gemm_sm90_params *params = plan->params;
    const struct gm_map_desc a = fake_map_desc(&params->a), d = fake_map_desc(&params->d);
    char sentence[160];
    const int count = 3 + (maps.a_tiles.rows > 0) + (maps.b_tiles.rows > 0);
    ck_assert_int_eq(fake.map_count, count);
    for (int i = 0; i < count; i++)
        ck_assert_msg(gm_tensor_map_check(&fake.maps[i], sentence, sizeof sentence), "%s", sentence);
    ck_assert_mem_eq(a.dims, maps.a.dims, sizeof a.dims);
    ck_assert_mem_eq(a.box, maps.a.box, sizeof a.box);
    ck_assert_mem_eq(d.dims, maps.d.dims, sizeof d.dims);
    ck_assert_int_eq(params->k_blocks, GM_CEIL_DIV(3008, v.tile_k));
    gm_plan_destroy(plan);
}
END_TEST

START_TEST(the_flags_say_what_may_overlap_the_kernel_before) {
    static const uint32_t flags[] = {0, GM_PLAN_CONSTANT_B, GM_PLAN_NO_OVERLAP};
    const struct gm_kernel *row = row_of(&gm_family_gemm_sm90);
    if (!row)
        return;
    const struct gm_gemm_problem p = problem_for(row, 64, 256, 512);
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        const struct gm_plan_options options = {.size = sizeof options, .kernel = row->name, .flags = flags[i]};
        gm_plan *plan = NULL;
        assert_ok(gm_gemm_plan_create(context, &p, &options, &plan));
        const struct gm_gemm_sm90_params *params = plan->params;
        const unsigned clusters = row->cluster_ctas > 1;
        ck_assert_uint_eq(plan->config.numAttrs, clusters + (flags[i] != GM_PLAN_NO_OVERLAP));
        ck_assert_int_eq(params->b_early, flags[i] == GM_PLAN_CONSTANT_B);
        gm_plan_destroy(plan);
    }
}
END_TEST

/* By bytes, not by k-blocks: 20 KB and an eighth of what a CTA streams, half of it where rows begin on no line. */
START_TEST(l2_is_asked_ahead_by_what_a_cta_streams) {
    static const struct {
        const char *kernel;
        int64_t m, n, k;
        int32_t blocks;
    } cases[] = {
        {"gemm_sm90_bf16_tn_64x64x64_s12_c1x1_w1_sw128", 1, 8320, 512, 4},   /* 28 KB, in blocks of 8 */
        {"gemm_sm90_bf16_tn_16x64x128_s11_c1x1_w1s_sw128", 1, 8320, 512, 2}, /* of 16 */
        {"gemm_sm90_bf16_tn_64x64x64_s12_c1x1_w1_sw128", 37, 7168, 1232, 2}, /* 39 KB, halved */
        {"gemm_sm90_bf16_tn_64x80x128_s5_c1x1_w1_sw128", 1, 80, 64, 1},      /* 20 KB, but an odd block has as many */
        {"gemm_sm90_bf16_tn_64x64x64_s12_c1x1_w1_sw128", 1, 8192, 8192, 8},  /* 148 KB */
        {"gemm_sm90_bf16_tn_64x64x64_s12_c1x1_w1_sw128", 65, 8192, 8192, 4}, /* tensor cores set the pace */
        {"gemm_sm90_bf16_tn_64x64x64_s12_c1x1_w1_sw128", 8192, 64, 8192, 8}, /* A passes by */
        {"gemm_sm90_bf16_tn_64x64x64_s12_c1x4_w1_sw128", 20000, 64, 512, 8}, /* a quarter of A's rows in each CTA */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int at = gm_find_kernel(gm_kernels, gemm_count(), cases[i].kernel);
        if (at < 0)
            continue;
        const struct gm_gemm_problem p = problem_for(&gm_kernels[at], cases[i].m, cases[i].n, cases[i].k);
        gm_plan *plan = plan_for(&gm_kernels[at], &p);
        const struct gm_gemm_sm90_params *params = plan->params;
        ck_assert_msg(params->prefetched == cases[i].blocks, "case %zu: %d blocks", i, params->prefetched);
        gm_plan_destroy(plan);
    }
}
END_TEST

/* Not what the first kernel of the table has against the problem. */
START_TEST(the_named_row_says_why_it_refuses) {
    for (size_t i = 0; i < gemm_count(); i++) {
        const struct gm_kernel *row = &gm_kernels[i];
        const struct gm_plan_options options = {.size = sizeof options, .kernel = row->name};
        struct gm_gemm_problem p = problem_for(row, 64, 64, 64);
        char words[128];
        gm_plan *plan = NULL;
        p.ab_type = p.ab_type == GM_BF16 ? GM_FP16 : GM_BF16;
        p.has_b_type = 0;
        p.d_type = GM_FP32;
        p.fast_accumulation = 0;
        p.a_scales = p.b_scales = GM_PER_NONE;
        snprintf(words, sizeof words, "; %s: computes with %s; the problem is %s", row->name, gm_type_name(row->type),
                 gm_type_name(p.ab_type));
        assert_fails(gm_gemm_plan_create(context, &p, &options, &plan), GM_ERROR_NO_KERNEL, words);
    }
}
END_TEST

/* A CTA for every tile, but no more CTAs than a budget has SMs; nothing divided, whatever workspace there is. */
START_TEST(gemv_plans_have_a_cta_for_every_tile) {
    for (size_t i = 0; i < gemm_count(); i++) {
        const struct gm_kernel *row = &gm_kernels[i];
        if (row->family != &gm_family_gemv)
            continue;
        const struct gm_gemm_variant v = gm_gemm_variant(row);
        struct gm_gemm_problem p = problem_for(row, 3, 100001, 513);
        struct gm_plan_options options = {.size = sizeof options, .kernel = row->name, .workspace_limit = 64 << 20};
        const unsigned tiles = (unsigned)(GM_CEIL_DIV(3, v.tile_m) * GM_CEIL_DIV(100001, v.tile_n));
        for (int budget = 0; budget <= 7; budget += 7) {
            gm_plan *plan = NULL;
            options.sm_budget = budget;
            options.flags = budget ? GM_PLAN_CONSTANT_B : 0;
            assert_ok(gm_gemm_plan_create(context, &p, &options, &plan));
            const struct gm_gemm_sm80_params *params = plan->params;
            ck_assert_uint_eq(plan->config.gridDimX, budget ? (unsigned)budget : tiles);
            ck_assert_uint_eq(gm_plan_workspace_bytes(plan), 0);
            ck_assert_int_eq(params->stream_k.shares, 0);
            ck_assert_int_eq(params->b_early, budget > 0);
            ck_assert_int_eq(params->raster.group, GM_CEIL_DIV(3, v.tile_m));
            gm_plan_destroy(plan);
        }
        options.flags = GM_PLAN_BATCH_INVARIANT;
        gm_plan *plan = NULL;
        assert_fails(gm_gemm_plan_create(context, &p, &options, &plan), GM_ERROR_NO_KERNEL, "batch-invariant");
    }
}
END_TEST

START_TEST(plans_of_empty_problems_need_no_image) {
    struct gm_gemm_problem p = problem_of(0, 4096, 4096);
    gm_plan *plan = NULL;
    fake_clear_counts();
    assert_ok(gm_gemm_plan_create(context, &p, NULL, &plan));
    ck_assert_int_eq(fake_calls(), 0);
    gm_plan_destroy(plan);
}
END_TEST

START_TEST(bad_arguments_make_no_plan) {
    struct gm_gemm_problem p = problem_of(64, 64, 64);
    struct gm_plan_options options = {.size = sizeof options, .kernel = "no_such_row"};
    gm_plan *plan = NULL;
    assert_fails(gm_gemm_plan_create(NULL, &p, NULL, &plan), GM_ERROR_INVALID_ARGUMENT, "context is NULL");
    assert_fails(gm_gemm_plan_create(context, NULL, NULL, &plan), GM_ERROR_INVALID_ARGUMENT, "problem is NULL");
    assert_fails(gm_gemm_plan_create(context, &p, NULL, NULL), GM_ERROR_INVALID_ARGUMENT, "plan is NULL");
    assert_fails(gm_gemm_plan_create(context, &p, &options, &plan), GM_ERROR_UNKNOWN_KERNEL, "no_such_row");
    options.size = 0;
    assert_fails(gm_gemm_plan_create(context, &p, &options, &plan), GM_ERROR_SIZE, "options.size");
    p.m = -1;
    assert_fails(gm_gemm_plan_create(context, &p, NULL, &plan), GM_ERROR_INVALID_ARGUMENT, "m is -1");
    p.size = 8;
    assert_fails(gm_gemm_plan_create(context, &p, NULL, &plan), GM_ERROR_SIZE, "problem.size is 8");
    ck_assert_ptr_null(plan);
    ck_assert_int_eq(fake.libraries, 0);
}
END_TEST

START_TEST(a_refused_row_says_why) {
    const struct gm_kernel *row = row_of(&gm_family_gemm_sm90);
    if (!row)
        return;
    struct gm_gemm_problem p = problem_for(row, 64, 65, 67);
    const struct gm_plan_options options = {.size = sizeof options, .kernel = row->name};
    gm_plan *plan = NULL;
    assert_fails(gm_gemm_plan_create(context, &p, &options, &plan), GM_ERROR_NO_KERNEL, row->name);
    ck_assert_ptr_nonnull(strstr(gm_last_error(), "TMA needs it; pad"));
    ck_assert_ptr_null(plan);
}
END_TEST

/* What kernels of e5m2 have not, each with its sentence. Matrices that make one product are one. */
START_TEST(e4m3_beside_e5m2_has_no_batches_and_no_gate_of_its_own) {
    struct gm_gemm_problem p = problem_of(64, 128, 256);
    gm_plan *plan = NULL;
    p.ab_type = GM_E4M3, p.has_b_type = 1, p.b_type = GM_E5M2, p.d_type = GM_BF16;
    p.batch = 3, p.a_batch_stride = p.m * p.k, p.c_batch_stride = p.d_batch_stride = p.m * p.n;
    assert_ok(gm_gemm_plan_create(context, &p, NULL, &plan));
    gm_plan_destroy(plan);
    p.b_batch_stride = p.n * p.k;
    assert_fails(gm_gemm_plan_create(context, &p, NULL, &plan), GM_ERROR_NO_KERNEL,
                 "computes one product; the problem is a batch of 3");
    p.batch = 0, p.gate = GM_GATE_HALVES, p.activation = GM_ACT_SILU;
    assert_fails(gm_gemm_plan_create(context, &p, NULL, &plan), GM_ERROR_NO_KERNEL,
                 "this one and a GLU behind it, with a workspace_limit");
    const struct gm_plan_options room = {.size = sizeof room, .workspace_limit = 1 << 20};
    assert_ok(gm_gemm_plan_create(context, &p, &room, &plan));
    gm_plan_destroy(plan);
}
END_TEST

START_TEST(a_device_without_images_says_so) {
    gm_context *old = NULL;
    gm_plan *plan = NULL;
    fake.devices[1].cc_major = 7;
    assert_ok(gm_context_create(1, &old));
    for (size_t i = 0; i < 2 && i < gemm_count(); i++) { /* a kernel of the problem's type says why */
        const struct gm_gemm_problem p = problem_for(&gm_kernels[i], 64, 64, 64);
        assert_fails(gm_gemm_plan_create(old, &p, NULL, &plan), GM_ERROR_NO_KERNEL, "compute capability 7.0");
        ck_assert_ptr_nonnull(strstr(gm_last_error(), gm_type_name(gm_kernels[i].type)));
    }
    gm_context_destroy(old);
}
END_TEST

START_TEST(a_failed_image_fails_the_plan) {
    struct gm_gemm_problem p = problem_for(&gm_kernels[0], 64, 64, 64);
    const struct gm_plan_options options = {.size = sizeof options, .kernel = gm_kernels[0].name};
    gm_plan *plan = NULL;
    fake.result[FAKE_cuLibraryLoadData] = CUDA_ERROR_NO_BINARY_FOR_GPU;
    assert_fails(gm_gemm_plan_create(context, &p, &options, &plan), GM_ERROR_IMAGE, gm_kernels[0].name);
    ck_assert_ptr_null(plan);
    ck_assert_int_eq(fake_context_depth(), 0);
}
END_TEST

START_TEST(a_refused_tensor_map_fails_the_plan) {
    const struct gm_kernel *row = row_of(&gm_family_gemm_sm90);
    if (!row)
        return;
    struct gm_gemm_problem p = problem_for(row, 64, 64, 64);
    const struct gm_plan_options options = {.size = sizeof options, .kernel = row->name};
    gm_plan *plan = NULL;
    fake.result[FAKE_cuTensorMapEncodeTiled] = CUDA_ERROR_INVALID_VALUE;
    assert_fails(gm_gemm_plan_create(context, &p, &options, &plan), GM_ERROR_DRIVER, "tensor map of A");
    ck_assert_ptr_null(plan);
    ck_assert_int_eq(fake_context_depth(), 0);
}
END_TEST

START_TEST(a_context_that_cannot_be_made_current_fails_the_plan) {
    struct gm_gemm_problem p = problem_for(&gm_kernels[0], 64, 64, 64);
    gm_plan *plan = NULL;
    fake.result[FAKE_cuCtxPushCurrent] = CUDA_ERROR_INVALID_CONTEXT;
    assert_fails(gm_gemm_plan_create(context, &p, NULL, &plan), GM_ERROR_DRIVER, "context of device 0");
    ck_assert_ptr_null(plan);
}
END_TEST

Suite *plan_suite(void) {
    Suite *suite = suite_create("plan");
    TCase *cases = tcase_create("plans");
    tcase_add_checked_fixture(cases, planned_set_up, planned_tear_down);
    tcase_add_test(cases, a_plan_tells_its_kernel_workspace_and_prediction);
    tcase_add_test(cases, null_plans_are_harmless);
    tcase_add_test(cases, the_plan_is_what_explain_says);
    tcase_add_test(cases, an_sm90_plan_holds_legal_maps_of_its_operands);
    tcase_add_test(cases, the_flags_say_what_may_overlap_the_kernel_before);
    tcase_add_test(cases, l2_is_asked_ahead_by_what_a_cta_streams);
    tcase_add_test(cases, gemv_plans_have_a_cta_for_every_tile);
    tcase_add_test(cases, plans_of_empty_problems_need_no_image);
    tcase_add_test(cases, bad_arguments_make_no_plan);
    tcase_add_test(cases, a_refused_row_says_why);
    tcase_add_test(cases, the_named_row_says_why_it_refuses);
    tcase_add_test(cases, e4m3_beside_e5m2_has_no_batches_and_no_gate_of_its_own);
    tcase_add_test(cases, a_device_without_images_says_so);
    tcase_add_test(cases, a_failed_image_fails_the_plan);
    tcase_add_test(cases, a_refused_tensor_map_fails_the_plan);
    tcase_add_test(cases, a_context_that_cannot_be_made_current_fails_the_plan);
    suite_add_tcase(suite, cases);
    TCase *table = tcase_create("every row of the table");
    tcase_set_tags(table, "long"); /* minutes under valgrind */
    tcase_add_checked_fixture(table, planned_set_up, planned_tear_down);
    tcase_add_test(table, every_row_can_be_planned_by_name);
    suite_add_tcase(suite, table);
    return suite;
}
