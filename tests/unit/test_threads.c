/* SPDX-License-Identifier: Apache-2.0 */
/* Plans and contexts shared by threads; meant to be run under ThreadSanitizer too. */
#include "planned.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define THREADS 8
#define TIMES   200

static gm_plan *shared;
static int failures[THREADS];

static void *execute_often(void *number) {
    const struct gm_gemm_args args = args_apart();
    for (int i = 0; i < TIMES; i++)
        *(int *)number += gm_gemm_execute(shared, &args, NULL) != GM_OK;
    return NULL;
}

static void *plan_often(void *number) {
    const struct gm_gemm_args args = args_apart();
    for (size_t i = 0; i < gemm_count(); i++) {
        const struct gm_plan_options options = {.size = sizeof options, .kernel = gm_kernels[i].name};
        const struct gm_gemm_problem p = problem_for(&gm_kernels[i], 256, 256, 256);
        gm_plan *plan = NULL;
        *(int *)number += gm_gemm_plan_create(context, &p, &options, &plan) != GM_OK;
        *(int *)number += gm_gemm_execute(plan, &args, NULL) != GM_OK;
        gm_plan_destroy(plan);
    }
    return NULL;
}

static void *fail_often(void *number) {
    char expected[32];
    const long id = (int *)number - failures;
    snprintf(expected, sizeof expected, "m is -%ld;", id + 1);
    for (int i = 0; i < TIMES; i++) {
        struct gm_gemm_problem p = problem_of(-id - 1, 64, 64);
        gm_plan *plan = NULL;
        *(int *)number += gm_gemm_plan_create(context, &p, NULL, &plan) != GM_ERROR_INVALID_ARGUMENT;
        *(int *)number += strstr(gm_last_error(), expected) == NULL;
    }
    return NULL;
}

static void run(void *(*work)(void *)) {
    pthread_t threads[THREADS];
    memset(failures, 0, sizeof failures);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, work, &failures[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        ck_assert_int_eq(failures[i], 0);
    }
}

START_TEST(threads_share_one_plan) {
    const struct gm_gemm_problem p = problem_for(&gm_kernels[0], 1000, 1000, 1000);
    shared = plan_for(&gm_kernels[0], &p);
    fake_clear_counts();
    run(execute_often); /* every thread is cold: each launch is tried twice */
    ck_assert_int_eq(fake.count[FAKE_cuLaunchKernelEx], 2 * THREADS * TIMES);
    gm_plan_destroy(shared);
}
END_TEST

START_TEST(threads_share_one_context_and_load_each_row_once) {
    fake_clear_counts();
    run(plan_often);
    ck_assert_int_eq(fake.count[FAKE_cuLibraryLoadData], (int)gemm_count());
}
END_TEST

START_TEST(each_thread_has_its_own_last_error) {
    run(fail_often);
}
END_TEST

Suite *threads_suite(void) {
    Suite *suite = suite_create("threads");
    TCase *cases = tcase_create("sharing");
    tcase_add_checked_fixture(cases, planned_set_up, planned_tear_down);
    tcase_add_test(cases, threads_share_one_plan);
    tcase_add_test(cases, each_thread_has_its_own_last_error);
    suite_add_tcase(suite, cases);
    TCase *table = tcase_create("every row of the table");
    tcase_set_tags(table, "long"); /* minutes under valgrind */
    tcase_add_checked_fixture(table, planned_set_up, planned_tear_down);
    tcase_add_test(table, threads_share_one_context_and_load_each_row_once);
    suite_add_tcase(suite, table);
    return suite;
}
