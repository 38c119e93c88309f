/* SPDX-License-Identifier: Apache-2.0 */
/* moe_align on the host: what a problem may be, what is said of one that may not, what is chosen, what a launch is told. */
#include "common/moe_align/params.h"
#include "gristmill/moe_align.h"
#include "host/choose.h"
#include "host/moe_align/moe_align.h"
#include "host/options.h"
#include "host/types.h"
#include "planned.h"

#include <stdlib.h>
#include <string.h>

static struct gm_moe_align_problem tokens_of(int64_t tokens, int64_t k, int64_t experts) {
    return (struct gm_moe_align_problem){
        .size = sizeof(struct gm_moe_align_problem), .tokens = tokens, .k = k, .experts = experts};
}

static enum gm_status read_problem(const struct gm_moe_align_problem *given, struct gm_moe_align_problem *read) {
    static const struct gm_plan_options none = {.size = sizeof none};
    return gm_problem_read(&gm_operation_moe_align, given, &none, read);
}

/* ---- a problem ------------------------------------------------------------------------------------------ */

START_TEST(zero_aligns_to_nothing) {
    const struct gm_moe_align_problem p = tokens_of(3, 2, 100);
    struct gm_moe_align_problem read;
    assert_ok(read_problem(&p, &read));
    ck_assert_int_eq(read.alignment, 1);
    ck_assert(!gm_operation_moe_align.is_empty(&read));
}
END_TEST

static const struct {
    size_t offset;
    int64_t value;
    const char *words;
} bad[] = {
#define BAD(member, value, words) {offsetof(struct gm_moe_align_problem, member), value, words}
    BAD(tokens, -1, "tokens is -1; it must be 0 to 536870912"),
    BAD(tokens, (INT64_C(1) << 29) + 1, "tokens is 536870913; it must be 0 to 536870912"),
    BAD(k, 0, "k is 0; it must be 1 to 1073741824"),
    BAD(experts, 0, "experts is 0; it must be 1 to 1024"),
    BAD(experts, 1025, "experts is 1025"),
    BAD(alignment, -1, "alignment is -1; it must be 1 to 65536"),
    BAD(alignment, 65537, "alignment is 65537"),
};

START_TEST(every_bad_member_has_its_sentence) {
    struct gm_moe_align_problem p = tokens_of(8, 2, 64), read;
    memcpy((char *)&p + bad[_i].offset, &bad[_i].value, sizeof bad[_i].value);
    assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT, bad[_i].words);
}
END_TEST

/* Each expert that has a slot has at most all but one row without. */
START_TEST(rows_have_room_for_every_length_rounded_up) {
    struct gm_moe_align_problem p = tokens_of(10, 4, 16);
    p.alignment = 1;
    ck_assert_int_eq(gm_moe_align_rows(&p), 40);
    p.alignment = 8;
    ck_assert_int_eq(gm_moe_align_rows(&p), 40 + 16 * 7);
    p.experts = 100;
    ck_assert_int_eq(gm_moe_align_rows(&p), 40 * 8);
    p = tokens_of(INT64_C(1) << 30, 1, 1024);
    p.alignment = 65536;
    ck_assert_int_le(gm_moe_align_rows(&p) + p.alignment, INT32_MAX);
}
END_TEST

START_TEST(a_problem_is_a_line_of_a_suite) {
    struct gm_moe_align_problem p = tokens_of(64, 8, 256);
    char text[160];
    p.alignment = 128;
    gm_problem_print(&gm_operation_moe_align, &p, text, sizeof text);
    ck_assert_str_eq(text, "moe_align int32 64 8 256 128");
}
END_TEST

START_TEST(ids_have_one_type) {
    struct gm_moe_align_problem p = tokens_of(64, 8, 256);
    const struct gm_field *type = &gm_operation_moe_align.fields[gm_operation_moe_align.type];
    ck_assert_int_eq(gm_field_get(type, &p), GM_INT32);
    ck_assert(gm_field_set(type, &p, GM_INT32) && !gm_field_set(type, &p, GM_INT64));
}
END_TEST

START_TEST(bytes_and_operations_are_counted) {
    const struct gm_moe_align_problem p = tokens_of(10, 2, 5);
    const struct gm_work work = gm_operation_moe_align.work(&p);
    ck_assert(work.flops == 40 && work.least_bytes == 20 * 12 + 24);
}
END_TEST

