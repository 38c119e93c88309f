/* SPDX-License-Identifier: Apache-2.0 */
/* Devices, options and problems as callers give them, before the planner sees them. */
#include "host/options.h"

#include "host/gemm/problem.h"
#include "host/table.h"
#include "unit.h"

#include <string.h>

static struct gm_plan_options given, options;

static void set_up(void) {
    given = (struct gm_plan_options){.size = sizeof given};
    memset(&options, 0x5a, sizeof options);
}

static enum gm_status read_options(void) {
    return gm_options_read(&gm_operation_gemm, &given, &options);
}

START_TEST(no_options_are_the_defaults) {
    const struct gm_plan_options defaults = {.size = sizeof defaults, .argument_sets = 1};
    assert_ok(gm_options_read(&gm_operation_gemm, NULL, &options));
    ck_assert_mem_eq(&options, &defaults, sizeof options);
    assert_ok(read_options());
    ck_assert_mem_eq(&options, &defaults, sizeof options);
}
END_TEST

START_TEST(options_are_read_as_given) {
    given = (struct gm_plan_options){.size = sizeof given,
                                     .arch_mask = GM_ARCH_SM80 | GM_ARCH_SM90,
                                     .kernel = gm_kernels[0].name,
                                     .sm_budget = 7,
                                     .flags = GM_PLAN_MODEL_ONLY | GM_PLAN_PLAIN_LAUNCH | GM_PLAN_NO_OVERLAP |
                                              GM_PLAN_CONSTANT_B | GM_PLAN_BATCH_INVARIANT,
                                     .workspace_limit = 4096,
                                     .argument_sets = GM_ARGUMENT_SETS_MAX};
    assert_ok(read_options());
    ck_assert_mem_eq(&options, &given, sizeof options);
}
END_TEST

/* Of members that this library does not know. */
START_TEST(options_of_a_newer_program_are_cut) {
    struct {
        struct gm_plan_options known;
        uint64_t more;
    } newer = {.known = {.size = sizeof newer, .sm_budget = 3}};
    assert_ok(gm_options_read(&gm_operation_gemm, &newer.known, &options));
    ck_assert(options.size == sizeof options && options.sm_budget == 3 && options.argument_sets == 1);
    newer.more = 1;
    assert_fails(gm_options_read(&gm_operation_gemm, &newer.known, &options), GM_ERROR_SIZE, "options.size is 64");
}
END_TEST

START_TEST(bad_options_are_named) {
    given.arch_mask = 12;
    assert_fails(read_options(), GM_ERROR_INVALID_ARGUMENT, "arch_mask is 0xc; known bits are 0x3");
    given.arch_mask = 0, given.flags = 32;
    assert_fails(read_options(), GM_ERROR_INVALID_ARGUMENT, "flags is 0x20; known bits are 0x1f");
    given.flags = 0, given.sm_budget = -1;
    assert_fails(read_options(), GM_ERROR_INVALID_ARGUMENT, "sm_budget is -1");
    given.sm_budget = 0, given.argument_sets = GM_ARGUMENT_SETS_MAX + 1;
    assert_fails(read_options(), GM_ERROR_INVALID_ARGUMENT, "argument_sets is 257; it is a number from 1 to 256");
    given.argument_sets = -1;
    assert_fails(read_options(), GM_ERROR_INVALID_ARGUMENT, "argument_sets is -1");
    given.argument_sets = 0, given.kernel = "no_such_kernel";
    assert_fails(read_options(), GM_ERROR_UNKNOWN_KERNEL, "the table has no kernel named no_such_kernel");
    given.kernel = "";
    assert_fails(read_options(), GM_ERROR_UNKNOWN_KERNEL, "the table has no kernel named ");
}
END_TEST

START_TEST(a_budget_makes_a_smaller_device) {
    const struct gm_device h200 = device_of("h200");
    struct gm_device allowed;
    given.sm_budget = 100;
    allowed = gm_device_under_budget(&h200, &given);
    ck_assert(allowed.sm_count == 100 && allowed.max_threads_per_sm == 1);
    ck_assert_str_eq(allowed.name, h200.name);
    const int32_t no_budgets[] = {0, h200.sm_count, h200.sm_count + 1};
    for (size_t i = 0; i < sizeof no_budgets / sizeof *no_budgets; i++) {
        given.sm_budget = no_budgets[i];
        allowed = gm_device_under_budget(&h200, &given);
        ck_assert_mem_eq(&allowed, &h200, sizeof h200);
    }
}
END_TEST

START_TEST(a_device_is_copied_or_refused) {
    struct gm_device device = device_of("a100"), read;
    assert_ok(gm_device_read(&device, &read));
    ck_assert_mem_eq(&read, &device, sizeof read);
    assert_fails(gm_device_read(NULL, &read), GM_ERROR_INVALID_ARGUMENT, "device is NULL");
    device.smem_per_block_bytes = 0;
    assert_fails(gm_device_read(&device, &read), GM_ERROR_INVALID_ARGUMENT, "0 bytes of shared memory per block");
    device = device_of("a100"), device.cc_major = 0;
    assert_fails(gm_device_read(&device, &read), GM_ERROR_INVALID_ARGUMENT, "compute capability 0.0");
}
END_TEST

/* Normalised, and as the planner looks at it, which the options may forbid. */
START_TEST(a_problem_is_read_as_the_planner_looks_at_it) {
    const struct gm_gemm_problem column = problem_of(400, 1, 72), bad = problem_of(-1, 1, 1);
    struct gm_gemm_planned planned;
    assert_ok(read_options());
    assert_ok(gm_problem_read(&gm_operation_gemm, &column, &options, &planned));
    ck_assert_int_eq(planned.transposed, 1);
    ck_assert(planned.problem.m == 1 && planned.problem.n == 400 && planned.problem.ldb == 72);
    ck_assert_int_eq(planned.problem.a_align, 16);
    options.flags = GM_PLAN_BATCH_INVARIANT;
    assert_ok(gm_problem_read(&gm_operation_gemm, &column, &options, &planned));
    ck_assert(planned.transposed == 0 && planned.problem.m == 400 && planned.problem.lda == 72);
    assert_fails(gm_problem_read(&gm_operation_gemm, &bad, &options, &planned), GM_ERROR_INVALID_ARGUMENT, "m is -1");
}
END_TEST

START_TEST(operations_fit_the_planners_room) {
    for (size_t i = 0; i < gm_operation_count(); i++)
        ck_assert_uint_le(gm_operations[i]->planned_bytes, GM_PROBLEM_MAX);
}
END_TEST

Suite *options_suite(void) {
    Suite *suite = suite_create("options");
    TCase *cases = tcase_create("what callers give");
    tcase_add_checked_fixture(cases, set_up, NULL);
    tcase_add_test(cases, no_options_are_the_defaults);
    tcase_add_test(cases, options_are_read_as_given);
    tcase_add_test(cases, options_of_a_newer_program_are_cut);
    tcase_add_test(cases, bad_options_are_named);
    tcase_add_test(cases, a_budget_makes_a_smaller_device);
    tcase_add_test(cases, a_device_is_copied_or_refused);
    tcase_add_test(cases, a_problem_is_read_as_the_planner_looks_at_it);
    tcase_add_test(cases, operations_fit_the_planners_room);
    suite_add_tcase(suite, cases);
    return suite;
}
