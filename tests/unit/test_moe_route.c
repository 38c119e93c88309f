/* SPDX-License-Identifier: Apache-2.0 */
/* moe_route on the host: what a problem may be, what is said of one that may not, what is chosen, what a launch is told. */
#include "common/moe_route/params.h"
#include "gristmill/moe_route.h"
#include "host/choose.h"
#include "host/options.h"
#include "host/types.h"
#include "planned.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct gm_moe_route_problem tokens_of(int64_t tokens, int64_t experts, int64_t k) {
    return (struct gm_moe_route_problem){
        .size = sizeof(struct gm_moe_route_problem), .tokens = tokens, .experts = experts, .k = k};
}

static struct gm_moe_route_problem deepseek(int64_t tokens) {
    struct gm_moe_route_problem p = tokens_of(tokens, 256, 8);
    p.method = GM_ROUTE_SIGMOID_GROUPED;
    p.groups = 8, p.top_groups = 4;
    p.renormalize = 1;
    p.scale = 2.5f;
    p.type = GM_FP32;
    return p;
}

static enum gm_status read_problem(const struct gm_moe_route_problem *given, struct gm_moe_route_problem *read) {
    static const struct gm_plan_options none = {.size = sizeof none};
    return gm_problem_read(&gm_operation_moe_route, given, &none, read);
}

/* ---- a problem ------------------------------------------------------------------------------------------ */

START_TEST(zeros_mean_packed_aligned_and_one_group) {
    struct gm_moe_route_problem p = tokens_of(3, 100, 4), read;
    assert_ok(read_problem(&p, &read));
    ck_assert(read.logits_stride == 100 && read.logits_align == 16 && read.scale == 1);
    ck_assert(read.groups == 1 && read.top_groups == 1);
    p.method = GM_ROUTE_SIGMOID_GROUPED;
    assert_ok(read_problem(&p, &read));
    ck_assert(read.groups == 1 && read.top_groups == 1);
    p.groups = 10;
    assert_ok(read_problem(&p, &read));
    ck_assert(read.groups == 10 && read.top_groups == 10);
}
END_TEST

START_TEST(what_has_no_effect_is_not_asked_for) {
    struct gm_moe_route_problem p = tokens_of(3, 100, 4), read;
    p.method = GM_ROUTE_TOP_K_SOFTMAX;
    p.groups = 7, p.top_groups = 99; /* of a sigmoid */
    p.renormalize = 1;
    assert_ok(read_problem(&p, &read));
    ck_assert(read.groups == 1 && read.top_groups == 1 && read.renormalize == 0);
}
END_TEST

static const struct {
    size_t offset;
    int64_t value;
    int bytes;
    const char *words;
} bad[] = {
#define BAD(member, value, words)                                                                                      \
    {offsetof(struct gm_moe_route_problem, member), value, sizeof(((struct gm_moe_route_problem *)0)->member), words}
    BAD(tokens, -1, "tokens is -1; it must be 0 to 2147483647"),
    BAD(experts, 0, "experts is 0; it must be 1 to 1024"),
    BAD(experts, 1025, "experts is 1025; it must be 1 to 1024"),
    BAD(k, 0, "k is 0; it must be 1 to 32"),
    BAD(k, 33, "k is 33; it must be 1 to 32"),
    BAD(groups, 7, "groups is 7, which does not divide 256 experts"),
    BAD(groups, 64, "groups is 64; it must be 1 to 32"),
    BAD(groups, -1, "groups is -1; it must be 1 to 32"),
    BAD(top_groups, 9, "top_groups is 9; it must be 1 to 8"),
    BAD(top_groups, -1, "top_groups is -1"),
    BAD(type, 3, "type is 3; known values are 0 to 2"),
    BAD(method, 3, "method is 3; known values are 0 to 2"),
    BAD(renormalize, 2, "renormalize is 2"),
    BAD(scale, (int32_t)0xbf800000, "scale is -1; it must be finite and 0 or more"),
    BAD(logits_stride, 255, "logits_stride is 255; a row has 256 elements"),
    BAD(logits_align, 3, "logits_align is 3; it must be 16 (or 0), 8, 4 or 2"),
};

START_TEST(every_bad_member_has_its_sentence) {
    struct gm_moe_route_problem p = deepseek(8), read;
    memcpy((char *)&p + bad[_i].offset, &bad[_i].value, (size_t)bad[_i].bytes);
    assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT, bad[_i].words);
}
END_TEST