/* ---- the choice ----------------------------------------------------------------------------------------- */

/* What explain chooses. */
static const struct gm_kernel *chosen(const struct gm_moe_align_problem *p, const char *model) {
    const struct gm_device device = device_of(model);
    const struct gm_plan_options options = {.size = sizeof options};
    size_t count = gm_kernel_count();
    struct gm_candidate *candidates = calloc(count, sizeof *candidates);
    const struct gm_kernel *kernel = NULL;
    assert_ok(gm_moe_align_explain(&device, p, &options, candidates, count, &count));
    for (size_t i = 0; i < count; i++) {
        ck_assert_str_eq(gm_kernels[candidates[i].kernel].family->name, "moe_align");
        if (!candidates[i].chosen)
            continue;
        kernel = &gm_kernels[candidates[i].kernel];
        ck_assert_ptr_nonnull(strstr(candidates[i].sentence, "predicted "));
    }
    free(candidates);
    return kernel;
}

START_TEST(many_slots_are_counted_by_clusters) {
    const struct gm_moe_align_problem few = tokens_of(64, 8, 256), many = tokens_of(8192, 8, 256);
    ck_assert_int_eq(chosen(&few, "h200")->cluster_ctas, 1);
    ck_assert_int_eq(chosen(&few, "h200")->arch, GM_ARCH_SM90);
    ck_assert_int_eq(chosen(&many, "h200")->cluster_ctas, 4);
    ck_assert_int_eq(chosen(&many, "a100")->arch, GM_ARCH_SM80);
}
END_TEST

/* ---- a launch ------------------------------------------------------------------------------------------- */

START_TEST(a_launch_is_told_what_the_call_says) {
    struct gm_moe_align_problem p = tokens_of(10, 4, 64);
    const struct gm_moe_align_args args = {
        .size = sizeof args, .ids = ADDRESS_A, .offsets = ADDRESS_B, .rows = ADDRESS_C, .inverse = ADDRESS_D};
    gm_plan *plan = NULL;
    p.alignment = 12;
    assert_ok(gm_moe_align_plan_create(context, &p, NULL, &plan));
    const struct gm_moe_align_params *params = plan->params;
    ck_assert(params->tokens == 10 && params->k == 4 && params->experts == 64 && params->alignment.divisor == 12);
    ck_assert_uint_eq(plan->config.gridDimX, 1);
    fake_make_current(0);
    fake_clear_counts();
    assert_ok(gm_moe_align_execute(plan, &args, NULL));
    ck_assert_int_eq(fake_calls(), 1);
    gm_plan_destroy(plan);
}
END_TEST

START_TEST(every_variant_is_launched_by_name) {
    const struct gm_moe_align_args args = {
        .size = sizeof args, .ids = ADDRESS_A, .offsets = ADDRESS_B, .rows = ADDRESS_C, .inverse = ADDRESS_D};
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct gm_kernel *kernel = &gm_kernels[i];
        if (kernel->family != &gm_family_moe_align)
            continue;
        const struct gm_moe_align_problem p = tokens_of(2000, 8, 256);
        const struct gm_plan_options options = {.size = sizeof options, .kernel = kernel->name};
        gm_plan *plan = NULL;
        assert_ok(gm_moe_align_plan_create(context, &p, &options, &plan));
        fake_make_current(0);
        fake_clear_counts();
        assert_ok(gm_moe_align_execute(plan, &args, NULL));
        ck_assert_int_eq(fake_calls(), 1);
        ck_assert_int_eq(fake.launch.kernel, (int)i);
        ck_assert_uint_eq(fake.launch.config.blockDimX, (unsigned)kernel->threads);
        ck_assert_uint_eq(fake.launch.config.gridDimX, 8); /* 2000 slots and more for each CTA */
        ck_assert_uint_eq(fake.launch.config.sharedMemBytes, (unsigned)kernel->smem_bytes);
        gm_plan_destroy(plan);
    }
}
END_TEST

/* 10 tokens of 4 slots, 64 experts: nothing is launched where it is refused. */
static enum gm_status execute(struct gm_moe_align_args args, int64_t tokens) {
    const struct gm_moe_align_problem p = tokens_of(tokens, 4, 64);
    gm_plan *plan = NULL;
    assert_ok(gm_moe_align_plan_create(context, &p, NULL, &plan));
    fake_make_current(0);
    fake_clear_counts();
    const enum gm_status status = gm_moe_align_execute(plan, &args, NULL);
    ck_assert_int_eq(fake_calls(), status == GM_OK);
    gm_plan_destroy(plan);
    return status;
}