START_TEST(k_is_no_more_than_may_be_chosen) {
    struct gm_moe_route_problem p = tokens_of(8, 4, 5), read;
    assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT, "k is 5; it must be 1 to 4");
    p = deepseek(8);
    p.groups = 32, p.top_groups = 2, p.k = 17;
    assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT, "k is 17; it must be 1 to 16");
    p.k = 16;
    assert_ok(read_problem(&p, &read));
}
END_TEST

START_TEST(a_problem_is_a_line_of_a_suite) {
    struct gm_moe_route_problem p = tokens_of(16, 128, 4), read;
    char text[160];
    assert_ok(read_problem(&p, &read));
    gm_problem_print(&gm_operation_moe_route, &read, text, sizeof text);
    ck_assert_str_eq(text, "moe_route bf16 softmax_top_k plain 16 128 4 1 1");
    p = deepseek(64);
    gm_problem_print(&gm_operation_moe_route, &p, text, sizeof text);
    ck_assert_str_eq(text, "moe_route fp32 sigmoid_grouped renormalized 64 256 8 8 4");
}
END_TEST

START_TEST(bytes_and_operations_are_counted) {
    const struct gm_moe_route_problem p = tokens_of(10, 100, 2);
    const struct gm_work work = gm_operation_moe_route.work(&p);
    ck_assert(work.flops == 6000 && work.least_bytes == 10 * (200 + 16));
}
END_TEST

/* ---- the choice ----------------------------------------------------------------------------------------- */

/* What explain chooses. */
static const struct gm_kernel *chosen(const struct gm_moe_route_problem *p, const char *model, double *us) {
    const struct gm_device device = device_of(model);
    const struct gm_plan_options options = {.size = sizeof options};
    size_t count = gm_kernel_count();
    struct gm_candidate *candidates = calloc(count, sizeof *candidates);
    const struct gm_kernel *kernel = NULL;
    assert_ok(gm_moe_route_explain(&device, p, &options, candidates, count, &count));
    for (size_t i = 0; i < count; i++) {
        ck_assert_str_eq(gm_kernels[candidates[i].kernel].family->name, "moe_route");
        if (!candidates[i].chosen)
            continue;
        kernel = &gm_kernels[candidates[i].kernel];
        *us = candidates[i].predicted_us;
        ck_assert_ptr_nonnull(strstr(candidates[i].sentence, "predicted "));
    }
    free(candidates);
    return kernel;
}

START_TEST(the_device_and_the_type_choose) {
    double few = 0, many = 0;
    struct gm_moe_route_problem p = tokens_of(1, 128, 8);
    ck_assert_int_eq(chosen(&p, "h200", &few)->arch, GM_ARCH_SM90);
    ck_assert_int_eq(chosen(&p, "a100", &few)->arch, GM_ARCH_SM80);
    p.type = GM_FP16;
    ck_assert_int_eq(chosen(&p, "h200", &few)->type, GM_FP16);
    p.tokens = 100000;
    ck_assert_ptr_nonnull(chosen(&p, "h200", &many));
    ck_assert(many > 5 * few);
}
END_TEST

/* ---- a launch ------------------------------------------------------------------------------------------- */

START_TEST(a_launch_is_told_what_the_call_says) {
    const struct gm_moe_route_problem p = deepseek(10);
    const struct gm_moe_route_args args = {
        .size = sizeof args, .logits = ADDRESS_A, .bias = ADDRESS_BIAS, .ids = ADDRESS_B, .weights = ADDRESS_D};
    gm_plan *plan = NULL;
    assert_ok(gm_moe_route_plan_create(context, &p, NULL, &plan));
    const struct gm_moe_route_params *params = plan->params;
    ck_assert(params->logits_pitch == 1024 && params->tokens == 10 && params->experts == 256 && params->k == 8);
    ck_assert(params->is_sigmoid && params->renormalizes && params->scale == 2.5f && !params->by_elements);
    ck_assert(params->groups == 8 && params->top_groups == 4 && params->group_size == 32 && params->lanes_log2 == 2);
    ck_assert_uint_eq(plan->config.gridDimX, 3);
    fake_make_current(0);
    fake_clear_counts();
    assert_ok(gm_moe_route_execute(plan, &args, NULL));
    ck_assert_int_eq(fake_calls(), 1);
    gm_plan_destroy(plan);
}
END_TEST