START_TEST(bad_pointers_are_refused_by_name) {
    const struct gm_moe_align_args good = {
        .size = sizeof good, .ids = ADDRESS_A, .offsets = ADDRESS_B, .rows = ADDRESS_C, .inverse = ADDRESS_D};
    struct gm_moe_align_args args = good;
    assert_ok(execute(args, 10));
    args.size = 47;
    assert_fails(execute(args, 10), GM_ERROR_SIZE, "args.size is 47");
    args = good, args.ids = 0;
    assert_fails(execute(args, 10), GM_ERROR_INVALID_ARGUMENT, "ids is NULL");
    args = good, args.offsets = 0;
    assert_fails(execute(args, 10), GM_ERROR_INVALID_ARGUMENT, "offsets is NULL");
    args = good, args.rows = 0;
    assert_fails(execute(args, 10), GM_ERROR_INVALID_ARGUMENT, "rows is NULL");
    args = good, args.inverse = 0;
    assert_ok(execute(args, 10));
    args = good, args.rows += 2;
    assert_fails(execute(args, 10), GM_ERROR_MISALIGNED, "rows");
    args = good, args.inverse += 2;
    assert_fails(execute(args, 10), GM_ERROR_MISALIGNED, "inverse");
    args = good, args.row_count = ADDRESS_A + 2;
    assert_fails(execute(args, 10), GM_ERROR_MISALIGNED, "row_count");
    args = good, args.offsets = ADDRESS_C + 156;
    assert_fails(execute(args, 10), GM_ERROR_OVERLAP, "offsets");
    args = good, args.offsets = ADDRESS_C + 160;
    assert_ok(execute(args, 10));
    args = good, args.inverse = ADDRESS_A;
    assert_fails(execute(args, 10), GM_ERROR_OVERLAP, "inverse");
}
END_TEST

START_TEST(no_tokens_want_offsets_all_the_same) {
    struct gm_moe_align_args args = {.size = sizeof args, .offsets = ADDRESS_B};
    assert_ok(execute(args, 0));
    args.offsets = 0;
    assert_fails(execute(args, 0), GM_ERROR_INVALID_ARGUMENT, "offsets is NULL");
}
END_TEST

START_TEST(a_budget_of_sms_limits_the_grid) {
    const struct gm_moe_align_problem p = tokens_of(100000, 8, 64);
    const struct gm_plan_options options = {.size = sizeof options, .sm_budget = 2};
    gm_plan *plan = NULL;
    assert_ok(gm_moe_align_plan_create(context, &p, &options, &plan));
    ck_assert_uint_le(plan->config.gridDimX, 2 * 4);
    ck_assert_int_eq(plan->kernel->cluster_ctas, 1);
    gm_plan_destroy(plan);
}
END_TEST

Suite *moe_align_suite(void) {
    Suite *suite = suite_create("moe_align");
    TCase *problems = tcase_create("problems"), *choices = tcase_create("choices"),
          *launches = tcase_create("launches");
    tcase_add_test(problems, zero_aligns_to_nothing);
    tcase_add_loop_test(problems, every_bad_member_has_its_sentence, 0, sizeof bad / sizeof *bad);
    tcase_add_test(problems, rows_have_room_for_every_length_rounded_up);
    tcase_add_test(problems, a_problem_is_a_line_of_a_suite);
    tcase_add_test(problems, ids_have_one_type);
    tcase_add_test(problems, bytes_and_operations_are_counted);
    tcase_add_test(choices, many_slots_are_counted_by_clusters);
    tcase_add_checked_fixture(launches, planned_set_up, planned_tear_down);
    tcase_add_test(launches, a_launch_is_told_what_the_call_says);
    tcase_add_test(launches, every_variant_is_launched_by_name);
    tcase_add_test(launches, bad_pointers_are_refused_by_name);
    tcase_add_test(launches, no_tokens_want_offsets_all_the_same);
    tcase_add_test(launches, a_budget_of_sms_limits_the_grid);
    suite_add_tcase(suite, problems);
    suite_add_tcase(suite, choices);
    suite_add_tcase(suite, launches);
    return suite;
}