static struct gm_moe_route_params told(const struct gm_moe_route_problem *p) {
    gm_plan *plan = NULL;
    assert_ok(gm_moe_route_plan_create(context, p, NULL, &plan));
    const struct gm_moe_route_params params = *(const struct gm_moe_route_params *)plan->params;
    gm_plan_destroy(plan);
    return params;
}

START_TEST(a_softmax_over_the_chosen_is_renormalised) {
    struct gm_moe_route_problem p = tokens_of(10, 128, 4);
    ck_assert(!told(&p).renormalizes && !told(&p).is_sigmoid);
    p.renormalize = 1;
    ck_assert(told(&p).renormalizes);
    p.renormalize = 0, p.method = GM_ROUTE_TOP_K_SOFTMAX;
    ck_assert(told(&p).renormalizes);
}
END_TEST

START_TEST(what_is_not_aligned_goes_by_elements) {
    struct gm_moe_route_problem p = tokens_of(10, 128, 4);
    p.logits_align = 8;
    ck_assert(told(&p).by_elements);
    p = tokens_of(10, 60, 4);
    ck_assert(told(&p).by_elements);
    p = tokens_of(10, 128, 4);
    p.logits_stride = 132;
    ck_assert(told(&p).by_elements);
    p.logits_stride = 136;
    ck_assert(!told(&p).by_elements);
}
END_TEST

/* Groups have as many lanes of a warp as there are for each. */
START_TEST(groups_share_a_warp) {
    static const int sizes[][2] = {{1, 5}, {2, 4}, {3, 3}, {8, 2}, {9, 1}, {16, 1}, {17, 0}, {32, 0}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct gm_moe_route_problem p = tokens_of(10, 17 * sizes[i][0], 2);
        p.method = GM_ROUTE_SIGMOID_GROUPED;
        p.groups = sizes[i][0];
        ck_assert_int_eq(told(&p).lanes_log2, sizes[i][1]);
    }
}
END_TEST

START_TEST(every_variant_is_launched_by_name) {
    const struct gm_moe_route_args args = {
        .size = sizeof args, .logits = ADDRESS_A, .ids = ADDRESS_B, .weights = ADDRESS_D};
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct gm_kernel *kernel = &gm_kernels[i];
        if (kernel->family != &gm_family_moe_route)
            continue;
        struct gm_moe_route_problem p = tokens_of(1001, 64, 6);
        const struct gm_plan_options options = {.size = sizeof options, .kernel = kernel->name};
        gm_plan *plan = NULL;
        p.type = kernel->type;
        assert_ok(gm_moe_route_plan_create(context, &p, &options, &plan));
        fake_make_current(0);
        fake_clear_counts();
        assert_ok(gm_moe_route_execute(plan, &args, NULL));
        ck_assert_int_eq(fake_calls(), 1);
        ck_assert_int_eq(fake.launch.kernel, (int)i);
        ck_assert_uint_eq(fake.launch.config.blockDimX, (unsigned)kernel->threads);
        ck_assert_uint_eq(fake.launch.config.sharedMemBytes, (unsigned)kernel->threads / 32 * 4096);
        ck_assert_uint_eq(fake.launch.config.numAttrs, kernel->arch == GM_ARCH_SM90);
        gm_plan_destroy(plan);
    }
}
END_TEST

/* 10 tokens, 64 experts, 4 of them: nothing is launched where it is refused. */
static enum gm_status execute(struct gm_moe_route_args args) {
    const struct gm_moe_route_problem p = tokens_of(10, 64, 4);
    gm_plan *plan = NULL;
    assert_ok(gm_moe_route_plan_create(context, &p, NULL, &plan));
    fake_make_current(0);
    fake_clear_counts();
    const enum gm_status status = gm_moe_route_execute(plan, &args, NULL);
    ck_assert_int_eq(fake_calls(), status == GM_OK);
    gm_plan_destroy(plan);
    return status;
}

START_TEST(bad_pointers_are_refused_by_name) {
    const struct gm_moe_route_args good = {
        .size = sizeof good, .logits = ADDRESS_A, .bias = ADDRESS_BIAS, .ids = ADDRESS_B, .weights = ADDRESS_D};
    struct gm_moe_route_args args = good;
    assert_ok(execute(args));
    args.size = 47;
    assert_fails(execute(args), GM_ERROR_SIZE, "args.size is 47");
    args = good, args.logits = 0;
    assert_fails(execute(args), GM_ERROR_INVALID_ARGUMENT, "logits is NULL");
    args = good, args.ids = 0;
    assert_fails(execute(args), GM_ERROR_INVALID_ARGUMENT, "ids is NULL");
    args = good, args.weights = 0;
    assert_fails(execute(args), GM_ERROR_INVALID_ARGUMENT, "weights is NULL");
    args = good, args.bias = 0;
    assert_ok(execute(args));
    args = good, args.logits += 8;
    assert_fails(execute(args), GM_ERROR_MISALIGNED, "not a multiple of 16 bytes");
    args = good, args.bias += 2;
    assert_fails(execute(args), GM_ERROR_MISALIGNED, "bias");
    args = good, args.ids += 2;
    assert_fails(execute(args), GM_ERROR_MISALIGNED, "ids");
    args = good, args.weights += 1;
    assert_fails(execute(args), GM_ERROR_MISALIGNED, "weights");
    args = good, args.row_count = ADDRESS_C + 2;
    assert_fails(execute(args), GM_ERROR_MISALIGNED, "row_count");
    args = good, args.ids = ADDRESS_D + 156;
    assert_fails(execute(args), GM_ERROR_OVERLAP, "weights");
    args = good, args.ids = ADDRESS_D + 160;
    assert_ok(execute(args));
    args = good, args.weights = ADDRESS_BIAS;
    assert_fails(execute(args), GM_ERROR_OVERLAP, "bias");
    args = good, args.row_count = ADDRESS_D;
    assert_fails(execute(args), GM_ERROR_OVERLAP, "row_count");
}
END_TEST

START_TEST(a_budget_of_sms_limits_the_grid) {
    const struct gm_moe_route_problem p = tokens_of(100000, 64, 4);
    const struct gm_plan_options options = {.size = sizeof options, .sm_budget = 2};
    gm_plan *plan = NULL;
    assert_ok(gm_moe_route_plan_create(context, &p, &options, &plan));
    ck_assert_uint_le(plan->config.gridDimX, 2 * 16);
    gm_plan_destroy(plan);
}
END_TEST

START_TEST(no_tokens_launch_nothing) {
    const struct gm_moe_route_problem p = tokens_of(0, 64, 4);
    const struct gm_moe_route_args args = {.size = sizeof args};
    const int launches = fake.count[FAKE_cuLaunchKernelEx];
    assert_ok(gm_moe_route(context, &p, &args, NULL));
    ck_assert_int_eq(fake.count[FAKE_cuLaunchKernelEx], launches);
}
END_TEST

Suite *moe_route_suite(void) {
    Suite *suite = suite_create("moe_route");
    TCase *problems = tcase_create("problems"), *choices = tcase_create("choices"),
          *launches = tcase_create("launches");
    tcase_add_test(problems, zeros_mean_packed_aligned_and_one_group);
    tcase_add_test(problems, what_has_no_effect_is_not_asked_for);
    tcase_add_loop_test(problems, every_bad_member_has_its_sentence, 0, sizeof bad / sizeof *bad);
    tcase_add_test(problems, k_is_no_more_than_may_be_chosen);
    tcase_add_test(problems, a_problem_is_a_line_of_a_suite);
    tcase_add_test(problems, bytes_and_operations_are_counted);
    tcase_add_test(choices, the_device_and_the_type_choose);
    tcase_add_checked_fixture(launches, planned_set_up, planned_tear_down);
    tcase_add_test(launches, a_launch_is_told_what_the_call_says);
    tcase_add_test(launches, a_softmax_over_the_chosen_is_renormalised);
    tcase_add_test(launches, what_is_not_aligned_goes_by_elements);
    tcase_add_test(launches, groups_share_a_warp);
    tcase_add_test(launches, every_variant_is_launched_by_name);
    tcase_add_test(launches, bad_pointers_are_refused_by_name);
    tcase_add_test(launches, a_budget_of_sms_limits_the_grid);
    tcase_add_test(launches, no_tokens_launch_nothing);
    suite_add_tcase(suite, problems);
    suite_add_tcase(suite, choices);
    suite_add_tcase(suite, launches);
    return suite;
}
